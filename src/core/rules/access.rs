//! Rules of entry as an administrator writes them: a device's `data.Access`.

use super::{TypeList, TypeTimes, types::WrittenTypeTime};
use crate::types::{
    TimeOfDay, Zone,
    error::{Error, Result},
    json::in_plain_words,
};
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_json::{Value, json};
use std::fmt;

/// The people who may enter at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum RuleSet {
    /// Everybody with a known code.
    Open,
    /// Attendees with a `join` or `booking` with the device or one of its ancestors (Simple ACL).
    Simple,
}

/// The number of times that one may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Entry {
    /// Again and again.
    Multiple,
    /// Not again before a check-out.
    Single,
    /// Not again on the same day before a check-out.
    Daily,
}

/// The time in which check-ins are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Per {
    /// Each day anew.
    Day,
}

/// The rules of entry at a device. What is not set comes from the instance's settings. A door (a device of the type
/// `door` below a place) has no `capacity`, `entry` and `maxCheckIns`: they count at its parent, whose rules hold at the
/// door; what the door sets must pass, too.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AccessRules")]
pub struct AccessRules {
    /// `open`: everybody with a known code; `simple`: registered attendees only.
    #[serde(default, deserialize_with = "present")]
    pub rule_set: Option<RuleSet>,
    /// `single`: not again before a check-out; `daily`: not again on the same day before one.
    #[serde(default, deserialize_with = "present")]
    pub entry: Option<Entry>,
    /// Check-ins of one delegate.
    #[serde(default, deserialize_with = "present")]
    #[schemars(range(max = u32::MAX))]
    pub max_check_ins: Option<u32>,
    /// `day`: `maxCheckIns` counts the check-ins of each day.
    #[serde(default, deserialize_with = "present")]
    pub per: Option<Per>,
    /// Delegates inside at a time.
    #[serde(default, deserialize_with = "present")]
    #[schemars(range(max = u32::MAX))]
    pub capacity: Option<u32>,
    /// Minutes before `startAt` from which check-ins pass.
    #[serde(default, deserialize_with = "present")]
    #[schemars(range(max = u32::MAX))]
    pub opens_before: Option<u32>,
    /// Minutes after `endAt` until which check-ins pass.
    #[serde(default, deserialize_with = "present")]
    #[schemars(range(max = u32::MAX))]
    pub closes_after: Option<u32>,
    /// Types of delegates that may enter; an empty list lets nobody in.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<Vec<String>>")]
    pub types: Option<TypeList>,
    /// Times in which types of delegates may enter; other types are not narrowed.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<Vec<WrittenTypeTime>>")]
    pub type_times: Option<TypeTimes>,
    /// `hh:mm`, when everybody inside leaves, each day. Not inherited.
    #[serde(default, deserialize_with = "present")]
    #[schemars(
        with = "Option<String>",
        regex(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")
    )]
    pub everybody_out_at: Option<TimeOfDay>,
    /// Types of delegates that stay then. Not inherited.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<Vec<String>>")]
    pub everybody_out_except: Option<TypeList>,
    /// An entry at one place below ends the stay in the others. Not inherited.
    #[serde(default, deserialize_with = "present")]
    pub one_at_a_time: Option<bool>,
    /// The letters of the place on badges, as `{zones}` prints them of all places that its holder may enter: 1 to 3
    /// characters. Not inherited.
    #[serde(default, deserialize_with = "present")]
    #[schemars(length(min = 1, max = ZONE_MAX_CHARS))]
    pub zone: Option<String>,
}

