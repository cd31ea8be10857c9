//! Devices and events in the console: the tree, making and changing them, their rules, deleting and
//! restoring, and shutting an app out.

use super::{Crew, Page, access::field};
use crate::harness::{Agrees, Server, has, lacks, table, typed};
use gatepost::{
    identity::{Role, clients},
    types::DeviceId,
};
use reqwest::Method;
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

impl Crew {
    /// The moment that an edit form of a device is of.
    fn seen(&self, device: i64) -> String {
        let html = self.page(&format!("/console/devices/{device}/edit"));
        field(&html, "seen").to_owned()
    }

    /// Edits a device as a form does that says what the record says, but for these fields.
    fn edit(&self, device: i64, fields: &[(&str, &str)]) -> Page {
        let seen = self.seen(device);
        self.edit_seen(device, &seen, fields)
    }

    fn edit_seen(&self, device: i64, seen: &str, fields: &[(&str, &str)]) -> Page {
        let mut all = vec![("seen", seen)];
        all.extend_from_slice(fields);
        self.post(&format!("/console/devices/{device}/edit"), &all)
    }
}

#[test]
fn an_event_and_a_session_under_it_are_made_and_stand_in_the_tree() {
    let (server, crew) = Server::with_operator();
    let api = server.caller_with_all();
    let empty = crew.page("/console/devices");
    has(
        &empty,
        ["No devices yet", "/console/devices/new?type=event"],
    );
    let form = crew.page("/console/devices/new?type=event");
    has(&form, ["New event", "eventManagerEmail"]);
    let event = made(crew.post(
        "/console/devices/new",
        &typed(
            "name=Nordlicht&deviceType=event&available=1&startAt=2026-11-21T09:00&\
             endAt=2026-11-22T18:00:30&externalId=NORD-26&eventManagerEmail=grace@example.com",
        ),
    ));
    let shown = api.read(&format!("/event/{event}"));
    shown.agrees(&json!({
            "eventName": "Nordlicht", "eventExternalID": "NORD-26", "eventStartAt": "2026-11-21 09:00:00",
            "eventEndAt": "2026-11-22 18:00:30", "eventManagerEmail": "grace@example.com", "sources": ["admin"],
        }));
    let form = crew.page(&format!("/console/devices/new?parent={event}&type=session"));
    let parent = field(&form, "parent");
    assert_eq!(parent, format!("Nordlicht (#{event})"));
    let session = made(crew.post(
        "/console/devices/new",
        &[
            ("name", "Opening <b>"),
            ("deviceType", "session"),
            ("available", "1"),
            ("parent", parent),
            ("key", "floor"),
            ("value", "2"),
            ("rest", r#"{"Signage": {"colour": "green"}}"#),
        ],
    ));
    let shown = api.read(&format!("/device/id:{session}"));
    assert_eq!(shown["parent"]["id"], event);
    assert_eq!(
        shown["data"],
        json!({"Signage": {"colour": "green"}, "Data": {"floor": "2"}})
    );
    let tree = crew.page("/console/devices");
    has(
        &tree,
        ["Nordlicht", "Opening &#60;b&#62;", "2026-11-21 09:00 to"],
    );
    lacks(&tree, "<b>");
    let page = crew.page(&format!("/console/devices/{session}"));
    has(
        &page,
        r#"<strong>Created</strong> <span class="help">by operator@example.com"#,
    );
}

#[test]
fn a_large_branch_is_loaded_when_it_is_opened() {
    let (server, crew) = Server::with_viewer();
    let api = server.caller_with_all();
    let event = api.device(&json!({"name": "Nordlicht", "deviceType": "event"}));
    let room = api.device(&json!({"name": "Hall", "deviceType": "room", "parent": event}));
    for at in 0..105 {
        let parent = if at < 60 { event } else { room };
        api.device(&json!({"name": format!("Desk {at:03}"), "parent": parent}));
    }
    let tree = crew.page("/console/devices");
    has(
        &tree,
        &format!("hx-get=\"/console/devices/{event}/branch\""),
    );
    has(&tree, &format!("/console/devices?parent={event}"));
    lacks(&tree, "Desk 001");
    let branch = |id: i64| {
        let request = crew
            .request(Method::GET, &format!("/console/devices/{id}/branch"))
            .header("HX-Request", "true");
        super::page(request).shown()
    };
    let opened = branch(event);
    has(&opened, ["Desk 001", "Hall"]);
    lacks(&opened, ["<html", "Desk 061"]);
    has(branch(room), "Desk 104");
    // Without scripts the branch has a page.
    let plain = crew.get(&format!("/console/devices/{event}/branch"));
    let path = plain.taken();
    crew.sees(&path, "Desk 001");
    crew.get("/console/devices/4711/branch").taken();
    crew.get("/console/devices?parent=4711")
        .refused(404, "no device 4711");
}

#[test]
fn a_search_finds_by_name_code_and_type_in_any_script() {
    let (server, crew) = Server::with_viewer();
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
        ("q=nothing", "Nothing fits", "Ost"),
    ] {
        let page = crew.page(&format!("/console/devices?{query}"));
        assert!(
            page.contains(found) && !page.contains(&format!(">{absent}<")),
            "{query}: {page}"
        );
    }
}

