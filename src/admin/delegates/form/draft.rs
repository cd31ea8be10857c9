//! What stands in the form of a record, and the changes that it comes to.

use super::super::{label, text};
use crate::{
    admin::Fields,
    core::records::Kind,
    domain::delegates,
    types::{
        DelegateSelector,
        error::{Error, Result},
        json,
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// The names of the fields of a kind, in the order of the form; flags have boxes of their own.
fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    let fields = delegates::FIELDS.iter();
    let fields = fields.filter(move |field| field.kind == kind && field.name != "rawFlags");
    fields.map(|field| field.name)
}

/// Flags that every event has.
pub(super) const FLAGS: &str = "abcdefkpsv";

/// What stands in the form.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) texts: Vec<Text>,
    pub(super) codes: Vec<Text>,
    pub(super) references: Vec<Text>,
    pub(super) flags: String,
    pub(super) details: Vec<Detail>,
    /// The other sections, as JSON.
    pub(super) sections: String,
}

/// A line with a text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) name: &'static str,
    pub(super) value: String,
}

impl Text {
    pub(super) fn label(&self) -> &'static str {
        label(self.name)
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.name {
            "email" => "email",
            "phone" => "tel",
            _ => "text",
        }
    }

    /// The id of the list of values that are offered.
    pub(super) fn list(&self) -> &'static str {
        match self.name {
            "delegateType" => "types",
            _ => "",
        }
    }
}

/// A line of the free-form details.
#[derive(Debug, Clone, Default)]
pub(super) struct Detail {
    pub(super) key: String,
    pub(super) value: String,
    /// The value is JSON: a number, a list, a group.
    pub(super) json: bool,
}

impl Detail {
    pub(super) fn label_suffix(&self) -> &'static str {
        if self.json { " (JSON)" } else { "" }
    }
}

impl Draft {
    /// A record as the form shows it.
    pub(super) fn of(record: &Map<String, Value>) -> Self {
        let texts = |kind: Kind| {
            let text = |name| Text {
                name,
                value: one_line(text(record, name)),
            };
            names(kind).map(text).collect()
        };
        let reference = |name| Text {
            name,
            value: record
                .get(name)
                .and_then(|other| other["id"].as_i64())
                .map_or_else(String::new, |id| id.to_string()),
        };
        let mut sections = record
            .get("data")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let details = match sections.remove("Data") {
            Some(Value::Object(details)) => details.into_iter().map(Detail::of).collect(),
            // What is no group of values is not for lines.
            Some(other) => {
                sections.insert("Data".to_owned(), other);
                Vec::new()
            }
            None => Vec::new(),
        };
        Self {
            texts: texts(Kind::Text),
            codes: texts(Kind::Code),
            references: names(Kind::Reference).map(reference).collect(),
            flags: text(record, "rawFlags").to_owned(),
            details,
            sections: shown(&sections),
        }
    }

    /// What was typed.
    pub(super) fn typed(form: &Fields) -> Self {
        let text = |name| Text {
            name,
            value: form.text(name).to_owned(),
        };
        let flags: String = form.all("flag").chain(form.all("flags")).collect();
        let kinds: Vec<&str> = form.all("detail-kind").collect();
        let details = form
            .all("detail-key")
            .zip(form.all("detail-value"))
            .enumerate();
        let details = details.map(|(at, (key, value))| Detail {
            key: key.trim().to_owned(),
            value: value.to_owned(),
            json: kinds.get(at) == Some(&"json"),
        });
        Self {
            texts: names(Kind::Text).map(text).collect(),
            codes: names(Kind::Code).map(text).collect(),
            references: names(Kind::Reference).map(text).collect(),
            flags: flags
                .to_lowercase()
                .chars()
                .filter(|flag| !flag.is_whitespace())
                .collect(),
            details: details
                .filter(|detail| !detail.key.is_empty() || !detail.value.is_empty())
                .collect(),
            sections: form.text("sections").to_owned(),
        }
    }

    /// The changes that make of a record what was typed.
    pub(super) fn changes(
        &self,
        connection: &Connection,
        current: &Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        let mut changes = Map::new();
        for typed in self.texts.iter().chain(&self.codes) {
            if typed.value != one_line(text(current, typed.name)) {
                changes.insert(typed.name.to_owned(), or_null(&typed.value));
            }
        }
        for typed in &self.references {
            let known = current
                .get(typed.name)
                .and_then(|other| other["id"].as_i64());
            let wanted = referred(connection, typed)?;
            if wanted != known {
                changes.insert(
                    typed.name.to_owned(),
                    wanted.map_or(Value::Null, Value::from),
                );
            }
        }
        if sorted(&self.flags) != sorted(text(current, "rawFlags")) {
            changes.insert("rawFlags".to_owned(), or_null(&sorted(&self.flags)));
        }
        let empty = Value::Object(Map::new());
        let stored = current.get("data").unwrap_or(&empty);
        if let Some(patch) = json::difference(stored, &self.data()?) {
            changes.insert("data".to_owned(), patch);
        }
        Ok(changes)
    }

