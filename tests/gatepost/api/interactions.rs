//! `/interaction/...` (spec: Interaction endpoints; contract §3, §6).

use crate::harness::{Caller, Server, cases, words};
use serde_json::{Value, json};

/// A device and three delegates.
fn cast(api: &Caller) -> (i64, [i64; 3]) {
    let device = api.device(&json!({"name": "Gate", "code": "gate"}));
    let delegates = ["A", "B", "C"].map(|barcode| api.delegate(&json!({"barcode": barcode})));
    (device, delegates)
}

fn of_type(id: i64, kind: &str) -> Value {
    json!({"id": id, "_type": kind})
}

#[test]
fn an_interaction_is_recorded_as_sent() {
    let (_server, api) = Server::with_api();
    let (gate, [a, b, c]) = cast(&api);
    let [second, third] = [0; 2].map(|_| api.device(&json!({})));
    let body = json!({
        "firstDelegate": a, "secondDelegate": b, "thirdDelegate": c, "firstDevice": gate, "secondDevice": second,
        "thirdDevice": third, "recordedAt": 1_795_251_720, "data": {"answers": [1, {"x": null}]},
    });
    let made = api.interact("lead", &body);
    assert_eq!((made.status, &made.body["meta"]), (201, &json!({})));
    let mut made = made.data().clone();
    for time in ["createdAt", "updatedAt"] {
        let at = made
            .as_object_mut()
            .and_then(|made| made.remove(time))
            .unwrap_or_default();
        assert!(at.as_str().is_some_and(|at| at.len() == 25), "{time}");
    }
    let id = made["id"].as_i64().expect("an id");
    assert_eq!(
        made,
        json!({
            "id": id, "_type": "interaction", "firstDelegate": of_type(a, "delegate"),
            "secondDelegate": of_type(b, "delegate"), "thirdDelegate": of_type(c, "delegate"),
            "firstDevice": of_type(gate, "device"), "secondDevice": of_type(second, "device"),
            "thirdDevice": of_type(third, "device"), "interactionType": "lead",
            "data": {"answers": [1, {"x": null}]}, "recordedAt": "2026-11-21T09:02:00+00:00",
        })
    );
}

#[test]
fn participants_are_ids_or_selectors_under_short_or_full_names() {
    let (_server, api) = Server::with_api();
    let (gate, [a, b, _]) = cast(&api);
    for body in cases::<Value>(json!([
        {"delegate": a, "device": gate}, {"firstDelegate": a, "firstDevice": gate},
        {"delegate": "barcode:A", "device": "code:gate"},
        {"firstDelegate": format!("id:{a}"), "firstDevice": format!("id:{gate}")},
        {"delegate": a, "firstDevice": "code:gate", "secondDelegate": null, "firstDelegate": null},
    ])) {
        let made = api.interacted("seen", &body);
        assert_eq!(made["firstDelegate"], of_type(a, "delegate"), "{body}");
        assert_eq!(made["firstDevice"], of_type(gate, "device"), "{body}");
    }
    let both = api.interact(
        "seen",
        &json!({"delegate": "barcode:A", "secondDelegate": "barcode:B"}),
    );
    assert_eq!(both.data()["secondDelegate"], of_type(b, "delegate"));
    assert_eq!(both.data().get("firstDevice"), None);
    for alone in [json!({"delegate": a}), json!({"device": gate})] {
        assert_eq!(api.interact("seen", &alone).status, 201, "{alone}");
    }
}

