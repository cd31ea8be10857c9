//! Form answers: the flat list that a client sends, reshaped into what reports and people read
//! (spec: Form answers convention; contract §6).

use super::shared::SharedValues;
use crate::types::error::{Error, Kind, Result};
use serde_json::{Map, Value};
use std::{collections::HashMap, fmt::Display};

/// An index past this makes no array: one answer must not make a million nulls.
const INDEX_MAX: usize = 999;
/// The longest path of a field, in parts: nobody's form is nested deeper, and what is stored must be
/// read back by readers that stop at some depth.
const PARTS_MAX: usize = 32;
/// The most values that `answersData` and `reportData` may hold each, gaps in arrays included.
const NODES_MAX: usize = 10_000;
/// The most bytes that each of them may have.
const BYTES_MAX: usize = 1024 * 1024;

/// Adds `answersData` and `reportData` to the `data` of an interaction that carries a form; leaves
/// any other as it is. References to shared values count as what they stand for.
///
/// # Errors
/// [`Kind::InteractionContent`] when `form` or `answers` are not what the convention says, or expand
/// into too much.
pub fn reshape(data: &mut Map<String, Value>, shared: &SharedValues) -> Result<()> {
    let Some(form) = data.get("form") else {
        return Ok(());
    };
    if data.contains_key("answersData") {
        return Ok(());
    }
    if !form.is_string() {
        return Err(unusable("data.form", "must be a string"));
    }
    let Some(Value::Array(answers)) = data.get("answers") else {
        return Err(unusable("data.answers", "must be a list of answers"));
    };
    let gathered = gather(answers)?;
    let nested = nest(&gathered).ok_or_else(|| too_many_nodes("answersData"))?;
    check_size("answersData", &nested, shared)?;
    let report = gathered
        .into_iter()
        .map(|answer| (answer.label, answer.value));
    let report = Value::Object(report.collect());
    check_size("reportData", &report, shared)?;
    data.insert("answersData".into(), nested);
    data.insert("reportData".into(), report);
    Ok(())
}

/// The answers as nested objects and arrays; nothing once they would hold more than [`NODES_MAX`].
fn nest(answers: &[Answer]) -> Option<Value> {
    let mut tree = Node::Branch(Branch::default());
    let mut nodes_left = NODES_MAX;
    for answer in answers {
        let path: Vec<_> = answer.field.split('.').collect();
        tree.put(&path, answer.value.clone(), &mut nodes_left)?;
    }
    let mut nodes_left = NODES_MAX;
    tree.into_value(&mut nodes_left)
}

fn too_many_nodes(name: &str) -> Error {
    unusable(
        "data.answers",
        format!(
            "{name} would hold more than {NODES_MAX} values, gaps in arrays included; send fewer answers or smaller indexes"
        ),
    )
}

/// Checks how much a part of the reshaped data holds as it is read, shared values in their places.
fn check_size(name: &str, value: &Value, shared: &SharedValues) -> Result<()> {
    let size = shared.size_of(value);
    if size.nodes > NODES_MAX {
        return Err(too_many_nodes(name));
    }
    if size.bytes > BYTES_MAX {
        return Err(unusable(
            "data.answers",
            format!(
                "{name} would have {} bytes, at most {BYTES_MAX} are stored",
                size.bytes
            ),
        ));
    }
    Ok(())
}

fn unusable(field: impl Display, message: impl Into<String>) -> Error {
    Error::new(Kind::InteractionContent, message).at(field)
}

struct Answer {
    field: String,
    label: String,
    value: Value,
    repeated: bool,
}

/// One answer a field, in the order of their first mention; what is answered again gathers into an
/// array. Answers without a field are skipped.
fn gather(answers: &[Value]) -> Result<Vec<Answer>> {
    let mut gathered: Vec<Answer> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (index, answer) in answers.iter().enumerate() {
        let Value::Object(answer) = answer else {
            return Err(unusable(
                format!("data.answers[{index}]"),
                "must be an object",
            ));
        };
        let field = match answer.get("field") {
            None | Some(Value::Null) => continue,
            Some(Value::String(field)) if field.is_empty() => continue,
            Some(Value::String(field)) => field,
            Some(_) => {
                return Err(unusable(
                    format!("data.answers[{index}].field"),
                    "must be a string",
                ));
            }
        };
        if field.split('.').nth(PARTS_MAX).is_some() {
            return Err(unusable(
                format!("data.answers[{index}].field"),
                format!("has more than {PARTS_MAX} parts"),
            ));
        }
        let value = answer.get("answer").cloned().unwrap_or(Value::Null);
        let label = match answer.get("fieldLabel") {
            Some(Value::String(label)) if !label.is_empty() => label,
            _ => field,
        };
        if let Some(earlier) = places.get(field.as_str()) {
            let earlier = &mut gathered[*earlier];
            let first = earlier.value.take();
            earlier.value = match first {
                Value::Array(mut values) if earlier.repeated => {
                    values.push(value);
                    Value::Array(values)
                }
                first => Value::Array(vec![first, value]),
            };
            earlier.repeated = true;
            earlier.label.clone_from(label);
        } else {
            if gathered.len() >= NODES_MAX {
                return Err(too_many_nodes("answersData"));
            }
            places.insert(field, gathered.len());
            gathered.push(Answer {
                field: field.clone(),
                label: label.clone(),
                value,
                repeated: false,
            });
        }
    }
    Ok(gathered)
}

