//! `/reader/...`: the forms of bodies, who may send them, and what is refused.

use super::{Venue, eventually};
use crate::harness::reply;
use gatepost::{
    identity::{Role, clients::NewClient},
    types::DeviceId,
};
use reqwest::Method;
use serde_json::json;

#[test]
fn readers_send_in_their_own_forms() {
    let venue = Venue::new();
    let sent = |path: &str, content_type: &str, body: &str| {
        let request = venue.all.request(Method::POST, path);
        reply(
            request
                .header("Content-Type", content_type)
                .body(body.to_owned()),
        )
    };
    let at = "?reader=code:portal-1";
    for (path, content_type, body, count) in [
        (
            "reads",
            "text/csv",
            "epc,antenna,rssi,at\n3034AB01,1,-52.5,1795251720.125\n3034AB01,2,-60,\n",
            2,
        ),
        (
            "reads",
            "application/x-ndjson",
            "{\"epc\":\"3034ab01\",\"antenna\":1}\n\n{\"epc\":\"3034AB01\",\"at\":\"2026-11-25T09:02:00Z\"}\n",
            2,
        ),
        (
            "impinj",
            "application/json",
            "[{\"eventType\":\"tagInventory\",\"timestamp\":\"2026-11-25T09:02:00.125Z\",\"tagInventoryEvent\":{\"epcHex\":\"3034AB01\",\"antennaPort\":1,\"peakRssiCdbm\":-5250}},{\"eventType\":\"inventoryStatus\"}]",
            1,
        ),
        (
            "impinj",
            "application/json",
            "{\"tagInventoryEvent\":{\"epc\":\"MDSrAQ\",\"antennaPort\":1}}\n{\"tagInventoryEvent\":{\"epcHex\":\"3034AB01\"}}",
            2,
        ),
        (
            "zebra",
            "application/json",
            "{\"type\":\"CUSTOM\",\"timestamp\":\"2026-11-25T10:02:00.125+0100\",\"data\":{\"idHex\":\"3034AB01\",\"antenna\":1,\"peakRssi\":-52}}",
            1,
        ),
    ] {
        let answer = sent(&format!("/reader/{path}{at}"), content_type, body);
        answer.is(202);
        assert_eq!(answer.data()["accepted"], count, "{body}");
    }
    for (path, body, about) in [
        ("reads", "{\"reads\":[{\"epc\":\"XY\"}]}", "reads[0].epc"),
        (
            "reads",
            "{\"reads\":[{\"epc\":\"30\",\"rssi\":900}]}",
            "rssi",
        ),
        (
            "reads",
            "{\"reads\":[{\"epc\":\"30\",\"at\":\"tomorrow\"}]}",
            "at",
        ),
        ("impinj", "{\"tagInventoryEvent\":7}", "must be an object"),
        ("zebra", "nothing", "line 1"),
    ] {
        sent(&format!("/reader/{path}{at}"), "application/json", body).refused(400, 1100, about);
    }
    for body in ["3034AB01,1,-50,", "epc,level\n3034AB01,-50", ""] {
        sent(&format!("/reader/reads{at}"), "text/csv", body).refused(400, 1100, "line 1");
    }
    sent(
        &format!("/reader/reads{at}"),
        "text/csv",
        "epc,rssi\n3034AB01,-50\n3034AB01,loud\n",
    )
    .refused(400, 1100, "line 3: rssi: ");
}

#[test]
fn what_is_wrong_with_an_event_is_named_and_one_without_an_epc_is_passed_over() {
    let venue = Venue::new();
    let at = "?reader=code:portal-1";
    let sent = |path: &str, content_type: &str, body: &str| {
        let request = venue.all.request(Method::POST, path);
        let request = request.header("Content-Type", content_type);
        reply(request.body(body.to_owned()))
    };
    for (path, body, about) in [
        ("impinj", "7", "must be an event"),
        ("impinj", "[{},\"x\"]", "[1]: must be an event"),
        (
            "impinj",
            "{\"tagInventoryEvent\":{\"epcHex\":\"30\",\"antennaPort\":\"1\"}}",
            "tagInventoryEvent.antennaPort: must be",
        ),
        (
            "impinj",
            "{\"tagInventoryEvent\":{\"epc\":\"+/8=\"}}",
            "tagInventoryEvent.epcHex: ",
        ),
        ("zebra", "{\"data\":{\"idHex\":5}}", "data.idHex: must be"),
    ] {
        sent(&format!("/reader/{path}{at}"), "application/json", body).refused(400, 1100, about);
    }
    let none = sent(
        &format!("/reader/impinj{at}"),
        "application/json",
        "{\"tagInventoryEvent\":{\"tidHex\":\"E280\"}}",
    );
    none.is(202);
    assert_eq!(none.data()["accepted"], 0);
    sent(
        &format!("/reader/reads{at}"),
        "text/csv",
        "epc,at\n30,NaN\n",
    )
    .refused(400, 1100, "line 2: at: ");
}