    /// The sections as typed.
    fn data(&self) -> Result<Value> {
        let mut data = if self.sections.is_empty() {
            Map::new()
        } else {
            json::check_limits(self.sections.as_bytes())
                .and_then(|()| json::parse::<Sections>(self.sections.as_bytes()))
                .map_err(|cause| Error::invalid(format!("other sections: {}", cause.message)))?
                .0
        };
        let mut details = Map::new();
        for detail in &self.details {
            if detail.key.is_empty() {
                return Err(Error::invalid(format!(
                    "details: \"{}\" needs a name",
                    crate::types::text::shortened(&detail.value)
                )));
            }
            if details.contains_key(&detail.key) {
                return Err(Error::invalid(format!(
                    "details: \"{}\" stands twice",
                    crate::types::text::shortened(&detail.key)
                )));
            }
            if !detail.value.trim().is_empty() {
                details.insert(detail.key.clone(), detail.read()?);
            }
        }
        if !details.is_empty() {
            if data.contains_key("Data") {
                return Err(Error::invalid(
                    "other sections: Data stands among the details above already",
                ));
            }
            data.insert("Data".to_owned(), Value::Object(details));
        }
        Ok(Value::Object(data))
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    pub(super) fn flag(&self, flag: &char) -> bool {
        self.flags.contains(*flag)
    }

    /// Flags of the event's own, beside those that every event has.
    pub(super) fn more_flags(&self) -> String {
        let own = self.flags.chars().filter(|flag| !FLAGS.contains(*flag));
        own.collect()
    }
}

/// An object in which no property stands twice.
#[derive(serde::Deserialize)]
struct Sections(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);

impl Detail {
    fn of((key, value): (String, Value)) -> Self {
        match value {
            Value::String(value) if !value.contains(['\n', '\r']) => Self {
                key,
                value,
                json: false,
            },
            other => Self {
                key,
                value: other.to_string(),
                json: true,
            },
        }
    }

    fn read(&self) -> Result<Value> {
        if !self.json {
            return Ok(self.value.clone().into());
        }
        json::check_limits(self.value.as_bytes())
            .and_then(|()| {
                serde_json::from_str(&self.value)
                    .map_err(|cause| Error::invalid(json::fault(&cause)))
            })
            .map_err(|cause| {
                Error::invalid(format!(
                    "details: {} must be JSON, as it was before: {}",
                    crate::types::text::shortened(&self.key),
                    cause.message
                ))
            })
    }
}

/// A line of a form has no line breaks.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], "").trim().to_owned()
}

fn or_null(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        text.into()
    }
}

/// Flags as they are stored.
fn sorted(flags: &str) -> String {
    let mut flags: Vec<char> = flags.chars().collect();
    flags.sort_unstable();
    flags.dedup();
    flags.into_iter().collect()
}

/// Sections as the form shows them.
fn shown(sections: &Map<String, Value>) -> String {
    if sections.is_empty() {
        return String::new();
    }
    serde_json::to_string_pretty(sections).unwrap_or_default()
}

/// Whom a field means: a number, or a code such as `barcode:ABC`.
fn referred(connection: &Connection, typed: &Text) -> Result<Option<i64>> {
    if typed.value.is_empty() {
        return Ok(None);
    }
    if let Ok(id) = typed.value.parse() {
        return Ok(Some(id));
    }
    let told = |cause: Error| Error::invalid(format!("{}: {}", typed.label(), cause.message));
    let selector = DelegateSelector::parse(&typed.value).map_err(|_| {
        Error::invalid(format!(
            "{}: must be a delegate's number or a code such as barcode:ABC",
            typed.label()
        ))
    })?;
    let id = delegates::find(connection, &selector).map_err(told)?;
    Ok(Some(id.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_that_nobody_touched_changes_nothing() {
        let record = json!({"firstName": " Ada\nL. ", "barcode": "A", "rawFlags": "pz",
            "parent": {"id": 7, "_type": "delegate"},
            "data": {"Data": {"meal": "vegan", "count": 2, "text": "a\nb"}, "Travel": {"by": ["train"]}}});
        let record = record.as_object().unwrap();
        let connection = Connection::open_in_memory().unwrap();
        let changes = Draft::of(record).changes(&connection, record).unwrap();
        assert_eq!(Value::Object(changes), json!({}));
    }

    #[test]
    fn what_is_taken_out_of_the_details_is_cleared() {
        let record =
            json!({"data": {"Data": {"meal": "vegan", "count": 2}, "Travel": {"by": "train"}}});
        let record = record.as_object().unwrap();
        let mut draft = Draft::of(record);
        draft.details.remove(0);
        draft.details[0].value = "3".to_owned();
        draft.sections = String::new();
        let connection = Connection::open_in_memory().unwrap();
        let changes = draft.changes(&connection, record).unwrap();
        assert_eq!(
            Value::Object(changes),
            json!({"data": {"Travel": null, "Data": {"meal": null, "count": 3}}})
        );
    }
}
