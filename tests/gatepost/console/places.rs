//! Places in the console: a new one in a line, a door with the code of its gate, who may enter as a table, and what
//! is changed in the list.

use super::Crew;
use crate::harness::{Reply, Server, has, lacks, reply};
use gatepost::types::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

const PAGE: &str = "/console/devices";
const ENTRY: &str = "/console/devices/entry";

/// An app asks to be let in.
fn ask(server: &Server, code: &str, secret: &str, kind: &str) -> Reply {
    let body = json!({"code": code, "secret": secret, "preferredType": kind});
    let request = server.request(Method::POST, "/api/v5/device-request/new");
    reply(request.json(&body))
}

/// The code on the page that pairs a gate with a place.
fn pairing_code(crew: &Crew, place: i64) -> String {
    let page = crew.page(&format!("{PAGE}/{place}/pair"));
    let code = page.split("class=\"digits\">").nth(1).expect("a code");
    code.split('<').next().expect("a code").to_owned()
}

/// The part of a page from here to there.
#[track_caller]
fn part<'p>(page: &'p str, from: &str, until: &str) -> &'p str {
    let rest = page.split(from).nth(1);
    let part = rest.and_then(|rest| rest.split(until).next());
    part.unwrap_or_else(|| panic!("no {from:?} in {page}"))
}

#[test]
fn a_new_place_has_three_fields_and_the_rest_is_as_above() {
    let server = Server::start();
    let crew = server.operator();
    let api = server.caller_with_all();
    let event = api.device(&json!({"name": "Summit", "deviceType": "event"}));
    let hall = api.device(&json!({"name": "Hall", "deviceType": "room", "parent": event}));
    let form = crew.page(&format!("{PAGE}?new=1"));
    let line = part(&form, "id=\"new-place\"", "</form>");
    // The event is chosen, the name has the focus; four more fields and a link to all are below More.
    has(
        line,
        [
            " autofocus",
            "value=\"room\" checked",
            "All fields",
            "<details class=\"more\">",
        ],
    );
    has(
        line,
        &*format!("<option value=\"{event}\" selected>Summit</option>"),
    );
    let create = |fields: &[(&str, &str)]| {
        let next = crew.post(PAGE, fields).taken();
        assert!(next.starts_with(&format!("{PAGE}?new=1&kind=")), "{next}");
        let newest = server.value::<i64>("SELECT max(id) FROM devices");
        let data = api.get(&format!("/device/id:{newest}")).data().clone();
        (data, crew.page(&next))
    };
    let (at, inside) = (event.to_string(), hall.to_string());
    let (room, next) = create(&[("name", "Press room"), ("kind", "room"), ("in", &at)]);
    assert_eq!(
        (
            &room["name"],
            &room["deviceType"],
            &room["parent"]["id"],
            &room["available"]
        ),
        (
            &json!("Press room"),
            &json!("room"),
            &json!(event),
            &json!(true)
        )
    );
    assert!(room["data"].is_null());
    has(&next, ["Press room created.", "id=\"place-"]);
    let (session, next) = create(&[
        ("name", "Opening"),
        ("kind", "session"),
        ("in", &inside),
        ("capacity", "40"),
        ("who", "simple"),
        ("startAt", "2026-11-21T09:00"),
        ("endAt", "2026-11-21T10:00"),
    ]);
    assert_eq!(
        session["data"],
        json!({"Access": {"capacity": 40, "ruleSet": "simple"}})
    );
    assert_eq!(session["startAt"], "2026-11-21T09:00:00+00:00");
    // The next one is of the same kind, at the same place, whose branch is open.
    has(&next, ["value=\"session\" checked", ">Opening</a>"]);
    has(&next, &*format!("<option value=\"{hall}\" selected>"));
    // An entrance is a door of a place, and a place of its own below an event.
    let entrance = |at: &str| create(&[("name", "North"), ("kind", "door"), ("in", at)]).0;
    assert_eq!(entrance(&inside)["deviceType"], "door");
    assert_eq!(entrance(&at)["deviceType"], "entrance");
    let refused = crew.post(PAGE, &[("name", ""), ("kind", "stand"), ("in", &at)]);
    refused.refused(422, "Name: must be filled in");
    let refused = crew.post(
        PAGE,
        &[
            ("name", "West"),
            ("kind", "door"),
            ("in", &inside),
            ("capacity", "7"),
        ],
    );
    refused.refused(422, "door has no capacity of its own");
    has(
        &refused.html,
        [
            "value=\"West\"",
            "value=\"7\"",
            "<details class=\"more\" open>",
        ],
    );
    let viewer = server.viewer();
    lacks(
        viewer.page(&format!("{PAGE}?new=1")),
        ["id=\"new-place\"", "data-press=\"N\""],
    );
    viewer
        .post(PAGE, &[("name", "x")])
        .refused(403, "needs the role operator");
}

