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
        server.app.store.write_blocking(write).expect("a notice");
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
