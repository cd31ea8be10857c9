//! The server on the LAN, found without being asked for by address: DNS-SD (RFC 6763) over multicast
//! DNS, on every usable interface, whatever addresses this machine gets meanwhile (contract §7).

use super::durable;
use crate::{
    core::standby::Standby,
    domain::discovery::Listening,
    identity::App,
    types::error::{Error, Result},
};
use mdns_sd::{IfKind, Receiver, ServiceDaemon, ServiceEvent, ServiceInfo};
use std::{future::pending, net::IpAddr, time::Duration};

/// The service's type.
pub const SERVICE: &str = "_gatepost._tcp.local.";
/// The time between two looks whether the instance has another name.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The time that the end waits for the word that the server goes.
const GOODBYE_MAX: Duration = Duration::from_millis(500);
/// Bytes of a service's name (RFC 6763, 4.1.1).
const NAME_MAX_BYTES: usize = 63;

/// An announcement; dropping it withdraws the service.
struct Announcement {
    daemon: ServiceDaemon,
    listening: Listening,
    fullname: Option<String>,
    /// The name of this machine, or that of the one that had the file first.
    host: String,
    /// The epoch with its proof, where there is a second machine.
    epoch: Option<String>,
}

/// Announces the server under the instance's name, until it is dropped. A LAN on which that does not
/// work is no reason to stop.
pub async fn announce(app: &App, listening: Option<Listening>) {
    let Some(listening) = listening.filter(|listening| !listening.address.ip().is_loopback())
    else {
        return pending().await;
    };
    let mut announcement = match Announcement::begin(app, listening) {
        Ok(announcement) => announcement,
        Err(cause) => {
            tracing::warn!("the server is not announced on the LAN: {cause}");
            return pending().await;
        }
    };
    let others = announcement.others();
    if others.is_some() {
        // Whoever took over meanwhile has the name by now.
        listen(app, others.as_ref()).await;
    }
    let mut name = String::new();
    loop {
        if app.store.stats().stopped().is_some() {
            announcement.withdraw();
            return pending().await;
        }
        let settings = app.settings();
        if name != settings.name() {
            settings.name().clone_into(&mut name);
            if let Err(cause) = announcement.call(&name) {
                tracing::warn!("the server is not announced on the LAN: {cause}");
            }
        }
        listen(app, others.as_ref()).await;
    }
}

/// Waits, and hears what other servers announced meanwhile: one of a higher epoch of this file ends this machine's turn.
async fn listen(app: &App, others: Option<&Receiver<ServiceEvent>>) {
    tokio::time::sleep(LOOK_EVERY).await;
    while let Some(Ok(event)) = others.map(Receiver::try_recv) {
        if let ServiceEvent::ServiceResolved(found) = event
            && let Some(epoch) = found.get_property_val_str("epoch")
        {
            durable::meet(app, epoch).await;
        }
    }
}

impl Announcement {
    fn begin(app: &App, listening: Listening) -> Result<Self> {
        let daemon = ServiceDaemon::new().map_err(Error::defect)?;
        // On loopback nobody is who would not know.
        daemon
            .disable_interface(vec![IfKind::LoopbackV4, IfKind::LoopbackV6])
            .map_err(Error::defect)?;
        let taken_over = app
            .store
            .look_up(Standby::find)?
            .and_then(|found| found.host);
        Ok(Self {
            daemon,
            listening,
            fullname: None,
            host: taken_over.unwrap_or_else(host),
            epoch: app
                .replication
                .get()
                .map(|replication| replication.header.clone()),
        })
    }

    /// Announcements of other servers, where there is a second machine.
    fn others(&self) -> Option<Receiver<ServiceEvent>> {
        self.epoch.as_ref()?;
        self.daemon.browse(SERVICE).ok()
    }

    /// Announces the server under a name, in place of the one before.
    fn call(&mut self, name: &str) -> Result<()> {
        self.withdraw();
        let Listening { address, tls } = self.listening;
        let mut properties = vec![
            ("api", "/api/v5"),
            ("request", "/api/v5/device-request/new"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("tls", if tls { "1" } else { "0" }),
        ];
        properties.extend(self.epoch.as_deref().map(|epoch| ("epoch", epoch)));
        let mut info = ServiceInfo::new(
            SERVICE,
            within(name),
            &format!("{}.", self.host),
            "",
            address.port(),
            &properties[..],
        )
        .map_err(Error::defect)?
        .enable_addr_auto();
        info.set_interfaces(vec![match address.ip() {
            IpAddr::V4(own) if own.is_unspecified() => IfKind::IPv4,
            IpAddr::V6(own) if own.is_unspecified() => IfKind::All,
            own => IfKind::Addr(own),
        }]);
        let fullname = info.get_fullname().to_owned();
        self.daemon.register(info).map_err(Error::defect)?;
        self.fullname = Some(fullname);
        Ok(())
    }

    fn withdraw(&mut self) {
        if let Some(fullname) = self.fullname.take()
            && let Ok(done) = self.daemon.unregister(&fullname)
        {
            let _ = done.recv_timeout(GOODBYE_MAX);
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.withdraw();
        if let Ok(done) = self.daemon.shutdown() {
            let _ = done.recv_timeout(GOODBYE_MAX);
        }
    }
}

/// The name by which the LAN finds this machine, such as `gatepost-laptop.local`. It is marked as ours: the
/// machine's own mDNS responder, if it has one, answers for the plain name.
pub fn host() -> String {
    let name = gethostname::gethostname().to_string_lossy().to_lowercase();
    let first = name.split('.').next().unwrap_or_default();
    let plain: String = first
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .take(40)
        .collect();
    let name = format!("gatepost-{}", plain.trim_matches('-'));
    format!("{}.local", name.trim_end_matches('-'))
}

/// As much of a name as fits.
fn within(name: &str) -> &str {
    let mut end = name.len().min(NAME_MAX_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_letters() {
        assert_eq!(within("Nordlicht"), "Nordlicht");
        let long = "ü".repeat(40);
        assert_eq!(within(&long), "ü".repeat(31));
    }
}
