//! What a person left, and where it stands.

use crate::{
    core::idempotency,
    domain::{
        delegates::{RESOURCE, blocked},
        interactions::forget,
        sales,
    },
    types::{DelegateId, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a person left that takes a while to find.
#[derive(Debug, Default)]
pub struct Traces {
    /// The records, merged ones included.
    pub people: Vec<DelegateId>,
    pub interactions: Vec<forget::Traces>,
    pub answers: Vec<idempotency::Place>,
    /// The newest answer that was looked at.
    pub newest_answer: i64,
    /// Selectors of every code that was ever theirs.
    pub selectors: BTreeSet<String>,
    /// What gate notes said, and why codes were blocked.
    pub said: BTreeSet<String>,
    /// What is said of a code of theirs that was not found.
    pub missing: BTreeSet<String>,
    pub purchases: sales::erase::Traces,
}

impl Traces {
    /// What a delegate left, with those that were merged into it.
    pub fn find(connection: &Connection, id: i64) -> Result<Self> {
        let mut traces = Self {
            people: records_of(connection, id)?,
            newest_answer: idempotency::newest(connection)?,
            ..Self::default()
        };
        for person in &traces.people {
            traces
                .interactions
                .push(forget::traces(connection, *person)?);
            let mut notes = connection.prepare(
                "SELECT note FROM gate_notes WHERE delegate_id = ?1
                 UNION SELECT before ->> '$.gateNote.note' FROM audit WHERE record_type = 'delegate' AND record_id = ?1
                 UNION SELECT after ->> '$.gateNote.note' FROM audit WHERE record_type = 'delegate' AND record_id = ?1
                 UNION SELECT reason FROM blocked_codes WHERE delegate_id = ?1",
            )?;
            let notes = notes.query_map([person], |row| row.get::<_, Option<String>>(0))?;
            for note in notes {
                traces.said.extend(note?);
            }
            traces.selectors.extend(selectors(connection, *person)?);
        }
        for reason in blocked::REASONS.iter().chain([&blocked::MERGED]) {
            // These words tell nothing of anybody.
            traces.said.remove(*reason);
        }
        let missing = traces.selectors.iter();
        let missing = missing.map(|selector| RESOURCE.missing(selector).message);
        traces.missing = missing.collect();
        traces.purchases = sales::erase::traces(connection, &traces.people)?;
        traces.answers = idempotency::holding(connection, &traces.texts(), 0)?;
        Ok(traces)
    }

    /// What stands in a stored answer that tells of the person.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for person in &self.people {
            texts.push(format!("\"id\":{person},\"_type\":\"delegate\""));
            // As the answer to a purchase names who was made for it.
            texts.push(format!("\"id\":{person},\"barcode\":"));
        }
        // As it stands within a longer string.
        texts.extend(self.said.iter().chain(&self.missing).map(|words| {
            let quoted = json!(words).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }));
        texts
    }

    pub fn is_one(&self, value: &Value) -> bool {
        let id = value["id"].as_i64().map(DelegateId);
        id.is_some_and(|id| self.people.contains(&id))
    }
}

/// Every code that a delegate has or had, as scans name it.
fn selectors(connection: &Connection, person: DelegateId) -> Result<BTreeSet<String>> {
    let mut selectors = BTreeSet::from([format!("id:{person}")]);
    for blocked in blocked::of(connection, person.0)? {
        selectors.insert(format!("{}:{}", blocked.kind, blocked.value));
    }
    for (column, name) in RESOURCE.codes() {
        let mut values = connection.prepare_cached(&format!(
            "SELECT {column} FROM delegates WHERE id = ?1
             UNION SELECT before ->> '$.{name}' FROM audit WHERE record_type = 'delegate' AND record_id = ?1
             UNION SELECT after ->> '$.{name}' FROM audit WHERE record_type = 'delegate' AND record_id = ?1"
        ))?;
        let values = values.query_map([person], |row| row.get::<_, Option<String>>(0))?;
        for value in values {
            selectors.extend(value?.map(|value| format!("{name}:{value}")));
        }
    }
    Ok(selectors)
}

/// The record and those that were merged into it.
fn records_of(connection: &Connection, id: i64) -> Result<Vec<DelegateId>> {
    let mut people = vec![DelegateId(id)];
    let mut merged = connection.prepare(
        "SELECT previous_id FROM delegates WHERE id = ?1 AND EXISTS (
             SELECT 1 FROM audit WHERE record_type = 'delegate' AND record_id = previous_id
             AND action = 'merge' AND after ->> '$.into' IS NOT NULL)",
    )?;
    let mut last = id;
    while let Some(previous) = merged
        .query_row([last], |row| row.get::<_, i64>(0))
        .optional()?
        .filter(|previous| !people.contains(&DelegateId(*previous)))
    {
        people.push(DelegateId(previous));
        last = previous;
    }
    Ok(people)
}
