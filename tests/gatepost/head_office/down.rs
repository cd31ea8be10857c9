//! The way down: what the head office owns reaches the venue, and what the venue changed meanwhile stays.

use super::{hub::Hub, *};
use gatepost::{
    core::head_office::{Kept, venue as office_line},
    domain::erasure::{anonymous, erase},
    types::{Timestamp, Zone},
};
use serde_json::{Value, json};

/// An item of the head office's feed.
fn upsert(kind: &str, id: i64, data: &Value) -> Value {
    let mut data = data.clone();
    (data["id"], data["_type"]) = (id.into(), kind.into());
    json!({"cursor": "x", "action": "upsert", "kind": "updated", "type": kind, "id": id, "data": data})
}

fn delete(kind: &str, id: i64, why: &str) -> Value {
    json!({"cursor": "x", "action": "delete", "kind": why, "type": kind, "id": id})
}

/// Hands a page down, and waits until it is applied.
#[track_caller]
fn hand_down(server: &Server, hub: &Hub, page: &Value) {
    hub.state().down.push(page.clone());
    let count = hub.state().down.len();
    let cursor = format!("cursor = '{count}'");
    until("the page is applied", || {
        server.count(&format!("office_feed WHERE {cursor}")) == 1
    });
}

fn items(server: &Server, hub: &Hub, items: &[Value]) {
    hand_down(server, hub, &json!({"items": items}));
}

fn kept(server: &Server) -> Vec<Kept> {
    let all =
        |connection: &rusqlite::Connection| head_office::kept::all(connection, &Zone::default());
    server.app.store.look_up(all).expect("the kept values")
}

#[test]
fn lists_of_the_head_office_reach_the_venue() {
    let (server, api, hub) = venue();
    // Children come before their parents, and codes before their people.
    items(
        &server,
        &hub,
        &[
            upsert(
                "device",
                5,
                &json!({"code": "room", "name": "Room", "parent": {"id": 6}, "startAt": "2026-11-21T10:00:00+01:00"}),
            ),
            upsert("device", 6, &json!({"code": "hall", "name": "Hall"})),
            upsert(
                "blocked-code",
                1,
                &json!({"kind": "barcode", "value": "OLD", "delegate": {"id": 70}, "reason": "reported lost"}),
            ),
            upsert(
                "delegate",
                70,
                &json!({"barcode": "NEW", "lastName": "Lovelace", "data": {"Diet": {"meal": "none"}}, "publicId": "p-70"}),
            ),
        ],
    );
    let room = api.get("/device/code:room");
    room.shows("name", "Room");
    assert_eq!(
        room.data()["parent"]["id"],
        api.get("/device/code:hall").data()["id"]
    );
    assert_eq!(room.data()["startAt"], "2026-11-21T09:00:00+00:00");
    let ada = api.get("/delegate/barcode:NEW");
    ada.shows("publicId", "p-70");
    ada.shows("data", json!({"Diet": {"meal": "none"}}));
    api.get("/delegate/barcode:OLD")
        .refused(404, 1301, "reported lost");
    // Changes there follow, and change nothing else.
    items(
        &server,
        &hub,
        &[
            upsert(
                "delegate",
                70,
                &json!({"barcode": "NEW", "firstName": "Ada", "lastName": "Lovelace", "data": {"Diet": {"vegan": true}}}),
            ),
            delete("blocked-code", 1, "deleted"),
            delete("device", 5, "deleted"),
        ],
    );
    let ada = api.get("/delegate/barcode:NEW");
    ada.shows("firstName", "Ada");
    ada.shows("data", json!({"Diet": {"vegan": true}}));
    api.get("/device/code:room").is(404);
    assert_eq!(server.count("blocked_codes"), 0);
    assert_eq!(kept(&server), []);
    assert_eq!(
        server.count(
            "audit WHERE actor = 'head-office' AND record_type = 'delegate' AND action = 'update'"
        ),
        1
    );
}

