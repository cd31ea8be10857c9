//! Gates in a venue with more places than any list shows.

use crate::harness::{Caller, Server};
use gatepost::{
    identity::{Role, clients::NewClient},
    types::DeviceId,
};
use serde_json::{Value, json};

const PLACES: i64 = 2_100;

/// A server with many places, and a gate that has these settings.
fn venue(settings: &Value) -> (Server, Caller, Caller) {
    let (server, all) = Server::with_api();
    server.write(|tx, _| {
        tx.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO devices (code, public_id, name, device_type, sources, created_at, updated_at)
             SELECT 'place-' || i, 'place-' || i, printf('Place %05d', i), 'room', '[]', 0, 0 FROM n",
            [PLACES],
        )?;
        Ok(())
    });
    let app = all.device(&json!({"code": "app-1", "deviceType": "regoapp"}));
    server.publish(&json!({"default": settings}));
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(app)),
        ..NewClient::named("gate")
    });
    let gate = server.caller_of(&id, &secret);
    (server, all, gate)
}

/// A gate at the last place does all that gates do, and nothing at another one.
#[test]
fn a_gate_works_at_its_place_however_many_there_are() {
    let named = json!({"place": "code:place-2100", "places": ["code:place-2099"], "availableFeatures": ["delegate-create"]});
    let (server, all, gate) = venue(&named);
    let ada = all.delegate(&json!({"firstName": "Ada", "barcode": "A1"}));
    let shown = gate.read("/gate");
    let place = shown["place"]["id"].as_i64().expect("its place");
    assert_eq!(shown["place"]["name"], "Place 02100");
    assert_eq!(shown["places"].as_array().map(Vec::len), Some(2));
    let body = json!({"delegate": ada, "device": "code:place-2100"});
    gate.post("/interaction/test/check-in", &body).is(200);
    gate.scan("check-in", ada, place).is(201);
    let batch = json!({"interactions": {"a": {
        "interactionType": "check-out", "delegate": ada, "device": "code:place-2100",
    }}});
    assert_eq!(gate.made("/interaction/batch", &batch)[0]["status"], 201);
    gate.get(&format!("/gate/snapshot?place={place}")).is(200);
    gate.get(&format!("/gate/search?place={place}&q=ada"))
        .is(200);
    let walk_in = |place| json!({"place": place, "nonce": format!("n{place}"), "firstName": "Bob"});
    gate.post("/gate/walk-in", &walk_in(place)).is(201);
    gate.scan("check-in", ada, "code:place-2099").is(201);
    for other in ["place-1", "place-2098", "app-1"] {
        gate.scan("check-in", ada, format!("code:{other}")).refused(
            403,
            1202,
            "not one of this gate's places",
        );
    }
    gate.post("/gate/walk-in", &walk_in(place - 3)).refused(
        403,
        1202,
        "not one of this gate's places",
    );
    // What is kept of a gate's places goes with the settings.
    gate.scan("check-out", ada, place).is(201);
    server.publish(&json!({"default": {"place": "code:place-1", "places": []}}));
    gate.scan("check-in", ada, place)
        .refused(403, 1202, "not one of this gate's places");
    gate.scan("check-in", ada, "code:place-1").is(201);
}

#[test]
fn a_gate_that_may_choose_is_offered_every_place() {
    let (server, all, gate) = venue(&json!({}));
    let ada = all.delegate(&json!({"firstName": "Ada"}));
    let names = || {
        let places = gate.read("/gate")["places"].clone();
        let places = places.as_array().expect("places").iter();
        places
            .map(|place| place["name"].clone())
            .collect::<Vec<_>>()
    };
    let before = names();
    assert_eq!(before.len(), 2_100);
    assert!(before.contains(&json!("Place 02100")));
    gate.scan("check-in", ada, "code:place-2100").is(201);
    // Whatever changes a place is seen at once.
    all.patch("/device/code:place-2100", &json!({"name": "Annex"}))
        .is(200);
    assert!(names().contains(&json!("Annex")));
    assert_eq!(all.delete("/device/code:place-2100").status, 204);
    assert_eq!(names().len(), 2_099);
    server.publish(&json!({"default": {"places": ["code:place-7"]}}));
    assert_eq!(names(), [json!("Place 00007")]);
    gate.scan("check-in", ada, "code:place-2099")
        .refused(403, 1202, "gate's places");
}

