//! What a device's `data.Access` says: its rules of entry, as an administrator writes them.

use crate::types::{
    error::{Error, Result},
    json::in_plain_words,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_json::{Value, json};
use std::fmt;

/// Who may enter at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleSet {
    /// Everybody with a known code.
    Open,
    /// Who has a `join` or `booking` with the device or one of its ancestors (Simple ACL).
    Simple,
}

/// How often one may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// Again and again.
    Multiple,
    /// Not again before a check-out.
    Single,
}

/// A device's rules; what is `None` follows the instance's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessRules {
    /// `ruleSet`: `open` unless set.
    #[serde(default, deserialize_with = "present")]
    pub rule_set: Option<RuleSet>,
    /// `entry`: `multiple` unless set.
    #[serde(default, deserialize_with = "present")]
    pub entry: Option<Entry>,
    /// `maxCheckIns`: check-ins (overrides included) of one delegate; unlimited unless set.
    #[serde(default, deserialize_with = "present")]
    pub max_check_ins: Option<u32>,
    /// `capacity`: delegates inside at a time; unlimited unless set.
    #[serde(default, deserialize_with = "present")]
    pub capacity: Option<u32>,
    /// `opensBefore`: minutes before `startAt` from which check-ins pass; any time unless set.
    #[serde(default, deserialize_with = "present")]
    pub opens_before: Option<u32>,
    /// `closesAfter`: minutes after `endAt` until which check-ins pass; any time unless set.
    #[serde(default, deserialize_with = "present")]
    pub closes_after: Option<u32>,
}

/// A rule that is written has a value: `null` would be a rule that nobody can read.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Derived, it would take a list too, for the rules in their order.
impl<'de> Deserialize<'de> for AccessRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadRules)
    }
}

struct ReadRules;

impl<'de> Visitor<'de> for ReadRules {
    type Value = AccessRules;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of rules")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AccessRules, A::Error> {
        AccessRules::deserialize(MapAccessDeserializer::new(map))
    }
}

/// The part of a device's `data` that rules stand in.
#[derive(serde::Deserialize)]
struct AccessSection {
    #[serde(rename = "Access")]
    access: Option<AccessRules>,
}

impl AccessRules {
    /// Reads rules strictly; `name` is what messages call them, such as `data.Access`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of the rule at fault.
    pub fn parse(name: &str, value: &Value) -> Result<Self> {
        serde_path_to_error::deserialize(value).map_err(|cause| {
            let path = cause.path().to_string();
            let path = if path == "." {
                name.to_owned()
            } else {
                format!("{name}.{path}")
            };
            let told = in_plain_words(&cause.into_inner().to_string());
            Error::invalid(format!("{path}: {told}"))
        })
    }

    /// The rules in a device's stored `data`; `None` when they cannot be read.
    pub fn of_stored(data: Option<&str>) -> Option<Self> {
        let Some(data) = data else {
            return Some(Self::default());
        };
        // serde would take a list for the sections in their order.
        if !data.trim_ascii_start().starts_with('{') {
            return None;
        }
        let section: AccessSection = serde_json::from_str(data).ok()?;
        Some(section.access.unwrap_or_default())
    }

    /// As [`AccessRules::parse`] reads them.
    pub fn to_json(self) -> Value {
        let mut json = json!({});
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                json[name] = value;
            }
        };
        put("ruleSet", self.rule_set.map(|rule| json!(rule)));
        put("entry", self.entry.map(|entry| json!(entry)));
        put("maxCheckIns", self.max_check_ins.map(Value::from));
        put("capacity", self.capacity.map(Value::from));
        put("opensBefore", self.opens_before.map(Value::from));
        put("closesAfter", self.closes_after.map(Value::from));
        json
    }

    /// These rules, with `default` for what they leave open.
    #[must_use]
    pub fn or(self, default: Self) -> Self {
        Self {
            rule_set: self.rule_set.or(default.rule_set),
            entry: self.entry.or(default.entry),
            max_check_ins: self.max_check_ins.or(default.max_check_ins),
            capacity: self.capacity.or(default.capacity),
            opens_before: self.opens_before.or(default.opens_before),
            closes_after: self.closes_after.or(default.closes_after),
        }
    }

    /// Whether a check-in needs a `join`.
    pub fn needs_join(&self) -> bool {
        self.rule_set == Some(RuleSet::Simple)
    }

    pub(super) fn is_single_entry(&self) -> bool {
        self.entry == Some(Entry::Single)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(value: Value) -> AccessRules {
        AccessRules::parse("data.Access", &value).unwrap()
    }

    #[test]
    fn typos_in_rules_are_refused_by_path() {
        for (access, message) in [
            (
                json!({"entri": "single"}),
                "data.Access.entri: unknown field",
            ),
            (
                json!({"entry": "singel"}),
                "data.Access.entry: must be one of multiple, single",
            ),
            (
                json!({"maxCheckIns": -1}),
                "data.Access.maxCheckIns: must be a whole number from 0 to 4294967295",
            ),
            (
                json!({"capacity": "ten"}),
                "data.Access.capacity: must be a whole number",
            ),
            (
                json!({"capacity": null}),
                "data.Access.capacity: must be a whole number",
            ),
            (json!([]), "data.Access"),
            (json!("open"), "data.Access"),
        ] {
            let error = AccessRules::parse("data.Access", &access).unwrap_err();
            assert!(
                error.message.starts_with(message),
                "{access}: {}",
                error.message
            );
        }
    }

    #[test]
    fn a_device_overrides_the_defaults_rule_by_rule() {
        let defaults = rules(json!({"ruleSet": "simple", "capacity": 5}));
        let merged = rules(json!({"ruleSet": "open", "entry": "single"})).or(defaults);
        assert_eq!(
            merged,
            rules(json!({"ruleSet": "open", "entry": "single", "capacity": 5}))
        );
    }
}
