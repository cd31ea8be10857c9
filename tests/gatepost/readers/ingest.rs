//! `/reader/...`: the forms of bodies, who may send them, and what is refused.

use super::{Venue, eventually};
use crate::harness::reply;
use gatepost::identity::Role;
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