#[test]
fn a_door_comes_with_a_code_that_pairs_its_gate() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let crew = server.operator();
    let api = server.caller_with_all();
    let event = api.device(&json!({"name": "Summit", "deviceType": "event"}));
    let hall = api.device(&json!({"name": "Hall", "deviceType": "room", "parent": event}));
    has(
        crew.page(&format!("{PAGE}/{hall}")),
        "Add door and pairing code",
    );
    lacks(
        crew.page(&format!("{PAGE}/{event}")),
        "Add door and pairing code",
    );
    let add =
        |place: i64, name: &str| crew.post(&format!("{PAGE}/{place}/door"), &[("name", name)]);
    add(event, "North door").refused(422, "cannot have doors");
    add(hall, "").refused(422, "must be filled in");
    let next = add(hall, "North door").taken();
    let door: i64 = part(&next, "/console/devices/", "/")
        .parse()
        .expect("an id");
    let stored = api.get(&format!("/device/id:{door}")).data().clone();
    assert_eq!(
        (&stored["deviceType"], &stored["parent"]["id"]),
        (&json!("door"), &json!(hall))
    );
    let page = crew.page(&next);
    has(
        &page,
        [
            "https://gate.example.org/gate",
            "NORTH-DOOR-",
            "pair.svg?at=gate.example.org",
        ],
    );
    has(
        crew.page(&format!("{PAGE}/{door}/pair.svg?at=gate.example.org")),
        "<svg",
    );
    let code = pairing_code(&crew, door);
    // Discovery is closed, and stays so for all others.
    let secret = "a secret of the app";
    ask(&server, "NORTH-DOOR-00000000", secret, "gate").refused(503, 1001, "");
    ask(&server, &code, secret, "upload").refused(503, 1001, "");
    let answer = ask(&server, &code.to_lowercase(), secret, "gate");
    assert_eq!(answer.status, 201, "{answer:?}");
    let given = answer.data().clone();
    let text = |name: &str| given[name].as_str().expect("text").to_owned();
    let app = server.caller_of(&text("clientId"), &text("clientSecret"));
    let gate = app.get("/gate").data().clone();
    assert_eq!(gate["place"]["id"], door);
    let device = given["deviceId"].as_i64().expect("an id");
    // In whatever case it asks again, it is the same app.
    let again = ask(&server, &code, secret, "gate");
    assert_eq!(again.data()["clientId"], given["clientId"], "{again:?}");
    assert_eq!(
        api.get(&format!("/device/id:{device}")).data()["name"],
        "North door"
    );
    let by = "SELECT DISTINCT actor FROM audit WHERE record_type = 'device-request'";
    assert!(server.value::<String>(by).starts_with("user:"));
    // The page tells so without a load of its own, and a load offers the next code.
    let path = format!("{PAGE}/{door}/pair");
    let poll = || {
        super::page(
            crew.request(Method::GET, &path)
                .header("HX-Request", "true"),
        )
        .shown()
    };
    has(poll(), ["North door is paired.", "Pair another gate"]);
    let spent = ask(&server, &code, "another secret", "gate");
    spent.refused(503, 1001, "make another at the place");
    assert_eq!(spent.body["meta"]["error"]["reason"], "spent-code");
    let next = pairing_code(&crew, door);
    assert_ne!(next, code);
    ask(&server, &next, secret, "gate").is(201);
    has(poll(), ["North door 2", "Gates here"]);
    server
        .viewer()
        .get(&path)
        .refused(403, "needs the role operator");
}

/// The fields of a row of the table as it is shown.
fn row(crew: &Crew, place: i64) -> (Vec<(String, String)>, String) {
    let page = crew.page(ENTRY);
    let row = part(&page, &format!("<tr id=\"row-{place}\""), "</tr>").to_owned();
    let mut fields = Vec::new();
    for input in row.split("<input ").skip(1) {
        let input = input.split('>').next().expect("a tag");
        let value = |name: &str| {
            let rest = input.split(&format!(" {name}=\"")).nth(1);
            rest.and_then(|rest| rest.split('"').next())
                .unwrap_or_default()
                .to_owned()
        };
        let name = format!(" {input}")
            .split(" name=\"")
            .nth(1)
            .map(ToOwned::to_owned);
        let name = name.and_then(|name| name.split('"').next().map(ToOwned::to_owned));
        let is_box = input.contains("type=\"checkbox\"");
        if let Some(name) = name.filter(|name| name != "csrf")
            && (!is_box || input.contains(" checked"))
        {
            fields.push((name, value("value")));
        }
    }
    (fields, row)
}

