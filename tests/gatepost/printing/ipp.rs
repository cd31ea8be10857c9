//! A printer that speaks IPP and that nobody here wrote: `ippeveprinter` of CUPS (Debian's cups-ipp-utils). It wants a system
//! bus with avahi; both run in a network namespace of their own, so that nothing is announced on a network that is not ours.

use super::Venue;
use crate::{faults::process::until, loopback};
use gatepost::domain::printing::{Language, NewPrinter};
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn bus(folder: &Path) -> Running {
    let script = r#"
        set -e
        ip link set lo up
        mount -t tmpfs none /run
        mkdir -p /run/avahi-daemon
        cat > /run/bus.conf <<END
<busconfig><type>system</type><listen>unix:path=$1/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
END
        printf '[server]\nuse-ipv6=no\n' > /run/avahi.conf
        export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$1/bus
        dbus-daemon --config-file=/run/bus.conf --nofork --nopidfile &
        until [ -S $1/bus ]; do sleep 0.1; done
        touch $1/begun
        exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f /run/avahi.conf
    "#;
    // What it starts ends with it: it is the first process there.
    let child = Command::new("unshare")
        .args([
            "--net",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("unshare");
    let bus = Running(child);
    until("a bus", || folder.join("begun").exists());
    bus
}

#[test]
fn a_printer_of_cups_takes_a_badge() {
    let folder = tempfile::tempdir().expect("a folder");
    let _bus = bus(folder.path());
    let spool = folder.path().join("spool");
    fs::create_dir(&spool).expect("a folder");
    let port = loopback::listener()
        .local_addr()
        .expect("an address")
        .port();
    let start = || {
        let child = Command::new("ippeveprinter")
            .args([
                "-n",
                "localhost",
                "-k",
                "-r",
                "off",
                "-f",
                "application/pdf,image/pwg-raster",
                "-p",
            ])
            .arg(port.to_string())
            .arg("-d")
            .arg(&spool)
            .arg("Badges")
            .env(
                "DBUS_SYSTEM_BUS_ADDRESS",
                format!("unix:path={}/bus", folder.path().display()),
            )
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|cause| panic!("ippeveprinter (Debian's cups-ipp-utils): {cause}"));
        Running(child)
    };
    let venue = Venue::start();
    venue.put(NewPrinter {
        name: "Office".into(),
        language: Language::Ipp,
        address: format!("ipp://localhost:{port}/ipp/print"),
        ..NewPrinter::default()
    });
    let job = venue.print(venue.person("Zoë", ""));
    // It is switched on while the badge waits. It ends at once where avahi still begins.
    let mut printer = start();
    until("it is on", || {
        if printer.0.try_wait().expect("a state").is_some() {
            printer = start();
        }
        std::net::TcpStream::connect(("localhost", port)).is_ok()
    });
    venue.is(job, "sent");
    let documents = || {
        let entries = fs::read_dir(&spool).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let pdf = paths.filter(|path| path.extension().is_some_and(|kind| kind == "pdf"));
        pdf.collect::<Vec<_>>()
    };
    until("the document is kept", || documents().len() == 1);
    assert!(
        fs::read(&documents()[0])
            .expect("a file")
            .starts_with(b"%PDF-")
    );
}