#[test]
fn the_access_form_writes_what_the_api_shows_and_gates_obey() {
    let (server, crew) = Server::with_operator();
    let api = server.caller_with_all();
    server.settings(&json!({"access": {"capacity": 500, "ruleSet": "open"}}));
    let gate = api.device(&json!({"name": "Gate B", "code": "gate-b",
        "startAt": "2026-11-21 09:00:00", "data": {"Data": {"floor": 2}, "Access": {"closesAfter": 5}}}));
    let guest = api.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    let page = crew.page(&format!("/console/devices/{gate}"));
    has(
        &page,
        [
            "Everybody with a known code may enter.",
            "At most 500 people are inside at a time.",
            "Closes 5 minutes after it ends; it has no end yet",
        ],
    );
    let whole = typed(
        "name=Gate B&code=gate-b&startAt=2026-11-21T09:00:00&available=1&ruleSet=&\
         entry=single&maxCheckIns=3&capacity=&opensBefore=5256000&closesAfter=&key=floor&\
         value=2",
    );
    let public = api.read(&format!("/device/id:{gate}"))["publicId"].clone();
    let mut form = whole.clone();
    form.push(("publicId", public.as_str().expect("text")));
    crew.edit(gate, &form).taken();
    let shown = api.read(&format!("/device/id:{gate}"));
    shown.agrees(&json!({
            "data": {"Data": {"floor": 2}, "Access": {"entry": "single", "maxCheckIns": 3, "opensBefore": 5_256_000}},
            "code": "gate-b",
        }));
    let page = crew.page(&format!("/console/devices/{gate}"));
    has(
        &page,
        "Single entry: a ticket enters once until it is checked out.",
    );
    let scan = json!({"firstDelegate": guest, "firstDevice": gate});
    api.interact("check-in", &scan).is(201);
    api.interact("check-in", &scan)
        .refused(412, 740, "already used at Gate B");
    let page = crew.page(&format!("/console/devices/{gate}"));
    has(&page, ["Ada", "1 of 500"]);
    let inside = crew.page(&format!("/console/devices/{gate}/inside"));
    has(&inside, &format!("/console/delegates/{guest}"));
    api.interact("check-out", &scan).is(201);
    let inside = crew.page(&format!("/console/devices/{gate}/inside"));
    has(&inside, "Nobody is inside");
    for [name, value, told] in table(
        "maxCheckIns | -1               | Check-ins of a person, at most: is out of range
         entry       | once             | How often: must be one of multiple, single
         endAt       | 2026-11-21T08:00 | Ends: must not be before
         parent      | Atlantis         | Belongs to: there is no device
         rest        | {                | As JSON: this is not valid JSON",
    ) {
        let mut wrong = form.clone();
        wrong.retain(|(known, _)| *known != name);
        wrong.push((name, value));
        crew.edit(gate, &wrong).refused(422, told);
    }
    assert_eq!(api.get(&format!("/device/id:{gate}")).data(), &shown);
}

#[test]
fn a_form_that_is_sent_as_it_was_shown_changes_nothing() {
    let (server, crew) = Server::with_operator();
    let api = server.caller_with_all();
    let device = api.device(&json!({"name": " Gate ", "code": "a\"b", "data": {"Data": {"n": 1.50, "t": "1.5"}, "X": {"y": [1]}}}));
    let before = api.read(&format!("/device/id:{device}"));
    let rest = "{\r\n  \"X\": {\r\n    \"y\": [\r\n      1\r\n    ]\r\n  }\r\n}";
    let public = before["publicId"].as_str().expect("text").to_owned();
    crew.edit(
        device,
        &typed(&format!(
            "name= Gate &code=a\"b&publicId={public}&available=1&key=n&value=1.5&key=t&\
             value=1.5&key=&value=&rest={rest}"
        )),
    )
    .taken();
    assert_eq!(api.get(&format!("/device/id:{device}")).data(), &before);
}

#[test]
fn of_two_who_edit_one_device_the_second_is_told() {
    let (server, crew) = Server::with_operator();
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
    let seen = crew.seen(gate);
    crew.edit_seen(gate, &seen, &form("Gate of one")).taken();
    let told = crew.edit_seen(gate, &seen, &form("Gate of another"));
    told.refused(422, "Somebody changed this record while you did");
    has(&told.html, "Name: <strong>Gate of one</strong>");
    assert!(
        told.html.contains("value=\"Gate of another\""),
        "what was typed stays"
    );
    api.get(&format!("/device/id:{gate}"))
        .shows("name", "Gate of one");
    // Whoever saves again after that means it.
    let seen = field(&told.html, "seen");
    crew.edit_seen(gate, seen, &form("Gate of another")).taken();
    api.get(&format!("/device/id:{gate}"))
        .shows("name", "Gate of another");
    let history = crew.page(&format!("/console/devices/{gate}/history"));
    has(
        &history,
        ["<del>Gate of one</del>", "<ins>Gate of another</ins>"],
    );
    let seen = crew.seen(gate);
    api.delete(&format!("/device/id:{gate}"));
    crew.edit_seen(gate, &seen, &form("Gone"))
        .refused(404, "deleted");
}

#[test]
fn a_deleted_device_is_restored_unless_its_code_was_taken() {
    let (server, crew) = Server::with_operator();
    let api = server.caller_with_all();
    let gate = api.device(&json!({"name": "Gate B", "code": "gate-b"}));
    let path = format!("/console/devices/{gate}");
    crew.press(&format!("{path}/delete"));
    api.get("/device/code:gate-b").refused(404, 1401, "gate-b");
    crew.sees(&path, "Deleted just now");
    let deleted = crew.page("/console/devices?show=deleted");
    has(&deleted, ["Gate B", &format!("{path}/restore")]);
    crew.get(&format!("{path}/edit"))
        .refused(404, "restore it before");
    let other = api.device(&json!({"name": "Gate C", "code": "gate-b"}));
    crew.post(&format!("{path}/restore"), &[])
        .refused(409, "Code: &#34;gate-b&#34; belongs to Gate C");
    api.patch(&format!("/device/id:{other}"), &json!({"code": "gate-c"}))
        .data();
    crew.press(&format!("{path}/restore"));
    assert_eq!(api.get("/device/code:gate-b").id(), gate);
    crew.post(&format!("{path}/restore"), &[])
        .refused(404, "no deleted device");
    crew.sees(&format!("{path}/history"), ["Deleted", "Restored"]);
}

#[test]
fn only_what_nothing_refers_to_is_deleted_for_good_and_by_administrators_alone() {
    let (server, crew) = Server::with_administrator();
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
        crew.press(&format!("/console/devices/{id}/delete"));
    }
    let page = crew.page(&format!("/console/devices/{used}"));
    has(&page, "interactions happened there");
    lacks(&page, "/erase");
    erase(used).refused(400, "interactions happened there");
    erase(lonely).taken();
    crew.get(&format!("/console/devices/{lonely}"))
        .refused(404, "no device");
    let count = server.count(&format!("devices WHERE id = {lonely}"));
    assert_eq!(count, 0);
    let told: String = server.value("SELECT before FROM audit WHERE action = 'erase'");
    has(&told, "Lonely");
}

