//! Makes anew what follows from the rest and does not: presence and occupancy, as everybody writes,
//! in slices; the index for searching at once. It changes nothing else.

use super::{Report, index};
use crate::{
    error::Result,
    import::slices::{self, Steps},
    interactions::{presence, recount},
    store::{ServeLock, Store, Tx},
    types::{DelegateId, DeviceId},
};

/// Mends what the report found of presences and the index, and every count of those inside that is
/// off; how many presences and counts.
///
/// # Errors
/// When they cannot be written; what was mended by then stays.
pub fn repair(store: &Store, report: &mut Report) -> Result<(usize, usize)> {
    if report.index {
        index::rebuild(store, &ServeLock::take(store.path())?)?;
    }
    let presences = std::mem::take(&mut report.presences);
    let mended = presences.len();
    slices::write(store, Presences(presences), |_| {})?;
    // After the presences: making them anew counts up and down.
    let drift = store.look_up(recount::drift)?;
    let corrected = drift.len();
    slices::write(store, Counts(drift), |_| {})?;
    Ok((mended, corrected))
}

struct Presences(Vec<(DelegateId, DeviceId)>);

impl Steps for Presences {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if let Some((delegate, device)) = self.0.pop() {
            presence::rebuild(tx, delegate, device)?;
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
