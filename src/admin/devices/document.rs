//! The free part of a device's `data` in a form: rows for the plain values of `data.Data`, and a box
//! of JSON for the rest. The rules of entry have a form of their own.

use crate::types::{
    error::{Error, Result},
    json, text,
};
use serde_json::{Map, Value};

/// The section that has rows.
const FREE: &str = "Data";
/// The section that has a form of its own.
pub const ACCESS: &str = "Access";

/// `data` as the form shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Plain values by their keys.
    pub rows: Vec<(String, String)>,
    /// Everything else, as JSON; empty where there is nothing else.
    pub rest: String,
}

impl Document {
    /// Splits a stored document.
    pub fn of(stored: &Value) -> Self {
        let mut rest = stored.as_object().cloned().unwrap_or_default();
        rest.shift_remove(ACCESS);
        let mut rows = Vec::new();
        if let Some(Value::Object(free)) = rest.get_mut(FREE) {
            free.retain(|key, value| match plain(value) {
                Some(text) => {
                    rows.push((key.clone(), text));
                    false
                }
                None => true,
            });
            if free.is_empty() {
                rest.shift_remove(FREE);
            }
        }
        let rest = if rest.is_empty() {
            String::new()
        } else {
            serde_json::to_string_pretty(&rest).unwrap_or_default()
        };
        Self { rows, rest }
    }

    /// Puts the two together again; a row whose text is as it was keeps the stored value, so that a
    /// number stays a number.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for what is no JSON object, and for a key that stands twice.
    pub fn joined(&self, stored: &Value) -> Result<Map<String, Value>> {
        let mut data = self.parsed_rest()?;
        let mut free = match data.shift_remove(FREE) {
            None => Map::new(),
            Some(Value::Object(free)) => free,
            Some(_) => return Err(Error::invalid("rest: Data must be an object of values")),
        };
        for (key, typed) in &self.rows {
            let key = key.trim();
            let known = stored.get(FREE).and_then(|free| free.get(key));
            let value = typed_value(known, typed);
            if key.is_empty() && value.is_none() {
                continue;
            }
            if key.is_empty() {
                return Err(Error::invalid(format!(
                    "rows: \"{}\" has no name",
                    text::shortened(typed)
                )));
            }
            if free.contains_key(key) {
                return Err(Error::invalid(format!(
                    "rows: \"{}\" stands twice",
                    text::shortened(key)
                )));
            }
            if let Some(value) = value {
                free.insert(key.to_owned(), value);
            }
        }
        if !free.is_empty() {
            data.insert(FREE.to_owned(), Value::Object(free));
        }
        Ok(data)
    }

    fn parsed_rest(&self) -> Result<Map<String, Value>> {
        if self.rest.trim().is_empty() {
            return Ok(Map::new());
        }
        let rest: Result<Map<String, Value>> = json::check_limits(self.rest.as_bytes())
            .and_then(|()| json::parse(self.rest.as_bytes()));
        let rest = rest.map_err(|cause| {
            let message = cause.message.replace("the body", "this");
            Error::invalid(format!("rest: {message}"))
        })?;
        if rest.contains_key(ACCESS) {
            return Err(Error::invalid(
                "rest: the rules of entry (Access) have their own fields further up",
            ));
        }
        Ok(rest)
    }
}

/// A value that fits into one line.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains('\n') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn typed_value(known: Option<&Value>, typed: &str) -> Option<Value> {
    if let Some(known) = known
        && plain(known).as_deref() == Some(typed)
    {
        return Some(known.clone());
    }
    let typed = typed.trim();
    if typed.is_empty() {
        return None;
    }
    let parsed = serde_json::from_str::<Value>(typed).ok();
    Some(match (known, parsed) {
        (Some(Value::Number(_)), Some(number @ Value::Number(_))) => number,
        (Some(Value::Bool(_)), Some(flag @ Value::Bool(_))) => flag,
        _ => Value::from(typed),
    })
}

/// The merge patch (RFC 7396) that makes `after` of `before`; `None` where they are the same.
pub fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(after.clone());
    };
    let mut patch: Map<String, Value> = old
        .keys()
        .filter(|key| !new.contains_key(*key))
        .map(|key| (key.clone(), Value::Null))
        .collect();
    for (key, value) in new {
        let part = match old.get(key) {
            Some(known) => difference(known, value),
            None => Some(value.clone()),
        };
        if let Some(part) = part {
            patch.insert(key.clone(), part);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_split_and_joined_without_a_change() {
        for stored in [
            json!({}),
            json!({"Access": {"entry": "single"}}),
            json!({"Data": {"floor": 2, "open": true, "sign": "B", "digits": "2", "deep": {"a": [1, 2]}}}),
            json!({"Data": {"text": "two\nlines"}, "Other": {"x": 1.5}, "Access": {}}),
            json!({"Data": {"blank": ""}}),
        ] {
            let joined = Document::of(&stored).joined(&stored).unwrap();
            let mut expected = stored.clone();
            expected.as_object_mut().unwrap().shift_remove(ACCESS);
            assert_eq!(Value::Object(joined), expected);
        }
    }

    #[test]
    fn a_number_that_is_changed_stays_a_number() {
        let stored = json!({"Data": {"floor": 2, "sign": "2", "gone": "x"}});
        let mut document = Document::of(&stored);
        for (key, value) in &mut document.rows {
            *value = if key == "gone" { "" } else { "3" }.to_owned();
        }
        document.rows.push(("new".into(), " 4 ".into()));
        document.rows.push((String::new(), " ".into()));
        let joined = Value::Object(document.joined(&stored).unwrap());
        assert_eq!(
            joined,
            json!({"Data": {"floor": 3, "sign": "3", "new": "4"}})
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (rows, rest, message) in [
            (
                &[("a", "1"), ("a", "2")][..],
                "",
                "rows: \"a\" stands twice",
            ),
            (&[("", "1")], "", "rows: \"1\" has no name"),
            (&[("a", "1")], r#"{"Data": {"a": {}}}"#, "stands twice"),
            (&[], "{", "rest: this is not valid JSON"),
            (&[], "[]", "rest: this must be an object"),
            (&[], r#"{"Access": {}}"#, "their own fields"),
            (&[], r#"{"Data": 1}"#, "rest: Data must be"),
        ] {
            let document = Document {
                rows: rows
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                    .collect(),
                rest: rest.to_owned(),
            };
            let error = document.joined(&json!({})).unwrap_err();
            assert!(error.message.contains(message), "{}", error.message);
        }
    }

    #[test]
    fn a_difference_merges_back() {
        for (before, after) in [
            (json!({}), json!({"a": 1})),
            (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 1}})),
            (json!({"a": {"b": 1}}), json!({"a": {}})),
            (json!({"a": "text"}), json!({"a": {"b": 1}})),
            (json!({"a": {"b": 1}}), json!({"a": [1]})),
            (json!({"a": 1}), json!({})),
        ] {
            let mut merged = before.clone();
            json::merge_patch(&mut merged, difference(&before, &after).unwrap());
            assert_eq!(merged, after);
            assert_eq!(difference(&after, &after), None);
        }
    }
}
