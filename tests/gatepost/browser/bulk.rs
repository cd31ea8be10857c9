//! One thing done to many attendees: selected in the list, looked at, done, and taken back as one.

use super::{become_administrator, examine::Examiner, open, open_first_run, window::Browser};
use crate::faults::process::{Served, gatepost};
use rusqlite::Connection;
use serde_json::json;
use std::{fmt::Write, path::Path};

/// A server with 120 attendees, every third a speaker, a hall for everybody and a room for who registered.
fn begin(folder: &Path) -> (Served, Browser, Connection) {
    let file = folder.join("event.db");
    let mut list = "First name,Last name,Barcode,Type,Email\n".to_owned();
    for number in 1..=120 {
        let kind = if number % 3 == 0 {
            "Speaker"
        } else {
            "Visitor"
        };
        writeln!(
            list,
            "Guest{number:03},Person,T-{number:03},{kind},g{number}@example.org"
        )
        .expect("text");
    }
    let path = folder.join("list.csv");
    std::fs::write(&path, list).expect("a list");
    let list = path.to_str().expect("a path");
    let imported = gatepost(&file, &["import", "delegates", list]);
    assert!(imported.status.success(), "{imported:?}");
    let db = Connection::open(&file).expect("the file");
    db.execute_batch(
        r#"INSERT INTO devices (id, name, device_type, code, public_id, sources, data, created_at, updated_at)
         VALUES (1001, 'Hall', 'room', 'hall', 'hall', '[]', '{}', 1, 1),
             (1002, 'Lounge', 'room', 'lounge', 'lounge', '[]', '{"Access": {"ruleSet": "simple"}}', 1, 1)"#,
    )
    .expect("places");
    let served = Served::start(&file);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    (served, browser, db)
}

fn count(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).expect("a count")
}

/// Chooses from a menu by its value, as a hand does.
fn choose(browser: &Browser, value: &str) {
    browser.run(
        "const field = document.querySelector('main form [name=with]');
         field.value = arguments[0];
         field.dispatchEvent(new Event('change', {bubbles: true}))",
        &[json!(value)],
    );
}

#[test]
fn two_rows_are_checked_in_with_five_actions_and_taken_back_with_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    let examiner = Examiner::installed();
    browser.go("/console/delegates");
    browser.count();
    browser.click("tbody tr:nth-child(1) [name=id]");
    browser.click("tbody tr:nth-child(2) [name=id]");
    browser.tells("2 selected");
    let mut faults = examiner.faults(&browser, "a selection");
    browser.press("Check in…");
    browser.arrives_at("/console/delegates/bulk");
    choose(&browser, "1001");
    browser.tells("2 will be done");
    faults.extend(examiner.faults(&browser, "a preview"));
    browser.press("Check in: 2");
    browser.tells("2 done.");
    browser.took(5, 0, 3);
    let inside = "SELECT count(*) FROM interactions WHERE interaction_type = 'check-in' AND first_device_id = 1001";
    assert_eq!(count(&db, inside), 2);
    assert_eq!(
        count(&db, "SELECT inside FROM occupancy WHERE device_id = 1001"),
        2
    );
    faults.extend(examiner.faults(&browser, "something done to many"));
    browser.go("/console/interactions");
    browser.tells("Check in at Hall: 2 attendees");
    browser.press("Check in at Hall");
    browser.press("Undo all");
    browser.tells("2 removed");
    assert_eq!(count(&db, inside), 0);
    assert_eq!(
        count(
            &db,
            "SELECT coalesce(sum(inside), 0) FROM occupancy WHERE device_id = 1001"
        ),
        0
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn all_that_match_are_meant_and_who_is_refused_is_told_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    // The room is for those who registered: one is.
    browser.go("/console/delegates?q=Guest003");
    browser.click("tbody [name=id]");
    browser.press("Register for…");
    choose(&browser, "1002");
    browser.tells("1 will be done");
    browser.press("Register: 1");
    browser.tells("1 done.");
    browser.go("/console/delegates?type=Visitor");
    browser.click("[data-select-page]");
    browser.tells("50 selected");
    browser.press("All 80 that match");
    browser.press("Check in…");
    choose(&browser, "1002");
    browser.tells("80 refused: Not joined");
    browser.go("/console/delegates");
    browser.click("[data-select-page]");
    browser.press("All 120 that match");
    browser.press("Check in…");
    choose(&browser, "1002");
    browser.tells("1 will be done");
    browser.tells("119 refused");
    browser.press("Check in: 1");
    browser.tells("1 done, 119 refused.");
    // Who was refused stands in the file: a restart loses nothing.
    assert_eq!(count(&db, "SELECT count(*) FROM batch_refusals"), 119);
    browser.tells("Guest004 Person");
    assert_eq!(count(&db, "SELECT count(*) FROM refusals"), 0);
    let inside = "SELECT count(*) FROM interactions WHERE interaction_type = 'check-in'";
    assert_eq!(count(&db, inside), 1);
}

