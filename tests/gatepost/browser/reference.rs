//! The API reference page: its policy lets it work, and nothing from elsewhere.

use super::window::Browser;
use crate::harness::Server;

#[test]
fn the_reference_page_works_under_its_policy() {
    let server = Server::start();
    let browser = Browser::open(&server.url());
    browser.go("/docs");
    browser.tells("/delegate/list");
    browser.click("#operations-Delegates-listDelegates button");
    browser.tells("Ordered by id, or as");
    browser.click("#operations-Delegates-listDelegates .try-out__btn");
    browser.click("#operations-Delegates-listDelegates .execute");
    // Its calls reach this server.
    browser.tells("this needs a token");
    let refused: Vec<String> = browser.complaints();
    let by_policy = |complaint: &&String| complaint.contains("Content Security Policy");
    assert_eq!(refused.iter().find(by_policy), None);
}