#[test]
fn the_reader_is_named_once_by_id_or_selector() {
    let venue = Venue::new();
    let none = json!({"reads": []});
    venue
        .all
        .post("/reader/reads", &none)
        .refused(400, 1100, "reader");
    venue
        .all
        .post("/reader/reads?reader=code:hall", &none)
        .refused(404, 1401, "rfidreader");
    let by_id = json!({"reader": venue.reader, "reads": []});
    venue
        .all
        .post("/reader/reads?reader=code:portal-1", &by_id)
        .is(202);
    let other = json!({"code": "portal-2", "deviceType": "rfidreader"});
    venue.all.device(&other);
    eventually("the other reader is known", || {
        let answer = venue.all.post("/reader/reads?reader=code:portal-2", &by_id);
        (answer.status == 400).then(|| answer.refused(400, 1100, "another"))
    });
    let neither = json!({"reader": [7], "reads": []});
    venue
        .all
        .post("/reader/reads", &neither)
        .refused(400, 1100, "an id or a selector");
}

#[test]
fn a_client_may_send_its_secret_by_basic_there_and_nowhere_else() {
    let venue = Venue::new();
    let (id, secret) = venue.server.client(&[Role::InteractionWrite], &[]);
    let (other, secret_of_other) = venue.server.client(&[Role::Gate], &[]);
    let post = |path: &str, id: &str, secret: &str| {
        let request = venue
            .server
            .request(Method::POST, path)
            .basic_auth(id, Some(secret));
        reply(request.json(&json!({"reads": [{"epc": "3034AB01"}]})))
    };
    let reads = "/api/v5/reader/reads?reader=code:portal-1";
    post(reads, &id, &secret).is(202);
    post(reads, &id, "wrong").refused(401, 1201, "secret");
    post(reads, &other, &secret_of_other).refused(403, 1202, "ROLE_OAUTH2_INTERACTION_WRITE");
    post("/api/v5/interaction/new/seen", &id, &secret).refused(401, 1201, "token");
}

#[test]
fn a_setup_that_cannot_work_is_refused() {
    let venue = Venue::new();
    for (setup, about) in [
        (json!({"protocol": "llrp", "antennas": []}), "address"),
        (json!({"epcPrefix": "XYZ"}), "epcPrefix"),
        (
            json!({"antennas": [{"antenna": 1}, {"antenna": 1}]}),
            "stands twice",
        ),
        (json!({"antennas": [{"antenna": 1, "zone": "sky"}]}), "zone"),
    ] {
        // PATCH merges: what is there already counts.
        let body = json!({"code": format!("r-{about}"), "deviceType": "rfidreader", "data": {"Reader": setup}});
        venue
            .all
            .post("/device/new", &body)
            .refused(400, 1100, about);
    }
    let body = json!({"data": {"Presence": {"minReads": 0}}});
    venue
        .all
        .patch("/device/code:hall", &body)
        .refused(400, 1100, "minReads");
}

