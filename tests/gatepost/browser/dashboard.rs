//! The dashboard and the wall display in a browser, while people come.

use super::{
    app::App, become_administrator, examine::Examiner, open, open_first_run, origin,
    window::Browser,
};
use crate::faults::process::{Served, gatepost};
use serde_json::json;
use std::path::Path;

/// A server with the sample list, its administrator's browser, and a gate's app.
fn begin(folder: &Path) -> (Served, Browser, App) {
    let db = folder.join("gatepost.db");
    let listed = gatepost(&db, &["import", "delegates", "examples/attendees.csv"]);
    assert!(listed.status.success(), "{listed:?}");
    let served = Served::start_for_all(&db, &[]);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    browser.go("/console/discovery");
    let address = format!("http://{}/api/v5/device-request/new", served.address);
    let app = App::new(&address, "42", served.address);
    app.ask().is(201);
    browser.press("Add");
    app.is_added();
    app.ping(0).is(200);
    (served, browser, app)
}

/// Waits until a number is shown.
fn shows(browser: &Browser, name: &str, wanted: i64) {
    let script =
        "return Number(document.querySelector(`[data-live=${arguments[0]}]`)?.textContent)";
    browser.until(&format!("{name} is {wanted}"), || {
        browser.run(script, &[json!(name)]) == json!(wanted)
    });
}

#[test]
fn the_first_number_follows_a_check_in_and_the_chart_tells_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_served, browser, app) = begin(folder.path());
    browser.go("/console");
    shows(&browser, "arrived", 0);
    shows(&browser, "expected", 60);
    browser.run(
        "globalThis.isSamePage = true; document.getElementById('arrivals-show').click()",
        &[],
    );
    app.check_in("TLH26-P77NDEDD").is(201);
    shows(&browser, "arrived", 1);
    shows(&browser, "people", 1);
    shows(&browser, "lately", 1);
    // What was opened stays open, and the chart is drawn from the table.
    let script = "const chart = document.querySelector('.chart.drawn .uplot');
        return [globalThis.isSamePage, document.getElementById('arrivals-shown').open, !!chart?.querySelector('canvas'),
            chart?.getAttribute('aria-label').includes('1 in the last 5 minutes')]";
    browser.until("the chart is drawn", || {
        browser.run(script, &[]) == json!([true, true, true, true])
    });
    // The value of the last bar is under the pointer.
    let script = "const over = document.querySelector('.uplot .u-over'), box = over.getBoundingClientRect();
        const bars = Number(document.querySelector('[data-bars]').dataset.bars);
        const rows = document.getElementById('arrivals-table').tBodies[0].rows.length;
        const at = { clientX: box.left + box.width * (rows - 0.5) / bars, clientY: box.top + 20, bubbles: true };
        for (const kind of ['mouseenter', 'mousemove']) over.dispatchEvent(new MouseEvent(kind, at));
        return document.querySelector('.plot-value').textContent";
    browser.until("the value is told", || {
        let told = browser.run(script, &[]);
        told.as_str()
            .is_some_and(|told| told.ends_with(": 1 arrived"))
    });
    let examiner = Examiner::installed();
    assert_eq!(
        examiner.faults(&browser, "the dashboard"),
        Vec::<String>::new()
    );
}

#[test]
fn a_screen_shows_the_wall_by_its_link_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (served, browser, app) = begin(folder.path());
    browser.go("/console");
    browser.press("More");
    browser.press("Link for a wall display");
    browser.press("Create link");
    browser.tells("Copy it now");
    let address = browser.run(
        "return document.getElementById('wall-address').textContent",
        &[],
    );
    let address = address.as_str().expect("an address");
    let (_, path) = address.split_once("/console/").expect("a path");
    let screen = Browser::open(&origin(&served));
    screen.go(&format!("/console/{path}"));
    screen.arrives_at("/console/wall");
    shows(&screen, "arrived", 0);
    app.check_in("TLH26-P77NDEDD").is(201);
    shows(&screen, "arrived", 1);
    let examiner = Examiner::installed();
    assert_eq!(examiner.faults(&screen, "the wall"), Vec::<String>::new());
    assert_eq!(
        screen.run(
            "return document.querySelectorAll('a, button, form').length",
            &[]
        ),
        json!(0)
    );
    for path in ["/console", "/console/delegates", "/console/desk"] {
        screen.go(path);
        screen.arrives_at("/console/sign-in");
    }
    screen.go("/console/wall");
    browser.go("/console/wall/link");
    browser.press("Revoke link");
    // The display ends by itself.
    screen.arrives_at("/console/sign-in");
}
