//! The pages of a head office, for everybody.

use super::{become_administrator, examine::Examiner, open, open_first_run};
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
        "/console/venues/wall",
        "/console/settings/head-office",
    ] {
        browser.go(page);
        faults.extend(examiner.faults(&browser, page));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    drop(served);
}
