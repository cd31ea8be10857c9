//! `/event/...`: a device under other names (spec: Event endpoints; contract §4).

use crate::harness::{Agrees, Server, keys};
use serde_json::json;

#[test]
fn an_event_is_a_device_under_names_of_its_own() {
    let (_server, api) = Server::with_api();
    let sent = json!({
        "eventName": "Summit", "eventExternalID": "S-26", "eventStartAt": "2026-11-21 00:00:00",
        "eventEndAt": "2026-11-22 00:00:00", "eventManagerEmail": "m@example.org", "eventManagerPhone": "+44",
    });
    let made = api.made("/event/new", &sent);
    assert_eq!(
        keys(&made),
        "id _type eventName eventExternalID eventStartAt eventEndAt eventManagerEmail eventManagerPhone sources createdAt updatedAt"
    );
    let device = api.read(&format!("/device/id:{}", made["id"]));
    device.agrees(&json!({
            "deviceType": "event", "name": "Summit", "externalId": "S-26", "startAt": "2026-11-21T00:00:00+00:00",
            "endAt": "2026-11-22T00:00:00+00:00",
        }));
    assert!(device["code"].is_string() && device["publicId"].is_string());
    // The other way round.
    let other = api.device(&json!({"deviceType": "event", "name": "Fair", "externalId": "F"}));
    api.get("/event/externalId:F").shows("eventName", "Fair");
    let room = api.device(&json!({"deviceType": "room"}));
    api.get(&format!("/event/{room}")).refused(404, 1601, "");
    api.patch(
        &format!("/device/id:{other}"),
        &json!({"deviceType": "room"}),
    );
    api.get(&format!("/event/{other}")).refused(404, 1601, "");
}
