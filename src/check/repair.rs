//! Makes presence and occupancy anew where they do not follow from the interactions. It writes as
//! everybody does, in slices, and changes nothing else.

use crate::{
    error::Result,
    import::slices::{self, Steps},
    interactions::{presence, recount},
    store::{Store, Tx},
    types::{DelegateId, DeviceId},
};

/// Mends these presences, and every count of those inside that is off; how many of both.
///
/// # Errors
/// When they cannot be written; what was mended by then stays.
pub fn repair(store: &Store, presences: Vec<(DelegateId, DeviceId)>) -> Result<(usize, usize)> {
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