#[test]
fn credentials_that_are_revoked_end_at_once() {
    let (server, crew) = Server::with_operator();
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
    let page = crew.page(&format!("/console/devices/{device}"));
    assert!(page.contains(&id) && !page.contains(&secret));
    let row: i64 = server.value(&format!("SELECT id FROM clients WHERE client_id = '{id}'"));
    crew.post(
        &format!("/console/devices/{device}/clients/999/revoke"),
        &[],
    )
    .refused(404, "no such credentials");
    crew.press(&format!("/console/devices/{device}/clients/{row}/revoke"));
    app.get("/device/list").refused(401, 1204, "");
    crew.sees(&format!("/console/devices/{device}"), "revoked just now");
}

#[test]
fn an_app_whose_device_is_deleted_is_shut_out_at_once() {
    let (server, crew) = Server::with_operator();
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
    crew.press(&format!("/console/devices/{device}/delete"));
    by_hand.get("/device/list").refused(401, 1204, "");
    crew.sees(&format!("/console/devices/{device}"), "Its app is shut out");
    // By a program it is the same: of a device, and of an event.
    for (kind, path) in [("regoapp", "device/id:"), ("event", "event/")] {
        let (app, device, client) = app("Phone 8", kind);
        all.delete(&format!("/{path}{device}")).is(204);
        app.get("/device/list").refused(401, 1204, "");
        let told = "SELECT count(*) FROM audit WHERE action = 'revoke' AND actor LIKE 'client:%'
            AND record_id = (SELECT id FROM clients WHERE client_id = ";
        assert_eq!(server.value::<i64>(&format!("{told}'{client}')")), 1);
    }
}

#[test]
fn rules_that_cannot_be_read_are_shown_and_mended() {
    let (server, crew) = Server::with_operator();
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
        let page = crew.page(&format!("/console/devices/{gate}"));
        assert!(
            page.contains("cannot be read, so every check-in is refused"),
            "{broken}"
        );
        let form = crew.page(&format!("/console/devices/{gate}/edit"));
        assert!(form.contains("saving replaces what is stored"), "{broken}");
        let mut fields = vec![
            ("seen".to_owned(), field(&form, "seen").to_owned()),
            ("name".to_owned(), "Gate B".to_owned()),
            ("available".to_owned(), "1".to_owned()),
            ("capacity".to_owned(), "10".to_owned()),
        ];
        for name in ["code", "publicId"] {
            fields.push((name.to_owned(), field(&form, name).to_owned()));
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
        let data = api.read(&format!("/device/id:{gate}"))["data"].clone();
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
    let viewer = server.viewer();
    lacks(viewer.page(&path), ["/edit", "/delete"]);
    let needed = "needs the role operator";
    viewer.get(&format!("{path}/edit")).refused(403, needed);
    viewer
        .post(&format!("{path}/delete"), &[])
        .refused(403, needed);
    viewer
        .post("/console/devices/new", &[("name", "x")])
        .refused(403, needed);
    let operator = server.operator();
    operator.press(&format!("{path}/delete"));
    operator
        .post(&format!("{path}/erase"), &[])
        .refused(403, "needs the role administrator");
}
