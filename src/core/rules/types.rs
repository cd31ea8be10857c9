//! The types of attendees that a place is for, and when each may enter.

use super::{
    AccessRules, CheckInFacts,
    passage::{refuse, refuse_because},
};
use crate::types::{
    LocalMinute, TimeOfDay, Timestamp, Zone, error, error::Refusal, fold::is_mark, text,
};
use icu_normalizer::DecomposingNormalizerBorrowed;
use schemars::JsonSchema;
use serde::{
    de::{self, Deserialize, Deserializer},
    ser::{Serialize, Serializer},
};
use serde_json::{Value, json};
use std::{fmt, sync::Arc};

/// Types or times in one list, at the most.
const LIST_MAX: usize = 200;
/// The longest type, in characters.
const TYPE_MAX_CHARS: usize = 255;

/// The form in which types are compared: in lower case and without marks, as `foldType` of `assets/gate/core/fold.js`
/// gives it; `tests/gate/fold.json` holds both together.
pub fn folded(name: &str) -> String {
    let letters = name.chars().flat_map(char::to_lowercase);
    let letters = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(letters);
    let mut folded = String::with_capacity(name.len());
    for letter in letters {
        match letter {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            mark if is_mark(mark) => {}
            other => folded.push(other),
        }
    }
    folded.trim().to_owned()
}

/// Tells whether the types of attendees at a place, and their times, let one in. At a door the rules of
/// both have to.
///
/// # Errors
/// [`error::Kind::Refused`], 746 for a type that may not enter and 742 for a time at which it may not.
pub(super) fn judge(
    place: &str,
    rules: &AccessRules,
    facts: &CheckInFacts<'_>,
) -> error::Result<()> {
    if !rules.states_types() {
        return Ok(());
    }
    let own = facts.attendee_type.map(str::trim);
    let own = own.filter(|own| !own.is_empty());
    let folded = own.map(folded);
    if let Some(types) = &rules.types
        && !folded.as_ref().is_some_and(|own| types.contains(own))
    {
        let who = match own {
            Some(own) => format!("of type {own}"),
            None => "without a type".to_owned(),
        };
        return refuse(
            Refusal::WrongType,
            format!("{place} is not open to attendees {who}"),
        );
    }
    let (Some(times), Some(own), Some(folded)) = (&rules.type_times, own, folded) else {
        return Ok(());
    };
    let hours: Vec<Hours> = times.of(&folded).collect();
    if hours.is_empty()
        || hours
            .iter()
            .any(|hours| hours.contain(facts.at, facts.zone))
    {
        return Ok(());
    }
    let (reason, told) = if let Some(opens) = next_opening(&hours, facts) {
        ("too-early", format!("{place} opens for {own} at {opens}"))
    } else {
        let ends = hours.iter().filter_map(|hours| match hours {
            Hours::Daily(..) => None,
            Hours::Once(_, until) => facts.zone.instant(*until),
        });
        let last = ends.max().unwrap_or(facts.at);
        let since = facts.zone.spoken(last, facts.now);
        (
            "too-late",
            format!("{place} has been closed for {own} since {since}"),
        )
    };
    refuse_because(Refusal::OutsideWindow, reason, told)
}

/// The next beginning of one of several hours: at a time of every day, if there is one, and otherwise the
/// earliest instant to come.
fn next_opening(hours: &[Hours], facts: &CheckInFacts<'_>) -> Option<String> {
    let now = facts.zone.time_of_day(facts.at)?;
    let daily = hours.iter().filter_map(|hours| match hours {
        Hours::Daily(from, _) => Some(*from),
        Hours::Once(..) => None,
    });
    // Those that began today come after those to come.
    if let Some(from) = daily.min_by_key(|from| (*from <= now, *from)) {
        return Some(from.to_string());
    }
    let begins = hours.iter().filter_map(|hours| match hours {
        Hours::Daily(..) => None,
        Hours::Once(from, _) => facts.zone.instant(*from),
    });
    let next = begins.filter(|begins| *begins > facts.at).min()?;
    Some(facts.zone.spoken(next, facts.now))
}

/// A list of attendee types, compared folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeList(Arc<[TypeName]>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeName {
    name: String,
    folded: String,
}

impl TypeList {
    /// Tells whether a type is in the list, given in its [`folded`] form.
    pub fn contains(&self, folded: &str) -> bool {
        self.0.iter().any(|known| known.folded == folded)
    }

    /// The types as they were written.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|known| known.name.as_str())
    }
}

impl<'de> Deserialize<'de> for TypeList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer).map(Self)
    }
}

impl Serialize for TypeList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if !(1..=TYPE_MAX_CHARS).contains(&name.trim().chars().count()) {
            return Err(de::Error::custom(format!(
                "must have 1 to {TYPE_MAX_CHARS} characters"
            )));
        }
        let folded = folded(&name);
        Ok(Self { name, folded })
    }
}

/// Times in which types of attendees may enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTimes(Arc<[TypeTime]>);

impl TypeTimes {
    /// The times of one type, given in its [`folded`] form; none where it may enter at any.
    pub fn of(&self, folded: &str) -> impl Iterator<Item = Hours> {
        let entries = self.0.iter();
        entries
            .filter(move |entry| entry.types.contains(folded))
            .map(|entry| entry.hours)
    }

    /// The entries in their order.
    pub fn entries(&self) -> &[TypeTime] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for TypeTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(deserializer).map(Self)
    }
}

impl Serialize for TypeTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// A time in which types of attendees may enter.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "WrittenTypeTime")]
pub struct TypeTime {
    pub types: TypeList,
    pub hours: Hours,
}

