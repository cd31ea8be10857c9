//! Devices and events in the console: the tree, making and changing them, their rules, deleting and
//! restoring, and shutting an app out.

use super::{Crew, Page};
use crate::harness::Server;
use gatepost::{
    identity::{ConsoleRole, Role, clients},
    types::DeviceId,
};
use serde_json::json;

/// The id of the device whose page a form led to.
#[track_caller]
fn made(page: Page) -> i64 {
    let location = page.taken();
    let id = location
        .strip_prefix("/console/devices/")
        .expect("a device");
    id.parse().expect("an id")
}

/// What a form field holds, as a browser would send it.
fn field(html: &str, name: &str) -> String {
    let rest = html.split(&format!("name=\"{name}\"")).nth(1).expect(name);
    let value = rest.split("value=\"").nth(1).expect("a value");
    value.split('"').next().expect("a value").to_owned()
}

impl Crew {
    /// The version of a device that its form is begun on.
    fn version_of(&self, device: i64) -> String {
        self.get(&format!("/console/devices/{device}/edit"))
            .version()
    }

    /// Edits a device as a form does that says what the record says, but for these fields.
    fn edit(&self, device: i64, fields: &[(&str, &str)]) -> Page {
        let version = self.version_of(device);
        self.edit_from(device, &version, fields)
    }

    fn edit_from(&self, device: i64, version: &str, fields: &[(&str, &str)]) -> Page {
        let mut all = vec![("version", version)];
        all.extend_from_slice(fields);
        self.post(&format!("/console/devices/{device}/edit"), &all)
    }
}

#[test]
fn an_event_and_a_session_under_it_are_made_and_stand_in_the_tree() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let empty = crew.get("/console/devices").shown();
    assert!(empty.contains("No places yet") && empty.contains("/console/devices/new?type=event"));
    let form = crew.get("/console/devices/new?type=event").shown();
    assert!(form.contains("New event") && form.contains("eventManagerEmail"));
    let event = made(crew.post(
        "/console/devices/new",
        &[
            ("name", "Nordlicht"),
            ("deviceType", "event"),
            ("available", "1"),
            ("startAt", "2026-11-21T09:00"),
            ("endAt", "2026-11-22T18:00:30"),
            ("externalId", "NORD-26"),
            ("eventManagerEmail", "grace@example.com"),
        ],
    ));
    let shown = api.get(&format!("/event/{event}")).data().clone();
    assert_eq!(shown["eventName"], "Nordlicht");
    assert_eq!(shown["eventExternalID"], "NORD-26");
    assert_eq!(shown["eventStartAt"], "2026-11-21 09:00:00");
    assert_eq!(shown["eventEndAt"], "2026-11-22 18:00:30");
    assert_eq!(shown["eventManagerEmail"], "grace@example.com");
    assert_eq!(shown["sources"], json!(["admin"]));
    let form = crew
        .get(&format!("/console/devices/new?parent={event}&type=session"))
        .shown();
    let parent = field(&form, "parent");
    assert_eq!(parent, format!("Nordlicht (#{event})"));
    let session = made(crew.post(
        "/console/devices/new",
        &[
            ("name", "Opening <b>"),
            ("deviceType", "session"),
            ("available", "1"),
            ("parent", &parent),
            ("key", "floor"),
            ("value", "2"),
            ("rest", r#"{"Signage": {"colour": "green"}}"#),
        ],
    ));
    let shown = api.get(&format!("/device/id:{session}")).data().clone();
    assert_eq!(shown["parent"]["id"], event);
    assert_eq!(
        shown["data"],
        json!({"Signage": {"colour": "green"}, "Data": {"floor": "2"}})
    );
    let tree = crew.get("/console/devices").shown();
    for told in ["Nordlicht", "Opening &#60;b&#62;", "2026-11-21 09:00 to"] {
        assert!(tree.contains(told), "no {told} in {tree}");
    }
    assert!(!tree.contains("<b>"));
    let page = crew.get(&format!("/console/devices/{session}")).shown();
    assert!(
        page.contains(r#"<strong>Created</strong> <span class="help">by operator@example.com"#),
        "{page}"
    );
}

#[test]
fn a_large_branch_is_closed_until_the_address_opens_it() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let api = server.caller_with_all();
    let event = api.device(&json!({"name": "Nordlicht", "deviceType": "event"}));
    let room = api.device(&json!({"name": "Hall", "deviceType": "room", "parent": event}));
    for at in 0..105 {
        let parent = if at < 60 { event } else { room };
        api.device(&json!({"name": format!("Desk {at:03}"), "parent": parent}));
    }
    let tree = crew.get("/console/devices").shown();
    assert!(tree.contains(&format!("href=\"/console/devices?open={event}\"")));
    assert!(tree.contains("aria-expanded=\"false\"") && !tree.contains("Desk 001"));
    // The address says what is open, so that no script is needed.
    let opened = crew.get(&format!("/console/devices?open={event}")).shown();
    assert!(opened.contains("Desk 001") && opened.contains("Hall") && !opened.contains("Desk 080"));
    assert!(opened.contains(&format!("href=\"/console/devices?open={event},{room}\"")));
    let all = crew.get("/console/devices?open=all").shown();
    assert!(all.contains("Desk 001") && all.contains("Desk 080"));
    crew.get("/console/devices?parent=4711")
        .refused(404, "no device 4711");
}