#[test]
fn a_message_goes_to_all_speakers_and_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    let examiner = Examiner::installed();
    db.execute(
        "UPDATE delegates SET email = NULL WHERE id % 2 AND delegate_type = 'Speaker'",
        [],
    )
    .expect("speakers without an address");
    db.execute("UPDATE delegates SET first_name = NULL WHERE id = 6", [])
        .expect("a speaker without a first name");
    browser.go("/console/messages/gateways/email");
    for (field, value) in [("host", "mail.invalid"), ("from", "summit@example.org")] {
        browser.fill(field, value);
    }
    browser.press("Save");
    browser.tells("Gateway saved");
    browser.go("/console/messages");
    browser.count();
    browser.press("New message");
    browser.arrives_at("/console/messages/new");
    let mut faults = examiner.faults(&browser, "whom a message is for");
    browser.press("Speakers missing");
    browser.tells("20 can be reached");
    browser.fill("subject", "The stage is ready");
    browser.fill("content", "Dear ");
    browser.press("First name");
    browser.tells("Dear Guest003");
    browser.tells("1 person has no value for First name.");
    faults.extend(examiner.faults(&browser, "a message to a list"));
    browser.fill("address", "ada@example.com");
    browser.press("Send a test to me");
    browser.tells("A test is on its way");
    browser.run("window.confirm = () => true", &[]);
    browser.press("Send e-mails");
    browser.tells("20 queued, 20 without an e-mail address.");
    // One of the clicks and the address are the test to oneself.
    browser.took(5, 38, 5);
    let states = "SELECT count(*) FROM messages WHERE origin LIKE 'list:%' AND state = ";
    let waiting =
        || count(&db, &format!("{states} 'waiting'")) + count(&db, &format!("{states} 'sending'"));
    assert_eq!(waiting(), 20);
    faults.extend(examiner.faults(&browser, "messages on their way"));
    browser.press("Who got what");
    browser.tells("The stage is ready");
    // Another channel is for the same people.
    let back = browser.path();
    browser.go("/console/messages/new?type=Speaker&been=no");
    browser.press("Text");
    browser.tells("40 attendees");
    browser.tells("0 can be reached");
    browser.go(&back);
    browser.go("/console/import/batches/2");
    browser.press("Stop sending");
    browser.tells("messages that waited are not sent");
    let rest = count(&db, &format!("{states} 'cancelled'"));
    assert!(rest >= 19, "{rest}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn types_blocks_and_deletions_of_many_are_put_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    let vips = "SELECT count(*) FROM delegates WHERE delegate_type = 'VIP'";
    let blocked = "SELECT count(*) FROM blocked_codes";
    let without = "SELECT count(*) FROM delegates WHERE barcode IS NULL";
    let deleted = "SELECT count(*) FROM delegates WHERE deleted_at IS NOT NULL";
    let all = |action: &str, with: &str| {
        browser.go(&format!(
            "/console/delegates/bulk?do={action}&with={with}&type=Speaker"
        ));
        browser.tells("40 will be done");
        browser.click("#preview form .button:first-child");
        browser.tells("40 done.");
    };
    let undo = |told: &str| {
        browser.press("Undo all");
        browser.tells(told);
    };
    all("flag", "a");
    assert_eq!(
        count(&db, "SELECT count(*) FROM delegates WHERE raw_flags = 'a'"),
        40
    );
    undo("40 put back");
    all("block", "reported%20lost");
    assert_eq!((count(&db, blocked), count(&db, without)), (40, 40));
    all("unblock", "");
    assert_eq!((count(&db, blocked), count(&db, without)), (0, 0));
    undo("40 put back");
    assert_eq!((count(&db, blocked), count(&db, without)), (40, 40));
    browser.go("/console/import/batches/3");
    undo("40 put back");
    assert_eq!((count(&db, blocked), count(&db, without)), (0, 0));
    all("delete", "");
    assert_eq!(count(&db, deleted), 40);
    undo("40 put back");
    assert_eq!(count(&db, deleted), 0);
    all("type", "VIP");
    assert_eq!(count(&db, vips), 40);
    undo("40 put back");
    assert_eq!(count(&db, vips), 0);
}

