//! The changes of a record as people read them: who, when, and of each property before and after.

use super::label;
use crate::types::{Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value};

/// Lines of a page.
const LINES: i64 = 20;

/// A change.
pub(super) struct Change {
    id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// Property by property.
    pub lines: Vec<Line>,
}

/// A property before and after; empty where it was or is not there.
pub(super) struct Line {
    /// What the property is called.
    pub property: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// The changes of a record, the newest first, and where older ones begin.
pub(super) fn changes(
    connection: &Connection,
    record_type: &str,
    id: i64,
    before: Option<i64>,
) -> Result<(Vec<Change>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, actor, action, before, after FROM audit
         WHERE record_type = ?1 AND record_id = ?2 AND id < ?3
         UNION ALL SELECT r.change_id, d.created_at, b.actor, 'import', NULL,
             json_object('Import', b.id || ': ' || b.file_name)
         FROM batch_rows r CROSS JOIN batches b ON b.id = r.batch_id JOIN delegates d ON d.id = r.record_id
         WHERE ?1 = 'delegate' AND r.record_id = ?2 AND b.kind = 'delegates' AND r.change_id < ?3
         ORDER BY 1 DESC LIMIT ?4",
    )?;
    let mut rows = statement.query(rusqlite::params![
        record_type,
        id,
        before.unwrap_or(i64::MAX),
        LINES + 1
    ])?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        let actor: String = row.get(2)?;
        let action: String = row.get(3)?;
        let (before, after): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
        changes.push(Change {
            id: row.get(0)?,
            at: row.get(1)?,
            actor: called(connection, &actor)?,
            lines: lines(before.as_deref(), after.as_deref()),
            action: done(&action).to_owned(),
        });
    }
    let more = changes.len() > usize::try_from(LINES).unwrap_or_default();
    if more {
        changes.pop();
    }
    let next = changes.last().map(|last| last.id).filter(|_| more);
    Ok((changes, next))
}

fn done(action: &str) -> &str {
    match action {
        "create" => "created",
        "import" => "imported",
        "update" => "changed",
        "delete" => "deleted",
        "restore" => "restored",
        "merge" => "merged",
        "block" => "blocked a code",
        "unblock" => "unblocked a code",
        other => other,
    }
}

/// An actor of the audit, as people call it.
pub(super) fn called(connection: &Connection, actor: &str) -> Result<String> {
    if let Some(user) = actor.strip_prefix("user:") {
        let email: Option<String> = connection
            .prepare_cached("SELECT email FROM users WHERE id = ?1")?
            .query_row([user], |row| row.get(0))
            .optional()?;
        return Ok(email.unwrap_or_else(|| format!("user {user}")));
    }
    if let Some(client) = actor.strip_prefix("client:") {
        let name: Option<String> = connection
            .prepare_cached("SELECT name FROM clients WHERE client_id = ?1")?
            .query_row([client], |row| row.get(0))
            .optional()?;
        return Ok(name.unwrap_or_else(|| format!("client {client}")));
    }
    Ok(match actor.strip_prefix("import:") {
        Some(batch) => format!("import {batch}"),
        None if actor == "cli" => "the command line".to_owned(),
        None => actor.to_owned(),
    })
}

fn lines(before: Option<&str>, after: Option<&str>) -> Vec<Line> {
    let read = |text: Option<&str>| -> Vec<(String, String)> {
        let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut values = Vec::new();
        if let Some(Value::Object(properties)) = value {
            for (name, value) in shown(&properties) {
                flatten(label(name), value, &mut values);
            }
        }
        values
    };
    let (before, after) = (read(before), read(after));
    let value_of = |values: &[(String, String)], property: &str| {
        let found = values.iter().find(|(name, _)| name == property);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut lines: Vec<Line> = Vec::new();
    for (property, _) in before.iter().chain(&after) {
        if lines.iter().any(|line| line.property == *property) {
            continue;
        }
        let line = Line {
            before: value_of(&before, property),
            after: value_of(&after, property),
            property: property.clone(),
        };
        if line.before != line.after {
            lines.push(line);
        }
    }
    lines
}

/// Properties that tell people something.
fn shown(properties: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    const KEPT: [&str; 5] = ["id", "_type", "createdAt", "updatedAt", "sources"];
    properties
        .iter()
        .filter(|(name, _)| !KEPT.contains(&name.as_str()))
}

/// The values of a document, each by its path.
pub(super) fn flatten(path: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) if is_reference(object) => {
            out.push((path.to_owned(), format!("No. {}", object["id"])));
        }
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path} › {key}")
                };
                flatten(&path, value, out);
            }
        }
        Value::String(text) => out.push((path.to_owned(), text.clone())),
        Value::Bool(flag) => out.push((path.to_owned(), if *flag { "yes" } else { "no" }.into())),
        Value::Null => {}
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            let items: Vec<String> = items.iter().map(plain).collect();
            out.push((path.to_owned(), items.join(", ")));
        }
        other => out.push((path.to_owned(), other.to_string())),
    }
}

fn is_reference(object: &Map<String, Value>) -> bool {
    object.len() == 2 && object.contains_key("id") && object.contains_key("_type")
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_value_by_value() {
        let told = lines(
            Some(
                r#"{"firstName":"Ada","data":{"Data":{"meal":"vegan","size":"M"}},"updatedAt":"a"}"#,
            ),
            Some(
                r#"{"firstName":"Ada L.","data":{"Data":{"meal":"any","size":"M"}},"parent":{"id":7,"_type":"delegate"}}"#,
            ),
        );
        let told: Vec<String> = told
            .iter()
            .map(|line| format!("{}: {} -> {}", line.property, line.before, line.after))
            .collect();
        assert_eq!(
            told,
            [
                "First name: Ada -> Ada L.",
                "Details › Data › meal: vegan -> any",
                "Belongs to:  -> No. 7",
            ]
        );
    }
}
