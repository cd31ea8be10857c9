//! Who changed a device, when, and what.

use super::record::Record;
use crate::{
    admin::{Area, Layout, RequestContext, actor, answer},
    types::{DeviceId, Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, named_params};
use serde_json::Value;

/// Changes on a page.
const PAGE: usize = 30;
/// What is shown of a value, in characters.
const VALUE_MAX_CHARS: usize = 200;

/// A change to a device.
pub struct Change {
    pub id: i64,
    pub at: Timestamp,
    pub who: String,
    pub what: String,
    pub parts: Vec<Part>,
}

/// A property that changed.
pub struct Part {
    pub name: String,
    pub before: String,
    pub after: String,
}

#[derive(Template)]
#[template(path = "devices/history.html")]
struct Page {
    layout: Layout,
    record: Record,
    changes: Vec<Change>,
    first: bool,
    older: Option<i64>,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let before = request.query.number("before")?;
    let (record, changes) = request
        .console
        .store
        .read(move |connection| {
            let record = Record::find(connection, id)?;
            let changes = changes(connection, record.id, before, PAGE)?;
            Ok((record, changes))
        })
        .await?;
    let full = changes.len() == PAGE;
    answer::page(&Page {
        layout: request.layout(&format!("Changes to {}", record.name), Some(Area::Devices)),
        record,
        first: before.is_none(),
        older: changes.last().filter(|_| full).map(|change| change.id),
        changes,
    })
}

/// Changes to a device before a row of the audit, at most `limit`, the last first. An event is a
/// device under another name.
pub fn changes(
    connection: &Connection,
    device: DeviceId,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Change>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, actor, action, before, after FROM audit
         WHERE record_type IN ('device', 'event') AND record_id = :device AND id < :before
         UNION ALL SELECT r.change_id, d.created_at, b.actor, 'import', NULL, NULL
         FROM batch_rows r CROSS JOIN batches b ON b.id = r.batch_id JOIN devices d ON d.id = r.record_id
         WHERE r.record_id = :device AND b.kind = 'devices' AND r.change_id < :before
         ORDER BY 1 DESC LIMIT :limit",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(
        named_params! {":device": device, ":before": before.unwrap_or(i64::MAX), ":limit": limit},
        |row| {
            let action: String = row.get(3)?;
            let before: Option<String> = row.get(4)?;
            let after: Option<String> = row.get(5)?;
            Ok(Change {
                id: row.get(0)?,
                at: row.get(1)?,
                who: row.get(2)?,
                parts: if action == "update" {
                    parts(before.as_deref(), after.as_deref())
                } else {
                    Vec::new()
                },
                what: in_words(&action),
            })
        },
    )?;
    let mut changes = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    for change in &mut changes {
        change.who = actor::called(connection, &change.who)?;
    }
    Ok(changes)
}

fn in_words(action: &str) -> String {
    match action {
        "create" => "made it",
        "import" => "imported it",
        "update" => "changed",
        "delete" => "deleted it",
        "restore" => "restored it",
        other => other,
    }
    .to_owned()
}

/// The properties that differ, `data` by its sections and keys.
fn parts(before: Option<&str>, after: Option<&str>) -> Vec<Part> {
    let read = |text: Option<&str>| {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or(Value::Null)
    };
    let mut parts = Vec::new();
    differing("", &read(before), &read(after), 0, &mut parts);
    parts
}

fn differing(name: &str, before: &Value, after: &Value, depth: usize, parts: &mut Vec<Part>) {
    if before == after {
        return;
    }
    let empty = serde_json::Map::new();
    let both = match (before, after) {
        (Value::Object(before), Value::Object(after)) => Some((before, after)),
        (Value::Object(before), Value::Null) if depth < 3 => Some((before, &empty)),
        (Value::Null, Value::Object(after)) if depth < 3 => Some((&empty, after)),
        _ => None,
    };
    let Some((before_parts, after_parts)) = both.filter(|_| depth < 3) else {
        parts.push(Part {
            name: name.to_owned(),
            before: shown(before),
            after: shown(after),
        });
        return;
    };
    let mut names: Vec<&String> = before_parts.keys().collect();
    names.extend(
        after_parts
            .keys()
            .filter(|name| !before_parts.contains_key(*name)),
    );
    for part in names {
        // Every change through the console adds that it came from there.
        if depth == 0 && (part == "sources" || part == "updatedAt") {
            continue;
        }
        let path = if name.is_empty() {
            part.clone()
        } else {
            format!("{name}.{part}")
        };
        let of = |parts: &serde_json::Map<String, Value>| {
            parts.get(part).cloned().unwrap_or(Value::Null)
        };
        differing(&path, &of(before_parts), &of(after_parts), depth + 1, parts);
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut letters = text.chars();
    let head: String = letters.by_ref().take(VALUE_MAX_CHARS).collect();
    if letters.next().is_some() {
        head + "…"
    } else {
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_the_keys_that_differ() {
        let before = r#"{"name": "Gate B", "sources": ["api"], "data": {"Access": {"entry": "multiple", "capacity": 5}, "Data": {"x": 1}}}"#;
        let after = r#"{"name": "Gate C", "sources": ["api", "admin"], "data": {"Access": {"entry": "single", "capacity": 5}, "Data": {"x": 1}, "New": {"a": [1]}}}"#;
        let told: Vec<_> = parts(Some(before), Some(after))
            .into_iter()
            .map(|part| (part.name, part.before, part.after))
            .collect();
        let expected = [
            ("name", "Gate B", "Gate C"),
            ("data.Access.entry", "multiple", "single"),
            ("data.New.a", "nothing", "[1]"),
        ];
        assert_eq!(
            told,
            expected.map(|(name, before, after)| (name.into(), before.into(), after.into()))
        );
    }
}
