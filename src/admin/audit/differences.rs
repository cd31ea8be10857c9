//! Before and after side by side: only what differs, each value by its path.

use serde_json::{Map, Value};

/// Values shown of a change; the export has them all.
const MOST: usize = 40;
/// Characters shown of a value.
const TEXT_MAX_CHARS: usize = 400;

/// What differs.
pub struct Differences {
    pub rows: Vec<Difference>,
    /// How many more there are.
    pub more: usize,
}

/// A value that is another, or was or is not there.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    pub what: String,
    pub before: String,
    pub after: String,
}

/// The values in which two records differ, in the order of the records.
pub fn differences(before: Option<&Value>, after: Option<&Value>) -> Differences {
    let (before, after) = (values(before), values(after));
    let mut names: Vec<&String> = before.iter().map(|(name, _)| name).collect();
    names.extend(
        after
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !before.iter().any(|(known, _)| known == *name)),
    );
    let mut rows: Vec<Difference> = names
        .into_iter()
        .map(|name| Difference {
            what: name.clone(),
            before: found(&before, name),
            after: found(&after, name),
        })
        .filter(|row| row.before != row.after)
        .collect();
    let more = rows.len().saturating_sub(MOST);
    rows.truncate(MOST);
    for row in &mut rows {
        row.what = words(&row.what);
        row.before = shortened(&row.before);
        row.after = shortened(&row.after);
    }
    Differences { rows, more }
}

fn found(values: &[(String, String)], name: &str) -> String {
    let value = values.iter().find(|(known, _)| known == name);
    value.map_or_else(String::new, |(_, text)| text.clone())
}

/// Every value of a record by its path; a value that is no record has none.
fn values(record: Option<&Value>) -> Vec<(String, String)> {
    let mut values = Vec::new();
    if let Some(record) = record {
        flatten("", record, &mut values);
    }
    values
}

/// The values of a document, each by its path.
pub fn flatten(path: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(object) if is_reference(object) => {
            out.push((path.to_owned(), format!("No. {}", object["id"])));
        }
        Value::Object(object) => {
            // What kind of record it is stands above.
            for (name, value) in object.iter().filter(|(name, _)| *name != "_type") {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path} › {name}")
                };
                flatten(&path, value, out);
            }
        }
        value => out.push((path.to_owned(), text(value))),
    }
}

fn is_reference(object: &Map<String, Value>) -> bool {
    object.len() == 2 && object.contains_key("id") && object.contains_key("_type")
}

fn text(value: &Value) -> String {
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
            let items: Vec<String> = items.iter().map(text).collect();
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

/// `First name` of `firstName`; the names in sections of `data` are people's own and stay.
fn words(path: &str) -> String {
    let (first, rest) = match path.split_once(" › ") {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut text = String::new();
    for letter in first.chars() {
        if text.is_empty() {
            text.extend(letter.to_uppercase());
        } else if letter.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
            text.extend(letter.to_lowercase());
        } else {
            text.push(letter);
        }
    }
    match rest {
        Some(rest) => format!("{text} › {rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(before: &Value, after: &Value) -> Vec<(String, String, String)> {
        let some = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        differences(some(before).as_ref(), some(after).as_ref())
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
        let shown = differences(None, Some(&Value::Object(many)));
        assert_eq!((shown.rows.len(), shown.more), (MOST, 60));
        assert_eq!(shown.rows[0].after.chars().count(), TEXT_MAX_CHARS + 1);
    }
}
