//! Places by hand: a session and a door with the code of its gate in a few clicks from the dashboard, and the table of
//! who may enter.

use super::{
    app::scan, become_administrator, examine::Examiner, open, open_first_run, window::Browser,
};
use crate::faults::process::{Served, gatepost};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A server that others reach, with an event and its hall, and its administrator's browser.
fn begin(folder: &std::path::Path) -> (Served, Browser, Connection) {
    let file = folder.join("event.db");
    let listed = gatepost(&file, &["import", "delegates", "examples/attendees.csv"]);
    assert!(listed.status.success(), "{listed:?}");
    let db = Connection::open(&file).expect("the file");
    db.execute_batch(
        "INSERT INTO devices (id, parent_id, name, device_type, code, public_id, sources, created_at, updated_at)
         VALUES (1001, NULL, 'Summit', 'event', 'summit', 'summit', '[]', 1, 1),
             (1002, 1001, 'Hall', 'room', 'hall', 'hall', '[]', 1, 1)",
    )
    .expect("places");
    let served = Served::start_for_all(&file, &[]);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    (served, browser, db)
}

/// Counts what somebody does.
struct Hands<'b> {
    browser: &'b Browser,
    actions: usize,
}

impl<'b> Hands<'b> {
    fn new(browser: &'b Browser) -> Self {
        browser.go("/console");
        Self {
            browser,
            actions: 0,
        }
    }

    fn press(&mut self, text: &str) {
        self.actions += 1;
        self.browser.press(text);
    }

    fn click(&mut self, css: &str) {
        self.actions += 1;
        self.browser.click(css);
    }

    /// Types into the field that has the focus already.
    fn type_text(&mut self, text: &str) {
        self.actions += 1;
        self.browser
            .call("Input.insertText", &json!({"text": text}));
    }

    fn fill(&mut self, css: &str, text: &str) {
        self.actions += 1;
        self.browser.fill_in(css, text);
    }
}

fn value(browser: &Browser, script: &str) -> Value {
    browser.run(&format!("return {script}"), &[])
}

