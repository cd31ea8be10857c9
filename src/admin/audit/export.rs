//! What is filtered, as a file: streamed in slices, the oldest change first.

use super::Asked;
use crate::{
    admin::{RequestContext, answer},
    core::audit::{Actor, Entry, Walk},
    identity::App,
    types::{
        Zone,
        error::{Error, Result},
        spreadsheet::guarded,
    },
};
use csv::{Terminator, WriterBuilder};
use poem::{Body, Response};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{borrow::Cow, collections::HashMap};

/// Changes read at once at the most.
const AT_ONCE: usize = 500;

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

/// The form of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Ndjson,
}

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let format = match request.query.text("format") {
        "csv" => Format::Csv,
        "ndjson" => Format::Ndjson,
        _ => return Err(Error::invalid("format: must be csv or ndjson")),
    };
    let asked = Asked::read(&request.query);
    let zone = request.console.settings().zone.clone();
    let of_filter = zone.clone();
    let walk = request
        .read(move |connection| Walk::begin(connection, asked.filter(connection, &of_filter)?))
        .await?;
    let rest = Rest {
        app: request.console.app().clone(),
        walk,
        writing: Writing {
            format,
            zone,
            called: HashMap::new(),
        },
        begun: false,
    };
    let body = Body::from_bytes_stream(futures_util::stream::try_unfold(rest, |rest| async move {
        let next = rest.next().await;
        next.map_err(|cause| std::io::Error::other(cause.message))
    }));
    Ok(match format {
        Format::Csv => answer::download("audit.csv", "text/csv; charset=utf-8", body),
        Format::Ndjson => answer::download("audit.ndjson", "application/x-ndjson", body),
    })
}

/// What is still to be sent.
struct Rest {
    app: App,
    walk: Walk,
    writing: Writing,
    begun: bool,
}

impl Rest {
    /// The next piece and what is left after it; `None` at the end.
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>> {
        if !self.begun {
            self.begun = true;
            let head = self.writing.head()?;
            if !head.is_empty() {
                return Ok(Some((head, self)));
            }
        }
        loop {
            let (app, mut walk, mut writing) = (self.app.clone(), self.walk, self.writing);
            let (walk, writing, piece) = app
                .store
                .read(move |connection| {
                    let piece = match walk.next(connection, AT_ONCE)? {
                        Some(entries) => Some(writing.piece(connection, &entries)?),
                        None => None,
                    };
                    Ok((walk, writing, piece))
                })
                .await?;
            (self.walk, self.writing) = (walk, writing);
            match piece {
                None => return Ok(None),
                // Nothing was found there, and an empty piece would say that this is the end.
                Some(piece) if piece.is_empty() => {}
                Some(piece) => return Ok(Some((piece, self))),
            }
        }
    }
}

struct Writing {
    format: Format,
    zone: Zone,
    /// Who is behind each actor: they are few, and their changes many.
    called: HashMap<String, String>,
}

impl Writing {
    fn head(&self) -> Result<Vec<u8>> {
        match self.format {
            Format::Ndjson => Ok(Vec::new()),
            Format::Csv => {
                let mut bytes = "\u{feff}".as_bytes().to_vec();
                bytes.extend(csv(&[COLUMNS.map(ToOwned::to_owned)])?);
                Ok(bytes)
            }
        }
    }

    fn piece(&mut self, connection: &Connection, entries: &[Entry]) -> Result<Vec<u8>> {
        let mut rows = Vec::new();
        let mut lines = String::new();
        for entry in entries {
            let who = self.name(connection, &entry.actor)?;
            match self.format {
                Format::Csv => rows.push(self.cells(entry, who)),
                Format::Ndjson => {
                    lines.push_str(&self.object(entry, &who).to_string());
                    lines.push('\n');
                }
            }
        }
        match self.format {
            Format::Csv => csv(&rows),
            Format::Ndjson => Ok(lines.into_bytes()),
        }
    }

    fn name(&mut self, connection: &Connection, actor: &str) -> Result<String> {
        if let Some(name) = self.called.get(actor) {
            return Ok(name.clone());
        }
        let name = Actor::of(connection, actor)?.name();
        self.called.insert(actor.to_owned(), name.clone());
        Ok(name)
    }

    fn cells(&self, entry: &Entry, who: String) -> [String; COLUMNS.len()] {
        let json =
            |value: &Option<Value>| value.as_ref().map_or_else(String::new, ToString::to_string);
        [
            entry.id.to_string(),
            self.zone.iso(entry.at),
            who,
            entry.actor.clone(),
            entry.action.clone(),
            entry.record_type.clone(),
            entry
                .record_id
                .map_or_else(String::new, |id| id.to_string()),
            json(&entry.before),
            json(&entry.after),
            entry.request_id.clone().unwrap_or_default(),
        ]
    }

    fn object(&self, entry: &Entry, who: &str) -> Value {
        json!({
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
        })
    }
}

/// Rows as CSV (RFC 4180); what a spreadsheet would run is guarded.
fn csv(rows: &[[String; COLUMNS.len()]]) -> Result<Vec<u8>> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    for row in rows {
        let cells = row.iter().map(|cell| guarded(cell));
        writer
            .write_record(cells.map(Cow::into_owned))
            .map_err(Error::defect)?;
    }
    writer.into_inner().map_err(Error::defect)
}
