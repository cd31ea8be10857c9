//! Readers on the LAN that announce themselves (`_llrp._tcp`, DNS-SD).

use crate::types::error::{Error, Result};
use mdns_sd::{ServiceDaemon, ServiceEvent};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

const SERVICE: &str = "_llrp._tcp.local.";
/// The time that readers have to answer.
const ANSWERS: Duration = Duration::from_secs(3);
const FOUND_MAX: usize = 200;

/// A reader on the LAN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    /// `192.0.2.9:5084`
    pub address: String,
}

/// Asks the LAN for readers; takes three seconds.
///
/// # Errors
/// When multicast DNS does not work here.
pub fn readers() -> Result<Vec<Found>> {
    let daemon = ServiceDaemon::new().map_err(Error::unavailable)?;
    let answers = daemon.browse(SERVICE).map_err(Error::unavailable)?;
    let mut found = BTreeMap::new();
    let deadline = Instant::now() + ANSWERS;
    while let Ok(event) = answers.recv_deadline(deadline) {
        if let ServiceEvent::ServiceResolved(service) = event
            && found.len() < FOUND_MAX
        {
            let addresses = service.get_addresses_v4();
            if let Some(address) = addresses.iter().min() {
                let name = service
                    .get_fullname()
                    .trim_end_matches(SERVICE)
                    .trim_end_matches('.');
                found.insert(format!("{address}:{}", service.get_port()), name.to_owned());
            }
        }
    }
    let _ = daemon.shutdown();
    let found = found.into_iter();
    Ok(found
        .map(|(address, name)| Found { name, address })
        .collect())
}