/// Times in the instance's zone; the first is inclusive, the second exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    /// Every day; past midnight where the second is the earlier.
    Daily(TimeOfDay, TimeOfDay),
    /// Once.
    Once(LocalMinute, LocalMinute),
}

impl Hours {
    /// Tells whether an instant is within.
    pub fn contain(self, at: Timestamp, zone: &Zone) -> bool {
        match self {
            Self::Daily(from, until) => zone.time_of_day(at).is_some_and(|time| {
                if from < until {
                    from <= time && time < until
                } else {
                    from <= time || time < until
                }
            }),
            Self::Once(from, until) => {
                let instants = (zone.instant(from), zone.instant(until));
                matches!(instants, (Some(from), Some(until)) if from <= at && at < until)
            }
        }
    }
}

/// `from` or `until` as it is written.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Daily(TimeOfDay),
    Once(LocalMinute),
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let daily = TimeOfDay::read(&text).map(Self::Daily);
        let read = daily.or_else(|| LocalMinute::read(&text).map(Self::Once));
        read.ok_or_else(|| {
            de::Error::custom(format!(
                "must be a time such as 22:00 or 2026-11-21 22:00; not \"{}\"",
                text::shortened(&text)
            ))
        })
    }
}

/// A time in which types of delegates may enter.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TypeTime")]
pub struct WrittenTypeTime {
    #[schemars(with = "Vec<String>")]
    types: TypeList,
    /// `hh:mm` of every day, or `yyyy-mm-dd hh:mm`.
    #[schemars(with = "String")]
    from: Bound,
    /// In the same form; exclusive.
    #[schemars(with = "String")]
    until: Bound,
}

impl TryFrom<WrittenTypeTime> for TypeTime {
    type Error = &'static str;

    fn try_from(written: WrittenTypeTime) -> Result<Self, &'static str> {
        let hours = match (written.from, written.until) {
            (Bound::Daily(from), Bound::Daily(until)) if from == until => {
                return Err("from and until must differ");
            }
            (Bound::Daily(from), Bound::Daily(until)) => Hours::Daily(from, until),
            (Bound::Once(from), Bound::Once(until)) if until <= from => {
                return Err("until must be later than from");
            }
            (Bound::Once(from), Bound::Once(until)) => Hours::Once(from, until),
            _ => return Err("from and until must both have a date, or neither"),
        };
        let types = written.types;
        Ok(Self { types, hours })
    }
}

impl TypeTime {
    /// As a gate judges by it: minutes of one day are instants.
    pub fn to_gate(&self, zone: &Zone) -> Value {
        let (from, until) = match self.hours {
            Hours::Daily(from, until) => (json!(from.to_string()), json!(until.to_string())),
            Hours::Once(from, until) => {
                let instant = |minute| zone.instant(minute).map(|at| at.0);
                (json!(instant(from)), json!(instant(until)))
            }
        };
        json!({"types": self.types, "from": from, "until": until})
    }
}

impl Serialize for TypeTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (from, until) = match self.hours {
            Hours::Daily(from, until) => (from.to_string(), until.to_string()),
            Hours::Once(from, until) => (from.to_string(), until.to_string()),
        };
        json!({"types": self.types, "from": from, "until": until}).serialize(serializer)
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daily(from, until) => write!(f, "{from} to {until}"),
            Self::Once(from, until) => write!(f, "{from} to {until}"),
        }
    }
}

fn bounded<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Arc<[T]>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    if list.len() > LIST_MAX {
        return Err(de::Error::custom(format!(
            "must have at most {LIST_MAX} entries"
        )));
    }
    Ok(list.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_compared_as_gates_compare_them() {
        let table = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/fold.json"));
        let table: Value = serde_json::from_str(table).unwrap();
        let types: Vec<(String, String)> = serde_json::from_value(table["types"].clone()).unwrap();
        for (name, form) in types {
            assert_eq!(folded(&name), form, "{name}");
            assert_eq!(folded(&form), form, "{name}");
        }
    }

    #[test]
    fn hours_are_local_times_whatever_the_clocks_do() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let at = |text: &str| zone.read("t", &json!(text)).unwrap();
        let hours = |from: &str, until: &str| {
            let entry = json!({"types": [], "from": from, "until": until});
            let entry: TypeTime = serde_json::from_value(entry).unwrap();
            entry.hours
        };
        for (from, until, moment, within) in [
            ("22:00", "02:00", "2026-11-21T21:59:59+01:00", false),
            ("22:00", "02:00", "2026-11-21T22:00:00+01:00", true),
            ("22:00", "02:00", "2026-11-22T01:59:59+01:00", true),
            ("22:00", "02:00", "2026-11-22T02:00:00+01:00", false),
            // 02:00 to 03:00 is missing, and there twice.
            ("02:00", "03:30", "2026-03-29T01:59:59+01:00", false),
            ("02:00", "03:30", "2026-03-29T03:00:00+02:00", true),
            ("02:00", "03:00", "2026-10-25T02:30:00+02:00", true),
            ("02:00", "03:00", "2026-10-25T02:30:00+01:00", true),
            (
                "2026-10-25 02:30",
                "2026-10-25 03:00",
                "2026-10-25T02:30:00+02:00",
                true,
            ),
            (
                "2026-10-25 02:30",
                "2026-10-25 03:00",
                "2026-10-25T02:10:00+01:00",
                true,
            ),
            (
                "2026-10-25 02:30",
                "2026-10-25 03:00",
                "2026-10-25T03:00:00+01:00",
                false,
            ),
        ] {
            assert_eq!(
                hours(from, until).contain(at(moment), &zone),
                within,
                "{moment}"
            );
        }
    }
}