#[test]
fn participants_missing_or_out_of_order_are_refused() {
    let (_server, api) = Server::with_api();
    let (gate, [a, b, c]) = cast(&api);
    for (body, named) in cases::<(Value, &str)>(json!([
        [{}, "delegate"],
        [{"data": {"x": 1}}, "device"],
        [{"delegate": null, "device": null}, "delegate"],
        [{"secondDelegate": b}, "secondDelegate"],
        [{"device": gate, "secondDelegate": b}, "secondDelegate"],
        [{"delegate": a, "thirdDelegate": c}, "thirdDelegate"],
        [{"delegate": a, "secondDevice": gate}, "secondDevice"],
        [{"delegate": a, "device": gate, "thirdDevice": gate}, "thirdDevice"],
        [{"delegate": a, "firstDelegate": a}, "delegate"],
        [{"device": gate, "firstDevice": gate}, "device"],
    ])) {
        for way in ["new", "test"] {
            api.post(&format!("/interaction/{way}/seen"), &body)
                .refused(400, 1502, named);
        }
    }
    for (body, code) in [
        (json!({"delegate": "ABC"}), 1101),
        (json!({"delegate": "7"}), 1101),
        (json!({"delegate": "email:x"}), 1101),
        (json!({"device": "barcode:x"}), 1101),
        (json!({"delegate": "barcode:"}), 1100),
        (json!({"delegate": "id:x"}), 1100),
        (json!({"delegate": 1.5}), 1100),
        (json!({"delegate": {"id": 1}}), 1100),
        (json!({"delegate": [1]}), 1100),
        (json!({"delegate": true}), 1100),
    ] {
        api.interact("seen", &body).refused(400, code, "");
    }
}

#[test]
fn unknown_participants_are_told_apart() {
    let (server, api) = Server::with_api();
    let (gate, [a, ..]) = cast(&api);
    for way in ["new", "test"] {
        let path = format!("/interaction/{way}/seen");
        api.answers(&json!([
            [format!("POST {path}"), {"delegate": 999}, 404, 1301, "999"],
            [format!("POST {path}"), {"delegate": "barcode:NOPE", "device": gate}, 404, 1301, "NOPE"],
            [format!("POST {path}"), {"delegate": a, "secondDelegate": 999}, 404, 1301, "999"],
            [format!("POST {path}"), {"delegate": a, "device": 999}, 404, 1401, "999"],
            [format!("POST {path}"), {"delegate": a, "device": "code:NOPE"}, 404, 1401, "NOPE"],
        ]));
    }
    assert_eq!(server.count("interactions"), 0);
}

#[test]
fn types_are_well_formed_and_connected_is_the_servers() {
    let (_server, api) = Server::with_api();
    let (_, [a, ..]) = cast(&api);
    let longest = "x".repeat(64);
    let known = "check-in check-out join check-in-override seen entered exited connect booking cancel-booking invite \
                 uninvite notify-invitees notify-invitee order order-processing order-cleared download downloaded upload \
                 feedback competition voucher question lead poll-vote own print a 0 our-own--type-";
    for kind in words(known).chain([&*longest]) {
        let made = api.interact(kind, &json!({"delegate": a}));
        assert_eq!(made.data()["interactionType"], kind);
    }
    let too_long = "x".repeat(65);
    for kind in words("connected Check-in -x a_b a.b a%20b %C3%A9 %00 a%2Fb").chain([&*too_long]) {
        for way in ["new", "test"] {
            let path = format!("/interaction/{way}/{kind}");
            api.post(&path, &json!({"delegate": a}))
                .refused(400, 1501, "");
        }
    }
    api.interact("lead", &json!({"delegate": a, "interactionType": "seen"}))
        .refused(400, 1501, "interactionType");
    api.interact("lead", &json!({"delegate": a, "interactionType": "lead"}))
        .is(201);
}

