//! Finds what a person left, and removes it, from stored answers too.

use super::{
    check_leaver,
    noted::{self, Kind as Erased},
    purchases,
};
use crate::{
    core::{
        changes::{self, action},
        head_office, idempotency,
        keyed::Key,
        settings,
    },
    db::{
        Tx, search_index,
        tables::{Content, TABLES, Table},
    },
    domain::{
        delegates::{RESOURCE, blocked},
        interactions::{refusals, remove},
        sales::ERASED,
    },
    types::{
        DelegateId, UserId,
        error::Result,
        scanned::likely_code,
        signed_ticket::{Serial, SignedTicket},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Traces of a person that take a while to find.
#[derive(Debug, Default)]
pub struct Traces {
    /// The records, merged ones included.
    pub people: Vec<DelegateId>,
    pub interactions: Vec<remove::Traces>,
    pub answers: Vec<idempotency::Place>,
    /// The newest answer that was looked at.
    pub newest_answer: i64,
    /// Selectors of every code that was ever theirs.
    pub selectors: BTreeSet<String>,
    /// Texts of gate notes, and why codes were blocked.
    pub said: BTreeSet<String>,
    /// Messages about codes of theirs that were not found.
    pub missing: BTreeSet<String>,
    pub purchases: purchases::Traces,
}

impl Traces {
    /// Finds what a delegate left, with those that were merged into it.
    pub fn find(connection: &Connection, id: i64) -> Result<Self> {
        let mut traces = Self {
            people: records_of(connection, id)?,
            newest_answer: idempotency::newest(connection)?,
            ..Self::default()
        };
        for person in &traces.people {
            traces
                .interactions
                .push(remove::traces(connection, *person)?);
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
        let missing = missing.map(|selector| RESOURCE.missing(selector).to_string());
        traces.missing = missing.collect();
        traces.purchases = purchases::traces(connection, &traces.people)?;
        traces.answers = idempotency::holding(connection, &traces.texts(), 0)?;
        Ok(traces)
    }

    /// Texts by which a stored answer that concerns the person is found.
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

/// Takes everything out that a person left; `leaver` is the user who goes with it whatever it may do. Gives the
/// purchases that are left for review.
pub(super) fn take_out(
    tx: &Tx<'_>,
    traces: &Traces,
    leaver: Option<UserId>,
) -> Result<Vec<String>> {
    // A scan that was known already may have been answered once more since the traces were found.
    let late = idempotency::holding(tx, &traces.texts(), traces.newest_answer)?;
    for place in traces.answers.iter().chain(&late) {
        idempotency::rewrite(tx, *place, |body| without(body, traces))?;
    }
    remove_refusals(tx, traces)?;
    remove_unknown_tags(tx, traces)?;
    let review = purchases::forget(tx, &traces.purchases)?;
    for (person, interactions) in traces.people.iter().zip(&traces.interactions) {
        remove::forget(tx, *person, interactions)?;
        remove_users(tx, *person, leaver)?;
        let codes = "SELECT id FROM blocked_codes WHERE delegate_id = ?1";
        changes::note_all(tx, action::FORGET, blocked::CODE, codes, person.0)?;
        for table in TABLES {
            remove_rows(tx, table, *person)?;
        }
        head_office::venue::erase(tx, person.0)?;
        let of_person = "record_type = 'delegate' AND record_id = ?1";
        changes::empty(tx, of_person, [person])?;
        noted::note(tx, Erased::Delegate, person.0)?;
        remove_record(tx, *person)?;
        changes::note(tx, action::FORGET, RESOURCE.name, person.0)?;
    }
    // Users who stay are not tied to anybody any more.
    tx.outdate_caches();
    Ok(review)
}

/// Takes a person out of a table, as the catalogue says by which columns.
fn remove_rows(tx: &Tx<'_>, table: &Table, person: DelegateId) -> Result<()> {
    let name = table.name;
    for (content, column) in table.columns() {
        let sql = match content {
            Content::Attendee => format!("DELETE FROM {name} WHERE {column} = ?1"),
            Content::AttendeeWhere(rows) => {
                format!("DELETE FROM {name} WHERE {column} = ?1 AND {rows}")
            }
            Content::Attendees => {
                format!("DELETE FROM {name} WHERE ?1 IN (SELECT value FROM json_each({column}))")
            }
            Content::Address => format!(
                "DELETE FROM {name} WHERE delegate_id IS NULL AND {column} COLLATE NOCASE IN (
                     SELECT email FROM delegates WHERE id = ?1
                     UNION SELECT phone FROM delegates WHERE id = ?1)"
            ),
            Content::Reference => format!("UPDATE {name} SET {column} = NULL WHERE {column} = ?1"),
            _ => continue,
        };
        // Not cached: that would push out what check-ins need.
        tx.execute(&sql, [person])?;
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
    search_index::settle_row(tx, person.0)?;
    wiping(false)
}

/// Refusals of the person, and of its codes as they were scanned: apps try one code as several types,
/// and scanners add to it or change its case.
fn remove_refusals(tx: &Tx<'_>, traces: &Traces) -> Result<()> {
    let pattern = settings::scan_pattern(tx)?;
    let scanned = |selector: &String| match selector.split_once(':') {
        Some((kind, code)) if kind != "id" => {
            Some(likely_code(code, pattern.as_ref()).to_lowercase())
        }
        _ => None,
    };
    let codes: BTreeSet<String> = traces.selectors.iter().filter_map(scanned).collect();
    let own = traces.selectors.iter();
    let own = own.filter_map(|selector| Some(Serial::of(selector.split_once(':')?.1)));
    let serials: BTreeSet<Serial> = own.collect();
    let is_signed = |selector: &str| {
        let code = selector.split_once(':').map_or("", |(_, code)| code);
        SignedTicket::read(code).is_some_and(|ticket| serials.contains(&ticket.claims.serial))
    };
    let mut named = tx.prepare_cached(
        "SELECT id FROM refusals WHERE delegate_id IN (SELECT value FROM json_each(?1))
         OR delegate IN (SELECT value FROM json_each(?2))
         OR message IN (SELECT value FROM json_each(?3))",
    )?;
    let lists = (
        json!(traces.people).to_string(),
        json!(traces.selectors).to_string(),
        json!(traces.missing).to_string(),
    );
    let mut ids: Vec<i64> = named
        .query_map(lists, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut unknown = tx.prepare_cached(
        "SELECT id, delegate FROM refusals WHERE delegate_id IS NULL AND delegate IS NOT NULL",
    )?;
    let unknown: Vec<(i64, String)> = unknown
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let unknown = unknown.into_iter();
    ids.extend(
        unknown
            .filter(|(_, selector)| {
                scanned(selector).is_some_and(|code| codes.contains(&code)) || is_signed(selector)
            })
            .map(|(id, _)| id),
    );
    refusals::forget(tx, &ids)
}

/// Removes what readers kept of the person's tags while these were nobody's.
fn remove_unknown_tags(tx: &Tx<'_>, traces: &Traces) -> Result<()> {
    let selectors = traces.selectors.iter();
    let tags = selectors.filter_map(|selector| selector.strip_prefix("uhfId:"));
    let tags: Vec<String> = tags.map(str::to_uppercase).collect();
    tx.prepare_cached("DELETE FROM unknown_tags WHERE epc IN (SELECT value FROM json_each(?1))")?
        .execute([json!(tags).to_string()])?;
    Ok(())
}

/// Removes the users that the person signs in as; others of the crew are only untied.
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
    Ok(())
}

/// Removes a user with its tokens, sessions, codes to sign in by, mails with those, and what the audit
/// tells of it.
pub fn remove_user(tx: &Tx<'_>, user: UserId) -> Result<()> {
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
    noted::note(tx, Erased::User, user.0)?;
    tx.prepare_cached("DELETE FROM audit WHERE record_type = 'user' AND record_id = ?1")?
        .execute([user])?;
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user])?;
    tx.outdate_caches();
    Ok(())
}

/// A stored answer without what it says of the person: an envelope, or items of a batch.
pub(super) fn without(body: &str, traces: &Traces) -> String {
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
        return joined(&items);
    }
    // It cannot be read, so nobody can tell what it says.
    json!({"data": {}, "meta": {"replayed": true}}).to_string()
}

/// Answers as they are stored: one after the other.
pub(super) fn joined(answers: &[Value]) -> String {
    let answers: Vec<String> = answers.iter().map(Value::to_string).collect();
    answers.join(",")
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
    use crate::types::DelegateId;
    use std::collections::BTreeSet;

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