/// A part of the nested object while it grows.
enum Node {
    Leaf(Value),
    Branch(Branch),
}

/// Children in their order, and where each stands: a form may have very many.
#[derive(Default)]
struct Branch {
    children: Vec<(String, Node)>,
    places: HashMap<String, usize>,
}

impl Branch {
    /// The child of a key, made where it is missing; nothing when there may be no more nodes.
    fn child(&mut self, key: &str, nodes_left: &mut usize) -> Option<&mut Node> {
        let place = if let Some(place) = self.places.get(key) {
            *place
        } else {
            *nodes_left = nodes_left.checked_sub(1)?;
            self.children
                .push((key.to_owned(), Node::Branch(Branch::default())));
            self.places.insert(key.to_owned(), self.children.len() - 1);
            self.children.len() - 1
        };
        Some(&mut self.children[place].1)
    }
}

impl Node {
    /// Puts a value at a path; where two collide, the later wins. Nodes that it displaces stay
    /// counted.
    fn put(&mut self, path: &[&str], value: Value, nodes_left: &mut usize) -> Option<()> {
        let Some((key, rest)) = path.split_first() else {
            *self = Self::Leaf(value);
            return Some(());
        };
        if matches!(self, Self::Leaf(_)) {
            *self = Self::Branch(Branch::default());
        }
        if let Self::Branch(branch) = self {
            branch
                .child(key, nodes_left)?
                .put(rest, value, nodes_left)?;
        }
        Some(())
    }

    /// A branch whose every key is an index becomes an array, with nulls in its gaps. Room is made
    /// only for what `nodes_left` allows.
    fn into_value(self, nodes_left: &mut usize) -> Option<Value> {
        let Branch { children, .. } = match self {
            Self::Leaf(value) => return Some(value),
            Self::Branch(branch) => branch,
        };
        let indexes: Option<Vec<usize>> = children.iter().map(|(key, _)| index(key)).collect();
        let indexes = indexes.filter(|indexes| !indexes.is_empty());
        let last = indexes.as_ref().and_then(|indexes| indexes.iter().max());
        let length = last.map_or(children.len(), |last| last + 1);
        *nodes_left = nodes_left.checked_sub(length)?;
        let Some(indexes) = indexes else {
            let children = children
                .into_iter()
                .map(|(key, child)| Some((key, child.into_value(nodes_left)?)));
            return children.collect::<Option<_>>().map(Value::Object);
        };
        let mut items = vec![Value::Null; length];
        for (index, (_, child)) in indexes.into_iter().zip(children) {
            items[index] = child.into_value(nodes_left)?;
        }
        Some(Value::Array(items))
    }
}

