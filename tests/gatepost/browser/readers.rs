//! A reader in the console: it is set up by its form, and shows what its antennas hear of a tag.

use super::{
    become_administrator, examine::Examiner, open, open_first_run, origin, pictures::Pictures,
    window::Browser,
};
use crate::{
    faults::process::{Served, told},
    harness::plain,
};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde_json::{Value, json};

const TAG: &str = "E7E700000000000000000001";

fn add(db: &Connection) {
    for (code, name) in [("hall", "Great Hall"), ("foyer", "Foyer")] {
        let place = "INSERT INTO devices (code, public_id, name, device_type, available, sources, created_at, updated_at)
            VALUES (?1, ?1, ?2, 'room', 1, '[]', 1, 1)";
        db.execute(place, [code, name]).expect("a place");
    }
    let person = "INSERT INTO delegates (public_id, barcode, first_name, last_name, uhf_id, sources, created_at, updated_at)
        VALUES ('ada', 'T-1', 'Ada', 'Lovelace', ?1, '[]', 1, 1)";
    db.execute(person, [TAG]).expect("an attendee");
}

/// Chooses in a list.
fn choose(browser: &Browser, name: &str, value: &str) {
    let script = "const list = document.querySelector(`select[name='${arguments[0]}']`);
        list.value = arguments[1];
        return list.value";
    let chosen = browser.run(script, &[name.into(), value.into()]);
    assert_eq!(chosen, json!(value), "{name}");
}

/// A walk of half a minute that ends now, from the foyer (antenna 2) into the hall (antenna 1): three reads a second.
fn walk(now: Timestamp) -> Value {
    let mut reads = Vec::new();
    for third in 0..90_i32 {
        let at = now - SignedDuration::from_millis(i64::from(89 - third) * 333);
        let wave = f64::from(third % 5);
        let [hall, foyer] = if third < 30 { [-63, -51] } else { [-48, -61] }.map(f64::from);
        for (antenna, level) in [(1, hall), (2, foyer)] {
            let read =
                json!({"epc": TAG, "antenna": antenna, "rssi": level - wave, "at": at.to_string()});
            reads.push(read);
        }
    }
    json!({"reads": reads})
}

/// Whoever works with the keyboard stays where they are when a part of the page is replaced.
fn stays_focused(browser: &Browser, part: &str, focused: &str) {
    let focus = "document.getElementById(arguments[0]).dataset.seen = '1';
        document.getElementById(arguments[1]).focus()";
    browser.run(focus, &[part.into(), focused.into()]);
    browser.until("the part is replaced", || {
        let fresh = "return !document.getElementById(arguments[0]).dataset.seen";
        browser.run(fresh, &[part.into()]) == json!(true)
    });
    browser.until("the focus is there", || {
        browser.run("return document.activeElement.id", &[]) == json!(focused)
    });
}

#[test]
fn a_reader_is_set_up_and_calibrated() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("event.db");
    let role = [
        "client",
        "add",
        "Readers",
        "--role",
        "interaction-write",
        "--json",
    ];
    let client = told(&file, &role);
    let served = Served::start(&file);
    add(&Connection::open(&file).expect("the file"));
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    browser.go("/console/readers/new");
    browser.fill("name", "Ceiling");
    choose(&browser, "protocol", "push");
    for (at, antenna, place) in [(0, "1", "code:hall"), (1, "2", "code:foyer")] {
        browser.fill(&format!("antenna{at}"), antenna);
        choose(&browser, &format!("place{at}"), place);
    }
    // Somebody mistypes the power, and is told beside the field.
    browser.fill("power0", "much");
    browser.press("Create reader");
    browser.tells("Must be a number of dBm");
    // The browser is right to complain about the answer.
    browser.complaints();
    browser.fill("power0", "30");
    browser.press("Create reader");
    browser.arrives_at("/console/readers");
    browser.tells("no reads yet");

    let db = Connection::open(&file).expect("the file");
    let reader = "SELECT id FROM devices WHERE device_type = 'rfidreader'";
    let reader: i64 = db
        .query_row(reader, [], |row| row.get(0))
        .expect("a reader");
    browser.go("/console/readers/calibrate");
    browser.fill("tag", "T-1");
    browser.press("Follow");
    browser.tells("No antenna has heard this tag yet");
    let (http, text) = (plain(), |name: &str| {
        client[name].as_str().expect("text").to_owned()
    });
    let send = || {
        let url = format!("{}/api/v5/reader/reads?reader={reader}", origin(&served));
        let sent = http
            .post(url)
            .basic_auth(text("clientId"), Some(text("clientSecret")));
        sent.json(&walk(Timestamp::now()))
            .send()
            .expect("an answer")
            .status()
            .as_u16()
    };
    // A new reader is known after two seconds.
    browser.until("the reads are taken", || send() == 202);
    browser.tells("strongest");
    let row = "return [...document.querySelectorAll('#heard tbody tr')].map((row) => row.innerText).join('|')";
    let rows = browser.run(row, &[]);
    let rows = rows.as_str().expect("rows");
    let (hall, foyer) = rows.split_once('|').expect("two antennas");
    assert!(
        hall.contains("Great Hall") && hall.contains("strongest"),
        "{rows}"
    );
    assert!(
        foyer.contains("Foyer") && !foyer.contains("strongest"),
        "{rows}"
    );
    browser.tells("This walk suggests");
    stays_focused(&browser, "heard", "stop");
    let examiner = Examiner::installed();
    let mut faults = examiner.faults(&browser, "calibrate");
    send();
    Pictures::wanted().take(&browser, "calibrate");

    browser.go("/console/readers");
    browser.tells("sends");
    browser.until("both antennas have a level", || {
        let levels = "return document.querySelectorAll('td[data-name=Level]').length === 2
            && [...document.querySelectorAll('td[data-name=Level]')].every((cell) => cell.innerText.includes('dBm'))";
        browser.run(levels, &[]) == json!(true)
    });
    stays_focused(&browser, "readers", &format!("change-{reader}"));
    faults.extend(examiner.faults(&browser, "readers"));
    send();
    Pictures::wanted().take(&browser, "readers");
    drop(served);
    browser.tells("Last contact");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
