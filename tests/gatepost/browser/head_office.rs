//! The pages of a head office, for everybody.

use super::{
    EMAIL, PASSWORD, become_administrator, examine::Examiner, open, open_first_run, origin,
    window::Browser,
};
use crate::faults::process::Served;

#[test]
fn a_venue_is_added_and_every_page_of_a_hub_is_for_everybody() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start_hub(&folder.path().join("hub.db"));
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    let examiner = Examiner::installed();
    browser.go("/console/venues");
    browser.press("Add the first venue");
    browser.arrives_at("/console/venues/new");
    let mut faults = examiner.faults(&browser, "a new venue");
    browser.fill("name", "Hall North");
    browser.press("Add venue");
    browser.tells("head-office join");
    faults.extend(examiner.faults(&browser, "a pairing code"));
    for page in [
        "/console/venues",
        "/console/venues/1",
        "/console/venues/attendees?q=ada",
        "/console/venues/reports/attendance",
        "/console/wall/venues",
        "/console/settings/head-office",
    ] {
        browser.go(page);
        faults.extend(examiner.faults(&browser, page));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    // A screen that nobody signs in at: the link opens the display over all venues, and nothing else.
    browser.go("/console/wall/link");
    browser.press("Create link");
    browser.tells("Copy it now");
    let script = "return document.getElementById('wall-address').textContent";
    let address = browser.run(script, &[]);
    let address = address.as_str().expect("an address");
    let (_, path) = address.split_once("/console/").expect("a path");
    let screen = Browser::open(&origin(&served));
    screen.go(&format!("/console/{path}"));
    screen.arrives_at("/console/wall/venues");
    screen.tells("Arrived at all venues");
    screen.go("/console/venues");
    screen.arrives_at("/console/sign-in");
    // Whoever signs in sees the venues first: nothing happens on the hub itself.
    screen.go("/");
    screen.fill("email", EMAIL);
    screen.fill("password", PASSWORD);
    screen.press("Sign in");
    screen.arrives_at("/console/venues");
    drop(served);
}
