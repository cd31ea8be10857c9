//! The form of a record that the API knows, too: fields from its declaration, and its document as rows
//! of simple values with everything else as JSON.

use super::{Group, Input};
use crate::{
    admin::Fields,
    core::records::{Field, Kind},
    types::{
        Timestamp, Zone,
        error::{Error, Result},
        json, text,
    },
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The section of simple values that have no place of their own.
const FREE: &str = "Data";

/// The values of a record as its form has them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordDraft {
    texts: BTreeMap<&'static str, String>,
    pub document: Document,
}

impl RecordDraft {
    /// Reads the fields that were typed.
    pub fn typed<'a>(form: &Fields, fields: impl Iterator<Item = &'a Field>) -> Self {
        let mut draft = Self {
            document: Document {
                rows: form.pairs(),
                rest: unix(form.text("rest")),
            },
            ..Self::default()
        };
        for field in fields {
            let typed = form.text(field.name);
            let without_seconds =
                field.kind == Kind::Time && typed.len() == "2026-11-21T09:02".len();
            let typed = if without_seconds {
                format!("{typed}:00")
            } else {
                typed.to_owned()
            };
            draft.set(field.name, &typed);
        }
        draft
    }

    pub fn get(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// Sets a value as a browser would send it.
    pub fn set(&mut self, name: &'static str, text: &str) {
        self.texts.insert(name, unix(text.trim()));
    }

    pub fn set_time(&mut self, name: &'static str, at: Option<Timestamp>, zone: &Zone) {
        let text = at.map_or_else(String::new, |at| zone.plain(at).replace(' ', "T"));
        self.set(name, &text);
    }

    /// The field of a form.
    pub fn input(&self, field: &Field) -> Input {
        let (name, label, value) = (field.name, field.label, self.get(field.name));
        let input = match field.kind {
            Kind::Time => Input::line("datetime-local", name, label)
                .value(value)
                .attribute("step", "1"),
            Kind::Code => Input::text(name, label)
                .value(value)
                .max(255)
                .attribute("spellcheck", "false"),
            _ if field.is_multiline => Input::area(name, label, 3).value(value).wide(),
            _ => Input::text(name, label).value(value),
        };
        input.help(field.help)
    }

    /// The fields that differ from what is stored, as the body of a PATCH.
    pub fn changes<'a>(
        &self,
        stored: &Self,
        fields: impl Iterator<Item = &'a Field>,
    ) -> Map<String, Value> {
        let differing = fields.filter(|field| self.differs(stored, field.name));
        differing
            .map(|field| (field.name.to_owned(), self.value(field.name)))
            .collect()
    }

    pub fn differs(&self, stored: &Self, name: &str) -> bool {
        self.get(name) != stored.get(name)
    }

    /// A text, or null where nothing was typed.
    pub fn value(&self, name: &str) -> Value {
        match self.get(name) {
            "" => Value::Null,
            text => text.into(),
        }
    }
}

/// A document as people edit it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Simple values of the section `Data`.
    pub rows: Vec<(String, String)>,
    /// Everything else, as JSON.
    pub rest: String,
}

impl Document {
    /// Splits a stored document; the section `hidden` is left out.
    pub fn new(stored: &Value, hidden: &str) -> Self {
        let mut rest = stored.as_object().cloned().unwrap_or_default();
        rest.shift_remove(hidden);
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

    /// The document as it was typed; values that are stored keep their types.
    pub fn joined(&self, stored: &Value) -> Result<Map<String, Value>> {
        let mut data = self.parsed_rest()?;
        let mut free = match data.shift_remove(FREE) {
            None => Map::new(),
            Some(Value::Object(free)) => free,
            Some(_) => return Err(Error::field("rest", "Data must be an object of values")),
        };
        for (key, typed) in &self.rows {
            let known = stored.get(FREE).and_then(|free| free.get(key));
            let Some(value) = typed_value(known, typed) else {
                continue;
            };
            let fault = if key.is_empty() {
                format!("\"{}\" has no name", text::shortened(typed))
            } else if free.contains_key(key) {
                format!("\"{}\" stands twice", text::shortened(key))
            } else {
                free.insert(key.clone(), value);
                continue;
            };
            return Err(Error::field("rows", fault));
        }
        if !free.is_empty() {
            data.insert(FREE.to_owned(), Value::Object(free));
        }
        Ok(data)
    }

    fn parsed_rest(&self) -> Result<Map<String, Value>> {
        #[derive(serde::Deserialize)]
        struct Sections(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);
        if self.rest.trim().is_empty() {
            return Ok(Map::new());
        }
        let rest = json::parse_named::<Sections>("this", self.rest.as_bytes());
        rest.map(|sections| sections.0)
            .map_err(|cause| cause.at("rest"))
    }
}

/// The fields of a document.
pub fn document_group(document: &Document, help: &'static str, example: &'static str) -> Group {
    Group::new(
        "Details",
        vec![
            Input::pairs("rows", "Values", &document.rows),
            Input::area("rest", "Other sections, as JSON", 6)
                .value(&document.rest)
                .code()
                .placeholder(example)
                .folded(),
        ],
    )
    .help(help)
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains(['\n', '\r']) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn typed_value(known: Option<&Value>, typed: &str) -> Option<Value> {
    if let Some(known) = known
        && plain(known).is_some_and(|text| text.trim() == typed)
    {
        return Some(known.clone());
    }
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
            json!({"Data": {"blank": "", "spaced": " x "}}),
        ] {
            let joined = Document::new(&stored, "Access").joined(&stored).unwrap();
            let mut expected = stored.clone();
            expected.as_object_mut().unwrap().shift_remove("Access");
            assert_eq!(Value::Object(joined), expected);
        }
    }

    #[test]
    fn a_number_that_is_changed_stays_a_number() {
        let stored = json!({"Data": {"floor": 2, "sign": "2", "gone": "x"}});
        let mut document = Document::new(&stored, "");
        for (key, value) in &mut document.rows {
            *value = if key == "gone" { "" } else { "3" }.to_owned();
        }
        document.rows.push(("new".into(), "4".into()));
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
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
