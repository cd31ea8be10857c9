//! The time when a device was last heard of: any authenticated request of its client counts (contract §7).
//! Kept in memory, as a check-in must not wait for it; `apps` writes it down once in a while.

use crate::types::{DeviceId, Timestamp};
use std::{
    collections::HashMap,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
};

/// The last request of each device since the start.
#[derive(Default)]
pub struct LastSeen(RwLock<HashMap<DeviceId, AtomicI64>>);

impl LastSeen {
    /// The device made a request.
    pub fn mark(&self, device: DeviceId, now: Timestamp) {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = known.get(&device) {
                at.store(now.0, Relaxed);
                return;
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(device, AtomicI64::new(now.0));
    }

    /// Returns when the device made its last request, if it made one since the start.
    pub fn last(&self, device: DeviceId) -> Option<Timestamp> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&device).map(|at| Timestamp(at.load(Relaxed)))
    }

    /// Every device that made a request since the start.
    pub fn all(&self) -> Vec<(DeviceId, Timestamp)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let last = |(device, at): (&DeviceId, &AtomicI64)| (*device, Timestamp(at.load(Relaxed)));
        known.iter().map(last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_counts_whatever_the_clock_does() {
        let last_seen = LastSeen::default();
        assert_eq!(last_seen.last(DeviceId(1)), None);
        for at in [5, 9, 7] {
            last_seen.mark(DeviceId(1), Timestamp(at));
        }
        assert_eq!(last_seen.last(DeviceId(1)), Some(Timestamp(7)));
        assert_eq!(last_seen.all(), [(DeviceId(1), Timestamp(7))]);
    }
}
