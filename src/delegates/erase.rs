//! Erasing a person (contract §8): out of everything, record, users, interactions, purchases, audit,
//! stored answers, refusals, messages and the search index, merged records included. What a backup
//! holds, it still holds; whoever erases is told which those are.
//!
//! First the record is deleted softly, so that nothing is added to it; then what it left is found,
//! beside the writer; then all of it goes in one transaction. Interrupted between, it is a deleted
//! record, which can be erased again. Last the search index and the write-ahead log are rid of what
//! they have; a start goes on with that where it was cut off.

use super::{
    RESOURCE, blocked, copies,
    erased::{self, Kind as Erased},
};
use crate::{
    app::App,
    audit::{self, Change},
    auth::{Context, keyed::Key, users},
    error::{Error, Kind, Result},
    idempotency,
    interactions::forget,
    records::write,
    store::{Store, Tx},
    transactions::{self, ERASED},
    types::{DelegateId, Timestamp, UserId},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Pages of the search index that are merged in one go; it takes a few milliseconds.
const MERGED_PAGES: i64 = 16;

/// Erases a delegate, deleted or not: what copies of the file still have them. `leaver` is the user
/// who asks to be erased, and goes too whatever else it may do; other users of the crew are only
/// untied.
///
/// # Errors
/// [`Kind::DelegateNotFound`]; [`Kind::Forbidden`] for the last administrator who can sign in; what
/// keeps the store from writing.
pub async fn erase(
    app: &App,
    ctx: Context,
    id: i64,
    leaver: Option<UserId>,
) -> Result<Vec<String>> {
    let store = &app.store;
    let of_begin = ctx.clone();
    store
        .write(move |tx| begin(tx, &of_begin, id, leaver))
        .await?;
    let database = store.path().to_owned();
    let (traces, copies) = store
        .read(move |connection| {
            let traces = traces(connection, id)?;
            Ok((traces, copies::of(connection, &database, id)?))
        })
        .await?;
    let told = copies.clone();
    store
        .write(move |tx| finish(tx, &ctx, id, leaver, &traces, &copies))
        .await?;
    store.wipe_log();
    wipe_soon(app);
    Ok(told)
}

/// Has the last traces of whoever was erased wiped, beside everything else: it may take a minute, and
/// they are gone from everything that is read by now. To be called as well when a run begins, for what
/// an earlier one was cut off from.
pub fn wipe_soon(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(cause) = wipe(&app.store).await {
            tracing::warn!(
                "search index or log still have letters of somebody who was erased: {cause}"
            );
        }
    });
}

/// Takes the last traces out of the search index, the gaps of the file's pages, and the log.
async fn wipe(store: &Store) -> Result<()> {
    if !store.look_up(erased::is_unfinished)? {
        return Ok(());
    }
    let begun = Timestamp::now();
    wipe_index(store).await?;
    store.scrub().await?;
    store.write(move |tx| erased::mark_wiped(tx, begun)).await?;
    store.wipe_log();
    Ok(())
}

/// Erases a delegate within one transaction, for a file that nobody waits for.
///
/// # Errors
/// When it cannot be written.
pub fn at_once(tx: &Tx<'_>, id: i64) -> Result<()> {
    let traces = traces(tx, id)?;
    take_out(tx, &traces, None)
}

/// Has the search index write itself anew without what was deleted from it, in slices that let
/// gates go first.
///
/// # Errors
/// When it cannot be written.
async fn wipe_index(store: &Store) -> Result<()> {
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
    /// The newest answer that was looked at.
    newest_answer: i64,
    /// Selectors of every code that was ever theirs.
    selectors: BTreeSet<String>,
    /// What gate notes said, and why codes were blocked.
    said: BTreeSet<String>,
    /// What is said of a code of theirs that was not found.
    missing: BTreeSet<String>,
    purchases: transactions::erase::Traces,
}