#[test]
fn what_the_venue_changed_meanwhile_stays_and_is_listed_at_both_ends() {
    let (server, api, hub) = venue();
    let ada = |first: &str, company: &str| {
        upsert(
            "delegate",
            3,
            &json!({"barcode": "A", "firstName": first, "lastName": "Lovelace", "company": company}),
        )
    };
    items(&server, &hub, &[ada("Ada", "One")]);
    let id = api.get("/delegate/barcode:A").id();
    api.patched(
        &format!("/delegate/id:{id}"),
        &json!({"firstName": "Augusta", "jobTitle": "Countess"}),
    );
    // What the venue alone changed is no conflict, and what both changed is.
    items(&server, &hub, &[ada("Ada", "Two")]);
    assert_eq!(kept(&server), []);
    items(&server, &hub, &[ada("A.", "Two")]);
    let shown = api.get("/delegate/barcode:A");
    shown
        .data()
        .agrees(&json!({"firstName": "Augusta", "company": "Two", "jobTitle": "Countess"}));
    let expected = Kept {
        record_type: "delegate".into(),
        id: 3,
        property: "firstName".into(),
        office: "A.".into(),
        venue: "Augusta".into(),
    };
    assert_eq!(kept(&server), std::slice::from_ref(&expected));
    server.app.head_office.renew();
    hub.wait("the hub lists it", |hub| {
        hub.pushes
            .iter()
            .any(|push| push["kept"] == json!([expected]))
    });
    // Settled at the venue: it is listed no more.
    api.patched(&format!("/delegate/id:{id}"), &json!({"firstName": "A."}));
    assert_eq!(kept(&server), []);
    items(&server, &hub, &[ada("Ada", "Two")]);
    api.get("/delegate/barcode:A").shows("firstName", "Ada");
}

#[test]
fn records_that_both_have_meet_by_their_codes() {
    let (server, api, hub) = venue();
    let id = api.delegate(&json!({"barcode": "A", "lastName": "Hopper"}));
    items(
        &server,
        &hub,
        &[upsert(
            "delegate",
            3,
            &json!({"barcode": "A", "firstName": "Grace", "lastName": "Murray", "publicId": "theirs"}),
        )],
    );
    let shown = api.get("/delegate/barcode:A");
    shown.shows("id", id);
    shown
        .data()
        .agrees(&json!({"firstName": "Grace", "lastName": "Hopper"}));
    let properties: Vec<_> = kept(&server)
        .into_iter()
        .map(|kept| kept.property)
        .collect();
    assert_eq!(properties, ["lastName"]);
}

#[test]
fn what_is_gone_at_the_head_office_goes_unless_the_venue_uses_it() {
    let (server, api, hub) = venue();
    let one = |id: i64| {
        upsert(
            "delegate",
            id,
            &json!({"barcode": format!("D{id}"), "lastName": "X"}),
        )
    };
    items(&server, &hub, &[one(1), one(2), one(3), one(4), one(5)]);
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    api.scan("check-in", "barcode:D2", hall).is(201);
    let third = api.get("/delegate/barcode:D3").id();
    api.patched(&format!("/delegate/id:{third}"), &json!({"lastName": "Y"}));
    let gone = |why| [1, 2, 3].map(|id| delete("delegate", id, why));
    items(&server, &hub, &gone("deleted"));
    api.get("/delegate/barcode:D1").is(404);
    api.get("/delegate/barcode:D2").is(200);
    api.get("/delegate/barcode:D3").is(200);
    let ids: Vec<_> = kept(&server)
        .into_iter()
        .map(|kept| (kept.id, kept.property))
        .collect();
    assert_eq!(ids, [(2, "deleted".to_owned()), (3, "deleted".to_owned())]);
    // Who was erased there is erased here, whatever happened.
    items(&server, &hub, &[delete("delegate", 2, "erased")]);
    assert_eq!(server.count("delegates WHERE barcode = 'D2'"), 0);
    assert_eq!(server.count("office_records WHERE office_id = 2"), 0);
    // A snapshot that lacks somebody says the same.
    hand_down(
        &server,
        &hub,
        &json!({"reset": true, "more": true, "items": [one(5)]}),
    );
    api.get("/delegate/barcode:D4").is(200);
    items(&server, &hub, &[]);
    api.get("/delegate/barcode:D4").is(404);
    api.get("/delegate/barcode:D5").is(200);
    api.get("/delegate/barcode:D3").is(200);
    // What the venue deleted stays deleted.
    let fifth = api.get("/delegate/barcode:D5").id();
    api.delete(&format!("/delegate/id:{fifth}")).is(204);
    items(&server, &hub, &[one(5)]);
    api.get("/delegate/barcode:D5").is(404);
    assert!(
        kept(&server)
            .iter()
            .any(|kept| (kept.id, &kept.office) == (5, &json!(false)))
    );
}

