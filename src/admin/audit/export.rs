//! The audit as a file, however long it is.

use super::prepare;
use crate::admin::prelude::*;
use crate::{
    admin::export::slices,
    core::audit::{Actor, Entry, Walk},
    types::spreadsheet::csv_bytes,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Entries that are read at a time.
const SLICE: usize = 500;

const COLUMNS: [&str; 10] = [
    "id",
    "time",
    "who",
    "actor",
    "action",
    "recordType",
    "recordId",
    "before",
    "after",
    "requestId",
];

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let (is_csv, name, kind) = match request.query.text("format") {
        "csv" => (true, "audit.csv", "text/csv; charset=utf-8"),
        "ndjson" => (false, "audit.ndjson", "application/x-ndjson"),
        _ => return Err(Error::field("format", "must be csv or ndjson")),
    };
    let query = request.query.clone();
    let zone = request.console.settings().zone.clone();
    let rest = request
        .read(move |connection| {
            let walk = Walk::begin(connection, prepare(&query, connection, &zone)?)?;
            Ok(Rest {
                walk,
                is_csv,
                zone,
                names: HashMap::new(),
                has_head: false,
            })
        })
        .await?;
    Ok(slices(request.console.app(), name, kind, rest, Rest::next))
}

struct Rest {
    walk: Walk,
    is_csv: bool,
    zone: Zone,
    /// Names of actors that were looked up.
    names: HashMap<String, String>,
    has_head: bool,
}

impl Rest {
    fn next(mut self, connection: &Connection) -> Result<Option<(Vec<u8>, Self)>> {
        let head = (self.is_csv && !self.has_head).then_some(&COLUMNS);
        let entries = self.walk.next(connection, SLICE)?;
        if entries.is_none() && head.is_none() {
            return Ok(None);
        }
        let mut named = Vec::new();
        for entry in entries.unwrap_or_default() {
            let who = self.name(connection, &entry.actor)?;
            named.push((entry, who));
        }
        let rows = named.iter().map(|(entry, who)| self.values(entry, who));
        let bytes = if self.is_csv {
            csv_bytes(head, rows.map(|row| row.map(cell)))?
        } else {
            let names = COLUMNS.map(ToOwned::to_owned);
            let lines = rows.map(|row| {
                let line: Map<String, Value> = names.iter().cloned().zip(row).collect();
                format!("{}\n", Value::Object(line))
            });
            lines.collect::<String>().into_bytes()
        };
        self.has_head = true;
        Ok(Some((bytes, self)))
    }

    fn name(&mut self, connection: &Connection, actor: &str) -> Result<String> {
        if let Some(name) = self.names.get(actor) {
            return Ok(name.clone());
        }
        let name = Actor::of(connection, actor)?.name();
        self.names.insert(actor.to_owned(), name.clone());
        Ok(name)
    }

    fn values(&self, entry: &Entry, who: &str) -> [Value; COLUMNS.len()] {
        [
            json!(entry.id),
            json!(self.zone.iso(entry.at)),
            json!(who),
            json!(entry.actor),
            json!(entry.action),
            json!(entry.record_type),
            json!(entry.record_id),
            json!(entry.before),
            json!(entry.after),
            json!(entry.request_id),
        ]
    }
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}
