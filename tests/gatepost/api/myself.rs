//! `/delegate/myself` (spec: Delegate endpoints; contract §4): what a delegate sees and may change
//! of itself.

use crate::harness::{Caller, Server, words};
use serde_json::json;

fn ada(server: &Server) -> (Caller, i64) {
    let api = server.caller_with_all();
    let id = api.delegate(&json!({
        "barcode": "A", "firstName": "Ada", "rawFlags": "ep", "data": {"Data": {"x": 1}, "Staff": {"y": 1}},
    }));
    (server.caller_as_user("ada@example.org", &[], Some(id)), id)
}

#[test]
fn a_user_gets_its_own_delegate() {
    let server = Server::start();
    let (ada, id) = ada(&server);
    let all = server.caller_with_all();
    let own = ada.get("/delegate/myself");
    assert_eq!(own, all.get(&format!("/delegate/id:{id}")));
    let sparse = ada.get("/delegate/myself?fields=firstName");
    assert_eq!(
        sparse.data(),
        &json!({"id": id, "_type": "delegate", "firstName": "Ada"})
    );
    ada.get("/delegate/myself?fields=nope").invalid("nope");
    all.get("/delegate/myself").refused(401, 1201, "user");
    all.patch("/delegate/myself", &json!({}))
        .refused(401, 1201, "user");
}

#[test]
fn a_user_changes_what_is_its_own() {
    let server = Server::start();
    let (ada, _) = ada(&server);
    for name in words("firstName lastName email phone jobTitle company") {
        let own = if name == "email" {
            "mine@example.org"
        } else {
            "mine"
        };
        assert_eq!(
            ada.patch("/delegate/myself", &json!({name: own})).data()[name],
            own
        );
        assert_eq!(
            ada.patch("/delegate/myself", &json!({name: null}))
                .data()
                .get(name),
            None
        );
    }
    let push = json!({"data": {"Data": {"pushTokens": ["t"], "pushTopics": []}}});
    let own = ada.patched("/delegate/myself", &push);
    assert_eq!(
        own["data"],
        json!({"Data": {"x": 1, "pushTokens": ["t"], "pushTopics": []}, "Staff": {"y": 1}})
    );
    for (flags, stored) in [("epsv", "epsv"), ("E", "e"), ("eVS", "esv")] {
        let own = ada.patched("/delegate/myself", &json!({"rawFlags": flags}));
        assert_eq!(own["rawFlags"], stored);
    }
    assert_eq!(own["sources"], json!(["api"]));
    // What was read may be sent back but for what is not one's own.
    let read_only =
        json!({"id": 1, "_type": "x", "createdAt": 1, "sources": [], "firstInteractions": []});
    ada.patch("/delegate/myself", &read_only).is(200);
    assert_eq!(
        server.text(
            "SELECT DISTINCT actor FROM audit WHERE action = 'update' AND record_type = 'delegate'"
        ),
        "user:1"
    );
}

#[test]
fn anything_else_of_itself_is_403_by_name() {
    let server = Server::start();
    let (ada, id) = ada(&server);
    let before = ada.get("/delegate/myself");
    for (change, named) in [
        (json!({"barcode": "B"}), "barcode"),
        (json!({"rfid": null}), "rfid"),
        (json!({"externalId": "x"}), "externalId"),
        (json!({"publicId": "x"}), "publicId"),
        (json!({"code": "x"}), "code"),
        (json!({"uhfId": "x"}), "uhfId"),
        (json!({"slug": "x"}), "slug"),
        (json!({"delegateType": "vip"}), "delegateType"),
        (json!({"parent": null}), "parent"),
        (json!({"owner": id}), "owner"),
        (json!({"previous": id}), "previous"),
        (json!({"data": {"Staff": {"y": 2}}}), "Staff"),
        (json!({"data": {"Data": {"x": 2}, "Access": {}}}), "Access"),
        (json!({"data": null}), "data"),
        (json!({"rawFlags": "aep"}), "a"),
        (json!({"rawFlags": "p"}), "e"),
        (json!({"rawFlags": null}), "e"),
        (json!({"firstName": "Eve", "barcode": "B"}), "barcode"),
    ] {
        ada.patch("/delegate/myself", &change)
            .refused(403, 1202, named);
    }
    ada.answers(&json!([
        ["PATCH /delegate/myself", {"typo": 1}, 400, 1100, "typo"],
        ["PATCH /delegate/myself", {"firstName": 1}, 400, 1100, "firstName"],
        ["PATCH /delegate/myself", {"rawFlags": 1}, 400, 1100, "rawFlags"],
    ]));
    assert_eq!(ada.get("/delegate/myself"), before);
}

#[test]
fn a_user_without_a_delegate_gets_1301() {
    let server = Server::start();
    let lone = server.caller_as_user("lone@example.org", &[], None);
    lone.get("/delegate/myself").refused(404, 1301, "delegate");
    lone.patch("/delegate/myself", &json!({"firstName": "x"}))
        .refused(404, 1301, "delegate");
    // So does one whose delegate is deleted.
    let (ada, id) = ada(&server);
    server
        .caller_with_all()
        .delete(&format!("/delegate/id:{id}"));
    ada.get("/delegate/myself").refused(404, 1301, "");
    ada.patch("/delegate/myself", &json!({"firstName": "x"}))
        .refused(404, 1301, "");
}

#[test]
fn an_email_does_not_tie_a_user_to_a_delegate() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"email": "lone@example.org"}));
    let lone = server.caller_as_user("lone@example.org", &[], None);
    lone.get("/delegate/myself").refused(404, 1301, "");
}