#[test]
fn the_day_is_closed_on_one_page_with_one_download() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    browser.go("/console/delegates/bulk?do=check-in&with=1001&type=Speaker");
    browser.press("Check in: 40");
    browser.tells("40 done.");
    browser.go("/console");
    browser.count();
    browser.press("More");
    browser.press("Close the day");
    browser.arrives_at("/console/day");
    browser.tells("40 arrived today");
    browser.tells("Every scan is here");
    let faults = Examiner::installed().faults(&browser, "the end of the day");
    browser.run("window.confirm = () => true", &[]);
    browser.press("Check everybody out");
    browser.tells("Nobody is inside");
    let inside = "SELECT coalesce(sum(inside), 0) FROM occupancy";
    assert_eq!(count(&db, inside), 0);
    let archive = browser.run_until_told(
        "fetch('/console/day/download').then((answer) => answer.arrayBuffer())
         .then((bytes) => arguments[0](Array.from(new Uint8Array(bytes))))",
    );
    let archive: Vec<u8> = serde_json::from_value(archive).expect("bytes");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).expect("an archive");
    let mut text = |name: &str| {
        let mut text = String::new();
        let mut file = archive.by_name(name).expect(name);
        std::io::Read::read_to_string(&mut file, &mut text).expect("a text");
        text
    };
    assert_eq!(text("attendees.csv").lines().count(), 121);
    assert_eq!(text("activity.csv").lines().count(), 81);
    assert!(text("refusals.csv").starts_with('\u{feff}'));
    assert!(text("places.csv").contains("Lounge"));
    browser.press("Back up now");
    browser.tells("Backup made and checked");
    browser.took(4, 0, 3);
    // A backup counts that has the last scan.
    let is_backed_up = || {
        browser.go("/console/day");
        browser.has(".steps > .step.done:last-child")
    };
    assert!(is_backed_up());
    browser.go("/console/delegates/bulk?do=check-in&with=1001&type=Visitor");
    browser.press("Check in: 80");
    browser.tells("80 done.");
    assert!(!is_backed_up());
    // What was undone for many at once counts, each.
    browser.go("/console/interactions");
    browser.press("Check in at Hall");
    browser.press("Undo all");
    browser.tells("80 removed");
    browser.go("/console/day");
    browser.tells("80 undone");
    db.execute_batch(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 150)
         INSERT INTO refusals (at, interaction_type, recorded_at, code, message)
         SELECT now, 'check-in', now, 1301, 'no such attendee' FROM n, (SELECT unixepoch() * 1000 AS now)",
    )
    .expect("refusals");
    browser.go("/console/day");
    browser.tells("150 refused");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_preparation_says_what_is_missing_and_ends_with_a_test_ticket() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    browser.go("/console/prepare");
    browser.tells("Lounge: only registered attendees may enter, and nobody is registered");
    let mut faults = Examiner::installed().faults(&browser, "the checklist");
    // The places say the same, and an import asks.
    browser.go("/console/devices");
    browser.tells("Lounge refuses everybody");
    browser.go("/console/devices/entry");
    browser.tells("registered attendees");
    let more = folder.path().join("more.csv");
    std::fs::write(&more, "First name,Barcode\nAda,A-1\n").expect("a list");
    browser.go("/console/import");
    browser.attach("file", &more);
    browser.press("Upload");
    browser.press("Import 1 row");
    browser.tells("choose under Options what everybody on this list is registered for");
    // The browser is right to complain that nothing was imported.
    browser.complaints();
    browser.run("document.querySelector('[name=join]').value = '1002'", &[]);
    browser.press("Import 1 row");
    browser.tells("Import finished");
    browser.go("/console/prepare");
    browser.tells("Every place admits somebody");
    browser.count();
    let scan = |place: &str, code: &str| {
        browser.run(
            "document.querySelector('[name=place]').value = arguments[0]",
            &[json!(place)],
        );
        browser.fill("code", code);
        browser.press("Scan");
    };
    scan("1002", "T-003");
    browser.tells("Refused.");
    scan("1002", "A-1");
    browser.tells("Admitted. Ada may enter Lounge.");
    browser.took(2, 8, 2);
    assert_eq!(count(&db, "SELECT count(*) FROM refusals"), 0);
    faults.extend(Examiner::installed().faults(&browser, "a test ticket"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_zone_of_the_venue_is_that_of_the_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::start(&folder.path().join("event.db"));
    let browser = open(&served);
    browser.call(
        "Emulation.setTimezoneOverride",
        &json!({"timezoneId": "Europe/Lisbon"}),
    );
    open_first_run(&browser, &served);
    let zone = browser.run(
        "return document.querySelector('[name=timeZone]').value",
        &[],
    );
    // A laptop knows its own.
    let own = jiff::tz::TimeZone::system();
    let expected = match own.iana_name() {
        Some(own) if own != "UTC" && !own.starts_with("Etc/") => own,
        _ => "Europe/Lisbon",
    };
    assert_eq!(zone, json!(expected));
}

#[test]
fn likely_doubles_are_told_with_reasons_and_a_merge_of_two_people_warns() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    let more = folder.path().join("more.csv");
    std::fs::write(
        &more,
        "First name,Last name,Email,Barcode\nAda,Person,G7@example.org,A-1\n",
    )
    .expect("a list");
    browser.go("/console/import");
    browser.attach("file", &more);
    browser.press("Upload");
    browser.run("document.querySelector('[name=join]').value = '0'", &[]);
    browser.press("Import 1 row");
    browser.tells("Import finished");
    browser.count();
    browser.press("Compare them");
    browser.tells("same e-mail");
    let mut faults = Examiner::installed().faults(&browser, "duplicates");
    browser.click("tbody .button");
    browser.tells("They may be two people. Their first names differ.");
    faults.extend(Examiner::installed().faults(&browser, "a comparison"));
    browser.run("window.confirm = () => true", &[]);
    browser.press("Merge");
    browser.tells("Merged:");
    browser.took(3, 0, 3);
    browser.go("/console/delegates/duplicates");
    browser.tells("No duplicates");
    assert_eq!(
        count(
            &db,
            "SELECT count(*) FROM delegates WHERE deleted_at IS NULL"
        ),
        120
    );
    // Two who share an address are told apart once and for all.
    db.execute_batch(
        "UPDATE delegates SET email = 'desk@example.org' WHERE barcode IN ('T-001', 'T-002')",
    )
    .expect("an address");
    browser.go("/console/delegates/duplicates");
    browser.tells("same e-mail");
    browser.click("tbody form .button");
    browser.tells("Remembered");
    browser.tells("No duplicates");
    db.execute_batch("UPDATE delegates SET email = 'desk@example.org' WHERE barcode = 'T-003'")
        .expect("an address");
    browser.go("/console/delegates/duplicates");
    browser.tells("Guest003 Person");
    faults.extend(Examiner::installed().faults(&browser, "duplicates of three"));
    browser.click("tbody form .button");
    browser.tells("No duplicates");
    assert_eq!(count(&db, "SELECT count(*) FROM distinct_delegates"), 3);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