/// An attendee of the list of a place, as a gate there has them.
fn known(gate: &Caller, place: i64, id: i64) -> Value {
    let snapshot = gate.get(&format!("/gate/snapshot?place={place}"));
    let found = snapshot.list().iter().find(|change| change["id"] == id);
    found.expect("the attendee")["data"].clone()
}

#[test]
fn a_gate_knows_who_stays_in_the_places_above_when_they_leave() {
    let (_server, all) = Server::with_api();
    let capacity = |capacity: i64| json!({"Access": {"capacity": capacity}});
    let event = all.device(&json!({"name": "Event", "data": capacity(9)}));
    let below = |name: &str, parent: i64, data: Value| {
        all.device(&json!({"name": name, "deviceType": "room", "parent": parent, "data": data}))
    };
    let hall = below("Hall", event, capacity(9));
    let door = all.device(&json!({"name": "North", "deviceType": "door", "parent": hall}));
    let session = below("Session", hall, json!({}));
    let tent = below("Tent", event, json!({}));
    for (places, elsewhere) in [
        (&[door][..], Value::Null),
        (&[session, hall], Value::Null),
        (&[event, hall], json!([event])),
        (&[tent, session], json!([event])),
        (&[tent], json!([event])),
    ] {
        let ada = all.delegate(&json!({"firstName": "Ada"}));
        for place in places {
            all.scan("check-in", ada, *place).is(201);
        }
        let told = known(&all, door, ada);
        assert_eq!(told["elsewhere"], elsewhere, "{places:?}: {told}");
        all.scan("check-out", ada, door).is(201);
        assert_eq!(known(&all, door, ada)["rooms"], elsewhere, "{places:?}");
    }
}

#[test]
fn a_gate_whose_client_does_not_see_types_has_them_where_they_decide() {
    let (server, all) = Server::with_api();
    let hall = all.device(&json!({"name": "Hall", "code": "hall"}));
    let door = all.device(&json!({"name": "North", "deviceType": "door", "parent": hall}));
    let ada = all.delegate(&json!({"firstName": "Ada", "delegateType": "Crew"}));
    let app = all.device(&json!({"deviceType": "regoapp"}));
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(app)),
        visible_properties: Some(vec!["firstName".into(), "barcode".into()]),
        ..NewClient::named("narrow gate")
    });
    let gate = server.caller_of(&id, &secret);
    let told = |expected: Value| {
        for place in [hall, door] {
            let ada = known(&gate, place, ada);
            assert_eq!(ada["category"], expected, "{ada}");
        }
    };
    told(Value::Null);
    for access in [
        json!({"types": ["crew"]}),
        json!({"typeTimes": [{"types": ["crew"], "from": "08:00", "until": "09:00"}]}),
        json!({"everybodyOutAt": "23:00", "everybodyOutExcept": ["crew"]}),
    ] {
        let set = |access: &Value| {
            let change = json!({"data": {"Access": access}});
            all.patched(&format!("/device/id:{hall}"), &change);
        };
        set(&access);
        told(json!("Crew"));
        set(&Value::Null);
        told(Value::Null);
    }
    // What the door alone asks for, a gate at the hall does not need.
    let types = json!({"data": {"Access": {"types": ["crew"]}}});
    all.patched(&format!("/device/id:{door}"), &types);
    let categories = [hall, door].map(|place| known(&gate, place, ada)["category"].clone());
    assert_eq!(categories, [Value::Null, json!("Crew")]);
}
