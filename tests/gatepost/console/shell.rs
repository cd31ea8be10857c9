//! What stands around every page: navigation, contact, what needs somebody, and the palette.

use crate::harness::{Server, has, lacks};
use gatepost::{
    identity::{ConsoleRole, Role, clients::NewClient},
    types::{DeviceId, Timestamp},
};
use reqwest::{Method, header};
use serde_json::json;

/// A part of a page, as htmx asks for it.
fn part(crew: &super::Crew, path: &str) -> String {
    let request = crew.request(Method::GET, path).header("HX-Request", "true");
    super::page(request).shown()
}

/// A gate whose app was heard of so many minutes ago, where it was.
fn gate(server: &Server, name: &str, minutes_ago: Option<i64>) {
    let device = server.caller_with_all().device(&json!({"name": name}));
    server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(device)),
        ..NewClient::named(name)
    });
    if let Some(minutes) = minutes_ago {
        let at = Timestamp::now().0 - minutes * 60_000;
        server.sql(&format!(
            "INSERT INTO device_states (device_id, seen_at) VALUES ({device}, {at})"
        ));
    }
}

#[test]
fn a_role_sees_what_it_may_use() {
    let server = Server::start();
    let viewer = server.viewer().page("/console");
    has(
        &viewer,
        ["Attendees", "Places", "Activity", "Prepare", "Audit"],
    );
    lacks(
        &viewer,
        ["/console/gates", "/console/import", "/console/access"],
    );
    let operator = server.operator().page("/console");
    has(
        &operator,
        ["href=\"/console/gates\"", "href=\"/console/import\""],
    );
    lacks(&operator, "href=\"/console/access\"");
    server
        .administrator()
        .sees("/console", ["href=\"/console/access\"", "System"]);
}

#[test]
fn contact_with_gates_is_told_on_every_page() {
    let server = Server::start();
    let crew = server.operator();
    has(crew.page("/console/sales"), "<strong>Live</strong></span>");
    gate(&server, "A", Some(0));
    gate(&server, "B", Some(90));
    gate(&server, "C", None);
    let page = crew.page("/console/sales");
    has(&page, "<strong>Live</strong> · 1 of 3 gates");
    // Only that which was there and is silent needs somebody.
    let badge = "id=\"needs-gates\">1<span class=\"unseen\"> without contact";
    has(&page, badge);
    has(&page, "id=\"needs-interactions\" hidden><");
    let told = part(&crew, "/console/contact");
    has(
        &told,
        ["1 of 3 gates", "id=\"needs-gates\" hx-swap-oob=\"true\">1"],
    );
    lacks(&told, "<html");
    // Without a script nothing asks for it.
    assert_eq!(crew.get("/console/contact").taken(), "/console");
}

#[test]
fn a_conflict_of_today_needs_somebody_and_one_of_yesterday_does_not() {
    let (server, api) = Server::with_api();
    let crew = server.viewer();
    let (ada, hall) = (api.delegate(&json!({})), api.device(&json!({})));
    let id = api.scan("check-in", ada, hall).id();
    for (at, badge) in [
        (
            Timestamp::now().0 - 25 * 3_600_000,
            "id=\"needs-interactions\" hidden",
        ),
        (Timestamp::now().0, "id=\"needs-interactions\">1"),
    ] {
        server.sql(&format!(
            "INSERT INTO conflicts (at, interaction_id, code, message) VALUES ({at}, {id}, 744, 'full')"
        ));
        has(crew.page("/console"), badge);
    }
}

#[test]
fn a_page_that_is_left_open_does_not_keep_its_session() {
    let server = Server::start();
    let crew = server.viewer();
    let seen = "SELECT max(seen_at) FROM console_sessions";
    server.sql("UPDATE console_sessions SET seen_at = seen_at - 3600000");
    let before: i64 = server.value(seen);
    part(&crew, "/console/contact");
    crew.page("/console/sales");
    crate::faults::process::until("the session was used", || {
        server.value::<i64>(seen) > before
    });
    // The page that somebody opened wrote it down; what the page asked for before did not.
    server.sql("UPDATE console_sessions SET seen_at = seen_at - 3600000");
    let before: i64 = server.value(seen);
    part(&crew, "/console/contact");
    // A later write of the same thread: what was to be written is written.
    server.write(|tx, _| {
        tx.execute("UPDATE settings SET value = value", [])?;
        Ok(())
    });
    assert_eq!(server.value::<i64>(seen), before);
}

#[test]
fn the_navigation_is_folded_on_the_day_and_as_it_was_left() {
    let (server, api) = Server::with_api();
    let crew = server.administrator();
    let open = |name: &str| format!("data-group=\"{name}\" open");
    let page = crew.page("/console");
    has(&page, [&*open("Prepare"), &open("System")]);
    lacks(&page, "Day 1");
    let now = Timestamp::now().0;
    let day = |days: i64| {
        server
            .app
            .settings()
            .zone
            .plain(Timestamp(now + days * 86_400_000))
    };
    api.event(&json!({"eventName": "Fair", "eventStartAt": day(-1), "eventEndAt": day(1)}));
    let page = crew.page("/console");
    has(&page, "<small>Day 2 of 3</small>");
    lacks(&page, [&*open("Prepare"), &open("System")]);
    // The group of the page itself is open.
    has(crew.page("/console/settings"), &*open("System"));
    let left = crew.http.get(format!("{}/console", crew.url)).header(
        header::COOKIE,
        format!("{}; gatepost_open=Prepare", crew.cookie),
    );
    let page = super::page(left).shown();
    has(&page, &*open("Prepare"));
    lacks(&page, &*open("System"));
}

