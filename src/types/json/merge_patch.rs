//! JSON Merge Patch (RFC 7396), and the patch that leads from one document to another.

use serde_json::{Map, Value};

/// Applies a merge patch: objects merge by key, arrays are replaced, `null` removes a key.
pub fn merge_patch(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(target) = target {
        for (key, value) in patch {
            if value.is_null() {
                target.remove(&key);
            } else {
                merge_patch(target.entry(key).or_insert(Value::Null), value);
            }
        }
    }
}

/// The merge patch that makes one document of another; `None` where they are the same. What is
/// `null` in the other is taken for absent.
#[must_use]
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        let change = match old.get(key) {
            Some(old) => difference(old, value),
            None => Some(value.clone()).filter(|value| !value.is_null()),
        };
        if let Some(change) = change {
            patch.insert(key.clone(), change);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merging_follows_rfc_7396() {
        for (target, patch, merged) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b", "c": 1}),
                json!({"a": null}),
                json!({"c": 1}),
            ),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({"a": [{"b": "c"}]}),
                json!({"a": [1]}),
                json!({"a": [1]}),
            ),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
            (
                json!([1, 2]),
                json!({"a": "b", "c": null}),
                json!({"a": "b"}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ] {
            let mut result = target;
            merge_patch(&mut result, patch);
            assert_eq!(result, merged);
        }
    }

    #[test]
    fn a_difference_makes_one_document_of_the_other() {
        for (from, to, patch) in [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!({}), json!({"a": null}), None),
            (
                json!({"a": {"b": 1, "c": [1, 2]}, "d": 1}),
                json!({"a": {"b": 2, "c": [1]}, "e": {"f": "g"}}),
                Some(json!({"d": null, "a": {"b": 2, "c": [1]}, "e": {"f": "g"}})),
            ),
            (
                json!({"a": {"b": 1}}),
                json!({"a": "b"}),
                Some(json!({"a": "b"})),
            ),
        ] {
            assert_eq!(difference(&from, &to), patch);
            if let Some(patch) = patch {
                let mut made = from;
                merge_patch(&mut made, patch);
                assert_eq!(made, to);
            }
        }
    }
}
