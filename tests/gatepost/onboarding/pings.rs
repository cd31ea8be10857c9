//! Who is there: pings, pongs, and what a device is that nobody hears of.

use super::{Server, ping};
use crate::harness::lacks;
use gatepost::types::{DeviceId, Timestamp};
use serde_json::{Value, json};

#[test]
fn a_ping_is_kept_as_it_came_with_how_wrong_its_clock_is() {
    let server = Server::start();
    let (app, device) = server.app_of("42");
    let now_s = Timestamp::now().0 / 1000;
    let sent = json!({
        "localTime": now_s + 3600, "lat": 53.5511, "lon": 9.9937, "battery": 87, "pingInterval": 60,
        "failedUploads": 2, "network": "venue-crew", "status": "background", "configVersion": 0,
        "model": {"name": "T1", "os": [14, 1]},
    });
    app.post("/device/ping", &sent).data();
    let kept: String = server.value(&format!(
        "SELECT ping FROM device_states WHERE device_id = {device}"
    ));
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), sent);
    let skew: i64 = server.value("SELECT clock_skew_ms FROM device_states");
    assert!((3_590_000..=3_601_000).contains(&skew), "{skew}");
    app.post("/device/ping", &ping(0)).data();
    let history = server.count(&format!("device_pings WHERE device_id = {device}"));
    assert_eq!(history, 2);
    lacks(server.text("SELECT ping FROM device_states"), "battery");
}

#[test]
fn a_ping_that_does_not_fit_is_refused_by_name() {
    let server = Server::start();
    let (app, _) = server.app_of("42");
    for (change, named) in [
        (json!({"localTime": null}), "localTime"),
        (json!({"configVersion": null}), "configVersion"),
        (json!({"localTime": "now"}), "localTime"),
        (json!({"battery": 101}), "battery"),
        (json!({"lat": 91}), "lat"),
        (json!({"status": "asleep"}), "status"),
        (json!({"network": 7}), "network"),
    ] {
        let mut sent = ping(0);
        for (name, value) in change.as_object().expect("an object") {
            sent[name] = value.clone();
        }
        app.post("/device/ping", &sent).invalid(named);
    }
    app.post("/device/ping", &json!([])).invalid("");
    assert_eq!(server.count("device_pings"), 0);
}

#[test]
fn pings_and_settings_are_of_a_device() {
    let (server, all) = Server::with_api();
    let value = json!({"value": {"mode": "x"}});
    all.post("/device/ping", &ping(0))
        .refused(403, 1202, "bound to a device");
    all.put("/device-config", &value)
        .refused(403, 1202, "bound to a device");
    let device = all.device(&json!({"name": "Gate"}));
    let bound = server.bound_to(device);
    bound.post("/device/ping", &ping(0)).is(200);
    // A device can be gone with its client still in force, such as after an import was taken back.
    server.sql(&format!(
        "UPDATE devices SET deleted_at = 1 WHERE id = {device}"
    ));
    bound.post("/device/ping", &ping(0)).refused(404, 1401, "");
    bound.put("/device-config", &value).refused(404, 1401, "");
    server.sql(&format!(
        "UPDATE devices SET deleted_at = NULL WHERE id = {device}"
    ));
    all.delete(&format!("/device/id:{device}"));
    bound.post("/device/ping", &ping(0)).refused(401, 1204, "");
}

#[test]
fn any_request_of_its_client_tells_that_a_device_is_there() {
    let mut server = Server::start();
    let device = server.caller_with_all().device(&json!({"code": "gate"}));
    let path = format!("/device/id:{device}/pong");
    let pong = |server: &Server| server.caller_with_all().get(&path);
    let never = pong(&server);
    assert_eq!(never.status, 404);
    assert_eq!(
        never.body,
        json!({"data": {"online": false, "lastSeen": null}, "meta": {}})
    );
    // Even one that is refused: the token is the device's.
    server
        .bound_to(device)
        .get("/device/list")
        .refused(403, 1202, "");
    let there = pong(&server);
    assert_eq!((there.status, &there.body["meta"]), (200, &json!({})));
    assert_eq!(there.data()["online"], true);
    let seen = server
        .app
        .last_seen
        .last(DeviceId(device))
        .expect("it was seen");
    assert_eq!(
        there.data()["lastSeen"],
        json!(server.app.settings().zone.plain(seen))
    );
    let by_code = server.caller_with_all().get("/device/code:gate/pong");
    assert_eq!(by_code.body, there.body);
    // It is written down before the end, and a restart does not forget it.
    server.restart();
    assert_eq!(
        server.value::<Timestamp>("SELECT seen_at FROM device_states"),
        seen
    );
    assert_eq!(pong(&server).body, there.body);
    // A quarter of an hour later it is gone.
    let minutes = |minutes: i64| Timestamp::now().0 - minutes * 60_000;
    server.sql(&format!(
        "UPDATE device_states SET seen_at = {}",
        minutes(14)
    ));
    pong(&server).is(200);
    server.settings(&json!({"timeZone": "Asia/Tokyo"}));
    server.sql("UPDATE device_states SET seen_at = 1795248120999");
    let gone = pong(&server);
    assert_eq!(gone.status, 404);
    assert_eq!(
        gone.body,
        json!({"data": {"online": false, "lastSeen": "2026-11-21 17:02:00"}, "meta": {}})
    );
    server
        .caller_with_all()
        .get("/device/id:999999/pong")
        .refused(404, 1401, "");
    server
        .caller_with_all()
        .get("/device/rfidx:1/pong")
        .refused(400, 1101, "");
}

#[test]
fn a_device_that_was_stolen_is_out_at_once() {
    let server = Server::start();
    let (app, _) = server.app_of("42");
    app.post("/device/ping", &ping(0)).is(200);
    let client: String = server.value("SELECT client_id FROM clients WHERE name = 'App 42'");
    server.revoke(&client);
    app.post("/device/ping", &ping(0)).refused(401, 1204, "");
    app.put("/device-config", &json!({"value": {}}))
        .refused(401, 1204, "");
    // What it could fetch credentials with gives it none.
    let again = server.ask(&super::asking("42"));
    assert_eq!(again.status, 201);
    assert!(again.data()["clientSecret"].is_null());
}
