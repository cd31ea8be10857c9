//! Addresses and the envelope (contract §1, §2): whatever is asked, the answer has its form.

use super::document_paths;
use crate::harness::{Agrees, Server, cases, has, keys, lacks, reply, whole, words};
use reqwest::Method;
use serde_json::{Value, json};

const METHODS: [Method; 7] = [
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
    Method::TRACE,
];

#[test]
fn an_unknown_path_is_told_in_the_envelope() {
    let (server, api) = Server::with_api();
    for path in words(
        "/nope /api /api/ /api/v5 /api/v5/ /api/v4/ping /api/v5/nope /api/v5/delegate \
         /api/v5/delegate/ /api/v5/delegate/id:1/nope /api/v5//ping /api/v5/ping/ /api/v5/Ping \
         /api/ping /api/v5/api/v5/ping /openapi /docs/x /%00 /..%2f..%2fetc%2fpasswd",
    ) {
        for method in METHODS {
            let request = server.request(method.clone(), path).bearer_auth(&api.token);
            let answer = whole(request);
            let status = answer.reply.status;
            assert!(
                status == 404 || status == 405,
                "{method} {path}: {answer:?}"
            );
            assert_eq!(
                answer.header("content-type"),
                "application/json",
                "{method} {path}"
            );
            let code = if status == 404 { 1103 } else { 1104 };
            answer.reply.refused(status, code, "");
        }
        let reply = reply(server.request(Method::GET, path).bearer_auth(&api.token));
        assert_eq!(
            (reply.status, reply.code()),
            (404, 1103),
            "{path}: {reply:?}"
        );
    }
}

#[test]
fn a_wrong_method_is_told_with_those_that_are_right() {
    let (server, api) = Server::with_api();
    for prefix in ["/api/v5", "/api/5"] {
        for (path, known) in document_paths(&server) {
            let path = format!("{prefix}{path}");
            for method in METHODS
                .iter()
                .filter(|method| !known.contains(&method.to_string()))
            {
                let request = server
                    .request(method.clone(), &path)
                    .bearer_auth(&api.token);
                let answer = whole(request);
                answer.reply.refused(405, 1104, "this path does not know");
                let allowed: Vec<&str> = answer.header("allow").split(", ").collect();
                let mut known = known.clone();
                if known.iter().any(|known| known == "GET") {
                    known.push("HEAD".to_owned());
                }
                known.sort_unstable();
                assert_eq!(allowed, known, "{method} {path}");
            }
        }
    }
    let answer = whole(server.request(Method::GET, "/api/oauth/v2/token"));
    assert_eq!((answer.reply.status, answer.header("allow")), (405, "POST"));
}

