//! Documents as lines that people read, and the lines by which two of them differ.

use crate::types::text::label;
use serde_json::{Map, Value};

/// Differences that are shown.
const MOST: usize = 40;
const TEXT_MAX_CHARS: usize = 400;

/// The words for what a document does not have as text.
pub struct Words {
    pub yes: String,
    pub no: String,
    /// A reference, with `{}` in place of its number.
    pub number: String,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            yes: "yes".to_owned(),
            no: "no".to_owned(),
            number: "No. {}".to_owned(),
        }
    }
}

pub struct Differences {
    pub rows: Vec<Difference>,
    /// The number of entries left out.
    pub more: usize,
}

/// A value that differs; empty where one of the documents lacks it.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its path: `Data › Travel › hotel`.
    pub what: String,
    pub before: String,
    pub after: String,
}

#[must_use]
pub fn differences(before: Option<&Value>, after: Option<&Value>, words: &Words) -> Differences {
    let (before, after) = (lines(before, words), lines(after, words));
    let found = |lines: &[(String, String)], path: &str| {
        let line = lines.iter().find(|(known, _)| known == path);
        line.map_or_else(String::new, |(_, text)| text.clone())
    };
    let added = after.iter().filter(|(path, _)| {
        let mut known = before.iter();
        !known.any(|(known, _)| known == path)
    });
    let mut rows: Vec<Difference> = before
        .iter()
        .chain(added)
        .map(|(path, _)| Difference {
            what: path.clone(),
            before: found(&before, path),
            after: found(&after, path),
        })
        .filter(|row| row.before != row.after)
        .collect();
    let more = rows.len().saturating_sub(MOST);
    rows.truncate(MOST);
    for row in &mut rows {
        row.what = match row.what.split_once(" › ") {
            Some((first, rest)) => format!("{} › {rest}", label(first)),
            None => label(&row.what),
        };
        row.before = shortened(&row.before);
        row.after = shortened(&row.after);
    }
    Differences { rows, more }
}

fn lines(document: Option<&Value>, words: &Words) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if let Some(document) = document {
        flatten_in("", document, words, &mut lines);
    }
    lines
}

/// Every value of a document, with its path.
pub fn flatten(path: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    flatten_in(path, value, &Words::default(), lines);
}

fn flatten_in(path: &str, value: &Value, words: &Words, lines: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(object) if is_reference(object) => {
            let number = words.number.replace("{}", &object["id"].to_string());
            lines.push((path.to_owned(), number));
        }
        Value::Object(object) => {
            for (name, value) in object.iter().filter(|(name, _)| *name != "_type") {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path} › {name}")
                };
                flatten_in(&path, value, words, lines);
            }
        }
        Value::Bool(true) => lines.push((path.to_owned(), words.yes.clone())),
        Value::Bool(false) => lines.push((path.to_owned(), words.no.clone())),
        value => lines.push((path.to_owned(), in_words(value))),
    }
}

fn is_reference(object: &Map<String, Value>) -> bool {
    object.len() == 2 && object.contains_key("id") && object.contains_key("_type")
}

/// A value as people read it.
#[must_use]
pub fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_array() && !item.is_object()) =>
        {
            let items: Vec<String> = items.iter().map(in_words).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(TEXT_MAX_CHARS).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(before: &Value, after: &Value) -> Vec<(String, String, String)> {
        let some = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        differences(
            some(before).as_ref(),
            some(after).as_ref(),
            &Words::default(),
        )
        .rows
        .into_iter()
        .map(|row| (row.what, row.before, row.after))
        .collect()
    }

    #[test]
    fn only_what_differs_is_shown_by_its_path() {
        let shown = rows(
            &json!({"firstName": "Ada", "rawFlags": "v", "data": {"Access": {"entry": "single", "capacity": 9}, "Data": {"x": [1, 2]}}}),
            &json!({"firstName": "Ada L.", "data": {"Access": {"entry": "single", "capacity": 12}, "Data": {"x": [1, {"y": true}]}}}),
        );
        let expected = [
            ("First name", "Ada", "Ada L."),
            ("Raw flags", "v", ""),
            ("Data › Access › capacity", "9", "12"),
            ("Data › Data › x", "1, 2", r#"[1,{"y":true}]"#),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(what, before, after)| (what.to_string(), before.to_string(), after.to_string()))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_was_made_has_no_before_and_what_is_deleted_no_after() {
        let record =
            json!({"_type": "device", "name": "Hall", "isAvailable": false, "parent": null});
        let made = rows(&Value::Null, &record);
        assert_eq!(made[0], ("Name".into(), String::new(), "Hall".into()));
        assert_eq!(made[1], ("Is available".into(), String::new(), "no".into()));
        assert_eq!(made.len(), 2);
        let deleted = rows(&record, &Value::Null);
        assert_eq!(deleted[0], ("Name".into(), "Hall".into(), String::new()));
    }

    #[test]
    fn a_long_change_is_cut_and_says_so() {
        let many: serde_json::Map<String, Value> = (0..100)
            .map(|n| (format!("p{n}"), json!("x".repeat(1000))))
            .collect();
        let shown = differences(None, Some(&Value::Object(many)), &Words::default());
        assert_eq!((shown.rows.len(), shown.more), (MOST, 60));
        assert_eq!(shown.rows[0].after.chars().count(), TEXT_MAX_CHARS + 1);
    }
}
