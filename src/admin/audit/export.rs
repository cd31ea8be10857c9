//! The audit as a file, however long it is.

use super::prepare;
use crate::admin::prelude::*;
use crate::{
    admin::export::slices,
    core::audit::{Actor, Entry, Walk},
    types::spreadsheet::csv_bytes,
};
use serde_json::json;
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
        _ => return Err(Error::invalid("format: must be csv or ndjson")),
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
        let bytes = if self.is_csv {
            csv_bytes(
                head,
                named.iter().map(|(entry, who)| self.cells(entry, who)),
            )?
        } else {
            let lines = named.iter().map(|(entry, who)| self.line(entry, who));
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

    fn cells(&self, entry: &Entry, who: &str) -> [String; COLUMNS.len()] {
        let json = |value: &Option<_>| value.as_ref().map_or_else(String::new, ToString::to_string);
        let id = entry.record_id.map(|id| id.to_string());
        [
            entry.id.to_string(),
            self.zone.iso(entry.at),
            who.to_owned(),
            entry.actor.clone(),
            entry.action.clone(),
            entry.record_type.clone(),
            id.unwrap_or_default(),
            json(&entry.before),
            json(&entry.after),
            entry.request_id.clone().unwrap_or_default(),
        ]
    }

    fn line(&self, entry: &Entry, who: &str) -> String {
        let line = json!({
            "id": entry.id,
            "time": self.zone.iso(entry.at),
            "who": who,
            "actor": entry.actor,
            "action": entry.action,
            "recordType": entry.record_type,
            "recordId": entry.record_id,
            "before": entry.before,
            "after": entry.after,
            "requestId": entry.request_id,
        });
        format!("{line}\n")
    }
}
