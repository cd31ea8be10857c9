//! What can be changed about a device, as a form: texts as they were typed, compared with those of
//! the record, so that only what was changed is written.

use super::{
    document::{ACCESS, Document, difference},
    parent,
};
use crate::{
    admin::Fields,
    core::{
        records::{Field, Kind},
        rules::{AccessRules, Entry, RuleSet},
    },
    db::Tx,
    domain::devices::{
        MANAGER,
        record::{Record, form_fields},
    },
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Whether only events have a field.
pub fn is_of_event(field: &Field) -> bool {
    MANAGER.iter().any(|known| known.name == field.name)
}

/// The rules whose value is a number.
pub const NUMBERS: [&str; 4] = ["maxCheckIns", "capacity", "opensBefore", "closesAfter"];
/// Rules of entry, in the order in which they are stored.
const RULES: [&str; 6] = [
    "ruleSet",
    "entry",
    "maxCheckIns",
    "capacity",
    "opensBefore",
    "closesAfter",
];
/// Empty rows that wait for more keys.
const EMPTY_ROWS: usize = 3;

/// What the form says.
#[derive(Clone, Default)]
pub struct Draft {
    texts: HashMap<&'static str, String>,
    pub document: Document,
}

/// What a draft changes: properties of the device, and those that only an event has.
#[derive(Default)]
pub struct Changes {
    pub device: Map<String, Value>,
    pub event: Map<String, Value>,
}

impl Draft {
    /// What a record holds.
    pub fn of(record: &Record, zone: &Zone) -> Self {
        let mut draft = Self {
            document: Document::of(&record.document()),
            ..Self::default()
        };
        for field in form_fields() {
            let text = match field.name {
                "startAt" => local(record.start_at, zone),
                "endAt" => local(record.end_at, zone),
                _ => unix(record.text(field.column)),
            };
            draft.set(field.name, text);
        }
        draft.set("deviceType", record.kind().to_owned());
        draft.set("available", flag(record.available));
        let parent = record.parent.as_ref().filter(|parent| !parent.deleted);
        let parent = parent.map(|parent| parent::shown(parent.id, &parent.name));
        draft.set("parent", parent.unwrap_or_default());
        draft.set_rules(record.rules().unwrap_or_default());
        draft
    }

    /// A new device of a type, under a parent.
    pub fn fresh(kind: &str, parent: Option<&Record>) -> Self {
        let mut draft = Self::default();
        draft.set("deviceType", kind.to_owned());
        draft.set("available", flag(true));
        if let Some(parent) = parent {
            draft.set("parent", parent::shown(parent.id.0, &parent.name));
        }
        draft
    }

    /// What was sent.
    pub fn sent(form: &Fields) -> Self {
        let mut draft = Self::default();
        for field in form_fields() {
            let text = unix(form.sent(field.name).unwrap_or_default());
            let text = if field.kind == Kind::Time && text.len() == "2026-11-21T09:02".len() {
                text + ":00"
            } else {
                text
            };
            draft.set(field.name, text);
        }
        for name in ["deviceType", "parent"] {
            draft.set(name, form.sent(name).unwrap_or_default().to_owned());
        }
        draft.set("available", flag(form.ticked("available")));
        for name in RULES {
            draft.set(name, form.text(name).to_owned());
        }
        draft.document = Document {
            rows: form
                .all("key")
                .zip(form.all("value"))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .filter(|(key, value)| !(key.trim().is_empty() && value.trim().is_empty()))
                .collect(),
            rest: unix(form.sent("rest").unwrap_or_default()),
        };
        draft
    }

    fn set(&mut self, name: &'static str, text: String) {
        self.texts.insert(name, text);
    }

    fn set_rules(&mut self, rules: AccessRules) {
        let number = |number: Option<u32>| number.map_or_else(String::new, |it| it.to_string());
        self.set("ruleSet", rule_set(rules.rule_set).to_owned());
        self.set("entry", entry(rules.entry).to_owned());
        self.set("maxCheckIns", number(rules.max_check_ins));
        self.set("capacity", number(rules.capacity));
        self.set("opensBefore", number(rules.opens_before));
        self.set("closesAfter", number(rules.closes_after));
    }

    /// The text of a field.
    pub fn get(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// Rows of the free part, with empty ones at the end.
    pub fn rows(&self) -> Vec<(String, String)> {
        let empty = (0..EMPTY_ROWS).map(|_| (String::new(), String::new()));
        self.document.rows.iter().cloned().chain(empty).collect()
    }

    /// Names and texts of `other` that differ from these, as the form labels them.
    pub fn differing(&self, other: &Self) -> Vec<(&'static str, String)> {
        let mut told: Vec<_> = labels()
            .filter(|(name, _)| self.get(name) != other.get(name))
            .map(|(name, label)| (label, other.get(name).to_owned()))
            .collect();
        if self.document != other.document {
            let rows = other.document.rows.iter();
            let rows: Vec<_> = rows.map(|(key, value)| format!("{key}: {value}")).collect();
            told.push((
                "Other data",
                format!("{} {}", rows.join(", "), other.document.rest),
            ));
        }
        told
    }

    /// What has to be written so that the record, which says `before` and whose stored data is
    /// `stored`, says this.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the field.
    pub fn changes(&self, tx: &Tx<'_>, before: &Self, stored: Option<&Record>) -> Result<Changes> {
        let mut changes = Changes::default();
        let changed = |name: &str| self.get(name) != before.get(name);
        let value = |name: &str| match self.get(name).trim() {
            "" => Value::Null,
            text => Value::from(text),
        };
        for field in form_fields().filter(|field| changed(field.name)) {
            let body = if is_of_event(field) {
                &mut changes.event
            } else {
                &mut changes.device
            };
            body.insert(field.name.to_owned(), value(field.name));
        }
        let body = &mut changes.device;
        if changed("deviceType") {
            body.insert("deviceType".into(), value("deviceType"));
        }
        if changed("available") {
            body.insert(
                "available".into(),
                (!self.get("available").is_empty()).into(),
            );
        }
        if changed("parent") {
            let parent = match self.get("parent").trim() {
                "" => Value::Null,
                typed => parent::read(tx, typed)?.into(),
            };
            body.insert("parent".into(), parent);
        }
        if let Some(data) = self.data(stored)? {
            body.insert("data".into(), data);
        }
        Ok(changes)
    }

    /// The merge patch of `data`.
    fn data(&self, stored: Option<&Record>) -> Result<Option<Value>> {
        let before = stored.map_or_else(|| json!({}), Record::document);
        let mut after = self.document.joined(&before)?;
        let rules = self.rules()?;
        if !rules.is_empty() {
            after.insert(ACCESS.to_owned(), Value::Object(rules));
        } else if before
            .get(ACCESS)
            .is_some_and(|access| *access == json!({}))
        {
            after.insert(ACCESS.to_owned(), json!({}));
        }
        let patch = difference(&before, &Value::Object(after));
        // What cannot be read is written anew even where nothing else is to change.
        let unreadable = stored.is_some_and(|record| record.rules().is_none());
        Ok(patch.or_else(|| unreadable.then(|| json!({}))))
    }

    fn rules(&self) -> Result<Map<String, Value>> {
        let mut rules = Map::new();
        for name in RULES {
            let text = self.get(name);
            if text.is_empty() {
                continue;
            }
            let value = if NUMBERS.contains(&name) {
                let number: u32 = crate::types::text::whole(text)
                    .map_err(|fault| Error::invalid(format!("{name}: {fault}")))?;
                Value::from(number)
            } else {
                Value::from(text)
            };
            rules.insert(name.to_owned(), value);
        }
        Ok(rules)
    }
}

/// What fields are called, by their names.
pub fn labels() -> impl Iterator<Item = (&'static str, &'static str)> {
    const OTHERS: [(&str, &str); 11] = [
        ("deviceType", "Type"),
        ("parent", "Belongs to"),
        ("available", "In use"),
        ("ruleSet", "Who may enter"),
        ("entry", "How often"),
        ("maxCheckIns", "Check-ins of a person, at most"),
        ("capacity", "People inside, at most"),
        ("opensBefore", "Opens, minutes before the start"),
        ("closesAfter", "Closes, minutes after the end"),
        ("rows", "More about it"),
        ("rest", "As JSON"),
    ];
    form_fields()
        .map(|field| (field.name, field.label))
        .chain(OTHERS)
}

/// A message that begins with a field's name: the field, and the message with its label.
pub fn located(message: &str) -> (Option<&'static str>, String) {
    let plain = message.replace("data.Access.", "");
    let split = plain.split_once(": ");
    let known = split.and_then(|(name, rest)| {
        let found = labels().find(|(known, _)| *known == name);
        found.map(|(name, label)| (name, format!("{label}: {rest}")))
    });
    match known {
        Some((name, message)) => (Some(name), message),
        None => (None, plain),
    }
}

/// The word of a rule set; empty for none.
pub fn rule_set(rules: Option<RuleSet>) -> &'static str {
    match rules {
        None => "",
        Some(RuleSet::Open) => "open",
        Some(RuleSet::Simple) => "simple",
    }
}

/// The word of an entry rule; empty for none.
pub fn entry(entry: Option<Entry>) -> &'static str {
    match entry {
        None => "",
        Some(Entry::Multiple) => "multiple",
        Some(Entry::Single) => "single",
    }
}

fn flag(flag: bool) -> String {
    if flag { "1" } else { "" }.to_owned()
}

/// As `<input type="datetime-local">` has it.
fn local(at: Option<Timestamp>, zone: &Zone) -> String {
    at.map_or_else(String::new, |at| zone.plain(at).replace(' ', "T"))
}

/// Line ends as they were before a browser sent them.
fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_with_the_label_of_its_field() {
        for (message, field, told) in [
            (
                "endAt: must not be before startAt",
                Some("endAt"),
                "Ends: must not be before startAt",
            ),
            (
                "data.Access.capacity: invalid type",
                Some("capacity"),
                "People inside, at most: invalid type",
            ),
            ("something else: odd", None, "something else: odd"),
        ] {
            assert_eq!(located(message), (field, told.to_owned()));
        }
    }
}
