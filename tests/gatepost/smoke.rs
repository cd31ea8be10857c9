//! The essentials of a check-in, over HTTP.

use crate::harness::Server;
use serde_json::json;

#[test]
fn a_delegate_is_let_in_once() {
    let (_server, gate) = Server::with_api();
    let event = gate.event(&json!({"eventName": "Summit"}));
    gate.device(&json!({"name": "Gate B", "code": "gate-b", "parent": event,
        "data": {"Access": {"ruleSet": "simple", "entry": "single"}}}));
    let delegate = gate.delegate(&json!({"barcode": "A-1", "firstName": "Ada"}));
    let scan = json!({"delegate": "barcode:A-1", "device": "code:gate-b"});
    assert_eq!(gate.interact("check-in", &scan).code(), 741);
    gate.scan("join", delegate, event).is(201);
    gate.interact("check-in", &scan).is(201);
    let again = gate.interact("check-in", &scan);
    assert_eq!((again.status, again.code()), (412, 740));
    assert!(again.message().starts_with("already used at Gate B at "));
    gate.interact("check-out", &scan).is(201);
    gate.interact("check-in", &scan).is(201);
}