fn begin(tx: &Tx<'_>, ctx: &Context, id: i64, leaver: Option<UserId>) -> Result<()> {
    if let Some(user) = leaver {
        check_leaver(tx, user)?;
    }
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

fn check_leaver(tx: &Tx<'_>, user: UserId) -> Result<()> {
    if users::is_last_administrator(tx, user)? {
        return Err(Error::new(
            Kind::Forbidden,
            "this user is the last administrator who can sign in; make another user administrator first",
        ));
    }
    Ok(())
}

fn traces(connection: &Connection, id: i64) -> Result<Traces> {
    let mut traces = Traces {
        people: records_of(connection, id)?,
        newest_answer: idempotency::newest(connection)?,
        ..Traces::default()
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
    traces.purchases = transactions::erase::traces(connection, &traces.people)?;
    traces.answers = idempotency::holding(connection, &traces.texts(), 0)?;
    Ok(traces)
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

impl Traces {
    /// What stands in a stored answer that tells of the person.
    fn texts(&self) -> Vec<String> {
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

    fn is_one(&self, value: &Value) -> bool {
        let id = value["id"].as_i64().map(DelegateId);
        id.is_some_and(|id| self.people.contains(&id))
    }
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

fn finish(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    leaver: Option<UserId>,
    traces: &Traces,
    copies: &[String],
) -> Result<()> {
    take_out(tx, traces, leaver)?;
    let after = (!copies.is_empty()).then(|| json!({"stillInCopies": copies}));
    audit::append(
        tx,
        ctx,
        &Change {
            action: "erase",
            record_type: RESOURCE.name,
            record_id: Some(id),
            before: None,
            after,
        },
    )
}

fn take_out(tx: &Tx<'_>, traces: &Traces, leaver: Option<UserId>) -> Result<()> {
    // A scan that was known already may have been answered once more since the traces were found.
    let late = idempotency::holding(tx, &traces.texts(), traces.newest_answer)?;
    for place in traces.answers.iter().chain(&late) {
        idempotency::rewrite(tx, *place, |body| without(body, traces))?;
    }
    remove_refusals(tx, traces)?;
    transactions::erase::forget(tx, &traces.purchases)?;
    for (person, interactions) in traces.people.iter().zip(&traces.interactions) {
        forget::forget(tx, *person, interactions)?;
        remove_users(tx, *person, leaver)?;
        for sql in [
            "DELETE FROM messages WHERE delegate_id = ?1
             OR (delegate_id IS NULL AND address COLLATE NOCASE IN (
                 SELECT email FROM delegates WHERE id = ?1
                 UNION SELECT phone FROM delegates WHERE id = ?1))",
            "DELETE FROM webhook_attempts WHERE ?1 IN (SELECT value FROM json_each(people))",
            "DELETE FROM batch_rows WHERE record_id = ?1
             AND batch_id IN (SELECT id FROM batches WHERE kind = 'delegates')",
            "DELETE FROM audit WHERE record_type = 'delegate' AND record_id = ?1",
            "UPDATE delegates SET parent_id = NULL WHERE parent_id = ?1",
            "UPDATE delegates SET previous_id = NULL WHERE previous_id = ?1",
            "UPDATE delegates SET owner_id = NULL WHERE owner_id = ?1",
        ] {
            tx.prepare_cached(sql)?.execute([person])?;
        }
        erased::note(tx, Erased::Delegate, person.0)?;
        remove_record(tx, *person)?;
    }
    Ok(())
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

/// Refusals of the person, and of its codes as they were scanned: apps try one code as several types,
/// and scanners add white space or change its case.
fn remove_refusals(tx: &Tx<'_>, traces: &Traces) -> Result<()> {
    let scanned = |selector: &String| match selector.split_once(':') {
        Some((kind, code)) if kind != "id" => Some(code.trim().to_lowercase()),
        _ => None,
    };
    let codes: BTreeSet<String> = traces.selectors.iter().filter_map(scanned).collect();
    tx.prepare_cached(
        "DELETE FROM refusals WHERE delegate_id IN (SELECT value FROM json_each(?1))
         OR delegate IN (SELECT value FROM json_each(?2))
         OR message IN (SELECT value FROM json_each(?3))",
    )?
    .execute((
        json!(traces.people).to_string(),
        json!(traces.selectors).to_string(),
        json!(traces.missing).to_string(),
    ))?;
    let mut unknown = tx.prepare_cached(
        "SELECT id, delegate FROM refusals WHERE delegate_id IS NULL AND delegate IS NOT NULL",
    )?;
    let unknown: Vec<(i64, String)> = unknown
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (id, selector) in unknown {
        if scanned(&selector).is_some_and(|code| codes.contains(&code)) {
            tx.prepare_cached("DELETE FROM refusals WHERE id = ?1")?
                .execute([id])?;
        }
    }
    Ok(())
}

/// A user that the person signs in as goes with it; others of the crew are only untied.
fn remove_users(tx: &Tx<'_>, person: DelegateId, leaver: Option<UserId>) -> Result<()> {
    let mut own = tx.prepare_cached(
        "SELECT id FROM users WHERE delegate_id = ?1 AND (console_role IS NULL OR id IS ?2)",
    )?;
    let own: Vec<UserId> = own
        .query_map((person, leaver), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for user in own {
        check_leaver(tx, user)?;
        remove_user(tx, user)?;
    }
    let untied = tx
        .prepare_cached("UPDATE users SET delegate_id = NULL WHERE delegate_id = ?1")?
        .execute([person])?;
    if untied > 0 {
        tx.outdate_caches();
    }
    Ok(())
}

/// Removes a user with its tokens, sessions, codes to sign in by, mails with those, and what the audit
/// tells of it.
pub(super) fn remove_user(tx: &Tx<'_>, user: UserId) -> Result<()> {
    let email: Option<String> = tx
        .prepare_cached("SELECT email FROM users WHERE id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    if let Some(email) = email {
        if let Some(key) = Key::find(tx)? {
            tx.prepare_cached("DELETE FROM one_time_passwords WHERE address = ?1")?
                .execute([key.hash_address(&email)?])?;
        }
        tx.prepare_cached(
            "DELETE FROM messages WHERE delegate_id IS NULL AND address = ?1 COLLATE NOCASE",
        )?
        .execute([email])?;
    }
    erased::note(tx, Erased::User, user.0)?;
    tx.prepare_cached("DELETE FROM audit WHERE record_type = 'user' AND record_id = ?1")?
        .execute([user])?;
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user])?;
    tx.outdate_caches();
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
        if traces.is_one(made) {
            made["barcode"] = ERASED.into();
        }
    }
}

fn tells_of(answer: &Value, traces: &Traces) -> bool {
    let (data, meta) = (&answer["data"], &answer["meta"]);
    let told = [&meta["note"]["note"], &meta["error"]["message"]];
    let told = told.iter().filter_map(|told| told.as_str()).any(|told| {
        traces.missing.contains(told) || traces.said.iter().any(|words| told.contains(words))
    });
    told || match data["_type"].as_str() {
        Some("delegate") => traces.is_one(data),
        Some("interaction") => ["firstDelegate", "secondDelegate", "thirdDelegate"]
            .iter()
            .any(|place| traces.is_one(&data[*place])),
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
            said: BTreeSet::from(["nuts".to_owned()]),
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
