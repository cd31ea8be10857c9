//! The forms above lists: reading them, and naming what cannot be read.

use crate::admin::prelude::*;

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
            self.fail(Error::field(
                name,
                format!("must be one of {}", values.trim()),
            ));
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

    /// Tells what could not be read and was left out.
    pub fn failure(self) -> Option<String> {
        self.failure.map(|cause| answer::sentence(&cause))
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
