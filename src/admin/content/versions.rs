//! The history of a region: what a version changed, and restoring it.

use super::{find, page, saved, seen};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::content::{
        self, Version,
        difference::{self, Line},
    },
};

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

pub async fn show(request: RequestContext) -> Result<Response> {
    let path = request.query.text("path").to_owned();
    let number = request.query.number("version")?;
    let read = move |connection: &Connection, mut layout: Layout| {
        let current = find(connection, &path)?.version;
        let number = number.unwrap_or(current);
        layout.title = format!("Version {number} of {path}");
        let version = Version::find(connection, &path, number)?.ok_or_else(|| {
            let message = format!("there is no version {number} of {path}");
            Error::new(Kind::NoSuchPath, message)
        })?;
        let before = Version::find(connection, &path, number - 1)?;
        let before = before.map(|before| before.then.content).unwrap_or_default();
        Ok(Page {
            by: audit::actor_name(connection, &version.actor)?,
            lines: difference::changed(&before, &version.then.content),
            back: page("region", &path),
            layout,
            path,
            current,
            version,
        })
    };
    request.page("Version", Area::Content, read).await
}

pub fn restore(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let path = action.form.text("path");
    let version = action.form.number("version")?.unwrap_or_default();
    let outcome = content::restore(tx, ctx, path, seen(action)?, version)?;
    saved(outcome, path, format!("Version {version} restored."))
}