#[test]
fn what_the_api_changed_is_known_at_once() {
    let venue = Venue::new();
    // The server has its setup by now, and asks whose the tag is.
    let reads = |reader: &str| json!({"reader": reader, "reads": [{"epc": "3034AB77"}]});
    let accepted = |reader: &str| {
        venue
            .all
            .post("/reader/reads", &reads(reader))
            .data()
            .clone()
    };
    assert_eq!(accepted("code:portal-1")["unknown"], 1);
    venue
        .all
        .delegate(&json!({"firstName": "Bob", "uhfId": "3034AB77"}));
    assert_eq!(accepted("code:portal-1")["unknown"], 0);
    for round in 0..3 {
        let code = format!("new-{round}");
        let setup =
            |prefix: &str| json!({"data": {"Reader": {"protocol": "push", "epcPrefix": prefix}}});
        let mut device = setup("3034");
        device["code"] = json!(code);
        device["deviceType"] = json!("rfidreader");
        venue.all.device(&device);
        let selector = format!("code:{code}");
        assert_eq!(accepted(&selector)["accepted"], 1);
        venue
            .all
            .patched(&format!("/device/{selector}"), &setup("E280"));
        assert_eq!(accepted(&selector)["accepted"], 0);
        venue.all.delete(&format!("/device/{selector}")).is(204);
        venue
            .all
            .post("/reader/reads", &reads(&selector))
            .refused(404, 1401, "");
    }
}

#[test]
fn a_client_that_is_bound_to_a_reader_posts_for_that_one_only() {
    let venue = Venue::new();
    let other = venue
        .all
        .device(&json!({"code": "portal-2", "deviceType": "rfidreader", "parent": venue.hall}));
    let bound = |device: i64| {
        let (id, secret) = venue.server.new_client(NewClient {
            roles: [Role::ReaderWrite].into_iter().collect(),
            device: Some(DeviceId(device)),
            ..NewClient::named("a reader")
        });
        venue.server.caller_of(&id, &secret)
    };
    let caller = bound(venue.reader);
    let (none, empty) = (json!({"reads": []}), json!({}));
    caller.post("/reader/reads", &none).is(202);
    caller
        .post(&format!("/reader/reads?reader={}", venue.reader), &none)
        .is(202);
    for path in ["reads", "impinj", "zebra"] {
        let path = format!("/reader/{path}?reader={other}");
        let body = if path.contains("reads") {
            &none
        } else {
            &empty
        };
        caller
            .post(&path, body)
            .refused(403, 1202, "bound to device");
    }
    // Nor does it set or learn anything of an app.
    for refused in [
        caller.put("/device-config", &empty),
        caller.post("/device/ping", &empty),
    ] {
        refused.refused(403, 1202, "tag reads alone");
    }
    let named = json!({"reader": "code:portal-2", "reads": []});
    caller
        .post("/reader/reads", &named)
        .refused(403, 1202, "bound");
    // Also while its own reader is switched off.
    venue
        .all
        .patched("/device/code:portal-1", &json!({"available": false}));
    caller
        .post("/reader/reads", &named)
        .refused(403, 1202, "bound");
    // A client of an app, which is no reader, may post for any.
    bound(venue.hall).post("/reader/reads", &named).is(202);
}

#[test]
fn addresses_of_readers_are_judged_wherever_they_are_set() {
    let venue = Venue::new();
    let at = |address: &str| json!({"data": {"Reader": {"protocol": "llrp", "address": address}}});
    let set = |address: &str| venue.all.patch("/device/code:portal-1", &at(address));
    let never = ["169.254.169.254", "224.0.0.1:5084", "192.0.2.9:0"];
    for address in never {
        set(address).refused(400, 1100, "data.Reader.address");
    }
    set("127.0.0.1:1").is(200);
    venue.server.settings(&json!({"outgoing": null}));
    for address in ["127.0.0.1:2", "127.1", "[::1]:5084"] {
        set(address).refused(400, 1100, "outgoing.allowLocal");
        let mut made = at(address);
        made["deviceType"] = json!("rfidreader");
        venue
            .all
            .post("/device/new", &made)
            .refused(400, 1100, "outgoing.allowLocal");
    }
    // What is stored stays, and can be sent back.
    set("127.0.0.1:1").is(200);
    set("169.254.7.7").is(200);
    let crew = venue.server.administrator();
    let form = [
        ("name", "Gate"),
        ("protocol", "llrp"),
        ("address", "169.254.169.254"),
    ];
    crew.post("/console/readers/new", &form)
        .refused(422, "calls never go there");
    // A name is judged by what it stands for.
    set("localhost:1").is(200);
    eventually("it is not connected to", || {
        let page = crew.page("/console/readers");
        page.contains("outgoing.allowLocal").then_some(())
    });
}