#[test]
fn ping_tells_time_name_and_version() {
    let server = Server::start();
    let api = server.caller(&[]);
    let answer = whole(api.request(Method::GET, "/ping"));
    assert_eq!(answer.header("content-type"), "application/json");
    let data = answer.reply.data();
    data.agrees(&json!({"name": "Gatepost", "apiVersion": 5}));
    assert_eq!(data["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(answer.reply.body["meta"], json!({}));
    assert_eq!(keys(data), "time name version apiVersion");
    assert!(
        data["time"]
            .as_str()
            .is_some_and(|time| time.ends_with("+00:00")),
        "{data}"
    );
    server.settings(&json!({"name": "Summit", "timeZone": "Asia/Kolkata"}));
    let data = api.read("/ping");
    assert_eq!(data["name"], "Summit");
    assert!(
        data["time"]
            .as_str()
            .is_some_and(|time| time.ends_with("+05:30")),
        "{data}"
    );
}

#[test]
fn both_prefixes_and_the_json_suffix_serve_the_same() {
    let (server, api) = Server::with_api();
    let event = api.event(&json!({"eventName": "Summit", "eventExternalID": "S"}));
    let device = api.device(&json!({"code": "gate"}));
    let delegate = api.delegate(&json!({"barcode": "A-1"}));
    api.scan("check-in", delegate, device);
    for path in [
        "/delegate/list".to_owned(),
        format!("/delegate/id:{delegate}"),
        "/delegate/barcode:A-1".into(),
        "/device/list".into(),
        "/device/code:gate".into(),
        format!("/event/{event}"),
        format!("/event/id:{event}"),
        "/event/externalId:S".into(),
        "/interaction/list".into(),
    ] {
        let plain = api.get(&path);
        assert_eq!(plain.status, 200, "{path}: {plain:?}");
        assert_eq!(api.get(&format!("{path}.json")), plain, "{path}");
        assert_eq!(api.get(&format!("{path}.json?")), plain, "{path}");
        for other in [format!("/api/5{path}"), format!("/api/5{path}.json")] {
            let request = server.request(Method::GET, &other).bearer_auth(&api.token);
            assert_eq!(reply(request), plain, "{other}");
        }
    }
    // Writing too.
    api.answers(&json!([
        ["POST /delegate/new.json", {"barcode": "A-2"}, 201],
        ["PATCH /delegate/barcode:A-2.json", {"company": "X"}, 200],
        ["DELETE /delegate/barcode:A-2.json", null, 204],
        ["POST /interaction/new/lead.json", {"delegate": delegate}, 201],
        ["POST /interaction/batch.json", {"interactions": {}}, 200],
    ]));
    let user = server.caller_as_user("a@example.org", &[], Some(delegate));
    assert_eq!(user.get("/delegate/myself.json").id(), delegate);
}

#[test]
fn the_json_suffix_is_removed_once() {
    let (_server, api) = Server::with_api();
    let id = api.delegate(&json!({"barcode": "A.json"}));
    assert_eq!(api.get("/delegate/barcode:A.json.json").id(), id);
    api.get("/delegate/barcode:A.json")
        .refused(404, 1301, "barcode:A");
    // Encoded, the dot is the value's own.
    assert_eq!(api.get("/delegate/barcode:A%2Ejson").id(), id);
}

#[test]
fn literal_paths_are_never_selectors() {
    let (_server, api) = Server::with_api();
    for path in words("/delegate/list /device/list /event/list /interaction/list") {
        assert!(api.get(path).data().is_array(), "{path}");
    }
    api.get("/delegate/myself").refused(401, 1201, "user");
    api.get("/delegate/new").refused(405, 1104, "");
    api.delete("/delegate/list").refused(405, 1104, "");
    api.get("/delegate/Myself").refused(400, 1101, "Myself");
    for path in ["/event/myself", "/event/ping", "/interaction/myself"] {
        api.get(path).refused(404, 1103, "no such path");
    }
}

#[test]
fn a_slip_is_told_what_was_probably_meant() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A/7"}));
    api.get("/delegates/list")
        .refused(404, 1103, "did you mean /api/v5/delegate/list?");
    api.get("/delegate/barcode:A/7")
        .refused(404, 1103, "%2F: /api/v5/delegate/barcode:A%2F7");
    api.get("/delegate/barcode:A%2F7").is(200);
    api.delete("/delegate/list").refused(
        405,
        1104,
        "does not know DELETE; it knows GET, HEAD, POST",
    );
    let body = json!({"first_name": "Ada"});
    api.post("/delegate/new", &body)
        .invalid("did you mean \"firstName\"?");
    api.get("/delegate/list?fields=first_name")
        .invalid("did you mean \"firstName\"?");
    let body = json!({"startAt": 1_795_251_720_000_i64});
    api.post("/device/new", &body)
        .invalid("milliseconds: 1795251720");
    let token = server.request(Method::GET, "/api/v5/ping");
    let token = token.header("Authorization", format!("Token {}", api.token));
    reply(token).refused(401, 1201, "not as Token");
}

#[test]
fn times_have_the_offset_of_the_instances_zone_and_whole_seconds() {
    let (server, api) = Server::with_api();
    server.settings(&json!({"timeZone": "America/St_Johns"}));
    let body = json!({"startAt": 1_795_251_720, "endAt": "2026-11-21T09:30:00.750Z"});
    let device = api.made("/device/new", &body);
    assert_eq!(device["startAt"], "2026-11-21T05:32:00-03:30");
    assert_eq!(device["endAt"], "2026-11-21T06:00:00-03:30");
    for name in ["createdAt", "updatedAt"] {
        let time = device[name].as_str().unwrap_or_default();
        assert_eq!(time.len(), 25, "{time}");
        assert!(
            time.ends_with("-03:30") || time.ends_with("-02:30"),
            "{time}"
        );
    }
    let event = api.made("/event/new", &json!({"eventStartAt": 1_795_251_720}));
    assert_eq!(event["eventStartAt"], "2026-11-21 05:32:00");
    server.settings(&json!({"timeZone": null}));
    let device = api.read(&format!("/device/id:{}", device["id"]));
    assert_eq!(device["startAt"], "2026-11-21T09:02:00+00:00");
}

#[test]
fn times_are_read_in_three_forms() {
    let (server, api) = Server::with_api();
    server.settings(&json!({"timeZone": "Europe/Berlin"}));
    for sent in [
        json!(1_795_248_120),
        json!("2026-11-21T09:02:00+01:00"),
        json!("2026-11-21T08:02:00Z"),
        json!("2026-11-21T02:32:00-05:30"),
        json!("2026-11-21 09:02:00"),
        json!("2026-11-21T09:02:00"),
    ] {
        let device = api.made("/device/new", &json!({"startAt": sent}));
        assert_eq!(device["startAt"], "2026-11-21T09:02:00+01:00", "{sent}");
        let event = api.made("/event/new", &json!({"eventStartAt": sent}));
        assert_eq!(event["eventStartAt"], "2026-11-21 09:02:00", "{sent}");
        let made = api.interact("lead", &json!({"device": device["id"], "recordedAt": sent}));
        assert_eq!(
            made.data()["recordedAt"],
            "2026-11-21T09:02:00+01:00",
            "{sent}"
        );
    }
    let long_before = api.made("/device/new", &json!({"startAt": -1}));
    assert_eq!(long_before["startAt"], "1970-01-01T00:59:59+01:00");
    for bad in cases::<Value>(json!(["soon", 1.5, true, [], "2026-02-30 00:00:00", ""])) {
        api.post("/device/new", &json!({"startAt": bad}))
            .invalid("startAt");
        api.post("/event/new", &json!({"eventEndAt": bad}))
            .invalid("eventEndAt");
    }
}

#[test]
fn what_has_no_value_is_left_out_but_never_inside_data() {
    let (_server, api) = Server::with_api();
    let made = api.made(
        "/delegate/new",
        &json!({"firstName": "", "lastName": null, "data": {}}),
    );
    assert_eq!(keys(&made), "id _type publicId sources createdAt updatedAt");
    let data = json!({"Data": {"text": "", "list": [], "object": {}, "nulls": [null, {"a": null}], "no": false, "zero": 0}});
    let made = api.made("/delegate/new", &json!({"data": data}));
    assert_eq!(made["data"], data);
    let of_device = api.made("/device/new", &json!({"data": {"Empty": {}}}));
    assert_eq!(of_device["data"], json!({"Empty": {}}));
    let inner = json!({"text": "", "none": null, "list": [null, []], "object": {}});
    let lead = api.interact("lead", &json!({"delegate": made["id"], "data": inner}));
    assert_eq!(lead.data()["data"], inner);
    let plain = api.interact("lead", &json!({"delegate": made["id"], "data": {}}));
    assert_eq!(plain.data().get("data"), None);
}

#[test]
fn an_empty_list_is_an_empty_array() {
    let (_server, api) = Server::with_api();
    for path in ["/delegate/list", "/device/list", "/interaction/list"] {
        let reply = api.get(path);
        assert_eq!(reply.data(), &json!([]));
        let pagination = json!({"totalItems": 0, "totalPages": 0, "offset": 0, "limit": 5000});
        assert_eq!(reply.body["meta"], json!({ "pagination": pagination }));
    }
}

#[test]
fn deletion_answers_204_with_nothing_in_it() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let made = api.interact("lead", &json!({"delegate": delegate})).id();
    let device = api.device(&json!({}));
    let event = api.event(&json!({}));
    for path in [
        format!("/interaction/id:{made}"),
        format!("/delegate/id:{delegate}"),
        format!("/device/id:{device}"),
        format!("/event/{event}"),
    ] {
        let answer = whole(api.request(Method::DELETE, &path));
        assert_eq!((answer.reply.status, &*answer.text), (204, ""), "{path}");
        let again = api.delete(&path);
        assert_eq!(again.status, 404, "{path}: {again:?}");
    }
}

