//! What a device belongs to, chosen by search: what is typed is a name that was offered, with the
//! id behind it, or an id, a code or a name by itself.

use super::record::NAME;
use crate::{
    admin::{RequestContext, answer},
    types::{
        error::{Error, Result},
        text,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension, named_params};

/// Devices offered at once.
const OFFERED: i64 = 20;

/// A device that is offered.
struct Offer {
    value: String,
    about: String,
}

#[derive(Template)]
#[template(path = "devices/parents.html")]
struct Options {
    offers: Vec<Offer>,
}

/// How a parent stands in the form.
pub fn shown(id: i64, name: &str) -> String {
    format!("{name} (#{id})")
}

/// Devices whose name or code holds what was typed so far.
pub async fn options(request: RequestContext) -> Result<Response> {
    let typed = text::fold(request.query.text("parent"));
    let offers = request
        .console
        .store
        .read(move |connection| {
            let sql = format!(
                "SELECT d.id, {NAME}, d.code, coalesce(d.device_type, 'device') FROM devices d
                 WHERE d.deleted_at IS NULL AND (text_contains(d.name, :typed) OR text_contains(d.code, :typed)
                       OR text_contains(d.short_name, :typed))
                 ORDER BY d.device_type IS NOT 'event', 2 COLLATE NOCASE, d.id LIMIT :limit"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(
                named_params! {":typed": typed, ":limit": OFFERED},
                |row| {
                    let (id, name): (i64, String) = (row.get(0)?, row.get(1)?);
                    let (code, kind): (String, String) = (row.get(2)?, row.get(3)?);
                    Ok(Offer {
                        value: shown(id, &name),
                        about: format!("{kind}, {code}"),
                    })
                },
            )?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })
        .await?;
    answer::page(&Options { offers })
}

/// The device that somebody typed.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where there is none, or more than one of that name.
pub fn read(connection: &Connection, typed: &str) -> Result<i64> {
    let typed = typed.trim();
    let id = typed
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once("(#"))
        .map_or(typed, |(_, id)| id)
        .trim_start_matches('#');
    if let Ok(id) = id.parse::<i64>() {
        let alive = connection
            .prepare_cached("SELECT 1 FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
            .exists([id])?;
        if alive {
            return Ok(id);
        }
    }
    let by_code = connection
        .prepare_cached("SELECT id FROM devices WHERE code = ?1 AND deleted_at IS NULL")?
        .query_row([typed], |row| row.get(0))
        .optional()?;
    if let Some(id) = by_code {
        return Ok(id);
    }
    let mut statement = connection.prepare_cached(
        "SELECT id FROM devices WHERE name = ?1 COLLATE NOCASE AND deleted_at IS NULL LIMIT 2",
    )?;
    let named: Vec<i64> = statement
        .query_map([typed], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let typed = text::shortened(typed);
    match named.as_slice() {
        [id] => Ok(*id),
        [] => Err(Error::invalid(format!(
            "parent: there is no device \"{typed}\"; type a part of its name and choose one"
        ))),
        _ => Err(Error::invalid(format!(
            "parent: there are several devices \"{typed}\"; choose one from the list, or type its code"
        ))),
    }
}