fn send(crew: &Crew, place: i64, fields: &[(String, String)]) -> super::Page {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    crew.post(&format!("{PAGE}/{place}/entry"), &fields)
}

#[test]
fn who_may_enter_is_a_table_in_which_a_cell_is_changed() {
    let server = Server::start();
    let crew = server.operator();
    let api = server.caller_with_all();
    let place = |name: &str, kind: &str, parent: Option<i64>| {
        api.device(&json!({"name": name, "deviceType": kind, "parent": parent}))
    };
    let hall = place("Hall", "room", None);
    let lounge = place("Lounge", "room", Some(hall));
    let door = place("North", "door", Some(lounge));
    place("Phone", "regoapp", Some(hall));
    has(crew.page(ENTRY), "No types of attendees");
    for kind in ["VIP", "Visitor"] {
        api.delegate(&json!({"barcode": kind, "delegateType": kind}));
    }
    let access = |id: i64| api.read(&format!("/device/id:{id}"))["data"]["Access"].clone();
    let (fields, shown) = row(&crew, lounge);
    has(
        &shown,
        [
            "everybody, as above",
            "VIP at Lounge",
            "placeholder=\"any time\"",
        ],
    );
    lacks(crew.page(ENTRY), "Phone");
    // Visitors may not enter the hall, and so nowhere below it.
    let (fields_of_hall, _) = row(&crew, hall);
    let without: Vec<_> = fields_of_hall
        .iter()
        .filter(|(_, value)| value != "Visitor")
        .cloned()
        .collect();
    send(&crew, hall, &without).taken();
    assert_eq!(access(hall), json!({"types": ["VIP"]}));
    let (_, shown) = row(&crew, lounge);
    has(&shown, ["by type, as above", "class=\"inherits\""]);
    // Whoever saw what was inherited before changes nothing.
    send(&crew, lounge, &fields).refused(422, "Somebody else changed Lounge meanwhile");
    assert!(access(lounge).is_null());
    // A time in one cell, which makes the row its own.
    let (mut fields, _) = row(&crew, lounge);
    for (name, value) in &mut fields {
        if name == "at:VIP" {
            "18:00–22:00".clone_into(value);
        }
    }
    send(&crew, lounge, &fields).taken();
    let own = json!({"types": ["VIP"], "typeTimes": [{"types": ["VIP"], "from": "18:00", "until": "22:00"}]});
    assert_eq!(access(lounge), own);
    let (mut fields, shown) = row(&crew, door);
    has(&shown, ["18:00–22:00", "as above"]);
    for (name, value) in &mut fields {
        if name == "at:VIP" {
            "at night".clone_into(value);
        }
    }
    let refused = send(&crew, door, &fields);
    refused.refused(422, "at night");
    // What was typed stands there still, with what is wrong beside it.
    let shown = part(&refused.html, &format!("id=\"row-{door}\""), "</tr>");
    has(
        shown,
        [
            "value=\"at night\"",
            "aria-invalid=\"true\"",
            "class=\"error\"",
        ],
    );
    assert!(access(door).is_null());
    // All at once, by the menu of a row.
    for (button, expected) in [
        ("none", json!({"types": []})),
        ("all", json!({"typeTimes": []})),
        ("inherit", json!({})),
    ] {
        let (mut fields, _) = row(&crew, door);
        fields.push(("do".to_owned(), button.to_owned()));
        send(&crew, door, &fields).taken();
        assert_eq!(access(door), expected, "{button}");
    }
    // A script gets the table again, with what inherits from the row.
    let (mut fields, _) = row(&crew, hall);
    fields.push(("do".to_owned(), "none".to_owned()));
    fields.push(("csrf".to_owned(), crew.csrf.clone()));
    let request = crew.request(Method::POST, &format!("{PAGE}/{hall}/entry"));
    let answer = super::page(request.header("HX-Request", "true").form(&fields)).shown();
    lacks(
        part(&answer, &format!("<tr id=\"row-{hall}\""), "</tr>"),
        " checked",
    );
    // What nobody can read is nobody's.
    server.sql(&format!(
        "UPDATE devices SET data = '[1]' WHERE id = {hall}"
    ));
    let (_, shown) = row(&crew, hall);
    has(&shown, "cannot be read");
    let viewer = server.viewer();
    has(
        viewer.page(&format!("{ENTRY}?parent={lounge}")),
        " disabled>",
    );
    viewer
        .post(&format!("{PAGE}/{lounge}/entry"), &[])
        .refused(403, "needs the role operator");
    crew.get(&format!("{ENTRY}?parent=4711")).is(404);
}