/// The longest name of a zone: several stand on a badge.
const ZONE_MAX_CHARS: usize = 3;

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
        let rules: Self = serde_path_to_error::deserialize(value).map_err(|cause| {
            let path = cause.path().to_string();
            let path = if path == "." {
                name.to_owned()
            } else {
                format!("{name}.{path}")
            };
            let told = in_plain_words(&cause.into_inner().to_string());
            Error::field(path, told)
        })?;
        if rules.per.is_some() && rules.max_check_ins.is_none() {
            return Err(Error::field(
                format!("{name}.per"),
                "needs maxCheckIns beside it",
            ));
        }
        if let Some(zone) = &rules.zone
            && (!(1..=ZONE_MAX_CHARS).contains(&zone.chars().count())
                || zone.contains(|letter: char| letter.is_whitespace() || letter.is_control()))
        {
            return Err(Error::field(
                format!("{name}.zone"),
                format!("must be 1 to {ZONE_MAX_CHARS} letters or digits"),
            ));
        }
        Ok(rules)
    }

    /// Reads the rules of places that set none, as [`AccessRules::parse`] does.
    ///
    /// # Errors
    /// As there, and for a rule that each place has to set itself.
    pub fn parse_default(name: &str, value: &Value) -> Result<Self> {
        let rules = Self::parse(name, value)?;
        let of_a_place = [
            ("everybodyOutAt", rules.everybody_out_at.is_some()),
            ("everybodyOutExcept", rules.everybody_out_except.is_some()),
            ("oneAtATime", rules.one_at_a_time.is_some()),
            ("zone", rules.zone.is_some()),
        ];
        match of_a_place.iter().find(|(_, is_set)| *is_set) {
            Some((rule, _)) => Err(Error::field(
                format!("{name}.{rule}"),
                "must be set at each place that it is for",
            )),
            None => Ok(rules),
        }
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
    pub fn to_json(&self) -> Value {
        let mut json = json!({});
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                json[name] = value;
            }
        };
        put("ruleSet", self.rule_set.map(|rule| json!(rule)));
        put("entry", self.entry.map(|entry| json!(entry)));
        put("maxCheckIns", self.max_check_ins.map(Value::from));
        put("per", self.per.map(|per| json!(per)));
        put("capacity", self.capacity.map(Value::from));
        put("opensBefore", self.opens_before.map(Value::from));
        put("closesAfter", self.closes_after.map(Value::from));
        put("types", self.types.as_ref().map(|types| json!(types)));
        let times = self.type_times.as_ref();
        put("typeTimes", times.map(|times| json!(times)));
        let out_at = self.everybody_out_at.map(|time| time.to_string());
        put("everybodyOutAt", out_at.map(Value::from));
        let except = self.everybody_out_except.as_ref();
        put("everybodyOutExcept", except.map(|types| json!(types)));
        put("oneAtATime", self.one_at_a_time.map(Value::from));
        put("zone", self.zone.as_ref().map(|zone| json!(zone)));
        json
    }

    /// Returns these rules, with `default` for what they leave open and may inherit.
    #[must_use]
    pub fn or(mut self, default: &Self) -> Self {
        // A day's limit is one rule.
        let (max_check_ins, per) = match self.max_check_ins {
            Some(_) => (self.max_check_ins, self.per),
            None => (default.max_check_ins, default.per),
        };
        self.inherit_types(default);
        Self {
            rule_set: self.rule_set.or(default.rule_set),
            entry: self.entry.or(default.entry),
            max_check_ins,
            per,
            capacity: self.capacity.or(default.capacity),
            opens_before: self.opens_before.or(default.opens_before),
            closes_after: self.closes_after.or(default.closes_after),
            ..self
        }
    }

    /// Takes which types of attendees may enter, and when, from a place above, unless these say either.
    pub fn inherit_types(&mut self, above: &Self) {
        if !self.states_types() {
            self.types.clone_from(&above.types);
            self.type_times.clone_from(&above.type_times);
        }
    }

    /// Rules that a door adds to those of its place: those that narrow. A time that the door does not set is that of
    /// the place.
    #[must_use]
    pub fn at_door(&self, place: &Self) -> Self {
        Self {
            rule_set: self.rule_set,
            opens_before: self.opens_before.or(place.opens_before),
            closes_after: self.closes_after.or(place.closes_after),
            types: self.types.clone(),
            type_times: self.type_times.clone(),
            ..Self::default()
        }
    }

    /// The names of rules that are set and that a door cannot have: they count at its place.
    pub fn not_of_doors(&self) -> Vec<&'static str> {
        let set = [
            ("capacity", self.capacity.is_some()),
            ("entry", self.entry.is_some()),
            ("maxCheckIns", self.max_check_ins.is_some()),
            ("everybodyOutAt", self.everybody_out_at.is_some()),
            ("everybodyOutExcept", self.everybody_out_except.is_some()),
            ("oneAtATime", self.one_at_a_time.is_some()),
            ("zone", self.zone.is_some()),
        ];
        let set = set.into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(name, _)| name).collect()
    }

    /// Tells whether these rules say which types of attendees may enter, or when.
    pub fn states_types(&self) -> bool {
        self.types.is_some() || self.type_times.is_some()
    }

    /// Tells whether a check-in needs a `join`.
    pub fn needs_join(&self) -> bool {
        self.rule_set == Some(RuleSet::Simple)
    }

    /// Tells whether a stay ends with the day in which it began.
    pub fn is_daily(&self) -> bool {
        self.entry == Some(Entry::Daily)
    }

    /// Tells whether the check-ins of one day decide.
    pub fn asks_for_day(&self) -> bool {
        self.is_daily() || self.per == Some(Per::Day)
    }

    /// Tells whether nobody enters twice, or leaves without an entry.
    pub(super) fn pairs_passages(&self) -> bool {
        matches!(self.entry, Some(Entry::Single | Entry::Daily))
    }

    /// As a gate judges by them: minutes of one day are instants.
    pub fn to_gate(&self, zone: &Zone) -> Value {
        let mut json = self.to_json();
        if let Some(times) = &self.type_times {
            let times = times.entries().iter().map(|entry| entry.to_gate(zone));
            json["typeTimes"] = times.collect();
        }
        json
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
                "data.Access.entry: must be one of multiple, single, daily",
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
            (
                json!({"per": "day"}),
                "data.Access.per: needs maxCheckIns beside it",
            ),
            (
                json!({"maxCheckIns": 1, "per": "week"}),
                "data.Access.per: must be one of day",
            ),
            (
                json!({"types": "Crew"}),
                "data.Access.types: must be a list",
            ),
            (
                json!({"types": ["Crew", " "]}),
                "data.Access.types[1]: must have 1 to 255 characters",
            ),
            (
                json!({"typeTimes": [{"types": ["Crew"], "from": "8:00", "until": "10:00"}]}),
                "data.Access.typeTimes[0].from: must be a time such as 22:00",
            ),
            (
                json!({"typeTimes": [{"types": [], "from": "08:00", "until": "08:00"}]}),
                "data.Access.typeTimes[0]: from and until must differ",
            ),
            (
                json!({"typeTimes": [{"types": [], "from": "08:00", "until": "2026-11-21 09:00"}]}),
                "data.Access.typeTimes[0]: from and until must both have a date, or neither",
            ),
            (
                json!({"typeTimes": [{"types": [], "from": "08:00"}]}),
                "data.Access.typeTimes[0]: \"until\" is missing",
            ),
            (
                json!({"everybodyOutAt": "24:00"}),
                "data.Access.everybodyOutAt: must be a time such as 22:00",
            ),
            (
                json!({"oneAtATime": "yes"}),
                "data.Access.oneAtATime: must be true or false",
            ),
            (json!([]), "data.Access"),
            (json!("open"), "data.Access"),
        ] {
            let error = AccessRules::parse("data.Access", &access).unwrap_err();
            assert!(error.to_string().starts_with(message), "{access}: {error}");
        }
    }

    #[test]
    fn every_rule_is_written_as_it_was_read() {
        let whole = json!({
            "ruleSet": "simple", "entry": "daily", "maxCheckIns": 3, "per": "day", "capacity": 0,
            "opensBefore": 15, "closesAfter": 0, "types": ["Crew", "VIP"],
            "typeTimes": [
                {"types": ["Crew"], "from": "22:00", "until": "02:00"},
                {"types": ["VIP"], "from": "2026-11-21 18:00", "until": "2026-11-22 01:00"},
            ],
            "everybodyOutAt": "23:00", "everybodyOutExcept": ["Crew"], "oneAtATime": true,
        });
        assert_eq!(rules(whole.clone()).to_json(), whole);
        assert_eq!(rules(json!({"types": []})).to_json(), json!({"types": []}));
    }

    #[test]
    fn what_belongs_together_is_inherited_together() {
        let default = rules(json!({
            "maxCheckIns": 2, "per": "day", "types": ["VIP"],
            "typeTimes": [{"types": ["VIP"], "from": "08:00", "until": "10:00"}],
        }));
        for (own, merged) in [
            (json!({}), default.to_json()),
            (
                json!({"maxCheckIns": 1, "types": []}),
                json!({"maxCheckIns": 1, "types": []}),
            ),
            (
                json!({"typeTimes": [], "oneAtATime": true, "everybodyOutAt": "23:00"}),
                json!({
                    "maxCheckIns": 2, "per": "day", "typeTimes": [], "oneAtATime": true,
                    "everybodyOutAt": "23:00",
                }),
            ),
        ] {
            assert_eq!(rules(own.clone()).or(&default).to_json(), merged, "{own}");
        }
    }

    #[test]
    fn some_rules_are_of_one_place_only() {
        for rule in [
            json!({"everybodyOutAt": "23:00"}),
            json!({"everybodyOutExcept": []}),
            json!({"oneAtATime": false}),
        ] {
            let name = rule.as_object().unwrap().keys().next().unwrap();
            let error = AccessRules::parse_default("access", &rule).unwrap_err();
            let start = format!("access.{name}: must be set at each place");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
        assert!(AccessRules::parse_default("access", &json!({"types": []})).is_ok());
    }

    #[test]
    fn a_device_overrides_the_defaults_rule_by_rule() {
        let defaults = rules(json!({"ruleSet": "simple", "capacity": 5}));
        let merged = rules(json!({"ruleSet": "open", "entry": "single"})).or(&defaults);
        assert_eq!(
            merged,
            rules(json!({"ruleSet": "open", "entry": "single", "capacity": 5}))
        );
    }
}
