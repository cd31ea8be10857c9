//! What a device belongs to, chosen by search: what is typed is a name that was offered, with the
//! id behind it, or an id, a code or a name by itself.

use crate::{
    admin::{RequestContext, answer},
    domain::devices::{self, Offer},
    types::{
        error::{Error, Result},
        text,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Devices offered at once.
const OFFERED: usize = 20;

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
        .read(move |connection| devices::matching(connection, &typed, OFFERED))
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
    let named = devices::find_typed(connection, id, typed)?;
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
