//! The changes of one record, for its page: when, by whom, and what differs.

use super::differences::{Differences, differences};
use crate::{
    core::audit::{self, Actor, Entry, HistoryOf},
    types::{Timestamp, error::Result},
};
use rusqlite::Connection;
use serde_json::Value;

/// A change.
pub struct Change {
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub deed: String,
    /// By whom.
    pub who: String,
    /// What differs.
    pub differences: Differences,
}

/// What every change writes anew.
const KEPT: [&str; 5] = ["id", "_type", "createdAt", "updatedAt", "sources"];

/// The changes of a record, the newest first, and where older ones begin.
pub fn changes(
    connection: &Connection,
    of: HistoryOf,
    before: Option<i64>,
    limit: usize,
) -> Result<(Vec<Change>, Option<i64>)> {
    let mut entries = audit::history(connection, of, before, limit + 1)?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().map(|last| last.id).filter(|_| more);
    let changes = entries
        .into_iter()
        .map(|entry| Change::of(connection, entry));
    Ok((changes.collect::<Result<_>>()?, next))
}

impl Change {
    fn of(connection: &Connection, mut entry: Entry) -> Result<Self> {
        for document in [&mut entry.before, &mut entry.after] {
            if let Some(Value::Object(properties)) = document {
                properties.retain(|name, _| !KEPT.contains(&name.as_str()));
            }
        }
        Ok(Self {
            at: entry.at,
            deed: done(&entry.action).to_owned(),
            who: Actor::of(connection, &entry.actor)?.name(),
            differences: differences(entry.before.as_ref(), entry.after.as_ref()),
        })
    }
}

fn done(action: &str) -> &str {
    match action {
        "create" => "Created",
        "import" => "Imported",
        "update" => "Changed",
        "delete" => "Deleted",
        "restore" => "Restored",
        "merge" => "Merged",
        "block" => "Code blocked",
        "unblock" => "Code unblocked",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;
    use serde_json::json;

    #[test]
    fn a_change_is_told_value_by_value() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let entry = Entry {
            id: 1,
            at: Timestamp(1),
            actor: "cli".into(),
            request_id: None,
            action: "update".into(),
            record_type: "delegate".into(),
            record_id: Some(7),
            before: Some(
                json!({"firstName": "Ada", "data": {"Data": {"meal": "vegan", "size": "M"}}, "updatedAt": "a"}),
            ),
            after: Some(
                json!({"firstName": "Ada L.", "data": {"Data": {"meal": "any", "size": "M"}},
                       "parent": {"id": 7, "_type": "delegate"}, "sources": ["admin"]}),
            ),
        };
        let change = Change::of(&file, entry).unwrap();
        assert_eq!((&*change.deed, &*change.who), ("Changed", "command line"));
        let rows = change.differences.rows.iter();
        let told: Vec<String> = rows
            .map(|row| format!("{}: {} -> {}", row.what, row.before, row.after))
            .collect();
        assert_eq!(
            told,
            [
                "First name: Ada -> Ada L.",
                "Data › Data › meal: vegan -> any",
                "Parent:  -> No. 7",
            ]
        );
    }
}
