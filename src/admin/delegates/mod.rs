//! Attendees: list, record, form, codes, merging, and deleting.

mod badge;
mod bulk;
mod duplicates;
mod form;
pub(super) mod list;
mod merge;
mod passage;
mod print;
mod record;
mod remove;
mod timeline;
mod value;
pub(super) mod views;

use crate::admin::prelude::*;
use crate::domain::delegates::{RESOURCE, name_of};
use serde_json::{Map, Value};

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/delegates", list::show)
        .get("/console/delegates/count", list::count)
        .get("/console/delegates/export", list::export)
        .get(duplicates::PAGE, duplicates::show)
        .get("/console/delegates/views", views::show)
        .post("/console/delegates/views", views::save)
        .post("/console/delegates/views/:id/delete", views::remove)
        .get("/console/delegates/:id", record::show)
        .then(OPERATOR)
        .post(duplicates::PAGE, duplicates::apart)
        .get(bulk::PAGE, bulk::ask)
        .post(bulk::PAGE, bulk::begin)
        .get(print::PAGE, print::ask)
        .post(print::PAGE, print::print)
        .post("/console/delegates/:id/passage", passage::pass)
        .post("/console/delegates/:id/note", passage::set_note)
        .then(VIEWER)
        .get("/console/delegates/:id/qr/:kind", badge::picture)
        .get("/console/delegates/:id/code/:kind", badge::print)
        .get("/console/delegates/:id/badge.pdf", badge::pdf)
        .then(OPERATOR)
        .get("/console/delegates/:id/badge/:kind", badge::ask)
        .post("/console/delegates/:id/badge/:kind", badge::block)
        .action("/console/delegates/:id/unblock", badge::unblock)
        .get("/console/delegates/:id/value/:name", value::show)
        .post("/console/delegates/:id/value/:name", value::save)
        .get("/console/delegates/:id/merge", merge::show)
        .post("/console/delegates/:id/merge", merge::merge_two)
        .action("/console/delegates/:id/delete", remove::delete)
        .post("/console/delegates/:id/restore", remove::restore)
        .then(ADMINISTRATOR)
        .get("/console/delegates/:id/erase", remove::ask)
        .post("/console/delegates/:id/erase", remove::erase)
        .with(form::routes())
        .all()
}

fn path(id: i64) -> String {
    format!("/console/delegates/{id}")
}

/// The address at which a value is changed.
pub fn value_path(id: &i64, name: &str) -> String {
    format!("{}/value/{name}", path(*id))
}

fn missing(id: i64) -> Error {
    Error::new(
        Kind::DelegateNotFound,
        format!("there is no delegate {id}; it may have been erased"),
    )
}

fn label(property: &str) -> &str {
    match RESOURCE.property(property) {
        Some(field) if !field.label.is_empty() => field.label,
        _ => property,
    }
}

fn flag_meaning(flag: char) -> &'static str {
    match flag {
        'a' | 'b' | 'c' | 'd' => "of this event's own",
        'e' => "opened an e-mail",
        'f' => "sent feedback",
        'k' => "customer of a partner",
        'p' => "profile is public",
        's' => "answered the first questions",
        'v' => "visited their mobile site",
        _ => "",
    }
}

fn text<'a>(record: &'a Map<String, Value>, property: &str) -> &'a str {
    record
        .get(property)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
