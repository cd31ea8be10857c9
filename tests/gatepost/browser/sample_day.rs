//! A day with a bit of everything, so that no page has nothing to show.

use super::{app::App, window::Browser};
use crate::faults::process::Served;
use std::path::Path;

/// Parts of pages that are asked for while work goes on, which may be over at once, and what a secret opens.
pub const PASSING: [&str; 8] = [
    "/console/wall/enter",
    "/console/desk/find",
    "/console/desk/duplicates",
    "/console/import/:id/progress",
    "/console/import/batches/:id/progress",
    "/console/settings/backups/list",
    "/console/settings/times",
    "/console/reports/certificates/pdf",
];

/// Spends it, in a browser where an administrator is signed in; files go into a folder.
pub fn spend(browser: &Browser, served: &Served, folder: &Path) {
    connect(browser, served);
    evacuate(browser);
    publish(browser);
    write_region(browser);
    settle(browser);
    back_up(browser);
    equip(browser);
    subscribe(browser);
    write(browser);
    upload_bad_rows(browser, folder);
    report(browser);
}

/// A report that nobody wrote in SQL.
fn report(browser: &Browser) {
    browser.go("/console/reports/build?of=activity&like=visits");
    browser.press("Create report");
    browser.tells("Report created.");
}

/// An evacuation that runs.
fn evacuate(browser: &Browser) {
    browser.go("/console");
    browser.run("window.confirm = () => true", &[]);
    browser.press("Start evacuation");
    browser.tells("Evacuation of the whole venue");
}

/// A UHF reader that does not answer, attendees with tag numbers, and a tag that is followed.
fn equip(browser: &Browser) {
    browser.go("/console/readers/new");
    browser.fill("name", "Portal 1");
    browser.fill("address", "169.254.1.1:9");
    browser.fill("antenna0", "1");
    browser.press("Create reader");
    browser.arrives_at("/console/readers");
    browser.run("window.confirm = () => true", &[]);
    browser.press("Give everybody a number");
    browser.tells("Download the list for a badge printer");
    browser.go("/console/readers/calibrate");
    browser.fill("tag", "E7E7000000000000000000AB");
    browser.press("Follow");
    browser.tells("No antenna has heard this tag yet");
    browser.go("/console/readers");
    browser.until("the reader is down", || {
        browser.has("[id^='reader-'] .tag.bad")
    });
}

/// A webhook whose receiver cannot be reached, and what came of a test.
fn subscribe(browser: &Browser) {
    browser.go("/console/webhooks/new");
    browser.fill("name", "CRM");
    browser.fill("url", "http://localhost:9/in");
    browser.press("Create webhook");
    browser.arrives_at("/console/access/made");
    browser.go("/console/webhooks");
    browser.press("CRM");
    browser.press("Send a test");
    browser.tells("Test failed");
}

/// A mail server is set, which may not be called, and a message goes to it in vain.
fn write(browser: &Browser) {
    browser.go("/console/messages/gateways/email");
    for (field, value) in [
        ("host", "127.0.0.1"),
        ("from", "summit@example.org"),
        ("secret", "not a secret"),
    ] {
        browser.fill(field, value);
    }
    browser.press("Save");
    browser.tells("Gateway saved");
    browser.go("/console/messages/templates/new?type=email");
    for (field, value) in [
        ("slug", "welcome"),
        ("subject", "Welcome, {{ delegate.firstName }}"),
        ("content", "Doors open at nine."),
        ("html", "<p>Doors open at <b>nine</b>.</p>"),
    ] {
        browser.fill(field, value);
    }
    browser.press("Create template");
    browser.tells("welcome saved");
    browser.press("Preview");
    browser.tells("Welcome, Ada");
    browser.fill("address", "ada@example.org");
    browser.press("Send a test");
    browser.tells("Delivery");
}

/// One app is let in and looks around, another waits.
fn connect(browser: &Browser, served: &Served) {
    let address = format!("http://{}/api/v5/device-request/new", served.address);
    browser.go("/console/discovery");
    let app = App::new(&address, "42", served.address);
    app.ask().is(201);
    browser.press("Add");
    app.is_added();
    app.ping(0).is(200);
    assert_eq!(app.check_in("nobody").code(), 1301);
    let another = App::new(&address, "43", served.address);
    another.ask().is(201);
}

/// A version of the configuration is published, and the next one is a draft.
fn publish(browser: &Browser) {
    for kind in ["walk-in", "guest"] {
        if kind == "guest" {
            browser.press("Publish");
            browser.tells("published. Apps get it");
        }
        browser.go("/console/configuration/edit");
        browser.fill("delegateType", kind);
        browser.press("Save draft");
        browser.arrives_at("/console/configuration");
    }
}

/// A region is written, looked at before it is saved, and changed, so that there is a version to undo.
fn write_region(browser: &Browser) {
    browser.go("/console/content/edit");
    browser.fill("tags", "welcome");
    browser.press("Preview");
    browser.until("there is a preview", || {
        browser.has("#result iframe, #result .notice")
    });
    browser.press("Create region");
    browser.tells("created");
    browser.press("Publish now");
    browser.tells("Published: apps");
}

/// One of the purchases that do not fit is looked into.
fn settle(browser: &Browser) {
    browser.go("/console/sales/inconsistencies");
    browser.fill("note", "Counted the till: it was short");
    browser.run(
        "document.querySelector('form[action$=\"/settle\"]').requestSubmit()",
        &[],
    );
    browser.tells("settled.");
}

fn back_up(browser: &Browser) {
    browser.go("/console/settings/backups");
    browser.press("Back up to the folder");
    browser.until("there is a backup", || {
        browser.has("a[href^='/console/settings/backups/'][href$='/file']")
    });
}

fn upload_bad_rows(browser: &Browser, folder: &Path) {
    let list = folder.join("twice.csv");
    std::fs::write(&list, "Barcode,First name\nTWICE,Ada\nTWICE,Bo\n").expect("a list");
    browser.go("/console/import");
    browser.attach("file", &list);
    browser.press("Upload");
    browser.press("Check only");
    browser.tells("Validation");
}
