//! Taking the interactions of a person out for good, with all that is kept along with them
//! (contract §8). What takes a while to find is found first, beside the writer.

use super::{nonces, presence::Before};
use crate::{
    core::changes::{self, action},
    db::Tx,
    types::{ClientId, DelegateId, error::Result},
};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// What the interactions of a person left elsewhere.
#[derive(Debug, Default)]
pub struct Traces {
    nonces: Vec<(ClientId, String)>,
    /// Shared values that no other interaction up to `newest` has.
    values: Vec<i64>,
    newest: i64,
}

const OF: &str = "(first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1)";

/// Finds what the interactions of a delegate left, those that were deleted included. The delegate is
/// deleted by now, so that nothing is added.
pub fn traces(connection: &Connection, delegate: DelegateId) -> Result<Traces> {
    let mut interactions = numbers(
        connection,
        &format!("SELECT id FROM interactions WHERE {OF}"),
        delegate,
    )?;
    let values = numbers(
        connection,
        &format!(
            "SELECT DISTINCT place.value ->> 1 FROM interactions, json_each(shared) place
             WHERE {OF} AND shared IS NOT NULL"
        ),
        delegate,
    )?;
    let values = if values.is_empty() {
        values
    } else {
        orphans(connection, &values, delegate)?
    };
    interactions.extend(numbers(
        connection,
        &format!("SELECT record_id FROM audit WHERE {OF_DELETED} AND record_id IS NOT NULL"),
        delegate,
    )?);
    Ok(Traces {
        nonces: nonces::of(connection, &interactions)?,
        values,
        newest: connection.query_row(
            "SELECT coalesce(max(id), 0) FROM interactions",
            [],
            |row| row.get(0),
        )?,
    })
}

/// What the audit has of deleted interactions of a delegate.
const OF_DELETED: &str = "record_type = 'interaction' AND ?1 IN (
    before ->> '$.firstDelegate.id', before ->> '$.secondDelegate.id', before ->> '$.thirdDelegate.id')";

fn numbers(connection: &Connection, sql: &str, delegate: DelegateId) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(sql)?;
    let ids = statement.query_map([delegate], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Those of shared values that only this delegate's interactions have.
fn orphans(connection: &Connection, values: &[i64], delegate: DelegateId) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(&format!(
        "SELECT DISTINCT place.value ->> 1 FROM interactions, json_each(shared) place
         WHERE shared IS NOT NULL AND {OF} IS NOT TRUE"
    ))?;
    let others: BTreeSet<i64> = statement
        .query_map([delegate], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let own = values.iter().filter(|value| !others.contains(value));
    Ok(own.copied().collect())
}

/// Takes them out; who is inside is counted as if they had never been.
pub fn forget(tx: &Tx<'_>, delegate: DelegateId, traces: &Traces) -> Result<()> {
    let before = Before::of(tx, passed(tx, delegate)?)?;
    tx.prepare_cached(&format!(
        "DELETE FROM batch_rows WHERE batch_id IN (SELECT id FROM batches WHERE kind = 'interactions')
         AND record_id IN (SELECT id FROM interactions WHERE {OF})"
    ))?
    .execute([delegate])?;
    let ids = format!("SELECT id FROM interactions WHERE {OF}");
    changes::note_all(tx, action::FORGET, "interaction", &ids, delegate.0)?;
    tx.prepare_cached(&format!("DELETE FROM interactions WHERE {OF}"))?
        .execute([delegate])?;
    before.count(tx)?;
    // The audit was where the change feed had their deletion from.
    let deleted =
        format!("SELECT record_id FROM audit WHERE {OF_DELETED} AND record_id IS NOT NULL");
    changes::note_all(tx, action::FORGET, "interaction", &deleted, delegate.0)?;
    tx.prepare_cached(&format!("DELETE FROM audit WHERE {OF_DELETED}"))?
        .execute([delegate])?;
    nonces::erase(tx, &traces.nonces)?;
    for value in &traces.values {
        tx.prepare_cached(
            "DELETE FROM shared_values WHERE id = ?1 AND NOT EXISTS (
                 SELECT 1 FROM interactions, json_each(shared) place
                 WHERE interactions.id > ?2 AND shared IS NOT NULL AND place.value ->> 1 = ?1)",
        )?
        .execute([*value, traces.newest])?;
    }
    Ok(())
}

/// Who went in or out by these interactions: the first delegate of each, whoever it is.
fn passed(tx: &Tx<'_>, delegate: DelegateId) -> Result<BTreeSet<DelegateId>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT DISTINCT first_delegate_id FROM interactions
         WHERE {OF} AND effect <= 1 AND first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL"
    ))?;
    let delegates = statement.query_map([delegate], |row| row.get(0))?;
    Ok(delegates.collect::<rusqlite::Result<_>>()?)
}
