//! Attendees: list, record, form, codes, merging, and deleting.

mod badge;
mod form;
mod list;
mod merge;
mod passage;
mod record;
mod remove;

use super::{
    Route,
    route::{ADMINISTRATOR, OPERATOR, VIEWER},
};
use crate::{
    domain::delegates::{RESOURCE, name_of},
    types::error::{Error, Kind},
};
use serde_json::{Map, Value};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::get("/console/delegates", VIEWER, list::show),
        Route::get("/console/delegates/count", VIEWER, list::count),
        Route::get("/console/delegates/export", VIEWER, list::export),
        Route::get("/console/delegates/:id", VIEWER, record::show),
        Route::post("/console/delegates/:id/passage", OPERATOR, passage::pass),
        Route::post("/console/delegates/:id/note", OPERATOR, passage::set_note),
        Route::get("/console/delegates/:id/qr/:kind", VIEWER, badge::picture),
        Route::get("/console/delegates/:id/code/:kind", VIEWER, badge::print),
        Route::get("/console/delegates/:id/badge/:kind", OPERATOR, badge::ask),
        Route::post("/console/delegates/:id/badge/:kind", OPERATOR, badge::block),
        Route::post("/console/delegates/:id/unblock", OPERATOR, badge::unblock),
        Route::get("/console/delegates/:id/merge", OPERATOR, merge::show),
        Route::post("/console/delegates/:id/merge", OPERATOR, merge::merge_two),
        Route::post("/console/delegates/:id/delete", OPERATOR, remove::delete),
        Route::post("/console/delegates/:id/restore", OPERATOR, remove::restore),
        Route::get("/console/delegates/:id/erase", ADMINISTRATOR, remove::ask),
        Route::post("/console/delegates/:id/erase", ADMINISTRATOR, remove::erase),
    ];
    routes.extend(form::routes());
    routes
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
