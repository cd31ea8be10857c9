//! What every page has around it, by hand: keys, palette, filters that apply at once, values that are changed where
//! they stand, and a server that is gone.

use super::{become_administrator, examine::Examiner, open, open_first_run, window::Browser};
use crate::faults::process::{Served, gatepost};
use serde_json::json;
use std::path::Path;

/// A server with the sample list, and its administrator's browser.
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

/// Waits until no key was pressed for longer than scanners take between two.
fn rest(browser: &Browser) {
    browser.run_until_told("setTimeout(arguments[0], 350)");
}

#[track_caller]
fn is(browser: &Browser, script: &str) -> bool {
    browser.run(&format!("return {script}"), &[]) == json!(true)
}

#[test]
fn a_few_keys_lead_everywhere_and_a_scanner_nowhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_served, browser) = begin(folder.path());
    browser.go("/console");
    rest(&browser);
    browser.key("/", 0);
    browser.until("the palette is open", || {
        is(&browser, "document.getElementById('palette').open")
    });
    browser.tells("Import a list");
    browser.fill_in("#palette [name=q]", "brückner");
    browser.until("the first hit is chosen", || {
        browser.has("#palette [data-found='brückner'] [aria-selected=true]")
    });
    let examiner = Examiner::installed();
    let mut faults = examiner.faults(&browser, "the palette");
    browser.key("Enter", 0);
    browser.tells("Anneliese Brückner");
    browser.tells("Codes");
    // Two letters open a page, after a moment in which nothing follows.
    rest(&browser);
    browser.key("g", 0);
    browser.key("v", 0);
    browser.arrives_at("/console/interactions");
    // A scanner types on, and ends with Enter.
    rest(&browser);
    for key in ["g", "d", "7"] {
        browser.key(key, 0);
    }
    browser.key("Enter", 0);
    rest(&browser);
    assert_eq!(browser.path(), "/console/interactions");
    // Nothing happens in a field.
    browser.fill("delegate", "x");
    rest(&browser);
    browser.key("?", 8);
    assert!(is(&browser, "!document.getElementById('keys').open"));
    browser.run("document.activeElement.blur()", &[]);
    rest(&browser);
    // On the way to the sign, Shift is no key of its own.
    browser.key("Shift", 8);
    browser.key("?", 8);
    browser.tells("This list");
    faults.extend(examiner.faults(&browser, "the keys"));
    browser.run("document.getElementById('keys').close()", &[]);
    // One Escape closes the palette, whatever is typed.
    browser.key("k", 2);
    browser.fill_in("#palette [name=q]", "x");
    browser.key("Escape", 0);
    assert!(is(&browser, "!document.getElementById('palette').open"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_was_typed_in_another_section_of_the_settings_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_served, browser) = begin(folder.path());
    browser.go("/console/settings");
    let save = "document.querySelectorAll('.setting-group')[1].requestSubmit()";
    browser.run(
        "globalThis.asked = 0; globalThis.confirm = () => { globalThis.asked += 1; return false; };",
        &[],
    );
    browser.fill("name", "Another name");
    browser.run(save, &[]);
    assert!(is(
        &browser,
        "globalThis.asked === 1 && document.querySelector('[name=name]').value === 'Another name'"
    ));
    // Nothing is asked where nothing is lost.
    browser.reload();
    browser.run(
        "globalThis.confirm = () => { document.title = 'asked'; return false; }",
        &[],
    );
    browser.run(save, &[]);
    browser.tells("aved");
    assert!(is(&browser, "document.title !== 'asked'"));
}

#[test]
fn filters_apply_at_once_and_the_address_keeps_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_served, browser) = begin(folder.path());
    browser.go("/console/access");
    browser.fill("q", "nobody");
    browser.tells("No matches");
    assert!(is(&browser, "location.search === '?q=nobody'"));
    assert!(is(&browser, "document.activeElement.name === 'q'"));
    browser.reload();
    browser.tells("No matches");
    browser.go("/console/delegates");
    let choose = "const type = document.querySelector('[name=type]');
        type.selectedIndex = 1; type.dispatchEvent(new Event('change', {bubbles: true}));
        return type.value";
    let chosen = browser.run(choose, &[]);
    // The table comes first, the address after it.
    browser.until("only those are listed, and the address says so", || {
        is(
            &browser,
            &format!(
                "(() => {{
                    const kinds = [...document.querySelectorAll('#found td:nth-child(5)')]
                        .map((cell) => cell.textContent);
                    return kinds.length > 0 && kinds.every((kind) => kind === {chosen})
                        && new URLSearchParams(location.search).get('type') === {chosen};
                }})()"
            ),
        )
    });
    // Without scripts a button does the same.
    assert!(browser.has("form.toolbar button[type=submit]"));
}

#[test]
fn a_value_is_changed_where_it_stands_and_the_focus_stays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_served, browser) = begin(folder.path());
    browser.go("/console/delegates/1");
    browser.click("#value-company");
    browser.until("the field has the focus", || {
        is(&browser, "document.activeElement.name === 'value'")
    });
    let faults = Examiner::installed().faults(&browser, "a value that is changed");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    browser.fill("value", "Nordwind");
    browser.key("Enter", 0);
    browser.until("the value has the focus", || {
        is(
            &browser,
            "document.activeElement.id === 'value-company' && document.activeElement.textContent.includes('Nordwind')",
        )
    });
    browser.reload();
    browser.tells("Nordwind");
}

#[test]
fn a_server_that_is_gone_is_told_with_the_time_of_the_last_contact() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (served, browser) = begin(folder.path());
    browser.go("/console");
    browser.tells("Live");
    let clock = "return document.querySelector('.clock').textContent";
    let clock = browser.run(clock, &[]);
    drop(served);
    browser.tells("Last contact ");
    let told = "return document.querySelector('.connection').textContent.trim().slice(-5)";
    let told = browser.run(told, &[]);
    assert_eq!(told.as_str().map(str::len), clock.as_str().map(str::len));
    assert!(browser.has(".dot.warn"));
}