#[test]
fn a_search_finds_by_name_code_and_type_in_any_script() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let api = server.caller_with_all();
    api.device(&json!({"name": "Größe Süd", "code": "gate-s", "deviceType": "room"}));
    api.device(&json!({"name": "Ost", "code": "gate-o", "deviceType": "session"}));
    let gone = api.device(&json!({"name": "Gone", "code": "gate-g"}));
    api.delete(&format!("/device/id:{gone}"));
    for (query, found, absent) in [
        ("q=SÜD", "Größe Süd", "Ost"),
        ("q=gate-o", "Ost", "Süd"),
        ("type=room", "Größe Süd", "Ost"),
        ("q=gate&type=session", "Ost", "Süd"),
        ("show=deleted", "Gone", "Ost"),
        ("q=nothing", "No matches", "Ost"),
    ] {
        let page = crew.get(&format!("/console/devices?{query}")).shown();
        assert!(
            page.contains(found) && !page.contains(&format!(">{absent}<")),
            "{query}: {page}"
        );
    }
}

#[test]
fn the_form_has_rules_for_those_inside_where_they_make_sense() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let hall = api.device(&json!({"name": "Hall", "code": "hall", "publicId": "hall"}));
    let offers = || {
        let page = crew.get(&format!("/console/devices/{hall}/edit")).shown();
        assert!(page.contains("name=\"everybodyOutAt\""), "{page}");
        page.contains("name=\"oneAtATime\"")
    };
    assert!(!offers(), "no rooms");
    let room = json!({"name": "Room", "code": "room", "deviceType": "room", "parent": hall});
    api.device(&room);
    assert!(offers());
    for access in [
        json!({"entry": "single"}),
        json!({"entry": null, "maxCheckIns": 2}),
    ] {
        api.patched("/device/code:room", &json!({"data": {"Access": access}}));
        assert!(!offers(), "{access}");
    }
    api.patched("/device/code:room", &json!({"data": null}));
    let whole = [
        ("name", "Hall"),
        ("code", "hall"),
        ("publicId", "hall"),
        ("available", "1"),
    ];
    let save = |rules: &[(&'static str, &'static str)]| {
        crew.edit(hall, &[&whole, rules].concat()).taken();
        api.get(&format!("/device/id:{hall}")).data()["data"]["Access"].clone()
    };
    assert_eq!(
        save(&[
            ("everybodyOutAt", "23:00"),
            ("everybodyOutExcept", "crew\nPress, radio"),
            ("oneAtATime", "1")
        ]),
        json!({"everybodyOutAt": "23:00", "everybodyOutExcept": ["crew", "Press, radio"], "oneAtATime": true})
    );
    let page = crew.get(&format!("/console/devices/{hall}")).shown();
    assert!(
        page.contains("Everybody leaves at 23:00, except crew, Press, radio."),
        "{page}"
    );
    assert_eq!(
        save(&[("everybodyOutAt", "23:00")]),
        json!({"everybodyOutAt": "23:00"})
    );
    assert!(save(&[]).as_object().is_none_or(serde_json::Map::is_empty));
    let wrong = [&whole[..], &[("everybodyOutAt", "24:00")]].concat();
    crew.edit(hall, &wrong)
        .refused(422, "Must be a time such as 22:00");
}

