//! The console in a real browser, on the real binary: the whole way of an event from the first
//! run on, and every page for everybody.
//!
//! `GATEPOST_PICTURES=FOLDER` keeps the pictures of the handbook.

mod activity;
pub mod app;
mod bulk;
mod chromium;
mod dashboard;
mod designer;
mod desk;
mod examine;
mod faults;
pub mod gate;
mod gates;
mod handbook;
mod head_office;
mod links;
mod pages;
mod pictures;
mod places;
mod readers;
mod reference;
mod reports;
mod sample_day;
mod shell;
mod trust;
mod whole_event;
mod window;

use crate::faults::process::Served;
use window::Browser;

/// A name of the server for where it has no address but loopback.
pub const NAME: &str = "gate.example.org";
/// Who looks after the event.
pub const EMAIL: &str = "ada@example.com";
/// The password of everybody.
pub const PASSWORD: &str = "correct horse battery";

/// A browser on a server's console, which it sees as from the machine that it runs on.
pub fn open(served: &Served) -> Browser {
    Browser::open(&origin(served))
}

/// Where a server's pages are.
pub fn origin(served: &Served) -> String {
    format!("http://{}", served.address)
}

/// Opens the link of the first run.
pub fn open_first_run(browser: &Browser, served: &Served) {
    let link = served.announced["setup"].as_str().expect("a link");
    let (_, path) = link.split_once("/console/").expect("a path");
    browser.go(&format!("/console/{path}"));
}

/// Becomes the administrator, on the page of the first run.
pub fn become_administrator(browser: &Browser) {
    browser.fill("name", "Nordlicht Kongress 2026");
    browser.fill("timeZone", "Europe/Berlin");
    browser.fill("email", EMAIL);
    browser.fill("password", PASSWORD);
    browser.fill("again", PASSWORD);
    browser.press("Begin");
    browser.arrives_at("/console");
}

/// Signs in, on the page for it.
pub fn sign_in(browser: &Browser) {
    browser.fill("email", EMAIL);
    browser.fill("password", PASSWORD);
    browser.press("Sign in");
    browser.arrives_at("/console");
}

/// Signs out.
pub fn sign_out(browser: &Browser) {
    browser.press(&format!("Account of {EMAIL}"));
    browser.press("Sign out");
    browser.arrives_at("/console/sign-in");
}
