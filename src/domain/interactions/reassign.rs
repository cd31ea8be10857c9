//! Interactions of one delegate become another's, for two records of one person. The only change
//! that an interaction ever sees: who it was does not change, only under which record.

use super::presence::Before;
use crate::{
    core::changes::{self, action},
    db::Tx,
    types::{DelegateId, error::Result},
};

/// Moves the interactions of `from` to `to`, with the refusals, and counts anew where both are inside.
/// How many interactions moved.
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
