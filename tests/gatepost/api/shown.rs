//! What of a delegate is shown: sparse fields, the properties a client was given, and what it carries
//! (contract §2).

use crate::harness::Server;
use serde_json::json;

#[test]
fn at_most_a_thousand_children_are_shown() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let parent = caller.delegate(&json!({}));
    server.sql(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
         INSERT INTO delegates (parent_id, public_id, sources, created_at, updated_at)
         SELECT {parent}, 'c' || i, '[\"import\"]', 0, 0 FROM n"
    ));
    let children = caller.get(&format!("/delegate/id:{parent}")).data()["children"].clone();
    assert_eq!(children.as_array().map(Vec::len), Some(1000));
}

#[test]
fn sparse_fields_show_what_they_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(
        &json!({"barcode": "A", "firstName": "Ada", "company": "X", "data": {"Data": {"x": 1}}}),
    );
    caller.interact("lead", &json!({"delegate": id}));
    for (fields, keys) in [
        (
            "id,barcode,firstName",
            vec!["id", "_type", "barcode", "firstName"],
        ),
        ("barcode", vec!["id", "_type", "barcode"]),
        (
            "%20firstName%20,barcode,barcode",
            vec!["id", "_type", "barcode", "firstName"],
        ),
        ("lastName", vec!["id", "_type"]),
        (
            "data,firstInteractions",
            vec!["id", "_type", "data", "firstInteractions"],
        ),
        ("", vec!["id", "_type"]),
    ] {
        let one = caller.get(&format!("/delegate/id:{id}?fields={fields}"));
        let list = caller.get(&format!("/delegate/list?fields={fields}"));
        assert_eq!(&list.data()[0], one.data(), "{fields}");
        let shown: Vec<&String> = one.data().as_object().expect("an object").keys().collect();
        assert_eq!(shown, keys, "{fields}");
    }
    for path in [format!("/delegate/id:{id}"), "/delegate/list".into()] {
        caller
            .get(&format!("{path}?fields=id,firstname"))
            .refused(400, 1100, "firstname");
        caller
            .get(&format!("{path}?fields=deleted_at"))
            .refused(400, 1100, "deleted_at");
    }
}

#[test]
fn a_client_sees_the_properties_it_was_given() {
    let server = Server::start();
    let all = server.caller_with_all();
    let limited = server.caller_seeing(&["barcode", "firstName"]);
    let sent = json!({"barcode": "A", "firstName": "Ada", "lastName": "L", "email": "e", "data": {"Data": {"x": 1}}});
    let id = all.delegate(&sent);
    all.interact(
        "lead",
        &json!({"delegate": id, "secondDelegate": all.delegate(&json!({}))}),
    );
    let seen = json!({"id": id, "_type": "delegate", "barcode": "A", "firstName": "Ada"});
    assert_eq!(limited.get("/delegate/barcode:A").data(), &seen);
    assert_eq!(limited.get("/delegate/list").data()[0], seen);
    assert_eq!(
        limited
            .get("/delegate/list?fields=email,firstName,data")
            .data()[0],
        json!({"id": id, "_type": "delegate", "firstName": "Ada"})
    );
    let patched = limited.patch("/delegate/barcode:A", &json!({"company": "X"}));
    assert_eq!(patched.data(), &seen);
    let mut other = sent.clone();
    other["barcode"] = json!("B");
    let made = limited.post("/delegate/new", &other);
    let keys: Vec<&String> = made.data().as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["id", "_type", "barcode", "firstName"]);
    assert_eq!(all.get("/delegate/barcode:B").data()["email"], "e");
}

#[test]
fn a_delegate_carries_its_interactions_in_each_place() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let [one, two, three] = [0; 3].map(|_| caller.delegate(&json!({})));
    let device = caller.device(&json!({}));
    let body = json!({"firstDelegate": one, "secondDelegate": two, "thirdDelegate": three, "firstDevice": device, "data": {"x": 1}});
    let made = caller.interact("lead", &body).data().clone();
    let second = caller
        .interact("seen", &json!({"delegate": one}))
        .data()
        .clone();
    for (id, place, interactions) in [
        (one, "firstInteractions", json!([made, second])),
        (two, "secondInteractions", json!([made])),
        (three, "thirdInteractions", json!([made])),
    ] {
        let delegate = caller.get(&format!("/delegate/id:{id}")).data().clone();
        for other in [
            "firstInteractions",
            "secondInteractions",
            "thirdInteractions",
        ] {
            let expected = (other == place).then_some(&interactions);
            assert_eq!(delegate.get(other), expected, "{other} of {id}");
        }
        let listed = caller.get("/delegate/list").data().clone();
        let listed = listed
            .as_array()
            .expect("a list")
            .iter()
            .find(|item| item["id"] == id);
        assert_eq!(listed, Some(&delegate));
    }
}
