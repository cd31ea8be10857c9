//! What goes wrong on the day, seen in a browser: the laptop changes its network, its clock jumps,
//! two people edit one record, the discovery page is left open over night, a phone is stolen.

use super::{
    app::{App, scan},
    become_administrator, open, open_first_run, origin,
    window::Browser,
};
use crate::{
    faults::process::{GATEPOST, Served, gatepost},
    harness,
};
use gatepost::{domain::discovery::window::OPEN, identity::ConsoleRole};
use serde_json::json;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// A server on a file with the sample list, and a browser in which its administrator is.
fn begin(folder: &Path) -> (Served, Browser) {
    let db = folder.join("gatepost.db");
    let listed = gatepost(&db, &["import", "delegates", "examples/attendees.csv"]);
    assert!(listed.status.success(), "{listed:?}");
    let served = Served::start(&db);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    (served, browser)
}

/// Where an app asks that has not read the QR.
fn request_address(server: SocketAddr) -> String {
    format!("http://{server}/api/v5/device-request/new")
}

/// An app that was let in, with its token.
fn connected(browser: &Browser, served: &Served, code: &str) -> App {
    browser.go("/console/discovery");
    let app = App::new(&request_address(served.address), code, served.address);
    assert_eq!(app.ask().status, 201);
    browser.press("Add");
    app.is_added();
    app
}

/// A network namespace with two networks, in which this thread, and whatever it starts, is from now on.
/// Needs root and Debian's iproute2, which `tests/run` installs.
#[cfg(target_os = "linux")]
struct Laptop(String);

#[cfg(target_os = "linux")]
impl Laptop {
    fn begin() -> Self {
        use std::os::fd::AsFd;
        let laptop = Self(format!("gatepost-desk-{}", std::process::id()));
        let name = &laptop.0;
        ip(&format!("netns add {name}"));
        laptop.ip("link set lo up");
        for network in ["venue", "hotel"] {
            laptop.ip(&format!(
                "link add {network} type veth peer name far-{network}"
            ));
            laptop.ip(&format!("link set far-{network} up"));
            laptop.ip(&format!("link set {network} up"));
        }
        let namespace = std::fs::File::open(format!("/var/run/netns/{name}"));
        rustix::thread::move_into_link_name_space(
            namespace.expect("a namespace").as_fd(),
            Some(rustix::thread::LinkNameSpaceType::Network),
        )
        .expect("root may enter a namespace");
        laptop
    }

    fn ip(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.0));
    }
}

#[cfg(target_os = "linux")]
impl Drop for Laptop {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

#[cfg(target_os = "linux")]
fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.unwrap_or_else(|cause| panic!("ip (Debian's iproute2): {cause}"));
    assert!(
        output.status.success(),
        "`ip {arguments}` failed, which takes root and network namespaces: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_qr_follows_the_laptop_from_network_to_network() {
    let laptop = Laptop::begin();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = Served::start_for_all(&folder.path().join("gatepost.db"), &[]);
    let port = served.address.port();
    let browser = Browser::open_here(&origin(&served));
    open_first_run(&browser, &served);
    become_administrator(&browser);
    browser.go("/console/discovery");
    browser.tells("This machine is on no network");
    assert!(!browser.has(".qr"));
    // Nobody loads the page again: the code appears, and changes, by itself.
    let shows = |address: &str| {
        let wanted = request_address(format!("{address}:{port}").parse().expect("an address"));
        browser.until(&format!("the QR holds {wanted}"), || {
            browser.has(".qr") && scan(&browser.picture()).as_ref() == Some(&wanted)
        });
        wanted
    };
    laptop.ip("addr add 10.78.1.5/24 dev venue");
    let first = shows("10.78.1.5");
    let app = App::new(&first, "42", served.address);
    assert_eq!(app.ask().status, 201);
    browser.press("Add");
    app.is_added();
    laptop.ip("addr del 10.78.1.5/24 dev venue");
    laptop.ip("addr add 192.168.7.9/24 dev hotel");
    let second = shows("192.168.7.9");
    assert_eq!(App::new(&second, "43", served.address).ask().status, 201);
    browser.tells("43");
    laptop.ip("addr del 192.168.7.9/24 dev hotel");
    browser.tells("This machine is on no network");
    drop(browser);
}

/// The server's clock in a file that says how far it is off, by Debian's libfaketime. Other clocks
/// go on as they do when somebody sets the one on the wall.
struct Clock(PathBuf);

impl Clock {
    fn of(folder: &Path) -> Self {
        let clock = Self(folder.join("clock"));
        clock.set(0);
        clock
    }

