//! The dashboard's figures.

use crate::{
    faults::process::until,
    harness::{Server, has, lacks},
};
use serde_json::json;

#[test]
fn whoever_is_in_two_places_is_one_person() {
    let (server, api) = Server::with_api();
    let crew = server.viewer();
    let people = || {
        let html = crew.page("/console");
        let figure = html.split("data-live=\"people\">").nth(1);
        figure
            .and_then(|rest| rest.split('<').next())
            .map(ToOwned::to_owned)
    };
    assert_eq!(people(), None);
    let [hall, room] = [(); 2].map(|()| api.device(&json!({})));
    let [ada, bob] = [(); 2].map(|()| api.delegate(&json!({})));
    let pass = |kind: &str, delegate: i64, device: i64| {
        api.scan(kind, delegate, device).data();
    };
    let shows = |wanted: &str| {
        until(&format!("{wanted} are inside"), || {
            people().as_deref() == Some(wanted)
        });
    };
    pass("check-in", ada, hall);
    shows("1");
    pass("check-in", ada, room);
    pass("check-in-override", bob, room);
    shows("2");
    pass("check-out", ada, hall);
    shows("2");
    pass("check-out", ada, room);
    shows("1");
    pass("check-in", ada, hall);
    shows("2");
    api.delete(&format!("/device/id:{hall}"));
    shows("1");
}

#[test]
fn a_refusal_names_the_place() {
    let (server, api) = Server::with_api();
    let crew = server.viewer();
    let named = [
        (json!({"name": "Hall 7", "available": false}), "Hall 7"),
        (json!({"shortName": "H8", "available": false}), "H8"),
        (json!({"code": "hall-9", "available": false}), "hall-9"),
    ];
    let ada = api.delegate(&json!({}));
    for (device, _) in &named {
        let device = api.device(device);
        let body = json!({"delegate": ada, "device": device});
        api.interact("check-in", &body).refused(412, 743, "");
    }
    for page in ["/console", "/console/interactions/refusals"] {
        let html = crew.page(page);
        for (_, name) in &named {
            assert!(html.contains(name), "no {name} in {html}");
        }
        lacks(&html, "id:");
    }
}

#[test]
fn a_notice_stays_until_an_administrator_acknowledges_it() {
    let server = Server::start();
    let add = |what: &str| {
        let what = what.to_owned();
        let write =
            move |tx: &gatepost::db::Tx<'_>| gatepost::core::settings::notices::add(tx, what);
        server.app.store.write(write).wait().expect("a notice");
    };
    add("The log was damaged <i>.");
    let viewer = server.viewer();
    let seen = viewer.page("/console");
    has(&seen, "The log was damaged &#60;i&#62;.");
    lacks(&seen, "Acknowledge");
    let refused = viewer.post(
        "/console/dashboard/acknowledge",
        &[("until", "9999999999999")],
    );
    assert_eq!(refused.status, 403, "{refused:?}");
    let crew = server.administrator();
    let page = crew.page("/console");
    let until = page.split("name=\"until\" value=\"").nth(1);
    let until = until
        .and_then(|rest| rest.split('"').next())
        .expect("a field");
    // What came after the page was shown is not acknowledged by it.
    while gatepost::types::Timestamp::now().0 <= until.parse().expect("a number") {
        std::thread::yield_now();
    }
    add("The log is gone.");
    let led = crew.post("/console/dashboard/acknowledge", &[("until", until)]);
    assert_eq!(led.taken(), "/console");
    let page = crew.page("/console");
    has(&page, "The log is gone.");
    lacks(&page, "was damaged");
    let noted = "SELECT count(*) FROM audit WHERE record_type = 'notices' AND action = 'delete'";
    assert_eq!(server.value::<i64>(noted), 1);
    // They are no setting: no configuration carries them elsewhere.
    let stored = server.app.store.look_up(gatepost::core::settings::stored);
    assert!(!stored.expect("settings").contains_key("notices"));
}

/// The list of what needs somebody.
fn attention(html: &str) -> &str {
    let after = html.split("id=\"attention\"").nth(1).expect("a list");
    after.split("</section>").next().unwrap_or_default()
}