fn index(key: &str) -> Option<usize> {
    let plain =
        key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    key.parse()
        .ok()
        .filter(|index| plain && *index <= INDEX_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reshaped(answers: &Value) -> (Value, Value) {
        let mut data = json!({"form": "lead", "answers": answers});
        let before = data.clone();
        reshape(data.as_object_mut().unwrap(), &SharedValues::default()).unwrap();
        assert_eq!(data["form"], before["form"]);
        assert_eq!(data["answers"], before["answers"]);
        (data["answersData"].clone(), data["reportData"].clone())
    }

    #[test]
    fn paths_nest_and_labels_stay_flat() {
        let (nested, report) = reshaped(&json!([
            {"field": "contact.email", "answer": "a@example.org", "fieldLabel": "E-mail"},
            {"field": "contact.age", "answer": 42},
            {"field": "ok", "answer": true, "fieldType": "checkbox"},
        ]));
        assert_eq!(
            nested,
            json!({"contact": {"email": "a@example.org", "age": 42}, "ok": true})
        );
        assert_eq!(
            report,
            json!({"E-mail": "a@example.org", "contact.age": 42, "ok": true})
        );
    }

    #[test]
    fn answersdata_follows_the_contract() {
        for (answers, nested) in [
            (json!([]), json!({})),
            (json!([{"answer": 1}]), json!({})),
            (
                json!([{"field": "a.b.0.c", "answer": 1}, {"field": "a.b.1.c", "answer": 2}]),
                json!({"a": {"b": [{"c": 1}, {"c": 2}]}}),
            ),
            (
                json!([{"field": "a.2", "answer": 1}]),
                json!({"a": [null, null, 1]}),
            ),
            (
                json!([{"field": "a.1000000000", "answer": 1}]),
                json!({"a": {"1000000000": 1}}),
            ),
            (
                json!([{"field": "a.01", "answer": 1}]),
                json!({"a": {"01": 1}}),
            ),
            (
                json!([{"field": "a.0", "answer": 1}, {"field": "a.x", "answer": 2}]),
                json!({"a": {"0": 1, "x": 2}}),
            ),
            (
                json!([{"field": "a", "answer": 1}, {"field": "a.b", "answer": 2}]),
                json!({"a": {"b": 2}}),
            ),
            (
                json!([{"field": "a.b", "answer": 1}, {"field": "a", "answer": 2}]),
                json!({"a": 2}),
            ),
            (
                json!([{"field": "a", "answer": 1}, {"field": "a", "answer": 2}, {"field": "a", "answer": 3}]),
                json!({"a": [1, 2, 3]}),
            ),
            (
                json!([{"field": "a", "answer": [1, 2]}]),
                json!({"a": [1, 2]}),
            ),
            (
                json!([{"field": "a", "answer": [1]}, {"field": "a", "answer": 2}]),
                json!({"a": [[1], 2]}),
            ),
            (
                json!([{"field": "__proto__.x", "answer": 1}]),
                json!({"__proto__": {"x": 1}}),
            ),
            (
                json!([{"field": "a..b", "answer": 1}]),
                json!({"a": {"": {"b": 1}}}),
            ),
        ] {
            assert_eq!(reshaped(&answers).0, nested, "{answers}");
        }
    }

    #[test]
    fn a_path_has_its_limit() {
        let sent = |parts: usize| {
            let field = vec!["a"; parts].join(".");
            let mut data = json!({"form": "lead", "answers": [{"field": field, "answer": 1}]});
            reshape(data.as_object_mut().unwrap(), &SharedValues::default())
                .map_err(|cause| cause.to_string())
        };
        assert_eq!(sent(PARTS_MAX), Ok(()));
        for parts in [PARTS_MAX + 1, 100_000] {
            assert!(
                sent(parts)
                    .unwrap_err()
                    .starts_with("data.answers[0].field: ")
            );
        }
    }

    #[test]
    fn what_answers_expand_into_is_bounded() {
        let sent = |answers: Vec<Value>| {
            let mut data = json!({"form": "lead", "answers": answers});
            let before = data.clone();
            let shared = SharedValues::default();
            let outcome = reshape(data.as_object_mut().unwrap(), &shared);
            assert!(outcome.is_ok() || data == before);
            outcome
        };
        let answer = |field: String| json!({"field": field, "answer": 1});
        let nested = |number: usize| answer(format!("k{number}{}", ".999".repeat(31)));
        // The root, ten keys and their arrays' thousand places each are 10,011; nine fit.
        let flat = |number: usize| answer(format!("k{number}.999"));
        assert!(sent((0..9).map(flat).collect()).is_ok());
        assert!(
            sent(
                (0..NODES_MAX - 1)
                    .map(|number| answer(number.to_string()))
                    .collect()
            )
            .is_ok()
        );
        for answers in [
            vec![nested(0)],
            (0..1_000).map(nested).collect(),
            (0..10).map(flat).collect(),
            (0..NODES_MAX)
                .map(|number| answer(format!("k{number}")))
                .collect(),
            (0..NODES_MAX).map(|_| answer("again".into())).collect(),
            vec![json!({"field": "list", "answer": vec![0; NODES_MAX]})],
            vec![json!({"field": "x", "answer": "y".repeat(BYTES_MAX)})],
            vec![json!({"field": "x", "answer": 1, "fieldLabel": "y".repeat(BYTES_MAX)})],
        ] {
            let refused = sent(answers).unwrap_err();
            assert_eq!(refused.kind, Kind::InteractionContent);
            assert!(
                refused.to_string().starts_with("data.answers: "),
                "{}",
                refused
            );
        }
    }

    #[test]
    fn without_a_form_nothing_is_reshaped() {
        for mut data in [
            json!({"answers": [{"field": "a", "answer": 1}]}),
            json!({"form": "x", "answers": [], "answersData": {"mine": 1}}),
        ] {
            let before = data.clone();
            reshape(data.as_object_mut().unwrap(), &SharedValues::default()).unwrap();
            assert_eq!(data, before);
        }
    }

    #[test]
    fn what_is_no_form_is_told_by_path() {
        for (mut data, path) in [
            (json!({"form": 1, "answers": []}), "data.form:"),
            (json!({"form": "x"}), "data.answers:"),
            (json!({"form": "x", "answers": {}}), "data.answers:"),
            (json!({"form": "x", "answers": [1]}), "data.answers[0]:"),
            (
                json!({"form": "x", "answers": [{"field": 1}]}),
                "data.answers[0].field:",
            ),
        ] {
            let error =
                reshape(data.as_object_mut().unwrap(), &SharedValues::default()).unwrap_err();
            assert!(error.to_string().starts_with(path), "{error}");
        }
    }
}
