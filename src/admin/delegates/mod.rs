//! The people: finding them among many, their records, and what the crew does about them.
//!
//! - `list`, `export`: searching, and taking along what was found
//! - `record`: one person, with all that happened
//! - `form`: making and changing a record
//! - `passage`: letting in by hand, and what the gate shows
//! - `badge`: codes, their pictures, lost badges
//! - `merge`, `remove`: two records of one person; deleting, restoring, erasing

mod badge;
mod export;
mod form;
mod list;
mod merge;
mod passage;
mod record;
mod remove;

use super::Route;
use crate::domain::delegates::{RESOURCE, name_of};
use serde_json::{Map, Value};

pub(super) fn routes() -> Vec<Route> {
    [
        list::routes(),
        export::routes(),
        form::routes(),
        record::routes(),
        passage::routes(),
        badge::routes(),
        merge::routes(),
        remove::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What people call a property.
fn label(property: &str) -> &str {
    match RESOURCE.property(property) {
        Some(field) if !field.label.is_empty() => field.label,
        None if property == "gateNote" => "Gate note",
        _ => property,
    }
}

/// What a flag means, of those that every event has (spec: Delegate flags).
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

/// A delegate's text property; empty without it.
fn text<'a>(record: &'a Map<String, Value>, property: &str) -> &'a str {
    record
        .get(property)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
