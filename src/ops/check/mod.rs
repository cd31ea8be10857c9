//! Checks a whole file, and says for every finding what to do. It changes nothing and waits for no lock,
//! while `serve` runs or not; only `repair` writes, and only what follows from the rest.
//!
//! - `look`: what can be wrong with a file
//! - `index`: whether the search index has every delegate's texts

mod index;
mod look;

pub use index::{first_wrong as first_unindexed, rebuild as rebuild_index};
pub use look::look;

use crate::{
    db::{ServeLock, Store, Tx},
    domain::interactions::{recount, types},
    ops::import::slices::{self, Steps},
    types::{DeviceId, error::Result},
};
use rusqlite::Connection;

/// Something that is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub what: String,
    /// The remedy.
    pub advice: &'static str,
}

impl Finding {
    /// Returns whether [`repair()`] mends it.
    fn is_repairable(&self) -> bool {
        [look::REPAIR, look::REPAIR_INDEX].contains(&self.advice)
    }
}

/// A step of a check.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Counted from 1.
    pub number: usize,
    /// The number of steps.
    pub of: usize,
    /// The work of the step, such as "Checking references".
    pub what: &'static str,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// Everything that is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// Set where the search index is wrong; [`repair()`] rebuilds it.
    pub index: bool,
    /// The time of the last backup, ISO 8601, as far as the file knows.
    pub last_backup: Option<String>,
}

impl Report {
    /// Returns whether there is something wrong that [`repair()`] mends, and nothing else.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(Finding::is_repairable)
    }
}

/// The corrections that were made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mended {
    /// The index for searching.
    pub index: bool,
    /// The number of effects of interactions on presence.
    pub effects: usize,
    /// The number of counts of those inside.
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
    slices::write(store, Each(wrong, correct_effect), |_| {})?;
    let drift = store.look_up(recount::drift)?;
    let occupancies = drift.len();
    slices::write(store, Each(drift, correct_count), |_| {})?;
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

/// Mends one thing after the other.
struct Each<T>(Vec<T>, fn(&Tx<'_>, T) -> Result<()>);

impl<T: Send + 'static> Steps for Each<T> {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if let Some(one) = self.0.pop() {
            (self.1)(tx, one)?;
        }
        Ok(!self.0.is_empty())
    }
}

fn correct_effect(tx: &Tx<'_>, id: i64) -> Result<()> {
    let effect = types::effect_sql();
    let sql = format!("UPDATE interactions SET effect = {effect} WHERE id = ?1");
    tx.prepare_cached(&sql)?.execute([id])?;
    Ok(())
}

fn correct_count(tx: &Tx<'_>, (device, off): (DeviceId, i64)) -> Result<()> {
    recount::correct(tx, device, off)
}