    fn set(&self, hours: i32) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, format!("{hours:+}h\n")).expect("a file");
        // At once: a clock that is half written is none.
        std::fs::rename(new, &self.0).expect("the clock");
    }

    fn server(&self) -> Command {
        let library = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
            .map(|machine| format!("/usr/lib/{machine}/faketime/libfaketime.so.1"));
        let library = library.iter().find(|path| Path::new(path).exists());
        let library = library
            .expect("libfaketime: `tests/run` installs it (Debian: apt-get install libfaketime)");
        let mut command = Command::new(GATEPOST);
        command
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.0)
            .env("FAKETIME_NO_CACHE", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        command
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_clock_that_jumps_shuts_nobody_out_and_loses_no_check_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    let listed = gatepost(&db, &["import", "delegates", "examples/attendees.csv"]);
    assert!(listed.status.success(), "{listed:?}");
    let clock = Clock::of(folder.path());
    let served = Served::start_by(clock.server(), &db, &[]);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    let app = connected(&browser, &served, "42");
    let work = browser.tab();
    let dashboard = browser.new_tab();
    browser.go("/console");
    let entered = |barcode: &str, in_all: usize| {
        let admitted = app.check_in(barcode);
        assert_eq!(admitted.status, 201, "{admitted:?}");
        browser.until("the dashboard shows it in its chart, and who is inside", || {
            let shown = browser.run(
                "const number = (name) => Number(document.querySelector(`[data-live=${name}]`)?.textContent);
                 const bars = [...document.querySelectorAll('.chart rect title')];
                 const counted = bars.reduce((sum, bar) => sum + parseInt(bar.textContent), 0);
                 return [number('check-ins') > 0, number('people'), counted];",
                &[],
            );
            shown[0] == true && shown[1] == in_all && shown[2].as_u64() > Some(0)
        });
    };
    entered("TLH26-P77NDEDD", 1);
    // Three hours too far, as a laptop is whose zone was wrong; then back, and too far back.
    for (hours, barcode, in_all) in [
        (3, "TLH26-DNY59FZ4", 2),
        (0, "TLH26-FH4C649Q", 3),
        (-5, "TLH26-E8D2ZDJT", 4),
    ] {
        clock.set(hours);
        let probe = app.ping(1);
        if probe.status == 401 {
            // Its token is of an hour that is over. An app gets another one by itself.
            assert_eq!(hours, 3, "{probe:?}");
            app.signs_in();
        }
        assert_eq!(app.ping(1).status, 200);
        entered(barcode, in_all);
        // Whoever is signed in stays so, and apps can be let in for as long as was said.
        browser.to_tab(&work);
        browser.tells("Requests accepted");
        let code = format!("of-{hours}");
        let another = App::new(&request_address(served.address), &code, served.address);
        let asked = another.ask();
        assert_eq!(asked.status, 201, "{asked:?}");
        browser.tells(&code);
        browser.click(&format!("button[aria-label='Add {code}']"));
        another.is_added();
        assert_eq!(another.ping(0).status, 200);
        browser.to_tab(&dashboard);
        browser.until("the dashboard has contact", || {
            let is_old = "return document.body.classList.contains('old')";
            browser.run(is_old, &[]) == json!(false)
        });
    }
}

#[test]
fn of_two_who_edit_one_record_the_second_is_told_in_her_browser() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (served, ada) = begin(folder.path());
    let bo = open(&served);
    bo.go("/console");
    super::sign_in(&bo);
    for browser in [&ada, &bo] {
        browser.go("/console/delegates/1/edit");
    }
    ada.fill("company", "Nordwind");
    ada.press("Save");
    ada.arrives_at("/console/delegates/1");
    bo.fill("jobTitle", "Pilot");
    bo.press("Save");
    bo.tells("changed this while you did");
    bo.tells("Nordwind");
    let typed = "return document.querySelector('[name=jobTitle]').value";
    assert_eq!(
        bo.run(typed, &[]),
        json!("Pilot"),
        "what she typed is not lost"
    );
    ada.go("/console/delegates/1");
    ada.tells("Nordwind");
    let told = "return document.body.innerText.includes('Pilot')";
    assert_eq!(ada.run(told, &[]), json!(false), "nothing is overwritten");
    // She has seen it, and says it once more.
    bo.fill("company", "Nordwind");
    bo.press("Save");
    bo.arrives_at("/console/delegates/1");
    bo.tells("Pilot");
    bo.tells("Nordwind");
}

#[test]
fn a_discovery_page_that_is_left_open_over_night_lets_nobody_in() {
    let server = harness::Server::start_with(Some("https://gate.example.org"));
    server.console_user("ada@example.com", ConsoleRole::Operator);
    let browser = Browser::open(&server.url());
    browser.go("/console/sign-in");
    browser.fill("email", "ada@example.com");
    browser.fill("password", harness::PASSWORD);
    browser.press("Sign in");
    browser.arrives_at("/console");
    browser.go("/console/discovery");
    browser.tells("Requests accepted");
    // The page was opened almost ten minutes ago; its stream goes on all the while.
    let window = &server.console.discovery.window;
    let almost = OPEN.saturating_sub(Duration::from_secs(2));
    window.extend(Instant::now().checked_sub(almost).expect("a time"));
    browser.tells("Discovery is closed");
    assert_eq!(window.left(Instant::now()), None);
    let app = App::new(&request_address(server.address()), "42", server.address());
    assert_eq!(app.ask().code(), 1001);
    // In the morning somebody comes and opens it again.
    browser.press("Open for ten minutes");
    browser.tells("Requests accepted");
    assert_eq!(app.ask().status, 201);
    browser.tells("42");
}

#[test]
fn a_stolen_phone_is_out_the_moment_it_is_revoked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (served, browser) = begin(folder.path());
    let app = connected(&browser, &served, "42");
    assert_eq!(app.check_in("TLH26-P77NDEDD").status, 201);
    // Whoever has its token has all that it has.
    let thief = app.copied();
    assert_eq!(thief.look_up("TLH26-P77NDEDD").status, 200);
    browser.go(&format!("/console/devices/{}", app.device()));
    browser.press("Revoke");
    browser.agree();
    browser.tells("The app is shut out from now on");
    for caller in [&thief, &app] {
        assert_eq!(caller.look_up("TLH26-P77NDEDD").code(), 1204);
        assert_eq!(caller.check_in("TLH26-DNY59FZ4").status, 401);
        assert_eq!(caller.ping(1).status, 401);
    }
    // Neither a new token nor the credentials once more.
    assert!(!thief.can_sign_in());
    let asked = app.ask();
    assert!(asked.body["data"]["clientSecret"].is_null(), "{asked:?}");
}