#[test]
fn the_access_form_writes_what_the_api_shows_and_gates_obey() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    server.settings(&json!({"access": {"capacity": 500, "ruleSet": "open"}}));
    let gate = api.device(&json!({"name": "Gate B", "code": "gate-b",
        "startAt": "2026-11-21 09:00:00", "data": {"Data": {"floor": 2}, "Access": {"closesAfter": 5}}}));
    let guest = api.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    let page = crew.get(&format!("/console/devices/{gate}")).shown();
    for said in [
        "Everybody with a known code may enter.",
        "At most 500 people are inside at a time.",
        "Closes 5 minutes after it ends; it has no end yet",
    ] {
        assert!(page.contains(said), "no {said:?} in {page}");
    }
    let whole = [
        ("name", "Gate B"),
        ("code", "gate-b"),
        ("startAt", "2026-11-21T09:00:00"),
        ("available", "1"),
        ("ruleSet", ""),
        ("entry", "single"),
        ("maxCheckIns", "3"),
        ("capacity", ""),
        ("opensBefore", "5256000"),
        ("closesAfter", ""),
        ("key", "floor"),
        ("value", "2"),
    ];
    let public = api.get(&format!("/device/id:{gate}")).data()["publicId"].clone();
    let mut form = whole.to_vec();
    form.push(("publicId", public.as_str().expect("text")));
    crew.edit(gate, &form).taken();
    let shown = api.get(&format!("/device/id:{gate}")).data().clone();
    assert_eq!(
        shown["data"],
        json!({"Data": {"floor": 2}, "Access": {"entry": "single", "maxCheckIns": 3, "opensBefore": 5_256_000}})
    );
    assert_eq!(shown["code"], "gate-b");
    let page = crew.get(&format!("/console/devices/{gate}")).shown();
    assert!(page.contains("Single entry: a ticket enters once until it is checked out."));
    let scan = json!({"firstDelegate": guest, "firstDevice": gate});
    assert_eq!(api.interact("check-in", &scan).status, 201);
    api.interact("check-in", &scan)
        .refused(412, 740, "already used at Gate B");
    let page = crew.get(&format!("/console/devices/{gate}")).shown();
    assert!(page.contains("Ada") && page.contains("1 of 500"), "{page}");
    let inside = crew.get(&format!("/console/devices/{gate}/inside")).shown();
    assert!(inside.contains(&format!("/console/delegates/{guest}")));
    assert_eq!(api.interact("check-out", &scan).status, 201);
    let inside = crew.get(&format!("/console/devices/{gate}/inside")).shown();
    assert!(inside.contains("Nobody is inside"));
    for (name, value, told) in [
        ("maxCheckIns", "-1", "Must be from 0 to"),
        ("entry", "once", "cannot be chosen"),
        ("endAt", "2026-11-21T08:00", "Must not be before"),
        ("parent", "Atlantis", "There is no device"),
        ("rest", "{", "This is not valid JSON"),
    ] {
        let mut wrong = form.clone();
        wrong.retain(|(known, _)| *known != name);
        wrong.push((name, value));
        let refused = crew.edit(gate, &wrong);
        refused.refused(422, told);
        refused.refused(422, &format!("id=\"{name}-error\""));
    }
    assert_eq!(api.get(&format!("/device/id:{gate}")).data(), &shown);
}

#[test]
fn a_form_that_is_sent_as_it_was_shown_changes_nothing() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let device = api.device(&json!({"name": " Gate ", "code": "a\"b", "data": {"Data": {"n": 1.50, "t": "1.5"}, "X": {"y": [1]}}}));
    let before = api.get(&format!("/device/id:{device}")).data().clone();
    let rest = "{\r\n  \"X\": {\r\n    \"y\": [\r\n      1\r\n    ]\r\n  }\r\n}";
    let public = before["publicId"].as_str().expect("text").to_owned();
    crew.edit(
        device,
        &[
            ("name", " Gate "),
            ("code", "a\"b"),
            ("publicId", &public),
            ("available", "1"),
            ("key", "n"),
            ("value", "1.5"),
            ("key", "t"),
            ("value", "1.5"),
            ("key", ""),
            ("value", ""),
            ("rest", rest),
        ],
    )
    .taken();
    assert_eq!(api.get(&format!("/device/id:{device}")).data(), &before);
}

