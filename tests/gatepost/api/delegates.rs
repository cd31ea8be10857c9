//! `/delegate/...`: what only delegates have (spec: Delegate endpoints; contract §2, §4).

use crate::harness::{Server, cases, words};
use serde_json::{Value, json};

#[test]
fn data_merges_by_key() {
    let (_server, api) = Server::with_api();
    let data = json!({"Data": {"a": 1, "deep": {"x": 1, "y": [1, 2, 3]}}, "Other": {"o": 1}});
    let path = format!("/delegate/id:{}", api.delegate(&json!({"data": data})));
    for (patch, result) in cases::<(Value, Value)>(json!([
        [{"Data": {"deep": {"y": [9], "z": null}}}, {"Data": {"a": 1, "deep": {"x": 1, "y": [9]}}, "Other": {"o": 1}}],
        [{"Data": {"deep": null}}, {"Data": {"a": 1}, "Other": {"o": 1}}],
        [{"Other": null, "New": {"n": {}}}, {"Data": {"a": 1}, "New": {"n": {}}}],
        [{"Data": null}, {"New": {"n": {}}}],
        [{"Data": {"pushTokens": [], "pushTopics": []}},
         {"Data": {"pushTokens": [], "pushTopics": []}, "New": {"n": {}}}],
        [{}, {"Data": {"pushTokens": [], "pushTopics": []}, "New": {"n": {}}}],
    ])) {
        api.patch(&path, &json!({"data": patch}))
            .shows("data", result.clone());
        api.get(&path).shows("data", result);
    }
    api.patch(&path, &json!({"data": null})).without("data");
    for bad in [json!([]), json!("x"), json!(1)] {
        api.patch(&path, &json!({"data": bad})).invalid("data");
    }
}

#[test]
fn values_of_a_wrong_type_are_refused_by_name() {
    let (_server, api) = Server::with_api();
    for name in words("firstName lastName email phone jobTitle company delegateType rawFlags") {
        for bad in cases::<Value>(json!([1, true, [], {}, "a\u{0}b", "x".repeat(10_001)])) {
            api.post("/delegate/new", &json!({name: bad})).invalid(name);
        }
        let long = match name {
            "rawFlags" => "é".to_owned(),
            "email" => format!("{}@", "é".repeat(9_999)),
            _ => "é".repeat(10_000),
        };
        api.post("/delegate/new", &json!({name: long}))
            .shows(name, long);
    }
}