#[test]
fn a_record_that_cannot_be_taken_is_listed_and_stops_nothing() {
    let (server, api, hub) = venue();
    items(
        &server,
        &hub,
        &[
            upsert("delegate", 1, &json!({"barcode": "", "lastName": "X"})),
            upsert("delegate", 2, &json!({"barcode": "B", "lastName": "Y"})),
        ],
    );
    api.get("/delegate/barcode:B").is(200);
    let listed = kept(&server);
    assert_eq!((listed.len(), listed[0].property.as_str()), (1, "record"));
    items(
        &server,
        &hub,
        &[upsert(
            "delegate",
            1,
            &json!({"barcode": "A", "lastName": "X"}),
        )],
    );
    api.get("/delegate/barcode:A").is(200);
    assert_eq!(kept(&server), []);
}

#[test]
fn the_configuration_of_the_head_office_holds_but_for_what_the_venue_set() {
    let (server, _, hub) = venue();
    let template = |subject: &str| json!([{"slug": "welcome", "type": "email", "subject": subject, "content": "Hello"}]);
    let hand = |settings: Value, templates: Value| {
        let document = json!({"settings": settings, "templates": templates, "printers": []});
        hand_down(&server, &hub, &json!({"configuration": document}));
    };
    hand(
        json!({"name": "Office", "timeZone": "Europe/Berlin", "dayStartsAt": "04:00"}),
        template("One"),
    );
    let set = |name: &str| {
        server.text(&format!(
            "SELECT coalesce(max(value), '') FROM settings WHERE name = '{name}'"
        ))
    };
    assert_eq!(
        (set("timeZone"), set("name")),
        ("\"Europe/Berlin\"".into(), String::new())
    );
    assert_eq!(
        server.text("SELECT subject FROM message_templates WHERE slug = 'welcome'"),
        "One"
    );
    server.settings(&json!({"timeZone": "Europe/London"}));
    hand(
        json!({"timeZone": "Europe/Paris", "dayStartsAt": "05:00"}),
        template("Two"),
    );
    assert_eq!(
        (set("timeZone"), set("dayStartsAt")),
        ("\"Europe/London\"".into(), "\"05:00\"".into())
    );
    assert_eq!(
        server.text("SELECT subject FROM message_templates WHERE slug = 'welcome'"),
        "Two"
    );
    let listed = kept(&server);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (listed[0].property.as_str(), &listed[0].office),
        ("settings/timeZone", &json!("Europe/Paris"))
    );
}

#[test]
fn a_setting_that_this_version_does_not_know_stops_no_other() {
    let (server, _, hub) = venue();
    let settings = json!({"dayStartsAt": "04:00", "hologram": {"on": true}});
    hand_down(
        &server,
        &hub,
        &json!({"configuration": {"settings": settings, "holograms": [1]}}),
    );
    assert_eq!(server.count("settings WHERE name = 'dayStartsAt'"), 1);
    let listed = kept(&server);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].property, "settings/hologram");
}

#[test]
fn the_head_office_takes_a_setting_back_that_it_gave() {
    let (server, _, hub) = venue();
    hand_down(
        &server,
        &hub,
        &json!({"configuration": {"settings": {"dayStartsAt": "04:00"}}}),
    );
    assert_eq!(server.count("settings WHERE name = 'dayStartsAt'"), 1);
    hand_down(&server, &hub, &json!({"configuration": {"settings": {}}}));
    assert_eq!(server.count("settings WHERE name = 'dayStartsAt'"), 0);
}

