//! Deleting interactions: one, whose audit entry stays; those of a person, for good (contract §8); and
//! moving them from one record of a person to another. The people inside are counted as if a deleted
//! interaction had never been.

use super::{
    everybody_out, nonces,
    presence::Before,
    rows::{self, Interaction},
    types,
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes::{self, action},
    },
    db::Tx,
    types::{
        ClientId, DelegateId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The time at which a deleted interaction was created, to the millisecond, among what the audit keeps of its origin.
pub const CREATED_AT_MS: &str = "createdAtMs";

/// Deletes an interaction, and the check-out of everybody that came with it.
///
/// # Errors
/// [`Kind::InteractionNotFound`].
pub fn remove(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let interaction = rows::find(tx, id)?.ok_or_else(|| missing(&id))?;
    if let Some(check_out) = everybody_out::recorded_with(tx, id)? {
        remove(tx, ctx, check_out)?;
    }
    let origin: Option<(Option<i64>, Option<i64>, bool)> = tx
        .query_row(
            "SELECT client_id, user_id, admitted FROM interactions WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let mut before: Value =
        serde_json::from_str(&interaction.to_json(&ctx.settings.zone)).map_err(Error::defect)?;
    if let Some((client, user, admitted)) = origin {
        before["origin"] = json!({
            "client": client, "user": user, "admitted": admitted, CREATED_AT_MS: interaction.created_at.0,
        });
    }
    take_out(tx, id, &interaction)?;
    audit::append(
        tx,
        ctx,
        &Change {
            action: "delete",
            record_type: "interaction",
            record_id: Some(id),
            before: Some(before),
            after: None,
        },
    )
}

/// The error when there is no such interaction.
pub(super) fn missing(id: &dyn std::fmt::Display) -> Error {
    Error::new(
        Kind::InteractionNotFound,
        format!("there is no interaction {id}"),
    )
}

/// Takes an interaction out as if it had never been, without a word in the audit: for an import
/// that is undone, which the audit has as one. One that is gone already stays gone.
pub fn take_back(tx: &Tx<'_>, id: i64) -> Result<()> {
    match rows::find(tx, id)? {
        Some(interaction) => {
            take_out(tx, id, &interaction)?;
            changes::note(tx, action::UNDO, "interaction", id).map(drop)
        }
        None => Ok(()),
    }
}

fn take_out(tx: &Tx<'_>, id: i64, interaction: &Interaction) -> Result<()> {
    let may_pass = types::passage_effect(&interaction.kind).is_some()
        || types::depends_on_place(&interaction.kind);
    let passed = interaction.delegates[0].filter(|_| may_pass);
    let before = Before::of(tx, passed)?;
    tx.prepare_cached("DELETE FROM interactions WHERE id = ?1")?
        .execute([id])?;
    before.count(tx)
}

/// Moves the interactions of `from` to `to`, with the refusals, and counts anew where both are inside.
/// Returns how many interactions moved.
pub fn reassign(tx: &Tx<'_>, from: DelegateId, to: DelegateId) -> Result<usize> {
    let before = Before::of(tx, [from, to])?;
    let moved: usize = tx.query_row(
        "SELECT count(*) FROM interactions
         WHERE first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1",
        [from],
        |row| row.get(0),
    )?;
    let ids = "SELECT id FROM interactions
         WHERE first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1";
    changes::note_all(tx, action::REFRESH, "interaction", ids, from.0)?;
    for column in [
        "first_delegate_id",
        "second_delegate_id",
        "third_delegate_id",
    ] {
        tx.prepare_cached(&format!(
            "UPDATE interactions SET {column} = ?2 WHERE {column} = ?1"
        ))?
        .execute([from, to])?;
    }
    before.count(tx)?;
    tx.prepare_cached("UPDATE refusals SET delegate_id = ?2 WHERE delegate_id = ?1")?
        .execute([from, to])?;
    Ok(moved)
}

/// Traces that the interactions of a person left elsewhere.
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

/// Entries of the audit about deleted interactions of a delegate.
const OF_DELETED: &str = "record_type = 'interaction' AND ?1 IN (
    before ->> '$.firstDelegate.id', before ->> '$.secondDelegate.id', before ->> '$.thirdDelegate.id')";

fn numbers(connection: &Connection, sql: &str, delegate: DelegateId) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(sql)?;
    let ids = statement.query_map([delegate], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Finds the shared values that only this delegate's interactions have.
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
    changes::empty(tx, OF_DELETED, [delegate])?;
    nonces::forget(tx, &traces.nonces)?;
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

/// Finds who went in or out by these interactions: the first delegate of each, whoever it is.
fn passed(tx: &Tx<'_>, delegate: DelegateId) -> Result<BTreeSet<DelegateId>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT DISTINCT first_delegate_id FROM interactions
         WHERE {OF} AND effect <= 1 AND first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL"
    ))?;
    let delegates = statement.query_map([delegate], |row| row.get(0))?;
    Ok(delegates.collect::<rusqlite::Result<_>>()?)
}
