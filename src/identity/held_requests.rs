//! Requests that are held until something changes. A client has a share at each of its addresses, so that
//! nobody takes what other gates wait with.

use super::throttle::counted;
use crate::types::ClientId;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Requests of one client from one address that are held at a time (contract §12).
pub const HELD_MAX: u32 = 8;

type Holder = (ClientId, IpAddr);

/// The number of held requests, by client and address.
#[derive(Clone, Default)]
pub struct HeldRequests(Arc<Mutex<HashMap<Holder, u32>>>);

/// One that is held; given up when this goes.
pub struct HeldPermit {
    all: HeldRequests,
    holder: Holder,
}

impl HeldRequests {
    /// None once the client has its share of this address.
    pub fn enter(&self, client: ClientId, address: IpAddr) -> Option<HeldPermit> {
        let holder = (client, counted(address));
        let mut held = self.lock();
        let count = held.entry(holder).or_default();
        if *count >= HELD_MAX {
            return None;
        }
        *count += 1;
        let all = self.clone();
        Some(HeldPermit { all, holder })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HeldPermit {
    fn drop(&mut self) {
        let mut held = self.all.lock();
        if let Some(count) = held.get_mut(&self.holder) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_share_at_each_address_and_nothing_is_kept_of_who_left() {
        let held = HeldRequests::default();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let enter = |client, from| held.enter(ClientId(client), address(from));
        let mut first: Vec<_> = (0..HELD_MAX).map_while(|_| enter(1, "10.0.0.1")).collect();
        assert_eq!(first.len(), 8);
        assert!(enter(1, "10.0.0.1").is_none() && enter(1, "::ffff:10.0.0.1").is_none());
        assert!(enter(2, "10.0.0.1").is_some() && enter(1, "10.0.0.2").is_some());
        first.pop();
        first.extend(enter(1, "10.0.0.1"));
        assert_eq!(first.len(), 8);
        drop(first);
        assert!(held.lock().is_empty());
    }
}
