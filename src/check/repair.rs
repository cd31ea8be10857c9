//! Makes anew what follows from the rest and does not: the counts of those inside and the totals of lists,
//! as everybody writes, and the index for searching, at once. It changes nothing else.

use super::{Report, index};
use crate::{
    error::Result,
    import::slices::{self, Steps},
    interactions::recount,
    store::{ServeLock, Store, Tx, totals},
    types::DeviceId,
};

/// Mends the index and the totals of lists, where the report found them wrong, and every count of those
/// inside that is off; how many of those.
///
/// # Errors
/// When they cannot be written; what was mended by then stays.
pub fn repair(store: &Store, report: &Report) -> Result<usize> {
    if report.index {
        index::rebuild(store, &ServeLock::take(store.path())?)?;
    }
    if report.totals {
        store.write_blocking(|tx| totals::recount(tx))?;
    }
    let drift = store.look_up(recount::drift)?;
    let corrected = drift.len();
    slices::write(store, Counts(drift), |_| {})?;
    Ok(corrected)
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