#[test]
fn the_root_leads_a_browser_on() {
    let server = Server::start();
    let answer = whole(server.request(Method::GET, "/"));
    assert_eq!(answer.reply.status, 200);
    assert!(answer.header("content-type").starts_with("text/html"));
    assert_eq!(answer.reply.body, Value::Null);
}

#[test]
fn a_client_names_its_request() {
    let (server, api) = Server::with_api();
    let id_of = |sent: &str| {
        let request = api.request(Method::GET, "/ping");
        let answer = whole(request.header("X-Request-Id", sent));
        assert_eq!(answer.reply.status, 200);
        answer.header("x-request-id").to_owned()
    };
    let longest = "x".repeat(64);
    for kept in ["a", "gate-7.2026_A", &longest] {
        assert_eq!(id_of(kept), kept);
    }
    for made in ["", "a b", "a/b", "é", "a\"b", &"x".repeat(65)] {
        let id = id_of(made);
        assert!(id != made && id.len() > 8, "{made:?}: {id}");
    }
    // What the console shows of a change names it, too.
    let named = api.request(Method::POST, "/device/new");
    whole(named.header("X-Request-Id", "till-3-17").json(&json!({})));
    let kept: String = server.value("SELECT request_id FROM audit ORDER BY id DESC LIMIT 1");
    assert_eq!(kept, "till-3-17");
    // A browser may send it from elsewhere.
    let asked = server
        .request(Method::OPTIONS, "/api/v5/ping")
        .header("Origin", "https://x.example")
        .header("Access-Control-Request-Method", "GET");
    let allowed = whole(asked);
    let allowed = allowed.header("access-control-allow-headers");
    has(allowed, ["X-Request-Id", "If-Match"]);
}

