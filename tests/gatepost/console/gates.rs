//! Gates in the console: what is wrong at which, their place and policy, and the message to all of them.

use super::field;
use crate::harness::{Caller, Server, has, lacks, reply};
use gatepost::{
    identity::{Role, clients::NewClient},
    types::{DeviceId, Timestamp},
};
use reqwest::Method;
use serde_json::{Value, json};

const PAGE: &str = "/console/gates";

/// A gate app on a device of its own.
fn gate(server: &Server, name: &str) -> (Caller, i64) {
    let device = json!({"name": name, "code": name.to_lowercase(), "deviceType": "regoapp"});
    let device = server.caller_with_all().device(&device);
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(device)),
        ..NewClient::named(name)
    });
    (server.caller_of(&id, &secret), device)
}

/// The app tells how it is, beside what every ping has.
fn tell(gate: &Caller, status: &Value) {
    let mut ping = json!({"localTime": Timestamp::now().0 / 1000, "configVersion": 1});
    for (name, value) in status.as_object().expect("an object") {
        ping[name] = value.clone();
    }
    gate.post("/device/ping", &ping).data();
}

/// The row of a gate, among those that need somebody or those that work.
fn row(page: &str, device: i64) -> &str {
    let after = page.split(&format!("id=\"gate-{device}\"")).nth(1);
    let row = after.and_then(|rest| {
        let ends = ["</li>", "</tr>"].map(|end| rest.find(end));
        rest.get(..ends.into_iter().flatten().min()?)
    });
    row.unwrap_or_else(|| panic!("no gate {device} in {page}"))
}

#[test]
fn without_a_gate_the_page_says_how_to_add_one() {
    let server = Server::start();
    let crew = server.operator();
    // An app that is no gate is not one here either.
    server
        .caller_with_all()
        .device(&json!({"code": "42", "deviceType": "regoapp"}));
    crew.sees(
        PAGE,
        [
            "No gates yet",
            "/gate</code>",
            "href=\"/console/discovery\"",
            "href=\"/handbook/gates\"",
        ],
    );
    assert!(crew.page("/console").contains("href=\"/console/gates\""));
}

#[test]
fn every_gate_is_shown_with_what_is_wrong_and_those_in_need_first() {
    let server = Server::start();
    let crew = server.operator();
    let hall = server
        .caller_with_all()
        .device(&json!({"name": "Great Hall", "code": "hall"}));
    let (fine, a) = gate(&server, "Alpha");
    let (bad, b) = gate(&server, "Bravo");
    let (_, c) = gate(&server, "Charlie");
    let (_, d) = gate(&server, "Delta");
    let version = reply(server.request(Method::GET, "/gate/version.json"));
    let now = Timestamp::now().0;
    let ada = server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    tell(
        &fine,
        &json!({
            "queue": 1, "oldestScanAt": now, "failedUploads": 0, "listAt": now, "clockOffsetMs": -41.5, "battery": 87,
            "place": hall, "status": "foreground", "appVersion": version.body["version"],
        }),
    );
    fine.interact("check-in", &json!({"delegate": ada, "device": hall}))
        .id();
    tell(
        &bad,
        &json!({
            "queue": 12, "oldestScanAt": now - 600_000, "failedUploads": 3, "listAt": now - 3 * 3_600_000 - 5_000,
            "clockOffsetMs": 1_200_000, "battery": 8, "place": hall, "status": "background", "appVersion": "old",
            "configVersion": 0,
        }),
    );
    server.sql(&format!(
        "INSERT INTO device_states (device_id, seen_at, ping) VALUES ({d}, {}, '{{\"listAt\": {}, \"place\": {hall}}}')",
        now - 3_600_000, now - 3_601_000
    ));
    let page = crew.page(PAGE);
    has(
        row(&page, a),
        [
            "Great Hall",
            " s ago</span>",
            "87 %",
            "data-now>0 s</span>",
            &*format!("id=\"scan-{a}\" data-now><time>"),
        ],
    );
    lacks(row(&page, a), "What to do");
    has(
        row(&page, b),
        [
            "12 scans wait since ",
            "3 uploads failed",
            "List 3 h old",
            "Clock 20 min slow",
            "Battery 8 %",
            "App not on the screen",
            "App not up to date",
            "Settings of version 1",
            "The server refused them.",
        ],
    );
    lacks(row(&page, b), ["No contact", "No place"]);
    has(row(&page, c), "Not connected yet");
    has(
        row(&page, d),
        [
            "No contact since ",
            "It admits by its list of",
            "nothing is lost",
        ],
    );
    // What it said last was right when it said it.
    lacks(row(&page, d), "List ");
    has(
        &page,
        [
            "Needs attention <span class=\"badge bad\">3</span>",
            "Working <span class=\"badge\">1</span>",
            "2 of 4 gates in contact",
        ],
    );
    let order = [b, d, c, a].map(|gate| page.find(&format!("id=\"gate-{gate}\"")));
    assert!(order.is_sorted(), "{order:?}");
    has(
        row(&page, b),
        &*format!("href=\"/console/devices/{b}#credentials\""),
    );
    crew.sees(
        &format!("/console/devices/{b}"),
        ["id=\"credentials\"", "Revoke"],
    );
    // One that was reported stolen is none any more.
    server.sql("UPDATE clients SET revoked_at = 1 WHERE name = 'Bravo'");
    lacks(crew.page(PAGE), "Bravo");
}

