//! Under which names the console answers. A web page elsewhere can make a browser take this server for
//! its own (DNS rebinding); the browser then still says by which name it came.

use crate::admin::prelude::*;
use crate::core::settings::values::host;
use std::{net::IpAddr, sync::OnceLock};

/// Refuses a request that came by a name that is not this machine's. Under TLS the certificate says
/// whose name it is.
///
/// # Errors
/// [`Kind::Forbidden`], with the names that are right.
pub fn check(request: &RequestContext) -> Result<()> {
    let Some(sent) = request
        .header("host")
        .filter(|_| !request.console.reach.tls)
    else {
        return Ok(());
    };
    let public = request.console.public_url();
    if is_known(sent, own_names(), public.as_deref().and_then(host)) {
        return Ok(());
    }
    Err(Error::new(
        Kind::Forbidden,
        format!(
            "the console does not answer under the name {sent}; open it by this machine's IP address, or start the \
             server with --public-url and the address that you use"
        ),
    ))
}

fn is_known(sent: &str, own: &[String], public: Option<&str>) -> bool {
    let address = format!("http://{sent}");
    let Some(name) = host(&address) else {
        return false;
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    // An IPv6 address may name its interface.
    let address = name.split('%').next().unwrap_or_default();
    address.parse::<IpAddr>().is_ok()
        || name == "localhost"
        || name.ends_with(".localhost")
        || own.contains(&name)
        || public.is_some_and(|public| public.eq_ignore_ascii_case(&name))
}

/// Returns the names of this machine, on itself and on the LAN.
fn own_names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let name = gethostname::gethostname().to_string_lossy().to_lowercase();
        names_of(name.trim_end_matches('.'))
    })
}

fn names_of(machine: &str) -> Vec<String> {
    let first = machine.split('.').next().unwrap_or_default();
    if first.is_empty() {
        return Vec::new();
    }
    vec![
        machine.to_owned(),
        first.to_owned(),
        format!("{first}.local"),
        // As the server announces itself.
        format!("gatepost-{first}.local"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known_and_no_others() {
        let own = names_of("laptop.example.org");
        for (sent, known) in [
            ("localhost", true),
            ("LOCALHOST:8080", true),
            ("gatepost.localhost:8080", true),
            ("127.0.0.1:8080", true),
            ("192.168.1.20", true),
            ("[::1]:8080", true),
            ("[fe80::1%25eth0]:8080", true),
            ("laptop", true),
            ("Laptop.local:8080", true),
            ("laptop.local.", true),
            ("laptop.example.org", true),
            ("gatepost-laptop.local", true),
            ("gate.example.org:443", true),
            ("laptop.evil.example", false),
            ("evil.example:8080", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil.local", false),
            ("", false),
        ] {
            let public = Some("gate.example.org");
            assert_eq!(is_known(sent, &own, public), known, "{sent}");
        }
        assert!(names_of("").is_empty());
    }
}