#[test]
fn nothing_about_people_stays_in_a_cache() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({"barcode": "A"}));
    api.interact("lead", &json!({"delegate": delegate})).id();
    for path in words(
        "/delegate/list /delegate/barcode:A /delegate/barcode:NOPE /interaction/list /device/list",
    ) {
        let answer = whole(api.request(Method::GET, path));
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
    let lead = api.request(Method::POST, "/interaction/new/lead");
    let lead = whole(lead.json(&json!({"delegate": delegate})));
    assert_eq!(lead.header("cache-control"), "no-store");
}

#[test]
fn messages_say_what_is_wrong_in_words_of_the_api() {
    let (_server, api) = Server::with_api();
    let post = |path: &str, body: &str| {
        let request = api
            .request(Method::POST, path)
            .header("content-type", "application/json")
            .body(body.to_owned());
        reply(request)
    };
    for (path, body, told) in [
        (
            "/interaction/new/check-in",
            r#"{"delegate": 1, "nonce": 5}"#,
            "nonce: must be a string; not 5",
        ),
        (
            "/interaction/new/check-in",
            r#"{"delegat": 1}"#,
            "did you mean \"delegate\"?",
        ),
        (
            "/interaction/new/check-in",
            r#"{"delegate": 1, "admitted": "yes"}"#,
            "admitted: must be true or false; not \"yes\"",
        ),
        (
            "/device/new",
            r#"{"data": {"Access": {"capacity": 4294967296}}}"#,
            "must be a whole number from 0 to 4294967295; not 4294967296",
        ),
        ("/delegate/new", r#"{"firstName": "#, "it ends too early"),
        (
            "/delegate/new",
            r#"{"firstName": x}"#,
            "character 15 of line 1",
        ),
        ("/otp/send", "{}", "\"email\" is missing"),
    ] {
        let refused = post(path, body);
        refused.invalid(told);
        lacks(
            refused.message(),
            ["at line", "column", "expected", "invalid type", "field `"],
        );
    }
    api.get("/delegate/list?limit=99999999999999999999")
        .invalid("limit: is out of range");
    api.get("/delegate/id:99999999999999999999")
        .invalid("is out of range");
}

#[test]
fn a_created_record_says_where_it_is() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({}));
    for (path, body) in [
        ("/delegate/new", json!({"firstName": "Grace"})),
        ("/device/new", json!({"name": "Hall"})),
        ("/event/new", json!({"eventName": "Fair"})),
        ("/interaction/new/lead", json!({"delegate": ada})),
    ] {
        // The second time it is the stored answer.
        for _ in 0..2 {
            let request = api.request(Method::POST, path).json(&body);
            let answer = whole(request.header("Idempotency-Key", path));
            assert_eq!(answer.reply.status, 201, "{path}");
            let location = answer.header("location");
            let found = reply(
                server
                    .request(Method::GET, location)
                    .bearer_auth(&api.token),
            );
            assert_eq!(found.id(), answer.reply.id(), "{path}: {location}");
            assert_eq!(
                found.data()["_type"],
                answer.reply.data()["_type"],
                "{path}"
            );
        }
    }
    // Not where nothing was created, nor where there is nothing to get.
    let again = json!({"delegate": ada, "nonce": "n"});
    api.interact("lead", &again).id();
    for (path, body, status) in [
        ("/interaction/new/lead", again, 200),
        ("/interaction/test/lead", json!({"delegate": ada}), 200),
        ("/tx/new", json!({"code": "P1"}), 201),
    ] {
        let answer = whole(api.request(Method::POST, path).json(&body));
        assert_eq!(answer.reply.status, status, "{path}");
        assert_eq!(answer.header("location"), "", "{path}");
    }
}
