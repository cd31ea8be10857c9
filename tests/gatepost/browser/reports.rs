//! A report without SQL, as somebody makes one: clicks, keys and loads of pages are counted.

use super::{become_administrator, examine::Examiner, open, open_first_run};
use crate::faults::process::{Served, write_demo};
use serde_json::json;

#[test]
fn visits_by_company_are_three_clicks_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("event.db");
    write_demo(&file);
    let served = Served::start(&file);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    let examiner = Examiner::installed();
    browser.go("/console/reports");
    browser.count();
    let mut faults = examiner.faults(&browser, "reports");
    browser.press("New report");
    browser.arrives_at("/console/reports/build");
    faults.extend(examiner.faults(&browser, "a new report"));
    browser.press("Visits by company");
    browser.tells("Numbers of each group");
    // The preview is there without a click, and follows what is chosen.
    browser.tells("Nothing is saved yet.");
    faults.extend(examiner.faults(&browser, "the form of a report"));
    browser.run(
        "const field = document.getElementById('group0'); field.value = 'type';
         field.dispatchEvent(new Event('change', {bubbles: true}))",
        &[],
    );
    browser.until("the preview follows", || {
        let head = "return document.querySelector('#result th')?.innerText";
        browser.run(head, &[]) == json!("Type")
    });
    browser.run("document.getElementById('group0').value = 'company'", &[]);
    browser.press("Create report");
    browser.arrives_at("/console/reports/event/visits-by-company");
    browser.tells("Report created.");
    faults.extend(examiner.faults(&browser, "a report"));
    // One of the clicks only tries that the preview follows.
    browser.took(4, 0, 3);
    assert!(browser.has(".named-bars"));
    let heads = "return [...document.querySelectorAll('.result th')].map(head => head.innerText)";
    assert_eq!(
        browser.run(heads, &[]),
        json!(["Company", "Number", "People"])
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
