//! Values out of a body: what is there of the right kind is taken, the rest is told.

use super::{Inconsistency, Sale};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The most inconsistencies of a body that are told one by one.
pub(super) const TOLD_MAX: usize = 1_000;
/// Amounts are smaller, in cents: sums over a whole event stay exact.
const CENTS_END: i64 = 1_000_000_000_000;

#[derive(Default)]
pub(super) struct Reading {
    pub(super) sale: Sale,
    /// Barcodes of the tickets so far.
    pub(super) barcodes: HashSet<String>,
    /// Inconsistencies beyond those that are told.
    untold: usize,
}

/// A place in the body.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) path: &'a str,
    pub(super) object: &'a Map<String, Value>,
}

impl At<'_> {
    pub(super) fn of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

impl Reading {
    pub(super) fn tell(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.sale.inconsistencies.len() == TOLD_MAX {
            self.untold += 1;
            return;
        }
        self.sale.inconsistencies.push(Inconsistency {
            path: path.into(),
            message: message.into(),
        });
    }

    /// Says how much is not told.
    pub(super) fn finish(&mut self) {
        if self.untold > 0 {
            self.sale.inconsistencies.push(Inconsistency {
                path: String::new(),
                message: format!("and {} inconsistencies more", self.untold),
            });
        }
    }

    /// The objects of a list, each with its path; at most so many.
    pub(super) fn objects<'a>(
        &mut self,
        at: At<'a>,
        name: &str,
        most: usize,
    ) -> Vec<(String, &'a Map<String, Value>)> {
        let path = at.of(name);
        let list = match at.object.get(name) {
            Some(Value::Array(list)) => list,
            None | Some(Value::Null) => {
                // A line without tickets is a mug.
                if name != "delegates" {
                    self.tell(path, "is missing");
                }
                return Vec::new();
            }
            Some(_) => {
                self.tell(path, "must be a list");
                return Vec::new();
            }
        };
        if list.len() > most {
            self.tell(
                &*path,
                format!(
                    "there are {}, and only the first {most} are loaded",
                    list.len()
                ),
            );
        }
        let mut objects = Vec::with_capacity(list.len().min(most));
        for (index, entry) in list.iter().take(most).enumerate() {
            let path = format!("{path}[{index}]");
            match entry {
                Value::Object(object) => objects.push((path, object)),
                _ => self.tell(path, "must be an object"),
            }
        }
        objects
    }

    pub(super) fn text(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<String> {
        match at.object.get(name) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
            Some(Value::Null | Value::String(_)) | None => {
                if needed {
                    self.tell(at.of(name), "is missing");
                }
            }
            Some(_) => self.tell(at.of(name), "must be a text"),
        }
        None
    }

    pub(super) fn integer(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<i64> {
        match at.object.get(name) {
            Some(Value::Number(number)) if number.as_i64().is_some() => return number.as_i64(),
            Some(Value::Null) | None => {
                if needed {
                    self.tell(at.of(name), "is missing");
                }
            }
            Some(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
                self.tell(at.of(name), "is out of range");
            }
            Some(_) => self.tell(at.of(name), "must be a whole number"),
        }
        None
    }

    pub(super) fn cents(&mut self, at: At<'_>, name: &str, needed: bool) -> Option<i64> {
        let amount = self.integer(at, name, needed)?;
        if amount.abs_diff(0) >= CENTS_END.unsigned_abs() {
            self.tell(
                at.of(name),
                format!("must be less than {CENTS_END}; it is in cents"),
            );
            return None;
        }
        if amount < 0 {
            self.tell(at.of(name), "must not be negative");
        }
        Some(amount)
    }
}
