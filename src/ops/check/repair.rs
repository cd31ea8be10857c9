//! Makes anew what follows from the rest and does not: effects on presence and the counts of those
//! inside, as everybody writes, and the index for searching, at once. It changes nothing else.

use super::{Report, index};
use crate::{
    db::{ServeLock, Store, Tx},
    domain::interactions::{recount, types},
    ops::import::slices::{self, Steps},
    types::{DeviceId, error::Result},
};
use rusqlite::Connection;

/// What was mended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mended {
    /// The index for searching.
    pub index: bool,
    /// So many effects of interactions on presence.
    pub effects: usize,
    /// So many counts of those inside.
    pub occupancies: usize,
}

/// Mends the index, where the report found it wrong, the effects on presence, and every
/// count of those inside that are off.
pub fn repair(store: &Store, report: &Report) -> Result<Mended> {
    if report.index {
        index::rebuild(store, &ServeLock::take(store.path())?)?;
    }
    let wrong = store.look_up(wrong_effects)?;
    let effects = wrong.len();
    slices::write(store, Effects(wrong), |_| {})?;
    let drift = store.look_up(recount::drift)?;
    let occupancies = drift.len();
    slices::write(store, Counts(drift), |_| {})?;
    Ok(Mended {
        index: report.index,
        effects,
        occupancies,
    })
}

fn wrong_effects(connection: &Connection) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(&format!(
        "SELECT id FROM interactions WHERE effect IS NOT ({})",
        types::effect_sql()
    ))?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

struct Effects(Vec<i64>);

impl Steps for Effects {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if let Some(id) = self.0.pop() {
            tx.prepare_cached(&format!(
                "UPDATE interactions SET effect = {} WHERE id = ?1",
                types::effect_sql()
            ))?
            .execute([id])?;
        }
        Ok(!self.0.is_empty())
    }
}

struct Counts(Vec<(DeviceId, i64)>);

impl Steps for Counts {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if let Some((device, off)) = self.0.pop() {
            recount::correct(tx, device, off)?;
        }
        Ok(!self.0.is_empty())
    }
}