#[test]
fn a_door_is_named_after_its_place_which_counts_its_gates() {
    let server = Server::start();
    let crew = server.operator();
    let api = server.caller_with_all();
    let hall = api.device(&json!({"name": "Great Hall", "code": "hall", "deviceType": "room"}));
    let door = api
        .device(&json!({"name": "South", "code": "south", "deviceType": "door", "parent": hall}));
    let (at_door, a) = gate(&server, "Alpha");
    let (at_hall, b) = gate(&server, "Bravo");
    tell(&at_door, &json!({"place": door}));
    tell(&at_hall, &json!({"place": hall}));
    let page = crew.page(PAGE);
    has(row(&page, a), ">Great Hall, South</a>");
    has(row(&page, b), ">Great Hall</a>");
    let places = crew.page("/console/devices?open=all");
    for (place, told) in [(hall, "2 gates"), (door, "1 gate")] {
        let at = format!("id=\"gates-{place}\" data-now>");
        let told = format!("<span class=\"soft\">{told}</span>");
        let shown = places.split(&at).nth(1).expect("a column");
        assert!(shown.starts_with(&told), "{}", &shown[..80]);
    }
}

#[test]
fn a_place_that_is_set_here_reaches_the_gate_at_once_and_no_draft_with_it() {
    let server = Server::start();
    let crew = server.operator();
    let all = server.caller_with_all();
    let hall = all.device(&json!({"name": "Hall", "code": "hall"}));
    let attic = all.device(&json!({"name": "Attic", "code": "attic"}));
    server.publish(
        &json!({"default": {"place": "code:hall"}, "byDevice": {"alpha": {"uiMode": "dark"}}}),
    );
    let (app, device) = gate(&server, "Alpha");
    let at = || app.get("/gate").data().clone();
    assert_eq!(
        (&at()["place"]["id"], &at()["policy"]),
        (&json!(hall), &json!("admit"))
    );
    // Somebody else works on a draft.
    let other = server.administrator();
    let edit = "/console/configuration/edit";
    let begun_on = other.get(edit).version();
    let typed = [
        ("version", &*begun_on),
        ("place", "code:hall"),
        ("delegateType", "vip"),
    ];
    other.post(edit, &typed).taken();

    let settings = format!("{PAGE}/{device}/settings");
    let open = format!("{PAGE}?change={device}");
    let form = crew.page(&open);
    has(
        &form,
        [
            "as for all apps",
            "value=\"code:attic\"",
            "Registered attendees only",
            "Apply now",
            // The list stays as it is while somebody chooses.
            "data-hold",
        ],
    );
    lacks(crew.page(PAGE), "data-hold");
    let begun = field(&form, "seen").to_owned();
    let chosen = [
        ("seen", &*begun),
        ("place", "code:attic"),
        ("policy", "joined-only"),
    ];
    let done = crew.post(&settings, &chosen).taken();
    assert_eq!(done, format!("{open}#gate-{device}"));
    assert_eq!(
        (&at()["place"]["id"], &at()["policy"]),
        (&json!(attic), &json!("joined-only"))
    );
    assert_eq!(at()["configVersion"], 3);
    let newest = "FROM app_config ORDER BY version DESC LIMIT 1";
    let own = server.value::<String>(&format!("SELECT document -> '$.byDevice.alpha' {newest}"));
    let own: Value = serde_json::from_str(&own).expect("JSON");
    assert_eq!(
        own,
        json!({"uiMode": "dark", "place": "code:attic", "offlinePolicy": "joined-only"})
    );
    assert!(server.value::<bool>(&format!(
        "SELECT document ->> '$.default.delegateType' IS NULL {newest}"
    )));
    // The draft has it, too, and is still whose it was.
    let draft = "SELECT (document ->> '$.default.delegateType') || ' ' || (document ->> '$.byDevice.alpha.place')
        || ' ' || actor FROM app_config_draft";
    let author =
        server.value::<String>("SELECT 'user:' || id FROM users WHERE email LIKE 'administrator%'");
    assert_eq!(
        server.value::<String>(draft),
        format!("vip code:attic {author}")
    );
    let audited =
        "SELECT group_concat(record_type, ' ') FROM (SELECT * FROM audit ORDER BY id DESC LIMIT 2)";
    assert_eq!(
        server.value::<String>(audited),
        "app-config-draft app-config"
    );

    // Whoever saw what is no longer so changes nothing.
    crew.post(&settings, &chosen)
        .refused(422, "else changed Alpha");
    let seen = field(&crew.page(&open), "seen").to_owned();
    let seen = ("seen", &*seen);
    crew.post(&settings, &[seen, ("policy", "everybody")])
        .refused(422, "Offline policy");
    crew.post(&settings, &[seen, ("place", "attic")])
        .refused(422, "place");
    crew.post(&settings, &[seen]).taken();
    assert_eq!(
        (&at()["place"]["id"], &at()["policy"]),
        (&json!(hall), &json!("admit"))
    );
    crew.post(&format!("{PAGE}/999999/settings"), &[seen])
        .is(404);
}

