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

/// A device is online until it was not seen for longer than this (spec: States and transitions).
pub const ONLINE_MS: i64 = 15 * 60 * 1000;

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

    /// The time at which a device was last heard of, and whether it is there, where the file says `stored`.
    pub fn heard_of(
        &self,
        device: DeviceId,
        stored: Option<Timestamp>,
    ) -> (Option<Timestamp>, bool) {
        let seen_at = self.last(device).or(stored);
        (seen_at, is_online(seen_at, Timestamp::now()))
    }

    /// Every device that made a request since the start.
    pub fn all(&self) -> Vec<(DeviceId, Timestamp)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let last = |(device, at): (&DeviceId, &AtomicI64)| (*device, Timestamp(at.load(Relaxed)));
        known.iter().map(last).collect()
    }
}

/// Returns whether a device that was last seen then is online. A time that far ahead means that the clock was put back,
/// and says nothing about the device.
pub fn is_online(last_seen: Option<Timestamp>, now: Timestamp) -> bool {
    last_seen.is_some_and(|at| (now.0 - at.0).abs() <= ONLINE_MS)
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

    #[test]
    fn a_device_is_online_for_fifteen_minutes() {
        let at = |minutes: i64| Some(Timestamp(minutes * 60_000));
        let now = Timestamp(60 * 60_000);
        assert!(is_online(at(60), now) && is_online(at(45), now) && is_online(at(61), now));
        assert!(!is_online(at(44), now) && !is_online(at(100), now) && !is_online(None, now));
    }
}
