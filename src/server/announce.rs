//! The server on the LAN, found without being asked for by address: DNS-SD (RFC 6763) over multicast
//! DNS, on every usable interface, whatever addresses this machine gets meanwhile (contract §7).

use crate::{
    domain::discovery::Listening,
    identity::App,
    types::error::{Error, Result},
};
use mdns_sd::{IfKind, ServiceDaemon, ServiceInfo};
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
}

/// Announces the server under the instance's name, until it is dropped. A LAN on which that does not
/// work is no reason to stop.
pub async fn announce(app: &App, listening: Option<Listening>) {
    let Some(listening) = listening.filter(|listening| !listening.address.ip().is_loopback())
    else {
        return pending().await;
    };
    let mut announcement = match Announcement::begin(listening) {
        Ok(announcement) => announcement,
        Err(cause) => {
            tracing::warn!("the server is not announced on the LAN: {cause}");
            return pending().await;
        }
    };
    let mut name = String::new();
    loop {
        let settings = app.settings();
        if name != settings.name() {
            settings.name().clone_into(&mut name);
            if let Err(cause) = announcement.call(&name) {
                tracing::warn!("the server is not announced on the LAN: {cause}");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

impl Announcement {
    fn begin(listening: Listening) -> Result<Self> {
        let daemon = ServiceDaemon::new().map_err(Error::defect)?;
        // On loopback nobody is who would not know.
        daemon
            .disable_interface(vec![IfKind::LoopbackV4, IfKind::LoopbackV6])
            .map_err(Error::defect)?;
        Ok(Self {
            daemon,
            listening,
            fullname: None,
        })
    }

    /// Announces the server under a name, in place of the one before.
    fn call(&mut self, name: &str) -> Result<()> {
        self.withdraw();
        let Listening { address, tls } = self.listening;
        let properties = [
            ("api", "/api/v5"),
            ("request", "/api/v5/device-request/new"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("tls", if tls { "1" } else { "0" }),
        ];
        let mut info = ServiceInfo::new(
            SERVICE,
            within(name),
            &format!("{}.", host()),
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
pub(super) fn host() -> String {
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
