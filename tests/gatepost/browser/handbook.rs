//! The handbook in a browser: every page is for everybody, the card for stewards fits on one sheet,
//! and the picture in the README is of the demo.

use super::{examine::Examiner, open, pictures::Pictures, window::Browser};
use crate::{
    faults::process::{Served, told},
    handbook::pages,
    harness::Server,
};

#[test]
fn the_handbook_is_for_everybody() {
    let server = Server::start();
    let browser = Browser::open(&server.url());
    let examiner = Examiner::installed();
    let mut faults = Vec::new();
    let names = pages(&server);
    let paths = names.iter().map(|name| format!("/handbook/{name}"));
    let others = ["/handbook", "/handbook/search?q=backup"].map(ToOwned::to_owned);
    for path in paths.chain(others) {
        browser.go(&path);
        faults.extend(examiner.faults(&browser, &path));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    browser.go("/handbook/card");
    assert_eq!(browser.sheets(), 1);
}

#[test]
fn the_dashboard_of_the_demo_is_pictured() {
    let pictures = Pictures::wanted();
    if !pictures.are_wanted() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("demo.db");
    let demo = told(&db, &["demo", "--json"]);
    let served = Served::start(&db);
    let browser = open(&served);
    browser.go("/console");
    for field in ["email", "password"] {
        browser.fill(field, demo["operator"][field].as_str().expect(field));
    }
    browser.press("Sign in");
    browser.arrives_at("/console");
    pictures.take(&browser, "demo");
}