#[test]
fn a_session_takes_five_actions_and_a_door_with_its_code_four() {
    let folder = tempfile::tempdir().expect("a folder");
    let (served, browser, db) = begin(folder.path());
    let examiner = Examiner::installed();
    let mut hands = Hands::new(&browser);
    hands.click(".side a[href='/console/devices']");
    browser.arrives_at("/console/devices");
    hands.press("New place");
    browser.until("the name has the focus", || {
        value(&browser, "document.activeElement.id === 'new-name'") == json!(true)
    });
    hands.type_text("Opening keynote");
    hands.press("Session");
    hands.press("Create place");
    browser.tells("Opening keynote created.");
    assert!(hands.actions <= 5, "{}", hands.actions);
    let session =
        "SELECT device_type || ' ' || parent_id FROM devices WHERE name = 'Opening keynote'";
    let session: String = db.query_row(session, [], |row| row.get(0)).expect("one");
    assert_eq!(session, "session 1001");
    let mut faults = examiner.faults(&browser, "places with the line for a new one");

    // The key does the same, once no scanner types.
    browser.go("/console/devices?show=now");
    browser.run_until_told("setTimeout(arguments[0], 350)");
    browser.key("N", 8);
    browser.until("the line is there", || browser.has("#new-place.asked"));

    let mut hands = Hands::new(&browser);
    hands.click(".side a[href='/console/devices']");
    browser.arrives_at("/console/devices");
    hands.press("Hall");
    browser.arrives_at("/console/devices/1002");
    hands.fill("#door-name", "North door");
    hands.press("Add door and pairing code");
    browser.tells("NORTH-DOOR-");
    assert!(hands.actions <= 4, "{}", hands.actions);
    browser.until("the picture is there", || {
        value(
            &browser,
            "document.querySelector('img.qr')?.naturalWidth > 0",
        ) == json!(true)
    });
    let address = scan(&browser.picture()).expect("a QR code in the picture");
    assert!(address.contains("/gate#pair=NORTH-DOOR-"), "{address}");
    faults.extend(examiner.faults(&browser, "a pairing code"));

    // A device that opens the address is the gate of the door, and the page says so by itself.
    let device = open(&served);
    let (_, code) = address.split_once("/gate").expect("the gate app");
    device.go(&format!("/gate{code}"));
    browser.tells("North door is paired.");
    let place = "SELECT document ->> '$.byDevice' FROM app_config ORDER BY version DESC LIMIT 1";
    let place: String = db.query_row(place, [], |row| row.get(0)).expect("settings");
    assert!(place.contains("NORTH-DOOR-"), "{place}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_cell_of_who_may_enter_is_changed_in_place_and_counts_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_served, browser, db) = begin(folder.path());
    let kinds = "UPDATE delegates SET delegate_type = iif(id % 2, 'VIP', 'Visitor')";
    db.execute(kinds, []).expect("types");
    browser.go("/console/devices");
    browser.press("Who may enter");
    browser.arrives_at("/console/devices/entry");
    browser.run("globalThis.isSamePage = true", &[]);
    browser.click("[aria-label='Visitor at Summit']");
    browser.until("the hall has it from the event", || {
        browser.has("#row-1001:not(.inherits)")
            && browser.has("#row-1002.inherits [aria-label='Visitor at Hall']:not(:checked)")
    });
    let focus = "document.activeElement.getAttribute('aria-label')";
    assert_eq!(value(&browser, focus), json!("Visitor at Summit"));
    browser.until("the table is in its place", || {
        !browser.has(".htmx-request, .htmx-settling, .htmx-added")
    });
    browser.fill_in("[aria-label='Times of VIP at Hall']", "8:00-22:00");
    // The table stays as far as it was scrolled.
    browser.run(
        "document.styleSheets[0].insertRule('#entry { max-height: 5rem !important }', 0);
         document.getElementById('entry').scrollTop = 10",
        &[],
    );
    browser.key("Enter", 0);
    browser.until("the hall is its own", || {
        browser.has("#row-1002:not(.inherits)")
    });
    let scrolled = "document.getElementById('entry').scrollTop";
    assert_eq!(value(&browser, scrolled), json!(10));
    browser.run("document.styleSheets[0].deleteRule(0)", &[]);
    assert_eq!(
        value(&browser, "globalThis.isSamePage === true"),
        json!(true)
    );
    let rules = "SELECT data ->> '$.Access' FROM devices WHERE id = 1002";
    let rules: String = db.query_row(rules, [], |row| row.get(0)).expect("rules");
    assert!(rules.contains("08:00"), "{rules}");
    let mut faults = Examiner::installed().faults(&browser, "who may enter");

    // Counts change where they stand: an open menu stays open.
    browser.go("/console/devices");
    browser.press("Actions for Hall");
    db.execute(
        "INSERT OR REPLACE INTO occupancy (device_id, inside) VALUES (1002, 41)",
        [],
    )
    .expect("people");
    browser.until("the count is there", || {
        value(&browser, "document.getElementById('inside-1002').innerText") == json!("41")
    });
    assert!(browser.has("#place-1002 details[open]"));
    browser.fill_in("#place-1002 [name=capacity]", "45");
    browser.press("Change capacity");
    browser.tells("at most 45 people inside");
    browser.tells("4 left");
    faults.extend(Examiner::installed().faults(&browser, "places that fill up"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Draws an element to another, as a hand does with the mouse.
fn drag(browser: &Browser, from: &str, to: &str) {
    browser.run(
        "const data = new DataTransfer();
         const tell = (css, name) => document.querySelector(css).dispatchEvent(new DragEvent(name, {bubbles: true, cancelable: true, dataTransfer: data}));
         tell(arguments[0], 'dragstart'); tell(arguments[1], 'dragover'); tell(arguments[1], 'drop');",
        &[json!(from), json!(to)],
    );
}

/// From a file of a conference tool to a session in another room: an import, a page, one drag.
#[test]
fn the_programme_is_a_grid_that_sessions_are_moved_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let (served, browser, db) = begin(folder.path());
    let session = |guid: &str, title: &str, date: &str| json!({"guid": guid, "title": title, "date": date, "duration": "00:45"});
    let rooms = json!({
        "Attic": [session("a", "Keys", "2026-05-01T10:00:00Z"), session("b", "Locks", "2026-05-01T10:30:00Z")],
        "Hall": [session("c", "Doors", "2026-05-01T10:00:00Z")],
    });
    let schedule = json!({"schedule": {"conference": {"days": [{"rooms": rooms}]}}});
    let list = folder.path().join("schedule.json");
    std::fs::write(&list, schedule.to_string()).expect("written");
    let list = list.to_str().expect("a name");
    let imported = gatepost(
        &folder.path().join("event.db"),
        &["import", "devices", list],
    );
    assert!(imported.status.success(), "{imported:?}");
    browser.go("/console/devices");
    browser.press("Programme");
    browser.arrives_at("/console/devices/programme");
    browser.tells("12:00–12:45: same room as Locks");
    browser.tells("12:30–13:15: same room as Keys");
    let id = |name: &str| -> i64 {
        let sql = "SELECT id FROM devices WHERE name = ?1";
        db.query_row(sql, [name], |row| row.get(0)).expect("an id")
    };
    // An hour later in the hall, which is free.
    let at = 1_777_633_200_000_i64;
    let field = format!("td[data-room='1002'][data-at='{at}']");
    drag(
        &browser,
        &format!("[data-session='{}']", id("Locks")),
        &field,
    );
    browser.tells("Locks moved.");
    assert!(!browser.has(".session.warn"));
    let found = "SELECT parent_id || ' ' || start_at || ' ' || ((end_at - start_at) / 60000) FROM devices WHERE id = ?1";
    let found: String = db
        .query_row(found, [id("Locks")], |row| row.get(0))
        .expect("a session");
    assert_eq!(found, format!("1002 {at} 45"));
    // Into one that is taken: it moves, and the conflict is told.
    drag(
        &browser,
        &format!("[data-session='{}']", id("Keys")),
        &format!("td:has([data-session='{}'])", id("Doors")),
    );
    browser.tells("Keys moved. It overlaps with Doors in this room.");
    let faults = Examiner::installed().faults(&browser, "the programme");
    assert!(faults.is_empty(), "{faults:#?}");
    drop(served);
}