#[test]
fn a_few_letters_find_attendees_places_pages_and_actions() {
    let (server, api) = Server::with_api();
    let crew = server.operator();
    let ada = api.delegate(&json!({"firstName": "Ada", "lastName": "Harbour", "barcode": "T-7"}));
    let hall = api.device(&json!({"name": "Harbour Hall", "code": "hh", "deviceType": "room"}));
    let found = part(&crew, "/console/find?q=harb");
    has(
        &found,
        [
            "data-found=\"harb\"",
            &*format!("href=\"/console/delegates/{ada}\""),
            &*format!("href=\"/console/devices/{hall}\""),
        ],
    );
    lacks(&found, "<html");
    has(
        part(&crew, "/console/find?q=gat"),
        ["href=\"/console/gates\"", "Add a gate"],
    );
    // The same as a page, for browsers without scripts; all pages where nothing is typed.
    crew.sees(
        "/console/find?q=harb",
        ["Ada Harbour", "Harbour Hall", "<html"],
    );
    crew.sees("/console/find", ["Activity", "New attendee"]);
    // Enter opens the first; a code is its attendee's.
    for (q, first) in [
        ("T-7", format!("/console/delegates/{ada}")),
        ("harbour+hall", format!("/console/devices/{hall}")),
        ("activ", "/console/interactions".to_owned()),
    ] {
        let led = crew.get(&format!("/console/find?q={q}&go=1")).taken();
        assert_eq!(led, first, "{q}");
    }
    crew.sees("/console/find?q=zzz&go=1", "No matches");
    // Other words for a page or an action; those of a name come before what matches elsewhere, with what does.
    for (q, found) in [
        ("evac", "Start evacuation"),
        ("walk-in", ">Walk-in<"),
        ("who may", ">Who may enter<"),
        ("kiosk", ">Gates<"),
        ("wall", ">Wall display<"),
    ] {
        has(part(&crew, &format!("/console/find?q={q}")), found);
    }
    let eva = api.delegate(&json!({"firstName": "Eva", "lastName": "Brandt", "company": "Nordlys", "jobTitle": "Expert"}));
    let middle = api.device(&json!({"name": "An Expo", "code": "e2", "deviceType": "room"}));
    let expo = api.device(&json!({"name": "Expo Hall", "code": "e1", "deviceType": "room"}));
    let found = part(&crew, "/console/find?q=exp");
    let order = [
        format!("/console/devices/{expo}\""),
        format!("/console/devices/{middle}\""),
        format!("/console/delegates/{eva}\""),
    ];
    let order = order.map(|href| found.find(&href).expect("a hit"));
    assert!(order.is_sorted(), "{order:?}");
    has(&found, "Nordlys, Expert, Not arrived");
    // Nothing that the role may not use.
    let viewer = server.crew(ConsoleRole::Viewer);
    lacks(part(&viewer, "/console/find?q=evac"), "Start evacuation");
    let pages = part(&viewer, "/console/find?q=");
    lacks(
        &pages,
        ["/console/gates", "New attendee", "/console/settings"],
    );
}

#[test]
fn a_value_is_changed_where_it_stands() {
    let (server, api) = Server::with_api();
    let crew = server.operator();
    let ada = api.delegate(&json!({"firstName": "Ada", "company": "Nordwind"}));
    let path = format!("/console/delegates/{ada}/value/company");
    crew.sees(
        &format!("/console/delegates/{ada}"),
        &*format!("hx-get=\"{path}\""),
    );
    has(
        part(&crew, &path),
        ["name=\"was\" value=\"Nordwind\"", "autofocus"],
    );
    let led = crew.get(&path).taken();
    assert_eq!(led, format!("/console/delegates/{ada}/edit#company"));
    let typed = |was: &str, value: &str| crew.post(&path, &[("was", was), ("value", value)]);
    typed("Nordwind", "Southwind").taken();
    let now = || api.read(&format!("/delegate/id:{ada}"))["company"].clone();
    assert_eq!(now(), "Southwind");
    // Who saw what it was before overwrites nothing, and is shown both.
    let again = typed("Nordwind", "Eastwind");
    again.refused(422, "changed this meanwhile; now: Southwind");
    has(&again.html, "value=\"Eastwind\"");
    assert_eq!(now(), "Southwind");
    typed("Southwind", "").taken();
    assert!(now().is_null());
    crew.get(&format!("/console/delegates/{ada}/value/barcode"))
        .is(404);
    let viewer = server.crew(ConsoleRole::Viewer);
    viewer
        .post(&path, &[("was", ""), ("value", "Eastwind")])
        .is(403);
    lacks(viewer.page(&format!("/console/delegates/{ada}")), "/value/");
}