#[test]
fn what_needs_somebody_is_told_by_urgency_with_one_thing_to_do() {
    let (server, api) = Server::with_api();
    let crew = server.operator();
    has(attention(&crew.page("/console")), "Nothing needs you now.");
    let hall = api.device(&json!({"name": "Workshop 1", "data": {"Access": {"capacity": 2}}}));
    let people = [(); 3].map(|()| api.delegate(&json!({})));
    for person in &people[..2] {
        api.scan("check-in", *person, hall).data();
    }
    api.scan("check-in", people[2], hall)
        .refused(412, 744, "full");
    let admitted = json!({
        "firstDelegate": "barcode:NEW-77", "firstDevice": hall, "admitted": true, "nonce": "n-1",
    });
    api.interact("check-in", &admitted);
    let admitted = json!({"firstDelegate": people[2], "firstDevice": hall, "admitted": true});
    api.interact("check-in", &admitted).data();
    let html = crew.page("/console");
    let list = attention(&html);
    let order = [
        "<strong>Workshop 1</strong> is full: ",
        "1 refused in the last 5 minutes",
        &format!("href=\"/console/devices/{hall}/edit\""),
        "<strong>1 scan</strong> of unknown codes, let in",
        "href=\"/console/import\"",
        "<strong>1 conflict</strong> today",
        "href=\"/console/interactions/conflicts\"",
    ];
    let mut rest = list;
    for part in order {
        rest = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("no {part:?} in {rest} of {list}"))
            .1;
    }
    has(list, "<span class=\"badge bad\">3</span>");
    // Who may not do something is not offered it.
    lacks(
        attention(&server.viewer().page("/console")),
        ["/edit\"", "/console/import"],
    );
    // A place with room again needs nobody.
    server.sql(&format!("UPDATE devices SET data = NULL WHERE id = {hall}"));
    lacks(attention(&crew.page("/console")), "do-full-");
}

#[test]
fn the_fullest_place_comes_first() {
    let (server, api) = Server::with_api();
    let place = |name: &str, capacity: Option<i64>, people: usize| {
        let mut device = json!({"name": name});
        if let Some(capacity) = capacity {
            device["data"] = json!({"Access": {"capacity": capacity}});
        }
        let device = api.device(&device);
        for _ in 0..people {
            api.scan("check-in", api.delegate(&json!({})), device)
                .data();
        }
    };
    place("Foyer", None, 5);
    place("Hall", Some(10), 3);
    place("Studio", Some(10), 9);
    place("Workshop", Some(2), 2);
    let html = server.viewer().page("/console");
    let inside = html.split("id=\"inside\"").nth(1).expect("a list");
    let inside = inside.split("</section>").next().unwrap_or_default();
    let mut rest = inside;
    for part in [
        "Workshop</a>",
        "Full",
        "Studio</a>",
        "1 left",
        "Hall</a>",
        "Foyer</a>",
        "no limit",
    ] {
        rest = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("no {part:?} in {inside}"))
            .1;
    }
}

#[test]
fn a_silent_gate_and_a_low_battery_are_told() {
    let server = Server::start();
    let crew = server.operator();
    let now = gatepost::types::Timestamp::now().0;
    let gate = |name: &str, seen_at: i64, ping: serde_json::Value| {
        let device = server.caller_with_all().device(&json!({"name": name}));
        server.new_client(gatepost::identity::clients::NewClient {
            roles: [gatepost::identity::Role::Gate].into_iter().collect(),
            device: Some(gatepost::types::DeviceId(device)),
            ..gatepost::identity::clients::NewClient::named(name)
        });
        server.sql(&format!(
            "INSERT INTO device_states (device_id, seen_at, ping) VALUES ({device}, {seen_at}, '{ping}')"
        ));
    };
    gate(
        "South door",
        now - 600_000,
        json!({"queue": 14, "oldestScanAt": now - 600_000}),
    );
    gate(
        "Desk 3",
        now,
        json!({"battery": 17, "listAt": now, "place": 1}),
    );
    gate("Store", now - 100 * 3_600_000, json!({}));
    let html = crew.page("/console");
    let list = attention(&html);
    has(
        list,
        [
            "<strong>South door</strong> has no contact since",
            "14 scans wait",
            "Show gate",
            "<strong>Desk 3</strong> has 17 % battery",
        ],
    );
    // What is silent for days is put away.
    lacks(list, "Store");
    for name in ["East", "West", "North"] {
        gate(name, now - 300_000, json!({"queue": 2}));
    }
    has(
        attention(&crew.page("/console")),
        [
            "<strong>4 gates</strong> have no contact",
            "20 scans wait on them",
        ],
    );
}
