//! The forms above lists: reading them, and naming what cannot be read.

use super::{Fields, answer};
use crate::types::{Timestamp, Zone, error::Error};

/// A form that is being read.
pub struct Asked<'a> {
    query: &'a Fields,
    zone: &'a Zone,
    failure: Option<Error>,
}

/// A period of time.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// `since` and `until` as they were typed.
    pub typed: [String; 2],
}

impl<'a> Asked<'a> {
    /// Begins to read a query string.
    pub fn of(query: &'a Fields, zone: &'a Zone) -> Self {
        Self {
            query,
            zone,
            failure: None,
        }
    }

    /// A field without white space around it.
    pub fn text(&self, name: &str) -> String {
        self.query.text(name).to_owned()
    }

    /// A whole number.
    pub fn number(&mut self, name: &str) -> Option<i64> {
        self.query.number(name).unwrap_or_else(|cause| {
            self.fail(cause);
            None
        })
    }

    /// One of the values that can be chosen, or none.
    pub fn choice(&mut self, name: &str, offered: &[(&'static str, &str)]) -> &'static str {
        let text = self.query.text(name);
        let chosen = offered.iter().find(|(value, _)| *value == text);
        if chosen.is_none() && !text.is_empty() {
            let values: Vec<&str> = offered.iter().map(|(value, _)| *value).collect();
            let values = values.join(" ");
            self.fail(Error::invalid(format!(
                "{name}: must be one of {}",
                values.trim()
            )));
        }
        chosen.map_or("", |(value, _)| value)
    }

    /// The fields `since` and `until`.
    pub fn times(&mut self) -> Times {
        let (since, until) = (self.time("since"), self.time("until"));
        Times {
            since,
            // The field has minutes, and includes the last one.
            until: until.map(|until| Timestamp(until.0.saturating_add(60_000))),
            typed: ["since", "until"].map(|name| self.text(name)),
        }
    }

    fn time(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.query.filled(name)?;
        // A browser's field has a T between day and time.
        let value = text.replace('T', " ").into();
        let read = self.zone.read(name, &value);
        read.map_err(|cause| self.fail(cause)).ok()
    }

    fn fail(&mut self, cause: Error) {
        self.failure.get_or_insert(cause);
    }

    /// What could not be read and was left out.
    pub fn failure(self) -> Option<String> {
        self.failure.map(|cause| answer::sentence(&cause.message))
    }
}

/// The form above a list as it was typed, by the names of its fields.
#[derive(Debug, Clone)]
pub struct Typed<const N: usize>([(&'static str, String); N]);

impl<const N: usize> Typed<N> {
    pub fn read(query: &Fields, names: [&'static str; N]) -> Self {
        Self(names.map(|name| (name, query.text(name).to_owned())))
    }

    pub fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, text)| text)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, text)| text.is_empty())
    }

    /// The query string of the same form.
    pub fn query(&self) -> String {
        self.with("", "")
    }

    /// The query string with one more field.
    pub fn with(&self, name: &str, value: &str) -> String {
        let own = self.0.iter().map(|(name, text)| (*name, text.as_str()));
        query(&own.chain([(name, value)]).collect::<Vec<_>>())
    }
}

/// Fields as a query string, without those that are empty.
pub fn query(fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        if !value.is_empty() {
            query.append_pair(name, value);
        }
    }
    query.finish()
}
