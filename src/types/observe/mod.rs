//! What is counted while the server runs, for `/metrics`: plain atomics, so that counting costs a
//! few nanoseconds and never waits. Nothing personal is counted by: no names, codes or addresses.

mod histogram;
mod text;

pub use histogram::{DURATIONS, Histogram};
pub use text::Exposition;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Errors told to callers, by internal code (contract §3). They are told in many places and belong
/// to the process rather than to one of its parts.
static TOLD: Mutex<BTreeMap<i64, u64>> = Mutex::new(BTreeMap::new());

/// Counts an error that a caller is told.
pub fn told(code: i64) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    *told.entry(code).or_default() += 1;
}

/// How often each internal code was told.
#[must_use]
pub fn told_by_code() -> BTreeMap<i64, u64> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