/// A person of the head office, with a blocked code.
fn ada_and_her_old_ticket(first: &str) -> [Value; 2] {
    let old = json!({"kind": "barcode", "value": "OLD", "delegate": {"id": 3}, "reason": "reported lost"});
    let ada = json!({"barcode": "A", "firstName": first, "lastName": "Lovelace", "email": "ada@example.org", "publicId": "p-3"});
    [upsert("delegate", 3, &ada), upsert("blocked-code", 1, &old)]
}

#[test]
fn who_was_erased_here_does_not_come_back() {
    let (server, api, hub) = venue();
    items(&server, &hub, &ada_and_her_old_ticket("Ada"));
    let id = api.get("/delegate/barcode:A").id();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let erased = erase(&server.app, server.context(), id, None);
    runtime.block_on(erased).expect("erased");
    // Neither with a change, nor with a snapshot.
    items(&server, &hub, &ada_and_her_old_ticket("Augusta"));
    let page = ada_and_her_old_ticket("A.");
    hand_down(&server, &hub, &json!({"reset": true, "items": page}));
    assert_eq!(server.count("delegates") + server.count("blocked_codes"), 0);
    for word in ["Lovelace", "ada@", "OLD", "Augusta", "p-3"] {
        let of_it = format!("office_records WHERE applied || coalesce(kept, '') LIKE '%{word}%'");
        assert_eq!(server.count(&of_it), 0, "{word}");
    }
    // The head office hears that, and nothing else of them.
    let expected = Kept {
        record_type: "delegate".into(),
        id: 3,
        property: "erased".into(),
        office: Value::Null,
        venue: true.into(),
    };
    assert_eq!(kept(&server), std::slice::from_ref(&expected));
    server.app.head_office.renew();
    hub.wait("the hub lists it", |hub| {
        hub.pushes
            .iter()
            .any(|push| push["kept"] == json!([expected]))
    });
    // Somebody else who gets their number at a head office that went back is no such person.
    let grace = json!({"barcode": "G", "lastName": "Hopper", "publicId": "another"});
    items(&server, &hub, &[upsert("delegate", 3, &grace)]);
    api.get("/delegate/barcode:G").shows("lastName", "Hopper");
    assert_eq!(kept(&server), []);
}

#[test]
fn of_who_was_erased_at_both_ends_nothing_is_kept() {
    let (server, api, hub) = venue();
    items(&server, &hub, &ada_and_her_old_ticket("Ada"));
    let id = api.get("/delegate/barcode:A").id();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let erased = erase(&server.app, server.context(), id, None);
    runtime.block_on(erased).expect("erased");
    items(
        &server,
        &hub,
        &[
            delete("delegate", 3, "erased"),
            delete("blocked-code", 1, "deleted"),
        ],
    );
    assert_eq!(server.count("office_records"), 0);
}

#[test]
fn who_became_anonymous_here_stays_so() {
    let (server, api, hub) = venue();
    let day = 24 * 3_600_000;
    let now = Timestamp::now().0;
    items(&server, &hub, &ada_and_her_old_ticket("Ada"));
    let ended = Zone::default().iso(Timestamp(now - 30 * day));
    api.event(&json!({"eventName": "Summit", "eventStartAt": ended, "eventEndAt": ended}));
    server.sql(&format!(
        "UPDATE delegates SET created_at = {}",
        now - 40 * day
    ));
    server.settings(&json!({"retention": {"anonymiseAfterDays": 1}}));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for at in [now, now + 8 * day] {
        let looked = runtime.block_on(anonymous::tick(&server.app, Timestamp(at)));
        looked.expect("a look");
    }
    let named = "delegates WHERE coalesce(first_name, last_name, barcode, email) IS NOT NULL";
    assert_eq!((server.count("delegates"), server.count(named)), (1, 0));
    items(&server, &hub, &ada_and_her_old_ticket("Augusta"));
    assert_eq!((server.count("delegates"), server.count(named)), (1, 0));
    assert_eq!(server.count("blocked_codes WHERE value = 'OLD'"), 0);
    assert_eq!(kept(&server), []);
    // Erased there is erased here, too.
    items(&server, &hub, &[delete("delegate", 3, "erased")]);
    assert_eq!(server.count("delegates"), 0);
}