#[test]
fn a_line_has_count_load_and_own_rules_and_is_changed_there() {
    let server = Server::start();
    let crew = server.operator();
    let api = server.caller_with_all();
    let now = Timestamp::now().0 / 1000;
    let place = |name: &str, parent: Option<i64>, access: Value| {
        api.device(&json!({"name": name, "deviceType": "room", "parent": parent, "data": {"Access": access},
            "startAt": now - 60, "endAt": now + 60}))
    };
    let hall = place("Hall", None, json!({"capacity": 2, "entry": "single"}));
    let room = place("Room", Some(hall), json!({}));
    for code in ["A", "B"] {
        let delegate = api.delegate(&json!({"barcode": code}));
        let scan = json!({"firstDelegate": delegate, "firstDevice": hall});
        api.interact("check-in", &scan).id();
    }
    let line =
        |page: &str, id: i64| part(page, &format!("<tr id=\"place-{id}\""), "</tr>").to_owned();
    let page = crew.page(PAGE);
    has(
        line(&page, hall),
        [
            "Full",
            "<strong>2</strong>",
            "of 2",
            "class=\"meter bad\"",
            "One entry per ticket",
        ],
    );
    // What is inherited is not said again.
    lacks(line(&page, room), ["One entry per ticket", "of 2"]);
    has(
        &page,
        [
            "<strong>2</strong> people inside",
            "2 of 2 places shown",
            "Filling up <span class=\"badge warn\">1",
        ],
    );
    for (view, found) in [("filling", 1), ("now", 2), ("deleted", 0)] {
        let page = crew.page(&format!("{PAGE}?show={view}"));
        assert_eq!(page.matches("<tr id=\"place-").count(), found, "{view}");
    }
    let change = |seen: &str, capacity: &str| {
        let fields = [
            ("seen", seen),
            ("capacity", capacity),
            ("from", "/console/devices?open=all"),
        ];
        crew.post(&format!("{PAGE}/{hall}/capacity"), &fields)
    };
    assert_eq!(change("2", "20").taken(), "/console/devices?open=all");
    let access = || api.read(&format!("/device/id:{hall}"))["data"]["Access"].clone();
    assert_eq!(access(), json!({"capacity": 20, "entry": "single"}));
    change("2", "30").refused(409, "Somebody else changed the capacity of Hall");
    change("20", "many").refused(400, "apacity");
    change("20", "").taken();
    assert_eq!(access(), json!({"entry": "single"}));
    // The page to go back to is this list, and nothing else.
    let away = [("available", "0"), ("from", "https://elsewhere.example")];
    assert_eq!(
        crew.post(&format!("{PAGE}/{hall}/available"), &away)
            .taken(),
        PAGE
    );
    has(line(&crew.page(PAGE), hall), ["closed", "Open for entry"]);
    let viewer = server.viewer();
    lacks(viewer.page(PAGE), ["Change capacity", "/available"]);
    viewer
        .post(&format!("{PAGE}/{hall}/capacity"), &[])
        .refused(403, "needs the role operator");
}

#[test]
fn everybody_inside_is_checked_out_at_once() {
    let server = Server::start();
    let (crew, api) = (server.operator(), server.caller_with_all());
    let place = |name: &str, parent: Option<i64>| {
        api.device(&json!({"name": name, "parent": parent, "deviceType": "room"}))
    };
    let hall = place("Hall", None);
    let (room, garden) = (place("Room", Some(hall)), place("Garden", None));
    let mut people = Vec::new();
    for (code, at) in [("A", hall), ("B", room), ("C", garden)] {
        people.push(api.delegate(&json!({"barcode": code})));
        let scan = json!({"firstDelegate": format!("barcode:{code}"), "firstDevice": at});
        api.interact("check-in", &scan).id();
    }
    let page = crew.page(PAGE);
    has(
        &page,
        ["Check out everybody inside Hall (2)?", "Garden (1)?"],
    );
    let empty = format!("{PAGE}/{hall}/empty");
    server.viewer().post(&empty, &[]).refused(403, "operator");
    crew.post(&empty, &[]).taken();
    let page = crew.page(PAGE);
    has(&page, ["2 people were checked out of Hall", "Garden (1)?"]);
    lacks(&page, ["inside Hall ("]);
    let left = server.text(&format!(
        "SELECT json_group_array(first_delegate_id ORDER BY first_delegate_id) FROM interactions
         WHERE interaction_type = 'check-out' AND first_device_id = {hall}"
    ));
    assert_eq!(left, json!(people[..2]).to_string());
    has(
        crew.page("/console/audit"),
        ["checked everybody out of", "Hall"],
    );
    // They may come in again, and those who come in later stay.
    api.interact(
        "check-in",
        &json!({"firstDelegate": "barcode:A", "firstDevice": hall}),
    )
    .id();
    crew.post(&empty, &[]).taken();
    has(crew.page(PAGE), ["1 person was checked out of Hall"]);
}