#[test]
fn recorded_at_is_kept_as_sent_whenever_it_is() {
    let (_server, api) = Server::with_api();
    let (_, [a, ..]) = cast(&api);
    for (sent, shown) in cases::<(Value, &str)>(json!([
        [0, "1970-01-01T00:00:00+00:00"],
        [4_102_444_800_i64, "2100-01-01T00:00:00+00:00"],
        ["1999-12-31T23:00:00-01:00", "2000-01-01T00:00:00+00:00"],
        [-1, "1969-12-31T23:59:59+00:00"],
    ])) {
        let made = api.interacted("lead", &json!({"delegate": a, "recordedAt": sent}));
        assert_eq!(made["recordedAt"], shown);
        assert_ne!(made["createdAt"], shown);
    }
    let made = api.interacted("lead", &json!({"delegate": a, "recordedAt": null}));
    assert_eq!(made["recordedAt"], made["createdAt"]);
    for bad in cases::<Value>(json!(["soon", 1.5, true, [], {}, i64::MAX, ""])) {
        api.interact("lead", &json!({"delegate": a, "recordedAt": bad}))
            .refused(400, 1503, "recordedAt");
    }
    api.interact(
        "lead",
        &json!({"delegate": a, "recordedAt": 1_795_251_720.5}),
    )
    .refused(400, 1503, "without a fraction");
    for bad in [json!([]), json!("x"), json!(1), json!(true)] {
        api.interact("lead", &json!({"delegate": a, "data": bad}))
            .refused(400, 1503, "data");
    }
}

#[test]
fn an_unknown_property_is_refused_by_name_and_a_read_only_one_ignored() {
    let (_server, api) = Server::with_api();
    let (gate, [a, ..]) = cast(&api);
    for unknown in words("delegates firstdelegate barcode recorded_at sources é") {
        api.interact("lead", &json!({"delegate": a, unknown: 1}))
            .invalid(unknown);
    }
    let read_only =
        json!({"delegate": a, "id": 77, "_type": "x", "createdAt": [], "updatedAt": {"x": 1}});
    assert_ne!(api.interact("lead", &read_only).id(), 77);
    for (name, bad) in [
        ("nonce", json!(7)),
        ("nonce", json!("")),
        ("admitted", json!("yes")),
        ("admitted", json!(1)),
    ] {
        api.interact(
            "check-in",
            &json!({"delegate": a, "device": gate, name: bad}),
        )
        .invalid(name);
    }
}

#[test]
fn a_deleted_interaction_is_gone_and_cannot_be_deleted_twice() {
    let (_server, api) = Server::with_api();
    let (_, [a, ..]) = cast(&api);
    let id = api.interact("lead", &json!({"delegate": a})).id();
    api.delete(&format!("/interaction/id:{id}")).is(204);
    api.delete(&format!("/interaction/id:{id}"))
        .refused(404, 1504, &id.to_string());
    assert_eq!(api.get("/interaction/list").data(), &json!([]));
    api.get("/delegate/barcode:A").without("firstInteractions");
    for (selector, code) in [
        ("x", 1100),
        ("code:x", 1101),
        ("id:x", 1100),
        ("id:", 1100),
        ("id:1.5", 1100),
        ("id:+1", 1100),
    ] {
        api.delete(&format!("/interaction/{selector}"))
            .refused(400, code, "");
    }
    // Ids are not used again.
    assert!(api.interact("lead", &json!({"delegate": a})).id() > id);
}

#[test]
fn one_interaction_is_found_by_its_id() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let made = api.interact("lead", &json!({"delegate": delegate, "data": {"a": 1}}));
    let id = made.id();
    for path in [
        format!("/interaction/id:{id}"),
        format!("/interaction/{id}"),
    ] {
        assert_eq!(api.get(&path).data(), made.data(), "{path}");
    }
    let shown = api.get(&format!("/interaction/{id}?fields=data"));
    assert_eq!(
        shown.data(),
        &json!({"id": id, "_type": "interaction", "data": {"a": 1}})
    );
    api.get("/interaction/999").refused(404, 1504, "999");
    api.get("/interaction/x").invalid("whole number");
    api.get("/interaction/code:x").refused(400, 1101, "id:{id}");
    api.get("/interaction/list2").invalid("");
    api.delete(&format!("/interaction/{id}")).is(204);
    api.get(&format!("/interaction/id:{id}"))
        .refused(404, 1504, "");
}