#[test]
fn what_a_newer_head_office_says_stops_nothing_and_harms_nothing() {
    let (server, api, hub) = venue();
    items(&server, &hub, &ada_and_her_old_ticket("Ada"));
    let mut archived = delete("delegate", 3, "archived");
    archived["action"] = "archive".into();
    let grace = json!({"barcode": "B", "lastName": "Hopper", "seat": {"row": 4}});
    items(
        &server,
        &hub,
        &[
            upsert("seat", 1, &json!({"row": "A"})),
            archived,
            json!({"type": "delegate", "id": "x-3", "action": "upsert", "data": null}),
            upsert("delegate", 4, &grace),
        ],
    );
    api.get("/delegate/barcode:A").shows("firstName", "Ada");
    api.get("/delegate/barcode:B").shows("lastName", "Hopper");
    assert_eq!(kept(&server), []);
    assert_eq!(line(&server).trouble, [None, None]);
}

fn person(id: i64, barcode: &str, company: &str) -> Value {
    let data = json!({"barcode": barcode, "lastName": "Hopper", "company": company, "publicId": format!("p-{barcode}")});
    upsert("delegate", id, &data)
}

#[test]
fn what_a_restored_head_office_lacks_stays_and_its_numbers_may_be_given_again() {
    let (server, api, hub) = venue();
    items(
        &server,
        &hub,
        &[person(1, "A", "Acme"), person(2, "B", "Acme")],
    );
    let second = api.get("/delegate/barcode:B").id();
    let page = json!({"reset": true, "restored": true, "items": [person(1, "A", "Initech")]});
    hand_down(&server, &hub, &page);
    api.get("/delegate/barcode:A").shows("company", "Initech");
    api.get("/delegate/barcode:B").shows("company", "Acme");
    let listed = kept(&server);
    let first = listed.first().map(|kept| (kept.id, kept.property.as_str()));
    assert_eq!((listed.len(), first), (1, Some((2, "deleted"))));
    // Somebody else has their number there now.
    items(&server, &hub, &[person(2, "C", "Umbrella")]);
    api.get("/delegate/barcode:C").shows("company", "Umbrella");
    api.get(&format!("/delegate/id:{second}"))
        .shows("barcode", "B");
    // A snapshot of another event means what it says.
    hand_down(
        &server,
        &hub,
        &json!({"reset": true, "items": [person(1, "A", "Initech")]}),
    );
    api.get("/delegate/barcode:C").is(404);
}

#[test]
fn a_venue_that_comes_back_to_its_head_office_knows_what_it_changed_itself() {
    let (server, api, hub) = venue();
    items(
        &server,
        &hub,
        &[person(1, "A", "Acme"), person(2, "B", "Acme")],
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let leave = |office| {
        let ctx = server.context();
        let left = server
            .app
            .store
            .write(move |tx| office_line::leave(tx, &ctx));
        runtime.block_on(left).expect("it left");
        hub.state().office = office;
        hub.state().down.clear();
        join(&server, &hub);
    };
    leave(1);
    hand_down(
        &server,
        &hub,
        &json!({"reset": true, "items": [person(1, "A", "Initech")]}),
    );
    api.get("/delegate/barcode:A").shows("company", "Initech");
    // Whom it deleted meanwhile it lists, and keeps.
    api.get("/delegate/barcode:B").is(200);
    let listed: Vec<_> = kept(&server)
        .into_iter()
        .map(|kept| (kept.id, kept.property))
        .collect();
    assert_eq!(listed, [(2, "deleted".to_owned())]);
    // At another one everything here is the venue's own.
    leave(2);
    hand_down(
        &server,
        &hub,
        &json!({"reset": true, "items": [person(1, "A", "Umbrella")]}),
    );
    api.get("/delegate/barcode:A").shows("company", "Initech");
    let listed: Vec<_> = kept(&server)
        .into_iter()
        .map(|kept| (kept.id, kept.property))
        .collect();
    assert_eq!(listed, [(1, "company".to_owned())]);
}