#[test]
fn days_and_types_are_fields_of_the_form() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let hall = api.device(&json!({"name": "Hall", "data": {"Access": {"types": ["Crew"]}}}));
    let access =
        json!({"types": [], "entry": "daily", "maxCheckIns": 2, "everybodyOutAt": "23:00"});
    let lounge = json!({"name": "Lounge", "code": "l", "publicId": "p", "parent": hall, "data": {"Access": access}});
    let lounge = api.device(&lounge);
    let at = format!("/console/devices/{lounge}");
    let page = crew.get(&at).shown();
    for told in [
        "Nobody is let in: no type of attendee may enter.",
        "Check-ins are counted over all days here.",
    ] {
        assert!(page.contains(told), "no {told:?} in {page}");
    }
    let form = |more: &[(&'static str, &'static str)]| {
        let fixed = [
            ("name", "Lounge"),
            ("code", "l"),
            ("publicId", "p"),
            ("available", "1"),
        ];
        let rules = [
            ("entry", "daily"),
            ("maxCheckIns", "2"),
            ("everybodyOutAt", "23:00"),
        ];
        let parent: &'static str = format!("Hall (#{hall})").leak();
        let all = [&fixed[..], &rules[..], &[("parent", parent)], more];
        crew.edit(lounge, &all.concat())
    };
    let stored = || api.read(&format!("/device/id:{lounge}"))["data"]["Access"].clone();
    // As it was shown: an empty list still lets nobody in.
    form(&[("whichTypes", "listed"), ("types", ""), ("typeTimes", "")]).taken();
    assert_eq!(stored(), access);
    let times = "22:00 to 02:00: VIP, Crew\r\n";
    form(&[
        ("per", "day"),
        ("types", "VIP\r\nCrew"),
        ("typeTimes", times),
    ])
    .taken();
    assert_eq!(
        stored(),
        json!({
            "entry": "daily", "maxCheckIns": 2, "per": "day", "types": ["VIP", "Crew"], "everybodyOutAt": "23:00",
            "typeTimes": [{"types": ["VIP", "Crew"], "from": "22:00", "until": "02:00"}],
        })
    );
    let page = crew.get(&at).shown();
    assert!(page.contains("VIP, Crew: 22:00 to 02:00 only."), "{page}");
    assert!(!page.contains("Check-ins are counted over all days here."));
    form(&[("typeTimes", "tonight: VIP")]).refused(422, "tonight: VIP");
    // Nothing of its own: what the hall says.
    form(&[]).taken();
    assert!(stored().get("types").is_none());
    let page = crew.get(&at).shown();
    assert!(
        page.contains("Attendees of this type only: Crew."),
        "{page}"
    );
}

#[test]
fn of_two_who_edit_one_device_the_second_is_told() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let gate = api.device(&json!({"name": "Gate B", "code": "gate-b", "publicId": "p"}));
    let form = |name: &'static str| {
        [
            ("name", name),
            ("code", "gate-b"),
            ("publicId", "p"),
            ("available", "1"),
        ]
    };
    let version = crew.version_of(gate);
    crew.edit_from(gate, &version, &form("Gate of one")).taken();
    let told = crew.edit_from(gate, &version, &form("Gate of another"));
    told.refused(422, "operator@example.com changed this while you did");
    assert!(
        told.html
            .contains("<dt>Name is now</dt><dd>Gate of one</dd>")
    );
    assert!(
        told.html.contains("value=\"Gate of another\""),
        "what was typed stays"
    );
    assert_eq!(
        api.get(&format!("/device/id:{gate}")).data()["name"],
        "Gate of one"
    );
    // Whoever saves again after that means it.
    let version = told.version();
    crew.edit_from(gate, &version, &form("Gate of another"))
        .taken();
    assert_eq!(
        api.get(&format!("/device/id:{gate}")).data()["name"],
        "Gate of another"
    );
    let history = crew
        .get(&format!("/console/devices/{gate}/history"))
        .shown();
    assert!(
        history.contains("<del>Gate of one</del>")
            && history.contains("<ins>Gate of another</ins>")
    );
    let version = crew.version_of(gate);
    api.delete(&format!("/device/id:{gate}"));
    crew.edit_from(gate, &version, &form("Gone"))
        .refused(404, "deleted");
}

