//! `/gate/trust` in a browser: before and after its user trusts the server's CA, as the page says, with Debian's
//! certutil.

use super::{NAME, examine::Examiner, window::Browser};
use crate::faults::process::{GATEPOST, Served};
use std::{
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn a_device_trusts_the_server_by_its_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, home) = (folder.path().join("fair.db"), folder.path().join("home"));
    let public = format!("https://{NAME}");
    let arguments = ["--tls-self-signed", "--public-url", &public];
    let served = Served::start_by(Command::new(GATEPOST), &db, &arguments);
    let (plain, secure) = (
        format!("http://{}", served.address),
        format!("https://{}", served.address),
    );
    let examiner = Examiner::installed();

    // The page is there before anything is trusted, and says so.
    std::fs::create_dir_all(home.join(".pki/nssdb")).expect("a folder");
    let stranger = Browser::open_at(&home, &plain);
    stranger.go("/gate/trust");
    stranger.tells("Not yet: this device does not trust the server.");
    stranger.tells(served.announced["caSha256"].as_str().expect("one"));
    let of_certificate = |fault: &String| fault.contains("ERR_CERT_AUTHORITY_INVALID");
    let faults = examiner.faults(&stranger, "/gate/trust");
    let (expected, others): (Vec<_>, Vec<_>) = faults.into_iter().partition(of_certificate);
    assert!(!expected.is_empty());
    assert!(others.is_empty(), "{}", others.join("\n"));
    drop(stranger);

    trust(&home, &plain);
    let device = Browser::open_at(&home, &plain);
    device.go("/gate/trust");
    device.tells("Trusted: this device trusts the server.");
    let faults = examiner.faults(&device, "/gate/trust");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    drop(device);

    // Over HTTPS it registers a service worker, as the gate app does.
    let device = Browser::open_at(&home, &secure);
    device.go("/gate/trust");
    device.tells("Trusted: this device trusts the server.");
    assert_eq!(device.run("return isSecureContext", &[]), true);
    let faults = examiner.faults(&device, "/gate/trust");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Downloads the CA and adds it to the certificates of a user, as the page says.
fn trust(home: &Path, origin: &str) {
    let script = r#"set -e
        curl -sS --noproxy '*' -o "$HOME/ca.crt" "$1/gate/trust/ca.crt"
        mkdir -p ~/.pki/nssdb
        certutil -d "sql:$HOME/.pki/nssdb" -A -t C,, -n "Gatepost CA" -i "$HOME/ca.crt""#;
    let mut shell = Command::new("sh");
    let done = shell
        .args(["-c", script, "sh", origin])
        .env("HOME", home)
        .stdin(Stdio::null());
    let output = done.output().expect("a shell");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "`tests/run` installs certutil (Debian: libnss3-tools): {told}"
    );
}
