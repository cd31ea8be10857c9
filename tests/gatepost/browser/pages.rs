//! Every page of the console, for everybody: axe-core finds nothing, nothing is wider than the
//! window, the browser complains about nothing, and a link leads there.

use super::{
    become_administrator, examine::Examiner, links, open, open_first_run, sign_in, sign_out,
    window::Browser,
};
use crate::luck::process::{Served, gatepost};
use gatepost::console;
use reqwest::Method;
use std::{collections::BTreeSet, path::Path};

/// Looks at every page; the file has no administrator yet.
fn assert_for_everybody(db: &Path, is_complete: bool) {
    let served = Served::start(db);
    let browser = open(&served);
    let examiner = Examiner::installed();
    open_first_run(&browser, &served);
    let mut faults = examiner.faults(&browser, "/console/setup");
    become_administrator(&browser);
    sign_out(&browser);
    faults.extend(examiner.faults(&browser, "/console/sign-in"));
    sign_in(&browser);
    browser.go("/console/nothing");
    // The browser is right to complain that there is no such page.
    browser.complaints();
    faults.extend(examiner.faults(&browser, "what is not there"));
    let found = links::follow(&format!("http://{}", served.address), &browser.cookies());
    let looked_at = look(&browser, &examiner, &found, &mut faults);
    faults.extend(found.dead);
    if is_complete {
        faults.extend(unreached(&found.reached));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(looked_at > 0);
}

/// Looks at what links lead to; how many pages that are.
fn look(
    browser: &Browser,
    examiner: &Examiner,
    found: &links::Found,
    faults: &mut Vec<String>,
) -> usize {
    let pages: Vec<&String> = found.pages.values().flatten().collect();
    for page in &pages {
        browser.go(page);
        faults.extend(examiner.faults(browser, page));
    }
    pages.len()
}

/// Routes that nothing leads to.
fn unreached(reached: &BTreeSet<&str>) -> Vec<String> {
    console::routes()
        .iter()
        .filter(|route| route.method == Method::GET && !reached.contains(route.path))
        // Whoever is signed in is not led to these two; they have been looked at.
        .filter(|route| !["/console/setup", "/console/sign-in"].contains(&route.path))
        .map(|route| format!("{}: no page leads there", route.path))
        .collect()
}

#[test]
fn every_page_of_an_empty_file_is_for_everybody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_for_everybody(&folder.path().join("gatepost.db"), false);
}

#[test]
fn every_page_of_an_event_is_for_everybody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    let filled = gatepost(&db, &["demo"]);
    assert!(filled.status.success(), "{filled:?}");
    let imported = gatepost(&db, &["import", "delegates", "examples/attendees.csv"]);
    assert!(imported.status.success(), "{imported:?}");
    assert_for_everybody(&db, true);
}