#[test]
fn a_deleted_device_is_restored_unless_its_code_was_taken() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let gate = api.device(&json!({"name": "Gate B", "code": "gate-b"}));
    let path = format!("/console/devices/{gate}");
    crew.post(&format!("{path}/delete"), &[]).taken();
    api.get("/device/code:gate-b").refused(404, 1401, "gate-b");
    assert!(crew.get(&path).shown().contains("Deleted just now"));
    let deleted = crew.get("/console/devices?show=deleted").shown();
    assert!(deleted.contains("Gate B") && deleted.contains(&format!("{path}/restore")));
    crew.get(&format!("{path}/edit"))
        .refused(404, "restore it before");
    let other = api.device(&json!({"name": "Gate C", "code": "gate-b"}));
    crew.post(&format!("{path}/restore"), &[])
        .refused(409, "Code: &#34;gate-b&#34; was given to device");
    api.patch(&format!("/device/id:{other}"), &json!({"code": "gate-c"}))
        .data();
    crew.post(&format!("{path}/restore"), &[]).taken();
    assert_eq!(api.get("/device/code:gate-b").id(), gate);
    crew.post(&format!("{path}/restore"), &[])
        .refused(404, "no deleted device");
    let history = crew.get(&format!("{path}/history")).shown();
    assert!(history.contains("Deleted") && history.contains("Restored"));
}

#[test]
fn only_what_nothing_refers_to_is_deleted_for_good_and_by_administrators_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let api = server.caller_with_all();
    let used = api.device(&json!({"name": "Used"}));
    let lonely = api.device(&json!({"name": "Lonely", "deviceType": "event"}));
    let guest = api.delegate(&json!({"barcode": "A1"}));
    api.interact(
        "check-in",
        &json!({"firstDelegate": guest, "firstDevice": used}),
    )
    .data();
    let erase = |id: i64| crew.post(&format!("/console/devices/{id}/erase"), &[]);
    erase(lonely).refused(404, "no deleted device");
    for id in [used, lonely] {
        crew.post(&format!("/console/devices/{id}/delete"), &[])
            .taken();
    }
    let page = crew.get(&format!("/console/devices/{used}")).shown();
    assert!(page.contains("interactions happened there") && !page.contains("/erase"));
    erase(used).refused(400, "interactions happened there");
    erase(lonely).taken();
    crew.get(&format!("/console/devices/{lonely}"))
        .refused(404, "no device");
    let count: i64 = server.value(&format!("SELECT count(*) FROM devices WHERE id = {lonely}"));
    assert_eq!(count, 0);
    let told: String = server.value("SELECT before FROM audit WHERE action = 'erase'");
    assert!(told.contains("Lonely"));
}

#[test]
fn credentials_that_are_revoked_end_at_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let device = server
        .caller_with_all()
        .device(&json!({"name": "Phone 7", "deviceType": "regoapp"}));
    let (id, secret) = server.new_client(clients::NewClient {
        roles: Role::ALL.iter().copied().collect(),
        device: Some(DeviceId(device)),
        ..clients::NewClient::named("Phone 7")
    });
    let app = server.caller_of(&id, &secret);
    app.get("/device/list").data();
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains(&id) && !page.contains(&secret));
    let row: i64 = server.value(&format!("SELECT id FROM clients WHERE client_id = '{id}'"));
    crew.post(
        &format!("/console/devices/{device}/clients/999/revoke"),
        &[],
    )
    .refused(404, "no such credentials");
    crew.post(
        &format!("/console/devices/{device}/clients/{row}/revoke"),
        &[],
    )
    .taken();
    app.get("/device/list").refused(401, 1204, "");
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains("revoked just now"));
}

