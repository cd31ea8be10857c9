//! Machines on the LAN that announce what they offer (DNS-SD).

use crate::types::error::{Error, Result};
use mdns_sd::{ServiceDaemon, ServiceEvent};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The time that machines have to answer.
const ANSWERS: Duration = Duration::from_secs(3);
const FOUND_MAX: usize = 200;

/// A machine on the LAN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    /// `192.0.2.9:5084`
    pub address: String,
    /// The service that it offers, of those that were asked for.
    pub service: &'static str,
    /// The path below the address, where it tells one (`rp`).
    pub path: Option<String>,
}

/// Asks the LAN for machines that offer one of these services, such as `_llrp._tcp`; takes three seconds.
///
/// # Errors
/// [`crate::types::error::Kind::Unavailable`] where multicast DNS does not work here.
pub fn find(services: &[&'static str]) -> Result<Vec<Found>> {
    let daemon = ServiceDaemon::new().map_err(Error::unavailable)?;
    let deadline = Instant::now() + ANSWERS;
    let mut found = BTreeMap::new();
    let asked = services.iter().map(|service| {
        let whole = format!("{service}.local.");
        let answers = daemon.browse(&whole).map_err(Error::unavailable)?;
        Ok((*service, whole, answers))
    });
    for (service, whole, answers) in asked.collect::<Result<Vec<_>>>()? {
        // Answers that came while another service was listened to have waited.
        while let Ok(event) = answers
            .try_recv()
            .map_err(drop)
            .or_else(|()| answers.recv_deadline(deadline).map_err(drop))
        {
            let ServiceEvent::ServiceResolved(machine) = event else {
                continue;
            };
            let addresses = machine.get_addresses_v4();
            let Some(address) = addresses.iter().min().filter(|_| found.len() < FOUND_MAX) else {
                continue;
            };
            let address = format!("{address}:{}", machine.get_port());
            let name = machine.get_fullname().trim_end_matches(&whole);
            let path = machine.get_property_val_str("rp").map(ToOwned::to_owned);
            let machine = Found {
                name: name.trim_end_matches('.').to_owned(),
                address: address.clone(),
                service,
                path,
            };
            found.insert((address, service), machine);
        }
    }
    let _ = daemon.shutdown();
    Ok(found.into_values().collect())
}
