//! The people: finding them among many, their records, and what the crew does about them.
//!
//! - `list`, `export`: searching, and taking along what was found
//! - `record`, `history`: one person, with all that happened
//! - `form`: making and changing a record
//! - `passage`: letting in by hand, and what the gate shows
//! - `badge`: codes, their pictures, lost badges
//! - `merge`, `remove`: two records of one person; deleting, restoring, erasing

mod badge;
mod export;
mod form;
mod history;
mod list;
mod merge;
mod passage;
mod record;
mod remove;

use super::Route;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// `SELECT`s a delegate's name: first and last, otherwise a code or the id.
pub(super) const NAME: &str =
    "coalesce(nullif(trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')), ''),
    p.email, p.barcode, p.external_id, 'No. ' || p.id)";

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
    match property {
        "firstName" => "First name",
        "lastName" => "Last name",
        "email" => "E-mail",
        "phone" => "Phone",
        "jobTitle" => "Job title",
        "company" => "Company",
        "delegateType" => "Type",
        "rawFlags" => "Flags",
        "barcode" => "Barcode",
        "rfid" => "RFID",
        "externalId" => "External ID",
        "publicId" => "Public ID",
        "code" => "Code",
        "uhfId" => "UHF ID",
        "slug" => "Slug",
        "parent" => "Belongs to",
        "previous" => "Replaces",
        "owner" => "Owner",
        "sources" => "Came from",
        "gateNote" => "Gate note",
        "data" => "Details",
        other => other,
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

/// A delegate's name, deleted or not.
fn name_of(connection: &Connection, id: i64) -> crate::types::error::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    Ok(connection
        .prepare_cached(&format!("SELECT {NAME} FROM delegates p WHERE p.id = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