#[test]
fn an_app_whose_device_is_deleted_is_shut_out_at_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = server.caller_with_all();
    let app = |name: &str, kind: &str| {
        let device = all.device(&json!({"name": name, "deviceType": kind}));
        let (id, secret) = server.new_client(clients::NewClient {
            roles: Role::ALL.iter().copied().collect(),
            device: Some(DeviceId(device)),
            ..clients::NewClient::named(name)
        });
        let app = server.caller_of(&id, &secret);
        app.get("/device/list").data();
        (app, device, id)
    };
    let (by_hand, device, _) = app("Phone 7", "regoapp");
    crew.post(&format!("/console/devices/{device}/delete"), &[])
        .taken();
    by_hand.get("/device/list").refused(401, 1204, "");
    let page = crew.get(&format!("/console/devices/{device}")).shown();
    assert!(page.contains("Its app is shut out"), "{page}");
    // By a program it is the same: of a device, and of an event.
    for (kind, path) in [("regoapp", "device/id:"), ("event", "event/")] {
        let (app, device, client) = app("Phone 8", kind);
        assert_eq!(all.delete(&format!("/{path}{device}")).status, 204);
        app.get("/device/list").refused(401, 1204, "");
        let told = "SELECT count(*) FROM audit WHERE action = 'revoke' AND actor LIKE 'client:%'
            AND record_id = (SELECT id FROM clients WHERE client_id = ";
        assert_eq!(server.value::<i64>(&format!("{told}'{client}')")), 1);
    }
}

#[test]
fn rules_that_cannot_be_read_are_shown_and_mended() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let api = server.caller_with_all();
    let guest = api.delegate(&json!({"barcode": "A1"}));
    for broken in [
        r#"{"Access": {"entri": "single"}, "Data": {"floor": 2}}"#,
        r#"{"Access": "open"}"#,
        r#"{"Access": {}, "Access": {"entry": "single"}}"#,
        "[1]",
        "not JSON",
    ] {
        let gate = api.device(&json!({"name": "Gate B"}));
        let stored = broken.replace('\'', "''");
        server.sql(&format!(
            "UPDATE devices SET data = '{stored}' WHERE id = {gate}"
        ));
        let scan = json!({"firstDelegate": guest, "firstDevice": gate});
        api.interact("check-in", &scan)
            .refused(412, 743, "cannot be read");
        let page = crew.get(&format!("/console/devices/{gate}")).shown();
        assert!(
            page.contains("cannot be read, so every check-in is refused"),
            "{broken}"
        );
        let form = crew.get(&format!("/console/devices/{gate}/edit")).shown();
        assert!(form.contains("saving replaces what is stored"), "{broken}");
        let mut fields = vec![
            ("version".to_owned(), field(&form, "version")),
            ("name".to_owned(), "Gate B".to_owned()),
            ("available".to_owned(), "1".to_owned()),
            ("capacity".to_owned(), "10".to_owned()),
        ];
        for name in ["code", "publicId"] {
            fields.push((name.to_owned(), field(&form, name)));
        }
        if form.contains("value=\"floor\"") {
            fields.extend([("key".into(), "floor".into()), ("value".into(), "2".into())]);
        }
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        crew.post(&format!("/console/devices/{gate}/edit"), &fields)
            .taken();
        assert_eq!(api.interact("check-in", &scan).status, 201, "{broken}");
        let data = api.get(&format!("/device/id:{gate}")).data()["data"].clone();
        assert_eq!(data["Access"], json!({"capacity": 10}), "{broken}");
        if broken.contains("floor") {
            assert_eq!(data["Data"], json!({"floor": 2}));
        }
    }
}

#[test]
fn each_role_may_do_its_part() {
    let server = Server::start();
    let device = server.caller_with_all().device(&json!({"name": "Gate B"}));
    let path = format!("/console/devices/{device}");
    let viewer = server.crew(ConsoleRole::Viewer);
    let page = viewer.get(&path).shown();
    assert!(!page.contains("/edit") && !page.contains("/delete"));
    viewer
        .get(&format!("{path}/edit"))
        .refused(403, "needs the role operator");
    viewer
        .post(&format!("{path}/delete"), &[])
        .refused(403, "needs the role operator");
    viewer
        .post("/console/devices/new", &[("name", "x")])
        .refused(403, "needs the role operator");
    let operator = server.crew(ConsoleRole::Operator);
    operator.post(&format!("{path}/delete"), &[]).taken();
    operator
        .post(&format!("{path}/erase"), &[])
        .refused(403, "needs the role administrator");
}