#[test]
fn a_gate_becomes_a_kiosk_where_it_stands() {
    let server = Server::start();
    let crew = server.operator();
    let (app, device) = gate(&server, "Alpha");
    let open = format!("{PAGE}?change={device}");
    let switch = |fields: &[(&str, &str)]| {
        let seen = field(&crew.page(&open), "seen").to_owned();
        let fields = [&[("seen", &*seen)], fields].concat();
        crew.post(&format!("{PAGE}/{device}/settings"), &fields)
            .taken();
        let gate = app.get("/gate").data().clone();
        (gate["kiosk"].clone(), gate["walkIn"].clone())
    };
    let (kiosk, walk_in) = switch(&[("kiosk", "1")]);
    assert_eq!(kiosk["walkIn"], false);
    assert!(walk_in.is_null());
    assert_eq!(
        switch(&[("kiosk", "1"), ("walkIns", "1")]).0["walkIn"],
        true
    );
    has(row(&crew.page(PAGE), device), "<span class=\"soft\">kiosk");
    assert_eq!(switch(&[("kiosk", "1")]).0["walkIn"], false);
    assert!(switch(&[]).0.is_null());
    // The button of its line does the same without the form.
    let press = |kiosk: &str| {
        has(row(&crew.page(PAGE), device), "/kiosk\"");
        crew.post(&format!("{PAGE}/{device}/kiosk"), &[("kiosk", kiosk)])
            .taken();
        app.get("/gate").data()["kiosk"].clone()
    };
    assert!(press("1").is_object());
    has(row(&crew.page(PAGE), device), "End kiosk");
    assert!(press("").is_null());
    has(row(&crew.page(PAGE), device), "Make kiosk");
    // A PIN of its own, which nobody can read again.
    let pin = |fields: &[(&str, &str)]| crew.post(&format!("{PAGE}/{device}/pin"), fields);
    pin(&[("pin", "12")]).refused(422, "6 to 8 digits");
    pin(&[("pin", "471100")]).taken();
    let page = crew.page(&open);
    has(&page, ["has a PIN of its own", "Remove PIN"]);
    lacks(&page, "471100");
    assert!(app.get("/gate").data()["supervisorPin"]["hash"].is_string());
    pin(&[("do", "remove")]).taken();
    has(crew.page(&open), "No PIN is set");
    let viewer = server.viewer();
    for path in ["settings", "pin", "kiosk"] {
        viewer
            .post(&format!("{PAGE}/{device}/{path}"), &[])
            .refused(403, "needs the role operator");
    }
}

