//! `/device/...`: what only devices have (spec: Device endpoints; contract §2, §4, §6).

use crate::harness::{Server, cases};
use serde_json::{Value, json};

#[test]
fn a_device_is_available_unless_it_is_said_otherwise() {
    let (_server, api) = Server::with_api();
    let made = api.post("/device/new", &json!({}));
    made.shows("available", true);
    let path = format!("/device/id:{}", made.id());
    for (sent, shown) in [(json!(false), false), (Value::Null, true)] {
        api.patch(&path, &json!({"available": sent}))
            .shows("available", shown);
    }
    for bad in [json!(1), json!("true"), json!([])] {
        api.patch(&path, &json!({"available": bad}))
            .invalid("available");
    }
}

#[test]
fn an_end_before_the_start_is_refused() {
    let (_server, api) = Server::with_api();
    let device = format!(
        "PATCH /device/id:{}",
        api.device(&json!({"startAt": 100, "endAt": 100}))
    );
    api.answers(&json!([
        ["POST /device/new", {"startAt": 100, "endAt": 99}, 400, 1100, "endAt"],
        [device, {"endAt": 99}, 400, 1100, "endAt"],
        [device, {"startAt": 101}, 400, 1100, "endAt"],
        [device, {"startAt": 200, "endAt": 300}, 200],
        [device, {"startAt": null, "endAt": 1}, 200],
        ["POST /event/new", {"eventStartAt": 100, "eventEndAt": 99}, 400, 1100, "eventEndAt"],
    ]));
}

#[test]
fn rules_are_checked_strictly_when_written() {
    let (server, api) = Server::with_api();
    let id = api.device(&json!({}));
    let path = format!("/device/id:{id}");
    let whole = json!({
        "ruleSet": "simple", "entry": "single", "maxCheckIns": 3, "capacity": 0, "opensBefore": 15, "closesAfter": 0,
    });
    let stored = api.patch(&path, &json!({"data": {"Access": whole}}));
    assert_eq!(stored.data()["data"]["Access"], whole);
    for (access, named) in cases::<(Value, &str)>(json!([
        [{"ruleset": "simple"}, "data.Access.ruleset"],
        [{"ruleSet": "Simple"}, "data.Access.ruleSet"],
        [{"ruleSet": "acl"}, "data.Access.ruleSet"],
        [{"ruleSet": true}, "data.Access.ruleSet"],
        [{"entry": "once"}, "data.Access.entry"],
        [{"entry": ["single"]}, "data.Access.entry"],
        [{"maxCheckIns": -1}, "data.Access.maxCheckIns"],
        [{"maxCheckIns": 1.5}, "data.Access.maxCheckIns"],
        [{"maxCheckIns": "1"}, "data.Access.maxCheckIns"],
        [{"maxcheckins": 1}, "data.Access.maxcheckins"],
        [{"capacity": 4_294_967_296_i64}, "data.Access.capacity"],
        [{"capacity": {}}, "data.Access.capacity"],
        [{"opensBefore": "15 min"}, "data.Access.opensBefore"],
        [{"closesAfter": -5}, "data.Access.closesAfter"],
        [{"": 1}, "data.Access"],
        [[], "data.Access"],
        ["open", "data.Access"],
        [1, "data.Access"],
        [false, "data.Access"],
    ])) {
        let body = json!({"name": "Lost", "data": {"Access": access}});
        api.patch(&path, &body).invalid(named);
        api.post("/device/new", &body).invalid(named);
    }
    assert_eq!(api.get(&path).data(), stored.data());
    assert_eq!(server.count("devices"), 1);
    // Rules are checked as they will be after the merge, and null takes one or all back.
    let fewer = api.patch(
        &path,
        &json!({"data": {"Access": {"capacity": null, "entry": "multiple"}}}),
    );
    assert_eq!(
        fewer.data()["data"]["Access"],
        json!({"ruleSet": "simple", "entry": "multiple", "maxCheckIns": 3, "opensBefore": 15, "closesAfter": 0})
    );
    api.patch(&path, &json!({"data": {"Access": null}}))
        .without("data");
    // A device of another's making, an event, has rules too.
    let event = api.event(&json!({}));
    let path = format!("/device/id:{event}");
    api.patch(&path, &json!({"data": {"Access": {"entri": 1}}}))
        .invalid("entri");
}
