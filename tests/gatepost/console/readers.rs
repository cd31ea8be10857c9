//! Readers in the console: their form, and what the page says of them.

use super::settings::hidden;
use crate::{
    faults::process::until,
    harness::{Server, has, lacks},
};
use gatepost::identity::ConsoleRole;
use serde_json::json;

#[test]
fn what_is_wrong_with_an_antenna_stands_beside_its_field() {
    let (server, all) = Server::with_api();
    all.device(&json!({"name": "Hall", "code": "hall"}));
    let crew = server.crew(ConsoleRole::Operator);
    let reader = [("name", "Ceiling"), ("protocol", "push")];
    for (rows, field, about) in [
        (
            &[("antenna0", "1"), ("antenna2", "1")][..],
            "antenna2",
            "1 stands twice",
        ),
        (&[("place3", "code:hall")], "antenna3", "1 or more"),
        (
            &[("antenna1", "2"), ("power1", "99")],
            "power1",
            "from 0 to 40",
        ),
        (
            &[("antenna1", "2"), ("power1", "x")],
            "power1",
            "number of dBm",
        ),
        (&[("antenna0", "one")], "antenna0", "1 or more"),
        (
            &[("antenna0", "1"), ("power0", "NaN")],
            "power0",
            "number of dBm",
        ),
        (&[("name", "  ")], "name", "ust not be empty"),
    ] {
        let zones = ["zone0", "zone1", "zone2", "zone3"].map(|zone| (zone, "room"));
        let sent = [rows, &reader, &zones].concat();
        let again = crew.post("/console/readers/new", &sent);
        again.refused(422, &format!("id=\"{field}-error\""));
        again.refused(422, about);
    }
    let sent = [
        &reader[..],
        &[
            ("antenna0", "1"),
            ("zone0", "room"),
            ("place0", "code:hall"),
        ],
    ]
    .concat();
    crew.post("/console/readers/new", &sent).taken();
    let stored: String = server.value("SELECT data FROM devices WHERE device_type = 'rfidreader'");
    has(&stored, [r#""place":"code:hall""#]);
}

#[test]
fn a_reader_that_is_switched_off_is_named() {
    let (server, all) = Server::with_api();
    let reader = json!({"name": "Spare portal", "deviceType": "rfidreader", "available": false});
    all.device(&reader);
    let crew = server.crew(ConsoleRole::Operator);
    until("it is named", || {
        let page = crew.get("/console/readers").shown();
        page.contains("Switched off:") && page.contains("Spare portal")
    });
}

#[test]
fn the_settings_of_presence_are_on_their_page() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let form = "/console/settings/presence";
    let version = hidden(&crew.get("/console/settings").html, form, "version");
    let sent = [
        ("version", version.as_str()),
        ("rssiFloorDbm", "-62,5"),
        ("moveDb", "6"),
        ("minReads", "2"),
        ("windowMs", "2000"),
        ("goneAfterSeconds", "90"),
        ("doorDeadSeconds", "5"),
    ];
    crew.post(form, &sent).taken();
    let presence = server.app.settings().presence;
    assert_eq!(
        (presence.gone_after_seconds, presence.rssi_floor_dbm),
        (90, -62.5)
    );
}

#[test]
fn a_tag_is_followed_by_a_ticket_however_its_scanner_sends_it() {
    let (server, all) = Server::with_api();
    let epc = "300833B2DDD9014000000001";
    all.delegate(&json!({"firstName": "Ada", "barcode": "T7XQ2-AB", "uhfId": epc}));
    let crew = server.crew(ConsoleRole::Operator);
    let sent = [("tag", "]Q1t7xq2-ab")];
    crew.post("/console/readers/calibrate/follow", &sent)
        .taken();
    crew.sees("/console/readers/calibrate", ["Ada", epc]);
}

#[test]
fn everybody_follows_a_tag_of_their_own() {
    let server = Server::start();
    let crew = [
        (ConsoleRole::Operator, "E7E70000000000000000000A"),
        (ConsoleRole::Administrator, "E7E70000000000000000000B"),
    ]
    .map(|(role, tag)| {
        let one = server.crew(role);
        one.post("/console/readers/calibrate/follow", &[("tag", tag)])
            .taken();
        (one, tag)
    });
    for (one, tag) in &crew {
        has(one.page("/console/readers/calibrate"), *tag);
    }
    let (one, tag) = &crew[0];
    one.post("/console/readers/calibrate/stop", &[]).taken();
    lacks(one.page("/console/readers/calibrate"), *tag);
    let (other, tag) = &crew[1];
    has(other.page("/console/readers/calibrate"), *tag);
}
