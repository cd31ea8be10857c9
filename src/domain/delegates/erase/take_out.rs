//! Taking out what a person left.

use super::{answers, check_leaver, traces::Traces};
use crate::{
    core::{
        changes::{self, action},
        idempotency,
        keyed::Key,
    },
    db::Tx,
    domain::{
        delegates::{
            RESOURCE, blocked,
            erased::{self, Kind as Erased},
        },
        interactions::forget,
        sales,
    },
    types::{DelegateId, UserId, error::Result},
};
use rusqlite::OptionalExtension;
use serde_json::json;
use std::collections::BTreeSet;

/// Takes everything out that a person left; `leaver` is the user who goes with it whatever it may do.
pub(super) fn take_out(tx: &Tx<'_>, traces: &Traces, leaver: Option<UserId>) -> Result<()> {
    // A scan that was known already may have been answered once more since the traces were found.
    let late = idempotency::holding(tx, &traces.texts(), traces.newest_answer)?;
    for place in traces.answers.iter().chain(&late) {
        idempotency::rewrite(tx, *place, |body| answers::without(body, traces))?;
    }
    remove_refusals(tx, traces)?;
    sales::erase::forget(tx, &traces.purchases)?;
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
        let codes = "SELECT id FROM blocked_codes WHERE delegate_id = ?1";
        changes::note_all(tx, action::FORGET, blocked::CODE, codes, person.0)?;
        remove_record(tx, *person)?;
        changes::note(tx, action::FORGET, RESOURCE.name, person.0)?;
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
    erased::note(tx, Erased::User, user.0)?;
    tx.prepare_cached("DELETE FROM audit WHERE record_type = 'user' AND record_id = ?1")?
        .execute([user])?;
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user])?;
    tx.outdate_caches();
    Ok(())
}