#[test]
fn other_apps_are_here_as_well_and_may_be_silent() {
    let server = Server::start();
    let crew = server.operator();
    let api = server.caller_with_all();
    let app = |name: &str, seen_ms: i64, ping: &Value| {
        let device = api.device(&json!({"name": name, "deviceType": "mobileapp"}));
        server.new_client(NewClient {
            roles: [Role::InteractionWrite].into_iter().collect(),
            device: Some(DeviceId(device)),
            ..NewClient::named(name)
        });
        server.sql(&format!(
            "INSERT INTO device_states (device_id, seen_at, ping) VALUES ({device}, {}, '{ping}')",
            Timestamp::now().0 - seen_ms
        ));
        device
    };
    let fine = app("Leads", 600_000, &json!({"battery": 80}));
    let silent = app("Tills", 3_600_000, &json!({}));
    let empty = app("Scans", 0, &json!({"battery": 5, "failedUploads": 2}));
    let page = crew.page(PAGE);
    has(row(&page, fine), ["10 min ago", "80 %", ">app</span>"]);
    has(
        row(&page, empty),
        ["2 uploads failed, Battery 5 %", "class=\"urgent\""],
    );
    has(
        row(&page, silent),
        ["No contact since", "class=\"urgent soon\""],
    );
    lacks(row(&page, silent), ["No place", "Set up"]);
    has(&page, "2 of 3 other apps in contact");
}

#[test]
fn a_gate_at_another_place_than_is_set_for_it_says_so() {
    let server = Server::start();
    let crew = server.operator();
    let all = server.caller_with_all();
    let hall = all.device(&json!({"name": "Hall", "code": "hall"}));
    let attic = all.device(&json!({"name": "Attic", "code": "attic"}));
    server.publish(&json!({"byDevice": {"alpha": {"place": "code:hall"}}}));
    server.sql("UPDATE app_config SET published_at = published_at - 600000");
    let (app, device) = gate(&server, "Alpha");
    let at = |place: i64| {
        let ping = json!({"place": place, "listAt": Timestamp::now().0, "configVersion": 2});
        tell(&app, &ping);
        row(&crew.page(PAGE), device).to_owned()
    };
    lacks(at(hall), "Not at the place");
    has(
        at(attic),
        ["Not at the place set for it", "Hall is set for it"],
    );
    all.delete(&format!("/device/id:{attic}"));
    has(at(attic), ["Its place is gone", "class=\"urgent\""]);
}

#[test]
fn a_message_is_shown_by_every_gate_until_it_is_cleared() {
    let server = Server::start();
    let crew = server.operator();
    let (app, _) = gate(&server, "Alpha");
    let send = |text: &str| crew.post(&format!("{PAGE}/message"), &[("text", text)]);
    assert!(app.get("/gate").data()["message"].is_null());
    send("Doors open at 8:30 <b>").taken();
    crew.sees(
        PAGE,
        [
            "Message sent",
            "Doors open at 8:30 &#60;b&#62;",
            "by operator@example.com",
        ],
    );
    let message = app.get("/gate").data()["message"].clone();
    assert_eq!(message["text"], "Doors open at 8:30 <b>");
    assert!((Timestamp::now().0 - message["at"].as_i64().expect("a time")).abs() < 60_000);
    send(&"ä".repeat(200)).taken();
    let long = "x".repeat(201);
    let refused = send(&long);
    refused.refused(422, "Must have 1 to 200 characters.");
    has(&refused.html, &*long);
    send(" ").refused(422, "Must have 1 to 200");
    crew.press(&format!("{PAGE}/message/clear"));
    lacks(crew.page(PAGE), "until you clear it");
    assert!(app.get("/gate").data()["message"].is_null());
    let audited = "SELECT group_concat(action, ' ') FROM (SELECT action FROM audit
        WHERE record_type = 'gate-message' ORDER BY id)";
    assert_eq!(server.value::<String>(audited), "create update delete");
    // Of a configuration it is no part.
    crew.press(&format!("{PAGE}/message/clear"));
    assert_eq!(server.count("settings WHERE name = 'gateMessage'"), 0);
}
