//! Activity and the undo as somebody uses them: clicks are counted.

use super::{
    become_administrator, desk::open_desk, examine::Examiner, open, open_first_run, window::Browser,
};
use serde_json::json;

/// Checks somebody in by the desk, in a page of its own that is left again.
fn check_in(browser: &Browser, code: &str) {
    let script = "const page = await (await fetch('/console/desk')).text();
        const form = new DOMParser().parseFromString(page, 'text/html').querySelector('#desk-form');
        const body = new URLSearchParams(new FormData(form)); body.set('q', arguments[0]);
        globalThis.checked = (await fetch('/console/desk/check-in', {method: 'POST', body})).status";
    browser.run("globalThis.checked = 0", &[]);
    browser.run(
        &format!(
            "(async () => {{ {} }})()",
            script.replace("arguments[0]", &format!("'{code}'"))
        ),
        &[],
    );
    browser.until("the desk answers", || {
        browser.run("return globalThis.checked", &[]) == json!(200)
    });
}

fn rows(browser: &Browser) -> i64 {
    let rows = browser.run("return document.querySelectorAll('#tail > li').length", &[]);
    rows.as_i64().expect("a number")
}

#[test]
fn rows_come_in_and_wait_while_somebody_looks_closely() {
    let (_folder, _served, browser) = open_desk();
    browser.go("/console/interactions");
    let begun = rows(&browser);
    check_in(&browser, "TICKET-01");
    browser.until("the row is there", || rows(&browser) == begun + 1);
    // Under the pointer nothing moves.
    let point = |css: &str| {
        let script = format!(
            "document.querySelector('{css}').dispatchEvent(new PointerEvent('pointerover', {{bubbles: true, pointerType: 'mouse'}}))"
        );
        browser.run(&script, &[]);
    };
    point("#tail li");
    check_in(&browser, "TICKET-02");
    check_in(&browser, "TICKET-03");
    browser.tells("2 new");
    assert_eq!(rows(&browser), begun + 1);
    point("h1");
    browser.until("both are there", || rows(&browser) == begun + 3);
    // Nor while it is paused; a click shows what waits.
    browser.press("Pause");
    check_in(&browser, "TICKET-04");
    browser.tells("1 new");
    assert_eq!(rows(&browser), begun + 3);
    let faults = Examiner::installed().faults(&browser, "activity, paused");
    assert!(faults.is_empty(), "{faults:?}");
    browser.press("1 new");
    browser.until("it is there", || rows(&browser) == begun + 4);
    browser.press("Pause");
    // One click takes it back, where it stands.
    browser.count();
    browser.click("#tail li:first-child form button");
    browser.until("the row says so", || {
        browser.has("#tail li:first-child del")
    });
    browser.took(1, 0, 0);
    browser.tells("Undone by");
    assert_eq!(rows(&browser), begun + 4);
    browser.until("the focus is on the row", || {
        let focus = "return Boolean(document.activeElement.closest('#tail li:first-child'))";
        browser.run(focus, &[]) == json!(true)
    });
    let faults = Examiner::installed().faults(&browser, "activity, undone");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn one_click_undoes_on_the_page_of_an_attendee() {
    let (_folder, _served, browser) = open_desk();
    check_in(&browser, "TICKET-05");
    browser.go("/console/delegates/5");
    browser.tells("Checked in at");
    browser.count();
    browser.click("#main .timeline form button");
    browser.until("the row says so", || browser.has(".timeline del"));
    browser.took(1, 0, 0);
    browser.tells("Undone by");
    // Nobody is inside any more, and the focus is on the row.
    assert!(!browser.has(".big-state"));
    let focused = browser.run(
        "return Boolean(document.activeElement.querySelector?.(':scope > div del'))",
        &[],
    );
    assert_eq!(focused, json!(true));
    let faults = Examiner::installed().faults(&browser, "attendee, undone");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_chosen_chip_applies_at_once_and_the_address_keeps_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("event.db");
    crate::faults::process::write_demo(&file);
    let served = crate::faults::process::Served::start(&file);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    browser.go("/console/delegates");
    browser.until("the views are counted", || browser.has("#views .badge"));
    browser.count();
    browser.run(
        "const been = document.getElementById('been'); been.value = 'no'; been.dispatchEvent(new Event('change', {bubbles: true}))",
        &[],
    );
    browser.until("the address has it", || {
        browser.run("return location.search.includes('been=no')", &[]) == json!(true)
    });
    browser.until("the view is the current one", || {
        browser.run("return document.querySelector('#views [aria-current]')?.innerText.startsWith('Not arrived')", &[]) == json!(true)
    });
    browser.took(1, 0, 0);
}
