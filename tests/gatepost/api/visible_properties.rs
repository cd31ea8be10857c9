//! What of a delegate is shown: sparse fields, the properties a client was given, and what it carries
//! (contract §2).

use crate::harness::{Server, words};
use serde_json::json;

#[test]
fn at_most_a_thousand_children_are_shown() {
    let (server, api) = Server::with_api();
    let parent = api.delegate(&json!({}));
    server.sql(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
         INSERT INTO delegates (parent_id, public_id, sources, created_at, updated_at)
         SELECT {parent}, 'c' || i, '[\"import\"]', 0, 0 FROM n"
    ));
    let children = api.read(&format!("/delegate/id:{parent}"))["children"].clone();
    assert_eq!(children.as_array().map(Vec::len), Some(1000));
}

#[test]
fn a_client_sees_the_properties_it_was_given() {
    let (server, all) = Server::with_api();
    let limited = server.caller_seeing(&["barcode", "firstName"]);
    let sent = json!({"barcode": "A", "firstName": "Ada", "lastName": "L", "email": "e@example.org", "data": {"Data": {"x": 1}}});
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
    let patched = limited.patch("/delegate/barcode:A", &json!({"firstName": "Ada"}));
    assert_eq!(patched.data(), &seen);
    let made = limited.post("/delegate/new", &json!({"barcode": "B", "firstName": "Bo"}));
    let keys: Vec<&String> = made.data().as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["id", "_type", "barcode", "firstName"]);
}

#[test]
fn what_a_client_does_not_see_it_does_not_change() {
    let (server, all) = Server::with_api();
    let limited = server.caller_seeing(&["barcode", "firstName"]);
    let parent = all.delegate(&json!({}));
    let id = all.delegate(&json!({"barcode": "A", "firstName": "Ada", "email": "e@example.org"}));
    let path = format!("/delegate/id:{id}");
    let before = all.get(&path);
    for (name, value) in [
        ("company", json!("X")),
        ("email", json!(null)),
        ("rawFlags", json!("v")),
        ("data", json!({"Data": {"x": 1}})),
        ("parent", json!({"id": parent})),
        ("owner", json!(parent)),
        ("rfid", json!("R")),
    ] {
        let body = json!({"firstName": "Eve", name: value});
        limited.patch(&path, &body).refused(403, 1202, name);
        limited
            .post("/delegate/new", &body)
            .refused(403, 1202, name);
    }
    assert_eq!(all.get(&path), before);
    // What is read can be sent back: read-only properties are ignored.
    let sent =
        json!({"id": id, "_type": "delegate", "createdAt": "x", "sources": [], "firstName": "Eve"});
    assert_eq!(limited.patch(&path, &sent).data()["firstName"], "Eve");
    limited.patch(&path, &json!({"nope": 1})).invalid("nope");
    // Nor do its users.
    let (client, secret) = server.new_client(gatepost::identity::clients::NewClient {
        visible_properties: Some(vec!["firstName".into()]),
        ..gatepost::identity::clients::NewClient::named("app")
    });
    server.user("ada@example.org", &[], Some(id));
    let ada = server.sign_in(&client, &secret, "ada@example.org");
    ada.patch("/delegate/myself", &json!({"phone": "1"}))
        .refused(403, 1202, "phone");
    ada.patch("/delegate/myself", &json!({"firstName": "Ada"}))
        .is(200);
}

#[test]
fn a_delegate_carries_its_interactions_in_each_place() {
    let (_server, api) = Server::with_api();
    let [one, two, three] = [0; 3].map(|_| api.delegate(&json!({})));
    let device = api.device(&json!({}));
    let body = json!({"firstDelegate": one, "secondDelegate": two, "thirdDelegate": three, "firstDevice": device, "data": {"x": 1}});
    let made = api.interacted("lead", &body);
    let second = api.interacted("seen", &json!({"delegate": one}));
    for (id, place, interactions) in [
        (one, "firstInteractions", json!([made, second])),
        (two, "secondInteractions", json!([made])),
        (three, "thirdInteractions", json!([made])),
    ] {
        let delegate = api.read(&format!("/delegate/id:{id}"));
        for other in words("firstInteractions secondInteractions thirdInteractions") {
            let expected = (other == place).then_some(&interactions);
            assert_eq!(delegate.get(other), expected, "{other} of {id}");
        }
        let listed = api.read("/delegate/list");
        let listed = listed
            .as_array()
            .expect("a list")
            .iter()
            .find(|item| item["id"] == id);
        assert_eq!(listed, Some(&delegate));
    }
}
