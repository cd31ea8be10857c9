//! The page of the gates: it is for everybody, follows what happens, and stands still while somebody chooses.

use super::{
    become_administrator, examine::Examiner, open, open_first_run, pictures::Pictures,
    window::Browser,
};
use crate::faults::process::Served;
use gatepost::types::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A gate that told this of itself, so many minutes ago.
fn add(db: &Connection, name: &str, minutes: i64, ping: &Value) {
    let at = Timestamp::now().0 - minutes * 60_000;
    let device =
        "INSERT INTO devices (code, public_id, name, device_type, sources, created_at, updated_at)
        VALUES (?1, ?1, ?1, 'regoapp', '[]', 1, 1)";
    db.execute(device, [name]).expect("a device");
    let client =
        "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at)
        SELECT ?1, x'00', ?1, '[\"ROLE_OAUTH2_GATE\"]', '[]', id, 1 FROM devices WHERE code = ?1";
    db.execute(client, [name]).expect("a client");
    let state = "INSERT INTO device_states (device_id, seen_at, pinged_at, ping, config_version)
        SELECT id, ?2, ?2, ?3, (SELECT max(version) FROM app_config) FROM devices WHERE code = ?1";
    db.execute(state, (name, at, ping.to_string()))
        .expect("a state");
}

fn add_all(db: &Connection) {
    let now = Timestamp::now().0;
    let hall = "INSERT INTO devices (code, public_id, name, device_type, available, sources, created_at, updated_at)
        VALUES ('hall', 'hall', 'Great Hall', 'room', 1, '[]', 1, 1)";
    db.execute(hall, []).expect("a place");
    let entrance = "SELECT id FROM devices WHERE code = 'entrance'";
    let place: i64 = db
        .query_row(entrance, [], |row| row.get(0))
        .expect("the entrance");
    let fine =
        json!({"queue": 0, "listAt": now, "battery": 91, "clockOffsetMs": 120, "place": place});
    add(db, "Tablet at the left door", 0, &fine);
    let mut low = fine.clone();
    low["battery"] = json!(17);
    add(db, "Kiosk in the foyer", 0, &low);
    add(
        db,
        "Telephone of the crew at the stage entrance",
        0,
        &json!({
            "queue": 12, "oldestScanAt": now - 900_000, "failedUploads": 2, "listAt": now - 3 * 3_600_000 - 60_000,
            "battery": 8, "clockOffsetMs": 1_200_000, "place": place, "status": "background", "appVersion": "earlier",
        }),
    );
    add(db, "Spare laptop", 95, &fine);
}

#[track_caller]
fn send(browser: &Browser, text: &str) {
    browser.press("Message to all gates");
    browser.fill("text", text);
    browser.press("Send");
    browser.tells("Message sent");
}

#[test]
fn gates_are_watched_and_moved_by_everybody() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("event.db");
    let served = Served::start(&file);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    let db = Connection::open(&file).expect("the file");
    add_all(&db);
    browser.go("/console/gates");
    send(&browser, "Doors open at 8:30");
    let examiner = Examiner::installed();
    let mut faults = examiner.faults(&browser, "gates");
    Pictures::wanted().take(&browser, "gates");

    // It follows what happens.
    let put = |battery: i64| {
        let sql = "UPDATE device_states SET ping = json_set(ping, '$.battery', ?1), seen_at = ?2
            WHERE device_id = (SELECT id FROM devices WHERE name LIKE 'Kiosk%')";
        db.execute(sql, (battery, Timestamp::now().0))
            .expect("a ping");
    };
    put(5);
    browser.tells("Battery 5 %");
    // What is chosen reaches the gate at once, and its values go on meanwhile.
    let change =
        "[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('Tablet at'))
        .querySelector('a[href*=\"change=\"]').click()";
    browser.run(change, &[]);
    browser.tells("While offline, admit");
    settle(&browser);
    faults.extend(examiner.faults(&browser, "gates, one of them changed"));
    browser.tells("as for all apps: Entrance");
    put(6);
    browser.tells("Battery 6 %");
    for (name, value) in [("place", "code:hall"), ("policy", "hold")] {
        let choose = "const field = document.querySelector(`[name=${arguments[0]}]`);
            document.getElementById('gates-told').textContent = '';
            field.value = arguments[1]; field.dispatchEvent(new Event('change', {bubbles: true}))";
        browser.run(choose, &[json!(name), json!(value)]);
        browser.tells("Tablet at the left door changed.");
        settle(&browser);
    }
    browser.press("Close the settings of Tablet at the left door");
    put(4);
    browser.tells("Battery 4 %");
    browser.tells("offline: Nobody until the server answers");
    browser.press("Clear");
    browser.tells("Message cleared.");
    let own = "SELECT document ->> '$.byDevice.\"Tablet at the left door\".place' FROM app_config
        ORDER BY version DESC LIMIT 1";
    let own: String = db.query_row(own, [], |row| row.get(0)).expect("a place");
    assert_eq!(own, "code:hall");
    set_up_a_kiosk(&browser, &db);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Waits until a part that was swapped in answers.
fn settle(browser: &Browser) {
    browser.until("the part is in its place", || {
        !browser.has(".htmx-request, .htmx-settling, .htmx-added")
    });
}

/// From the dashboard three clicks make a kiosk, and the PIN with Enter is the fourth thing to do; the page stays.
fn set_up_a_kiosk(browser: &Browser, db: &Connection) {
    browser.go("/console");
    browser.click(".side a[href='/console/gates']");
    browser.arrives_at("/console/gates");
    browser.run("globalThis.isSamePage = true", &[]);
    browser.press("Set up Kiosk in the foyer");
    browser.tells("No PIN is set");
    settle(browser);
    browser.press("Kiosk");
    browser.tells("Kiosk in the foyer changed.");
    settle(browser);
    browser.fill("pin", "471100");
    browser.key("Enter", 0);
    browser.tells("This gate has a PIN of its own.");
    assert_eq!(
        browser.run("return globalThis.isSamePage === true", &[]),
        json!(true)
    );
    let own = "SELECT (document -> '$.byDevice.\"Kiosk in the foyer\"' ->> 'kiosk') || ' '
            || (document -> '$.byDevice.\"Kiosk in the foyer\".supervisorPin' ->> 'iterations')
        FROM app_config ORDER BY version DESC LIMIT 1";
    let own: String = db.query_row(own, [], |row| row.get(0)).expect("settings");
    assert!(own.starts_with("1 "), "{own}");
}
