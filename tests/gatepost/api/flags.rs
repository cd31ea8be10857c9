//! Flags that the service sets by itself (spec: Delegate flags).

use crate::harness::Server;
use serde_json::{Value, json};

fn flags(server: &Server, id: i64) -> Option<String> {
    server.value(&format!("SELECT raw_flags FROM delegates WHERE id = {id}"))
}

#[test]
fn who_sends_feedback_is_flagged_f_once() {
    let (server, api) = Server::with_api();
    let hall = api.device(&json!({"name": "Hall"}));
    let id = api.delegate(&json!({"barcode": "A", "rawFlags": "vb"}));
    let other = api.delegate(&json!({"barcode": "B"}));
    let body = json!({"delegate": id, "device": hall, "secondDelegate": other, "data": {"form": "f", "answers": []}});
    api.post("/interaction/test/feedback", &body).is(200);
    assert_eq!(
        flags(&server, id).as_deref(),
        Some("bv"),
        "to try is not to send"
    );
    let sent = api.interact("feedback", &body).id();
    api.interact("feedback", &body).id();
    assert_eq!(flags(&server, id).as_deref(), Some("bfv"));
    assert_eq!(
        flags(&server, other),
        None,
        "the first delegate is who sent it"
    );
    let changes: String = server.value(&format!(
        "SELECT json_group_array(json_array(json(before), json(after))) FROM audit
         WHERE record_type = 'delegate' AND record_id = {id} AND action = 'update'"
    ));
    let changes: Value = serde_json::from_str(&changes).expect("JSON");
    assert_eq!(changes, json!([[{"rawFlags": "bv"}, {"rawFlags": "bfv"}]]));
    api.delete(&format!("/interaction/id:{sent}")).is(204);
    assert_eq!(
        flags(&server, id).as_deref(),
        Some("bfv"),
        "it was sent all the same"
    );
    // It can be taken off, and is set again with the next.
    api.patch(&format!("/delegate/id:{id}"), &json!({"rawFlags": null}))
        .data();
    api.interact("feedback", &body).id();
    assert_eq!(flags(&server, id).as_deref(), Some("f"));
}

#[test]
fn it_makes_no_difference_how_feedback_comes() {
    let (server, api) = Server::with_api();
    let ids = ["A", "B", "C"].map(|barcode| api.delegate(&json!({"barcode": barcode})));
    let batch = json!({"interactions": {
        "a": {"interactionType": "feedback", "delegate": ids[0]},
        "b": {"interactionType": "lead", "delegate": ids[2]},
        "c": {"interactionType": "feedback", "delegate": 999_999},
    }});
    api.post("/interaction/batch", &batch).is(200);
    let list = server.file("past.csv", "interactionType,delegate barcode\nfeedback,B\n");
    server.done(&["import", "interactions", &list]);
    assert_eq!(
        ids.map(|id| flags(&server, id)),
        [Some("f".into()), Some("f".into()), None]
    );
    // Without a delegate there is nobody to flag.
    let hall = api.device(&json!({}));
    api.interact("feedback", &json!({"device": hall})).id();
}
