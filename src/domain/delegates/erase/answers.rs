//! Stored answers, without what they say of a person.

use super::traces::Traces;
use crate::domain::sales::ERASED;
use serde_json::{Value, json};

/// A stored answer without what it says of the person: an envelope, or items of a batch.
pub(super) fn without(body: &str, traces: &Traces) -> String {
    let blank = |answer: &mut Value| {
        if answer["data"]["_type"] == "transaction" {
            forget_ticket(&mut answer["data"], traces);
        } else if tells_of(answer, traces) {
            answer["data"] = json!({});
            answer["meta"] = json!({"replayed": true});
        }
    };
    if let Ok(Value::Array(mut items)) = serde_json::from_str(&format!("[{body}]")) {
        items.iter_mut().for_each(blank);
        return joined(&items);
    }
    // It cannot be read, so nobody can tell what it says.
    json!({"data": {}, "meta": {"replayed": true}}).to_string()
}

/// Answers as they are stored: one after the other.
pub(super) fn joined(answers: &[Value]) -> String {
    let answers: Vec<String> = answers.iter().map(Value::to_string).collect();
    answers.join(",")
}

/// The answer to a purchase without the code of the person's ticket.
fn forget_ticket(purchase: &mut Value, traces: &Traces) {
    let made = purchase["delegates"].as_array_mut();
    for made in made.into_iter().flatten() {
        if traces.is_one(made) {
            made["barcode"] = ERASED.into();
        }
    }
}

fn tells_of(answer: &Value, traces: &Traces) -> bool {
    let (data, meta) = (&answer["data"], &answer["meta"]);
    let told = [&meta["note"]["note"], &meta["error"]["message"]];
    let told = told.iter().filter_map(|told| told.as_str()).any(|told| {
        traces.missing.contains(told) || traces.said.iter().any(|words| told.contains(words))
    });
    told || match data["_type"].as_str() {
        Some("delegate") => traces.is_one(data),
        Some("interaction") => ["firstDelegate", "secondDelegate", "thirdDelegate"]
            .iter()
            .any(|place| traces.is_one(&data[*place])),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::DelegateId;
    use std::collections::BTreeSet;

    #[test]
    fn a_stored_answer_loses_what_it_says_of_the_person_alone() {
        let traces = Traces {
            people: vec![DelegateId(7)],
            said: BTreeSet::from(["nuts".to_owned()]),
            ..Traces::default()
        };
        let gone = r#"{"data":{},"meta":{"replayed":true}}"#;
        for (body, kept) in [
            (
                r#"{"data":{"id":7,"_type":"delegate","firstName":"Ada"},"meta":{}}"#,
                gone,
            ),
            (
                r#"{"data":{"id":8,"_type":"delegate","parent":{"id":7,"_type":"delegate"}},"meta":{}}"#,
                r#"{"data":{"id":8,"_type":"delegate","parent":{"id":7,"_type":"delegate"}},"meta":{}}"#,
            ),
            (
                r#"{"data":{"id":1,"_type":"transaction","delegates":[{"id":7,"barcode":"A"},{"id":8,"barcode":"B"}]},"meta":{}}"#,
                r#"{"data":{"id":1,"_type":"transaction","delegates":[{"id":7,"barcode":"[erased]"},{"id":8,"barcode":"B"}]},"meta":{}}"#,
            ),
            (
                r#"{"key":"a","status":201,"data":{"id":1,"_type":"interaction","secondDelegate":{"id":7,"_type":"delegate"}},"meta":{}},{"key":"b","status":412,"data":{},"meta":{"error":{},"note":{"level":"info","note":"nuts"}}},{"key":"c","status":404,"data":{},"meta":{}}"#,
                r#"{"key":"a","status":201,"data":{},"meta":{"replayed":true}},{"key":"b","status":412,"data":{},"meta":{"replayed":true}},{"key":"c","status":404,"data":{},"meta":{}}"#,
            ),
        ] {
            assert_eq!(without(body, &traces), kept);
        }
    }
}
