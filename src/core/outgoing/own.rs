//! The addresses of this machine's own interfaces.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long they are believed: cables and wireless networks come and go.
const KEPT: Duration = Duration::from_secs(2);

/// When they were looked up, and what was found.
static KNOWN: Mutex<Option<(Instant, Vec<IpAddr>)>> = Mutex::new(None);

/// Whether an address is one of this machine's own.
pub(super) fn is_own(address: IpAddr) -> bool {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.as_ref().is_none_or(|(at, _)| at.elapsed() >= KEPT) {
        match if_addrs::get_if_addrs() {
            Ok(found) => {
                let found = found.iter().map(if_addrs::Interface::ip).collect();
                *known = Some((Instant::now(), found));
            }
            // Those known before still count.
            Err(cause) => tracing::warn!("the addresses of this machine: {cause}"),
        }
    }
    known
        .as_ref()
        .is_some_and(|(_, found)| found.contains(&address))
}
