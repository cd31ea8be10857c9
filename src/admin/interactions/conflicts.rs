//! Where a gate let somebody in whom the rules would not have: what it decided, what the server
//! would have, and why.

use super::{
    filter::newest,
    lines::{self, Line},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    types::error::Result,
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Conflicts on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "interactions/conflicts.html")]
struct Page {
    layout: Layout,
    conflicts: Vec<Conflict>,
    next: Option<i64>,
    newest: bool,
}

struct Conflict {
    line: Line,
    message: String,
    /// The code of the refusal that was not.
    meaning: String,
}

fn meaning(code: i64) -> String {
    super::refusals::CODES
        .iter()
        .find(|(known, _)| *known == code)
        .map_or_else(
            || format!("code {code}"),
            |(_, meaning)| (*meaning).to_owned(),
        )
}

/// Conflicts up to an id, and whether there are more.
fn find(connection: &Connection, from: i64) -> Result<(Vec<Conflict>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, interaction_id, code, message FROM conflicts WHERE id <= ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let most = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
    let rows = statement.query_map([from, most], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<(i64, i64, i64, String)>>>()?;
    let next = rows.get(PAGE).map(|row| row.0);
    rows.truncate(PAGE);
    let ids: Vec<i64> = rows.iter().map(|row| row.1).collect();
    let lines = lines::interactions(connection, &ids)?;
    let of = |id: i64| {
        lines
            .iter()
            .find(|line| line.key == lines::Key::Interaction(id))
    };
    let conflicts = rows
        .into_iter()
        .filter_map(|(_, interaction, code, message)| {
            Some(Conflict {
                line: of(interaction)?.clone(),
                message: answer::sentence(&message),
                meaning: meaning(code),
            })
        });
    Ok((conflicts.collect(), next))
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let from = request.query.number("from")?;
    let (conflicts, next) = request
        .console
        .store
        .read(move |connection| {
            let from = match from {
                Some(from) => from,
                None => newest(connection, "conflicts")?,
            };
            find(connection, from)
        })
        .await?;
    answer::page(&Page {
        layout: request.layout("Conflicts", Some(Area::Interactions)),
        conflicts,
        next,
        newest: from.is_none(),
    })
}