#[test]
fn places_that_look_like_doors_become_doors_and_no_rule_is_lost() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = server.caller_with_all();
    let place = |name: &str, parent: Option<i64>, access: serde_json::Value| {
        all.device(&json!({"name": name, "parent": parent, "deviceType": "room", "data": {"Access": access}}))
    };
    let hall = place("Hall", None, json!({"ruleSet": "open"}));
    let north = place(
        "North",
        Some(hall),
        json!({"entry": "single", "maxCheckIns": 2, "capacity": 40}),
    );
    let south = place(
        "South",
        Some(hall),
        json!({"entry": "single", "ruleSet": "simple"}),
    );
    let stage = place("Stage", Some(hall), json!({"entry": "multiple"}));
    let path = format!("/console/devices/{hall}");
    let shown = crew.get(&path).html;
    assert!(
        shown.contains("2 places below look like doors of Hall"),
        "{shown}"
    );
    let asked = crew.get(&format!("{path}/doors")).html;
    for part in [
        "North: 40",
        "Single entry",
        "&#34;maxCheckIns&#34;:2",
        "The places differ",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let doors = [north.to_string(), south.to_string()];
    let mut fields = vec![
        ("door", doors[0].as_str()),
        ("door", doors[1].as_str()),
        ("entry", r#"{"entry":"single"}"#),
    ];
    // Where they differ, somebody has to choose.
    let refused = crew.post(&format!("{path}/doors"), &fields);
    assert!(refused.html.contains("choose one"), "{}", refused.html);
    assert_eq!(
        all.get(&format!("/device/id:{north}")).data()["deviceType"],
        "room"
    );
    fields.push(("maxCheckIns", r#"{"maxCheckIns":2,"per":null}"#));
    crew.post(&format!("{path}/doors"), &fields).taken();
    let access = |id: i64| all.get(&format!("/device/id:{id}")).data()["data"]["Access"].clone();
    assert_eq!(
        access(hall),
        json!({"ruleSet": "open", "entry": "single", "maxCheckIns": 2})
    );
    assert_eq!(
        (access(north), access(south)),
        (json!({}), json!({"ruleSet": "simple"}))
    );
    assert_eq!(access(stage), json!({"entry": "multiple"}));
    let shown = crew.get(&path).html;
    assert!(!shown.contains("look like doors"), "{shown}");
    // The form of a door has what a door may set.
    let form = crew.get(&format!("/console/devices/{north}/edit")).html;
    assert!(
        form.contains("name=\"ruleSet\"") && !form.contains("name=\"capacity\""),
        "{form}"
    );
    let page = crew.get(&format!("/console/devices/{north}")).html;
    assert!(page.contains("A door of <a"), "{page}");
    let gallery = place("Gallery", None, json!({}));
    for name in ["East", "West"] {
        place(name, Some(gallery), json!({"entry": "daily"}));
    }
    let shown = crew.get(&format!("/console/devices/{gallery}")).html;
    assert!(
        shown.contains("2 places below look like doors of Gallery"),
        "{shown}"
    );
}

/// A form that is saved as it was shown changes nothing, whatever the device sets.
#[test]
fn a_closed_door_stays_closed_when_its_form_is_saved() {
    let server = Server::start();
    let (crew, api) = (server.operator(), server.caller_with_all());
    let hall = api.device(&json!({"name": "Hall", "deviceType": "room"}));
    let access = json!({"types": []});
    let door = api.device(&json!({
        "name": "North", "code": "north", "publicId": "north", "deviceType": "door", "parent": hall,
        "data": {"Access": access},
    }));
    let page = crew.get(&format!("/console/devices/{door}/edit")).shown();
    let which = page.split("name=\"whichTypes\"").nth(1).expect("the field");
    assert!(which.contains("value=\"listed\" selected"), "{which}");
    let parent = page.split("name=\"parent\"").nth(1);
    let parent = parent.and_then(|rest| rest.split("value=\"").nth(1)?.split('"').next());
    let fields = [
        ("deviceType", "door"),
        ("parent", parent.expect("the hall")),
        ("name", "North"),
        ("code", "north"),
        ("publicId", "north"),
        ("available", "1"),
        ("whichTypes", "listed"),
    ];
    crew.edit(door, &fields).taken();
    let stored = api.get(&format!("/device/id:{door}"));
    assert_eq!(stored.data()["data"]["Access"], access);
}
