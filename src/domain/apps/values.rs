//! The values of app settings: how each is checked, and how the console shows it.

use super::{
    parameters::{label, parameter},
    pin,
};
use crate::{
    core::texts::say,
    domain::devices::Offer,
    types::{
        DeviceSelector, Zone,
        error::{Error, Result},
        text,
    },
};
use serde_json::{Value, json};

/// Values to choose from, each with its words.
pub type Choices = &'static [(&'static str, &'static str)];

/// The kind of value that a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A time, or `null`.
    Time,
    /// True or false.
    Flag,
    /// A text, or `null`.
    Text,
    /// A list of texts.
    Texts,
    /// A list of lists of texts.
    Ranks,
    /// A selector of a place, or `null`.
    Place,
    /// A list of selectors of places, or `null` for all.
    Places,
    /// One of these, or `null` for the first.
    OneOf(Choices),
    /// A list of some of these; an empty one or `null` for all.
    AnyOf(Choices),
    /// The supervisors' PIN, or `null`.
    Pin,
    /// A whole number from one to another, or `null`.
    Number(u16, u16),
}

/// A value that was checked, times in ISO 8601; `place` is where it stands, for messages.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn checked(place: &str, kind: Kind, value: &Value, zone: &Zone) -> Result<Value> {
    let wrong = |right: &str| Err(Error::field(place, format!("must be {right}")));
    let right = || Ok(value.clone());
    match (kind, value) {
        (Kind::Flag, Value::Bool(_)) => right(),
        (Kind::Flag, _) => wrong("true or false"),
        (Kind::Texts, Value::Array(items)) if texts(items) => right(),
        (Kind::Texts, _) => wrong("a list of strings"),
        (Kind::Ranks, Value::Array(ranks)) if ranks.iter().all(is_rank) => right(),
        (Kind::Ranks, _) => wrong(
            "a list of lists of device types, such as [[\"event\"], [\"location\", \"room\"], [\"session\"]]",
        ),
        (_, Value::Null) => right(),
        (Kind::Time, value) => Ok(json!(zone.iso(zone.read(place, value)?))),
        (Kind::Text, Value::String(text)) => {
            text::check_text(place, text)?;
            right()
        }
        (Kind::Text, _) => wrong("a string or null"),
        (Kind::Place, value) if is_place(value) => right(),
        (Kind::Place, _) => Err(Error::field(
            place,
            "must name a place, such as \"code:hall\"",
        )),
        (Kind::Places, Value::Array(places)) if places.iter().all(is_place) => right(),
        (Kind::Places, _) => wrong("a list of places, such as [\"code:hall\"]"),
        (Kind::OneOf(choices), value) if is_one(choices, value) => right(),
        (Kind::OneOf(choices), _) => wrong(&listed(choices)),
        (Kind::AnyOf(choices), Value::Array(chosen))
            if chosen.iter().all(|one| is_one(choices, one)) =>
        {
            right()
        }
        (Kind::AnyOf(choices), _) => wrong(&format!("a list of {}", listed(choices))),
        (Kind::Pin, value) => pin::check(place, value).map(|()| value.clone()),
        (Kind::Number(least, most), value)
            if value
                .as_i64()
                .is_some_and(|number| (i64::from(least)..=i64::from(most)).contains(&number)) =>
        {
            right()
        }
        (Kind::Number(least, most), _) => wrong(&format!("a whole number from {least} to {most}")),
    }
}

fn texts(items: &[Value]) -> bool {
    items
        .iter()
        .all(|item| item.as_str().is_some_and(|text| !text.is_empty()))
}

fn is_rank(rank: &Value) -> bool {
    rank.as_array()
        .is_some_and(|types| !types.is_empty() && texts(types))
}

fn is_place(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|selector| DeviceSelector::parse(selector).is_ok())
}

fn is_one(choices: Choices, value: &Value) -> bool {
    choices.iter().any(|(known, _)| value == known)
}

/// `admit, joined-only or hold`.
fn listed(choices: Choices) -> String {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    match names.as_slice() {
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
        [] => String::new(),
    }
}

/// The words that the console needs to show values: the time zone, and the places that settings may name.
pub struct Words<'a> {
    pub zone: &'a Zone,
    pub places: &'a [Offer],
}

impl Words<'_> {
    /// The name of the place of a selector; the selector itself where it names another one.
    fn place<'p>(&'p self, selector: &'p str) -> &'p str {
        let code = selector.strip_prefix("code:");
        let found = self.places.iter().find(|place| code == Some(&*place.code));
        found.map_or(selector, |place| &place.name)
    }

    /// A value as the console shows it, in the language of the page.
    #[must_use]
    pub fn say(&self, name: &str, value: &Value) -> String {
        let Some(known) = parameter(name) else {
            return match value {
                Value::Null => say("none"),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
        };
        let joined = |names: Vec<String>, empty: &str| match names.as_slice() {
            [] => say(empty),
            names => names.join(", "),
        };
        match (known.kind, value) {
            (Kind::Time, Value::Null) => say("at any time"),
            (Kind::Time, at) => match self.zone.read(name, at) {
                Ok(at) => self.zone.plain(at),
                Err(_) => at.to_string(),
            },
            (Kind::Flag, value) => say(if *value == json!(true) { "yes" } else { "no" }),
            (Kind::Texts, names) if name == "forced" => joined(
                strings(names).map(|name| say(label(name))).collect(),
                "nothing",
            ),
            (Kind::Texts, names) if name == "availableFeatures" => {
                joined(strings(names).map(say).collect(), "nothing")
            }
            (Kind::Texts, names) => joined(strings(names).map(str::to_owned).collect(), "nothing"),
            (Kind::Ranks, ranks) => {
                let ranks = ranks.as_array().into_iter().flatten();
                let or = format!(" {} ", say("or"));
                let ranks = ranks.map(|rank| strings(rank).map(say).collect::<Vec<_>>().join(&or));
                ranks.collect::<Vec<_>>().join(" › ")
            }
            (Kind::Place, Value::String(selector)) => self.place(selector).to_owned(),
            (Kind::Place, _) => say("chosen in the app"),
            (Kind::Places, Value::Array(_)) => {
                let names = strings(value).map(|selector| self.place(selector).to_owned());
                joined(names.collect(), "none but its own")
            }
            (Kind::Places, _) => say("all"),
            (Kind::OneOf(choices), value) => {
                let found = choices.iter().find(|(known, _)| value == known);
                let words = found.or(choices.first()).map(|(_, words)| *words);
                say(words.unwrap_or_default())
            }
            (Kind::AnyOf(choices), value) => {
                let chosen = strings(value)
                    .filter_map(|one| choices.iter().find(|(known, _)| one == *known));
                joined(chosen.map(|(_, words)| say(words)).collect(), "all")
            }
            (Kind::Pin, Value::Null) => say("none"),
            (Kind::Pin, _) => say("set"),
            (Kind::Number(..), Value::Number(number)) => number.to_string(),
            (Kind::Number(..), _) => say("not set"),
            (Kind::Text, Value::String(text)) => text.clone(),
            (Kind::Text, _) => say("none"),
        }
    }
}

/// The texts of a list.
pub fn strings(list: &Value) -> impl Iterator<Item = &str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str)
}
