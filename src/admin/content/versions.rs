//! The history of a region: what a version changed, and restoring it.

use super::{find, layout, page, saved, seen};
use crate::{
    admin::{
        Layout, RequestContext, answer,
        route::{Action, Done},
    },
    core::{Context, audit},
    db::Tx,
    domain::content::{self, Version},
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "content/version.html")]
struct Page {
    layout: Layout,
    path: String,
    back: String,
    version: Version,
    by: String,
    current: i64,
    lines: Vec<Line>,
}

/// A line of a template, and what a save did to it.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    change: Change,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Same,
    Gone,
    New,
}

impl Line {
    fn is_new(&self) -> bool {
        self.change == Change::New
    }

    /// With a sign in front, so that it is not told by colour alone.
    fn shown(&self) -> String {
        let sign = match self.change {
            Change::Same => ' ',
            Change::Gone => '-',
            Change::New => '+',
        };
        format!("{sign} {}", self.text)
    }

    fn is_gone(&self) -> bool {
        self.change == Change::Gone
    }
}

/// What a save changed: the lines between those that are the same at both ends.
fn changed(before: &str, after: &str) -> Vec<Line> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(before, after)| before == after).count()
    };
    let head = same(&mut before.iter().zip(&after));
    let tail = same(&mut before[head..].iter().rev().zip(after[head..].iter().rev()));
    let line = |change| {
        move |text: &&str| Line {
            change,
            text: (*text).to_owned(),
        }
    };
    let (before_end, after_end) = (before.len() - tail, after.len() - tail);
    after[..head]
        .iter()
        .map(line(Change::Same))
        .chain(before[head..before_end].iter().map(line(Change::Gone)))
        .chain(after[head..after_end].iter().map(line(Change::New)))
        .chain(after[after_end..].iter().map(line(Change::Same)))
        .collect()
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let region = find(&request)?;
    let path = region.now.path.clone();
    let number = request.query.number("version")?.unwrap_or(region.version);
    let (version, by, before) = request
        .read(move |connection| {
            let version = Version::find(connection, &path, number)?.ok_or_else(|| {
                Error::new(
                    Kind::NoSuchPath,
                    format!("there is no version {number} of {path}"),
                )
            })?;
            let by = audit::actor_name(connection, &version.actor)?;
            let before = Version::find(connection, &path, number - 1)?;
            Ok((version, by, before))
        })
        .await?;
    let before = before.map(|before| before.then.content).unwrap_or_default();
    answer::page(&Page {
        layout: layout(
            &request,
            &format!("Version {number} of {}", region.now.path),
        ),
        back: page("region", &region.now.path),
        path: region.now.path,
        lines: changed(&before, &version.then.content),
        current: region.version,
        version,
        by,
    })
}

pub fn restore(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let path = action.form.text("path");
    let version = action.form.number("version")?.unwrap_or_default();
    let outcome = content::restore(tx, ctx, path, seen(action)?, version)?;
    saved(outcome, path, format!("Version {version} restored."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_between_what_is_the_same_are_changed() {
        let shown = |before: &str, after: &str| -> String {
            changed(before, after)
                .iter()
                .map(Line::shown)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(shown("a\nb\nc", "a\nx\nc"), "  a - b + x   c");
        assert_eq!(shown("", "a\nb"), "+ a + b");
        assert_eq!(shown("a\na", "a"), "  a - a");
        assert_eq!(shown("a", "a"), "  a");
        assert_eq!(shown("a\nb", ""), "- a - b");
    }
}
