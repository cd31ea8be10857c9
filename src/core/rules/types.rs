//! The types of attendees that a place is for, and when each may enter.

use crate::types::{LocalMinute, TimeOfDay, Timestamp, Zone, text};
use serde::{
    de::{self, Deserialize, Deserializer},
    ser::{Serialize, Serializer},
};
use std::{fmt, sync::Arc};

/// Types or times in one list, at the most.
const LIST_MAX: usize = 200;
/// The longest type, in characters.
const TYPE_MAX_CHARS: usize = 255;

/// The form in which types are compared.
pub fn folded(name: &str) -> String {
    text::fold(name.trim())
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
    /// Whether a type is in the list, given in its [`folded`] form.
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

/// When types of attendees may enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTimes(Arc<[TypeTime]>);

impl TypeTimes {
    /// The times of one type, given in its [`folded`] form; none where it may enter at any.
    pub fn of<'a>(&'a self, folded: &'a str) -> impl Iterator<Item = &'a Hours> {
        let entries = self.0.iter();
        entries
            .filter(move |entry| entry.types.contains(folded))
            .map(|entry| &entry.hours)
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

/// When some types may enter.
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
    /// Whether an instant is within.
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

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTypeTime {
    types: TypeList,
    from: Bound,
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

impl Serialize for TypeTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (from, until) = match self.hours {
            Hours::Daily(from, until) => (from.to_string(), until.to_string()),
            Hours::Once(from, until) => (from.to_string(), until.to_string()),
        };
        serde_json::json!({"types": self.types, "from": from, "until": until}).serialize(serializer)
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
