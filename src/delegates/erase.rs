//! Erasing a person (contract §8): out of everything, record, interactions, purchases, audit, stored
//! answers, refusals, messages and the search index, merged records included. What a backup holds, it still
//! holds.
//!
//! First the record is deleted softly, so that nothing is added to it; then what it left is found,
//! beside the writer; then all of it goes in one transaction. Interrupted between, it is a deleted
//! record, which can be erased again.

use super::{RESOURCE, blocked};
use crate::{
    audit::{self, Change},
    auth::Context,
    error::Result,
    idempotency,
    interactions::forget,
    records::write,
    store::{Store, Tx},
    transactions::{self, ERASED},
    types::DelegateId,
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Pages of the search index that are merged in one go; it takes a few milliseconds.
const MERGED_PAGES: i64 = 16;

/// Erases a delegate, deleted or not. The search index keeps three letters here and there until
/// [`wipe_index`] is done.
///
/// # Errors
/// [`crate::error::Kind::DelegateNotFound`], and what keeps the store from writing.
pub async fn erase(store: &Store, ctx: Context, id: i64) -> Result<()> {
    let of_begin = ctx.clone();
    store.write(move |tx| begin(tx, &of_begin, id)).await?;
    let traces = store.read(move |connection| traces(connection, id)).await?;
    store.write(move |tx| finish(tx, &ctx, id, &traces)).await
}

/// Has the search index write itself anew without what was deleted from it, in slices that let
/// gates go first.
///
/// # Errors
/// When it cannot be written.
pub async fn wipe_index(store: &Store) -> Result<()> {
    let mut pages = -MERGED_PAGES;
    loop {
        let changed = store.write_bulk(move |tx| merge_index(tx, pages)).await?;
        if !changed {
            return Ok(());
        }
        pages = MERGED_PAGES;
    }
}

/// Merges a part of the search index; negative pages begin with all of it. Whether there was
/// anything to do.
fn merge_index(tx: &Tx<'_>, pages: i64) -> Result<bool> {
    let before = tx.total_changes();
    tx.prepare_cached(
        "INSERT INTO delegates_search (delegates_search, rank) VALUES ('merge', ?1)",
    )?
    .execute([pages])?;
    // One change is the statement's own.
    Ok(tx.total_changes() - before > 1)
}

/// What a person left that takes a while to find.
#[derive(Debug, Default)]
pub struct Traces {
    /// The records, merged ones included.
    people: Vec<DelegateId>,
    interactions: Vec<forget::Traces>,
    answers: Vec<idempotency::Place>,
    /// What gate notes said.
    notes: BTreeSet<String>,
    purchases: transactions::erase::Traces,
}

fn begin(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let alive: Option<bool> = tx
        .prepare_cached("SELECT deleted_at IS NULL FROM delegates WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    match alive {
        None => Err(RESOURCE.missing(&id)),
        Some(true) => write::delete(tx, ctx, &RESOURCE, id),
        Some(false) => Ok(()),
    }
}

fn traces(connection: &Connection, id: i64) -> Result<Traces> {
    let mut traces = Traces {
        people: records_of(connection, id)?,
        ..Traces::default()
    };
    let mut texts = Vec::new();
    for person in &traces.people {
        traces
            .interactions
            .push(forget::traces(connection, *person)?);
        let mut notes = connection.prepare(
            "SELECT note FROM gate_notes WHERE delegate_id = ?1
             UNION SELECT before ->> '$.gateNote.note' FROM audit WHERE record_type = 'delegate' AND record_id = ?1
             UNION SELECT after ->> '$.gateNote.note' FROM audit WHERE record_type = 'delegate' AND record_id = ?1",
        )?;
        let notes = notes.query_map([person], |row| row.get::<_, Option<String>>(0))?;
        for note in notes {
            traces.notes.extend(note?);
        }
        texts.push(format!("\"id\":{person},\"_type\":\"delegate\""));
        // In the answer to a purchase.
        texts.push(format!("\"id\":{person},\"barcode\""));
    }
    traces.purchases = transactions::erase::traces(connection, &traces.people)?;
    texts.extend(traces.notes.iter().map(|note| json!(note).to_string()));
    traces.answers = idempotency::holding(connection, &texts)?;
    Ok(traces)
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

fn finish(tx: &Tx<'_>, ctx: &Context, id: i64, traces: &Traces) -> Result<()> {
    for place in &traces.answers {
        idempotency::rewrite(tx, *place, |body| without(body, traces))?;
    }
    transactions::erase::forget(tx, &traces.purchases)?;
    for (person, interactions) in traces.people.iter().zip(&traces.interactions) {
        forget::forget(tx, *person, interactions)?;
        remove_refusals(tx, *person)?;
        remove_user(tx, *person)?;
        for sql in [
            "DELETE FROM messages WHERE delegate_id = ?1
             OR (delegate_id IS NULL AND address COLLATE NOCASE IN (
                 SELECT email FROM delegates WHERE id = ?1
                 UNION SELECT phone FROM delegates WHERE id = ?1))",
            "DELETE FROM batch_rows WHERE record_id = ?1
             AND batch_id IN (SELECT id FROM batches WHERE kind = 'delegates')",
            "DELETE FROM audit WHERE record_type = 'delegate' AND record_id = ?1",
            "UPDATE delegates SET parent_id = NULL WHERE parent_id = ?1",
            "UPDATE delegates SET previous_id = NULL WHERE previous_id = ?1",
            "UPDATE delegates SET owner_id = NULL WHERE owner_id = ?1",
        ] {
            tx.prepare_cached(sql)?.execute([person])?;
        }
        remove_record(tx, *person)?;
    }
    audit::append(
        tx,
        ctx,
        &Change {
            action: "erase",
            record_type: RESOURCE.name,
            record_id: Some(id),
            before: None,
            after: None,
        },
    )
}

/// The record itself, with its note and blocked codes; the search index wipes what it has of it at
/// once, which takes too long to do it for everybody.
fn remove_record(tx: &Tx<'_>, person: DelegateId) -> Result<()> {
    let wiping = |on: bool| -> Result<()> {
        tx.prepare_cached(
            "INSERT INTO delegates_search (delegates_search, rank) VALUES ('secure-delete', ?1)",
        )?
        .execute([on])?;
        Ok(())
    };
    wiping(true)?;
    tx.prepare_cached("DELETE FROM delegates WHERE id = ?1")?
        .execute([person])?;
    wiping(false)
}

/// Refusals of the person, and of its codes as they were scanned.
fn remove_refusals(tx: &Tx<'_>, person: DelegateId) -> Result<()> {
    let mut selectors = vec![format!("id:{person}")];
    for blocked in blocked::of(tx, person.0)? {
        selectors.push(format!("{}:{}", blocked.kind, blocked.value));
    }
    for (column, name) in RESOURCE.codes() {
        let value: Option<String> = tx
            .prepare_cached(&format!("SELECT {column} FROM delegates WHERE id = ?1"))?
            .query_row([person], |row| row.get(0))?;
        selectors.extend(value.map(|value| format!("{name}:{value}")));
    }
    tx.prepare_cached(
        "DELETE FROM refusals WHERE delegate_id = ?1
         OR delegate IN (SELECT value FROM json_each(?2))",
    )?
    .execute((person, json!(selectors).to_string()))?;
    Ok(())
}

/// A user that the person signs in as goes with it; one of the crew is only untied.
fn remove_user(tx: &Tx<'_>, person: DelegateId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM audit WHERE record_type = 'user' AND record_id IN
         (SELECT id FROM users WHERE delegate_id = ?1 AND console_role IS NULL)",
    )?
    .execute([person])?;
    let gone = tx
        .prepare_cached("DELETE FROM users WHERE delegate_id = ?1 AND console_role IS NULL")?
        .execute([person])?;
    let untied = tx
        .prepare_cached("UPDATE users SET delegate_id = NULL WHERE delegate_id = ?1")?
        .execute([person])?;
    if gone + untied > 0 {
        tx.outdate_caches();
    }
    Ok(())
}

/// A stored answer without what it says of the person: an envelope, or items of a batch.
fn without(body: &str, traces: &Traces) -> String {
    let blank = |answer: &mut Value| {
        if answer["data"]["_type"] == "transaction" {
            forget_ticket(&mut answer["data"], traces);
        } else if tells_of(answer, traces) {
            answer["data"] = json!({});
            answer["meta"] = json!({"replayed": true});
        }
    };
    if let Ok(Value::Array(mut items)) = serde_json::from_str(&format!("[{body}]")) {
        items.iter_mut().for_each(blank);
        let items: Vec<String> = items.iter().map(Value::to_string).collect();
        return items.join(",");
    }
    // It cannot be read, so nobody can tell what it says.
    json!({"data": {}, "meta": {"replayed": true}}).to_string()
}

/// The answer to a purchase without the code of the person's ticket.
fn forget_ticket(purchase: &mut Value, traces: &Traces) {
    let made = purchase["delegates"].as_array_mut();
    for made in made.into_iter().flatten() {
        let id = made["id"].as_i64().map(DelegateId);
        if id.is_some_and(|id| traces.people.contains(&id)) {
            made["barcode"] = ERASED.into();
        }
    }
}

fn tells_of(answer: &Value, traces: &Traces) -> bool {
    let data = &answer["data"];
    let is_one = |value: &Value| {
        let id = value["id"].as_i64().map(DelegateId);
        id.is_some_and(|id| traces.people.contains(&id))
    };
    let noted = answer["meta"]["note"]["note"]
        .as_str()
        .is_some_and(|note| traces.notes.contains(note));
    noted
        || match data["_type"].as_str() {
            Some("delegate") => is_one(data),
            Some("interaction") => ["firstDelegate", "secondDelegate", "thirdDelegate"]
                .iter()
                .any(|place| is_one(&data[*place])),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_answer_loses_what_it_says_of_the_person_alone() {
        let traces = Traces {
            people: vec![DelegateId(7)],
            notes: BTreeSet::from(["nuts".to_owned()]),
            ..Traces::default()
        };
        let gone = r#"{"data":{},"meta":{"replayed":true}}"#;
        for (body, kept) in [
            (
                r#"{"data":{"id":7,"_type":"delegate","firstName":"Ada"},"meta":{}}"#,
                gone,
            ),
            (
                r#"{"data":{"id":8,"_type":"delegate","parent":{"id":7,"_type":"delegate"}},"meta":{}}"#,
                r#"{"data":{"id":8,"_type":"delegate","parent":{"id":7,"_type":"delegate"}},"meta":{}}"#,
            ),
            (
                r#"{"data":{"id":1,"_type":"transaction","delegates":[{"id":7,"barcode":"A"},{"id":8,"barcode":"B"}]},"meta":{}}"#,
                r#"{"data":{"id":1,"_type":"transaction","delegates":[{"id":7,"barcode":"[erased]"},{"id":8,"barcode":"B"}]},"meta":{}}"#,
            ),
            (
                r#"{"key":"a","status":201,"data":{"id":1,"_type":"interaction","secondDelegate":{"id":7,"_type":"delegate"}},"meta":{}},{"key":"b","status":412,"data":{},"meta":{"error":{},"note":{"level":"info","note":"nuts"}}},{"key":"c","status":404,"data":{},"meta":{}}"#,
                r#"{"key":"a","status":201,"data":{},"meta":{"replayed":true}},{"key":"b","status":412,"data":{},"meta":{"replayed":true}},{"key":"c","status":404,"data":{},"meta":{}}"#,
            ),
        ] {
            assert_eq!(without(body, &traces), kept);
        }
    }
}
