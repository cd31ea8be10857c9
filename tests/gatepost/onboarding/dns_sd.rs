//! The server is found on the LAN (DNS-SD), in network namespaces that the test makes itself: nothing
//! is announced on a network that is not ours. Needs root (for `ip netns`) and Debian's iproute2,
//! avahi-daemon, avahi-utils and dbus, which `tests/run` installs.

use crate::faults::process::{GATEPOST, told, until};
use crate::harness::has;
use gatepost::server::SERVICE;
use mdns_sd::{ResolvedService, ServiceDaemon, ServiceEvent};
use serde_json::json;
use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader},
    net::IpAddr,
    os::fd::AsFd,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

/// How long the network has for what mostly takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server's laptop and a phone, each a network namespace, on two networks.
struct Networks {
    laptop: String,
    phone: String,
}

fn ip(arguments: &str) {
    let output = Command::new("ip")
        .args(arguments.split(' '))
        .output()
        .unwrap_or_else(|cause| panic!("ip (Debian's iproute2) cannot be run: {cause}"));
    assert!(
        output.status.success(),
        "`ip {arguments}` failed, which takes root and network namespaces: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Networks {
    fn make() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (pid, number) = (std::process::id(), MADE.fetch_add(1, Relaxed));
        let networks = Self {
            laptop: format!("gatepost-laptop-{pid}-{number}"),
            phone: format!("gatepost-phone-{pid}-{number}"),
        };
        let Self { laptop, phone } = &networks;
        for name in [laptop, phone] {
            ip(&format!("netns add {name}"));
            ip(&format!("-n {name} link set lo up"));
        }
        for network in [1, 2] {
            ip(&format!(
                "link add lan{network} netns {laptop} type veth peer name lan{network} netns {phone}"
            ));
            for (name, host) in [(laptop, 1), (phone, 2)] {
                Networks::address(name, "add", network, &format!("10.77.{network}.{host}"));
                ip(&format!("-n {name} link set lan{network} up"));
            }
        }
        networks
    }

    fn address(name: &str, action: &str, network: i32, address: &str) {
        ip(&format!(
            "-n {name} addr {action} {address}/24 dev lan{network}"
        ));
    }

    /// A program inside one of them.
    fn inside(name: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", name, program]);
        command
    }

    fn serve(&self, db: &Path, arguments: &[&str]) -> Running {
        Self::serve_in(&self.laptop, db, arguments)
    }

    fn serve_in(name: &str, db: &Path, arguments: &[&str]) -> Running {
        let mut child = Self::inside(name, GATEPOST)
            .args(["serve", "--json", "--db"])
            .arg(db)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        has(&line, "\"listen\"");
        Running(child)
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in [&self.laptop, &self.phone] {
            // What still runs in there was started by the test.
            let pids = Command::new("ip").args(["netns", "pids", name]).output();
            for pid in
                String::from_utf8_lossy(&pids.map(|pids| pids.stdout).unwrap_or_default()).lines()
            {
                let _ = Command::new("kill").args(["-9", pid]).status();
            }
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

struct Running(Child);

impl Running {
    /// Asks it to end, and waits until it has.
    fn end(&mut self) {
        let pid = self.0.id().to_string();
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill");
        assert!(self.0.wait().expect("an end").success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a second mdns-sd instance on the phone is told.
struct Phone(mpsc::Receiver<ServiceEvent>);

impl Phone {
    fn look(namespace: &str) -> Self {
        let path = format!("/var/run/netns/{namespace}");
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let namespace = File::open(path).expect("a namespace");
            // Only this thread and those that it starts are in there.
            rustix::thread::move_into_link_name_space(
                namespace.as_fd(),
                Some(rustix::thread::LinkNameSpaceType::Network),
            )
            .expect("root may enter a namespace");
            let daemon = ServiceDaemon::new().expect("a daemon");
            let events = daemon.browse(SERVICE).expect("it browses");
            while let Ok(event) = events.recv() {
                if tell.send(event).is_err() {
                    break;
                }
            }
            let _ = daemon.shutdown();
        });
        Self(told)
    }

    /// Waits for an event; every service that is resolved meanwhile is the one that announces.
    fn until<T>(&self, what: &str, mut wanted: impl FnMut(&ServiceEvent) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let event = self
                .0
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("{what}: not within {PATIENCE:?}"));
            if let ServiceEvent::ServiceResolved(service) = &event {
                assert_eq!(service.port, 8080, "{service:?}");
                assert!(
                    !addresses(service).iter().any(IpAddr::is_loopback),
                    "{service:?}"
                );
            }
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    /// Waits until a server of this name is found at these addresses.
    fn finds(&self, name: &str, wanted: &[&str]) -> ResolvedService {
        let wanted: BTreeSet<IpAddr> = wanted
            .iter()
            .map(|one| one.parse().expect("an address"))
            .collect();
        self.until(&format!("{name} at {wanted:?}"), |event| match event {
            ServiceEvent::ServiceResolved(service)
                if service.fullname == format!("{name}.{SERVICE}")
                    && wanted.is_subset(&addresses(service)) =>
            {
                Some((**service).clone())
            }
            _ => None,
        })
    }
}

fn addresses(service: &ResolvedService) -> BTreeSet<IpAddr> {
    service
        .addresses
        .iter()
        .map(mdns_sd::ScopedIp::to_ip_addr)
        .collect()
}

/// What `avahi-browse` on the phone prints, for as long as it takes to print all of this.
fn avahi_finds(networks: &Networks, wanted: &[&str]) {
    // A system of its own for what runs below /run, and nothing published.
    let script = r#"
        set -e
        mount -t tmpfs none /run
        mkdir -p /run/dbus /run/avahi-daemon
        cat > /run/bus.conf <<'END'
<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
END
        printf '[server]\nuse-ipv6=no\n[publish]\ndisable-publishing=yes\n' > /run/avahi.conf
        dbus-daemon --config-file=/run/bus.conf --nofork --nopidfile &
        until [ -S /run/dbus/system_bus_socket ]; do sleep 0.1; done
        avahi-daemon --no-drop-root --no-chroot --no-rlimits -f /run/avahi.conf 2>&1 &
        while :; do avahi-browse -prt _gatepost._tcp || true; sleep 0.5; done
    "#;
    let mut child = Networks::inside(&networks.phone, "sh")
        .args(["-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let (tell, told) = mpsc::channel();
    for output in [
        Box::new(child.stdout.take().expect("its output")) as Box<dyn std::io::Read + Send>,
        Box::new(child.stderr.take().expect("its errors")),
    ] {
        let tell = tell.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
    }
    drop(tell);
    let _child = Running(child);
    let (until, mut all) = (Instant::now() + PATIENCE, String::new());
    while !wanted.iter().all(|wanted| all.contains(wanted)) {
        let left = until.saturating_duration_since(Instant::now());
        let line = told.recv_timeout(left).unwrap_or_else(|_| {
            panic!(
                "avahi-browse (Debian's avahi-utils, with avahi-daemon and dbus) did not find {wanted:?}:\n{all}"
            )
        });
        all.push_str(&(line + "\n"));
    }
}

#[test]
fn the_server_is_found_on_every_network_and_followed_from_one_to_another() {
    let networks = Networks::make();
    let folder = tempfile::tempdir().expect("a folder");
    let (loud_db, silent_db) = (
        folder.path().join("loud.db"),
        folder.path().join("silent.db"),
    );
    let _silent = networks.serve(&silent_db, &["--no-mdns", "--listen", "0.0.0.0:8081"]);
    let mut loud = networks.serve(&loud_db, &["--listen", "0.0.0.0:8080"]);
    let phone = Phone::look(&networks.phone);
    let found = phone.finds("Gatepost", &["10.77.1.1", "10.77.2.1"]);
    let said: BTreeSet<(&str, &str)> = found
        .txt_properties
        .iter()
        .map(|property| (property.key(), property.val_str()))
        .collect();
    let expected = [
        ("api", "/api/v5"),
        ("request", "/api/v5/device-request/new"),
        ("tls", "0"),
        ("version", env!("CARGO_PKG_VERSION")),
    ];
    assert_eq!(said, BTreeSet::from(expected));
    avahi_finds(
        &networks,
        &[
            "Gatepost;_gatepost._tcp;local",
            ";10.77.1.1;8080;",
            ";10.77.2.1;8080;",
            "\"api=/api/v5\"",
            "\"request=/api/v5/device-request/new\"",
            "\"tls=0\"",
        ],
    );
    // The laptop goes to another network.
    Networks::address(&networks.phone, "add", 2, "10.77.3.2");
    Networks::address(&networks.laptop, "del", 2, "10.77.2.1");
    Networks::address(&networks.laptop, "add", 2, "10.77.3.1");
    phone.finds("Gatepost", &["10.77.3.1"]);
    // It is called otherwise.
    let config = folder.path().join("config.json");
    std::fs::write(
        &config,
        json!({"settings": {"name": "Nordlicht"}}).to_string(),
    )
    .expect("a file");
    let applied = Command::new(GATEPOST)
        .args(["config", "apply"])
        .arg(&config)
        .arg("--db")
        .arg(&loud_db)
        .output()
        .expect("it runs");
    assert!(applied.status.success(), "{applied:?}");
    phone.finds("Nordlicht", &["10.77.3.1"]);
    // It says goodbye.
    loud.end();
    phone.until("Nordlicht is gone", |event| match event {
        ServiceEvent::ServiceRemoved(_, name) if name.starts_with("Nordlicht.") => Some(()),
        _ => None,
    });
}

/// A file that a second machine has as well, and where that took over a copy with a higher epoch.
fn two_machines(folder: &Path) -> [std::path::PathBuf; 2] {
    let [first, second] = ["first.db", "second.db"].map(|name| folder.join(name));
    told(&first, &["demo", "--json"]);
    told(&first, &["standby", "init", "--json"]);
    std::fs::copy(&first, &second).expect("copied");
    let file = rusqlite::Connection::open(&second).expect("the file");
    let raised = file.execute("UPDATE standby SET epoch = 77", []);
    assert_eq!(raised, Ok(1));
    [first, second]
}

#[test]
fn a_machine_that_took_over_stops_the_one_before_by_its_announcement() {
    let networks = Networks::make();
    let folder = tempfile::tempdir().expect("a folder");
    let [first, second] = two_machines(folder.path());
    let listen = ["--listen", "0.0.0.0:8080"];
    let _first = networks.serve(&first, &listen);
    let is_replaced = || {
        let ready = Networks::inside(&networks.laptop, "curl")
            .args(["-s", "http://127.0.0.1:8080/health/ready"])
            .output();
        let ready = ready.expect("curl");
        String::from_utf8_lossy(&ready.stdout).contains("another machine took over (epoch 77")
    };
    assert!(!is_replaced());
    let _second = Networks::serve_in(&networks.phone, &second, &listen);
    until("the first machine hears of the second", is_replaced);
}
