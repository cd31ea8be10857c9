//! The columns of a table: the properties, each part of `data` that fits into a column of its own
//! (`Section.key`), and `data` for the rest. Read back, they make the same `data`.

use super::{
    Export,
    rows::{self, Record, What},
};
use crate::types::error::Result;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most columns that parts of `data` get; what is beyond stands in the column `data`.
const DATA_COLUMNS_MAX: usize = 500;

/// The longest header, in bytes: it has to fit into a cell.
const HEADER_MAX_BYTES: usize = 1_000;

/// The end of a header whose cells are JSON.
const JSON_MARK: &str = " (json)";

pub(super) struct Layout {
    names: Vec<&'static str>,
    parts: Vec<Part>,
    /// Sections, their keys, and where the column is in `parts`.
    places: HashMap<String, HashMap<String, usize>>,
    data: bool,
    what: What,
}

/// A part of `data` with a column of its own.
struct Part {
    section: String,
    key: String,
    /// Its cells are JSON: not all of its values are texts that a cell can hold as they are.
    json: bool,
}

impl Layout {
    /// Looks at the `data` of all that is exported.
    pub(super) fn of(export: &Export<'_>) -> Result<Self> {
        let mut layout = Self {
            names: rows::names(export.what),
            parts: Vec::new(),
            places: HashMap::new(),
            data: rows::has_data(export.what),
            what: export.what,
        };
        rows::each_data(export, |data| layout.look_at(data))?;
        layout.sort();
        Ok(layout)
    }

    fn look_at(&mut self, data: &str) {
        let Ok(Value::Object(data)) = serde_json::from_str(data) else {
            return;
        };
        for (section, keys) in data {
            let Value::Object(keys) = keys else {
                continue;
            };
            for (key, value) in keys {
                let json = !is_plain(&value);
                let known = self.places.get(&section).and_then(|keys| keys.get(&key));
                if let Some(known) = known {
                    self.parts[*known].json |= json;
                } else if self.parts.len() < DATA_COLUMNS_MAX && has_header(&section, &key) {
                    let place = self.places.entry(section.clone()).or_default();
                    place.insert(key.clone(), self.parts.len());
                    self.parts.push(Part {
                        section: section.clone(),
                        key,
                        json,
                    });
                }
            }
        }
    }

    fn sort(&mut self) {
        self.parts
            .sort_by(|one, other| (&one.section, &one.key).cmp(&(&other.section, &other.key)));
        for (at, part) in self.parts.iter().enumerate() {
            let place = self.places.entry(part.section.clone()).or_default();
            place.insert(part.key.clone(), at);
        }
    }

    /// The headers.
    pub(super) fn headers(&self) -> Vec<String> {
        let mut headers: Vec<String> = self.names.iter().map(|name| (*name).to_owned()).collect();
        headers.extend(self.parts.iter().map(|part| {
            let mark = if part.json { JSON_MARK } else { "" };
            format!("{}.{}{mark}", part.section, part.key)
        }));
        if self.data {
            headers.push("data".to_owned());
        }
        headers
    }

    /// The cells of a record, in the order of the headers.
    pub(super) fn cells(&self, record: Record) -> Vec<String> {
        let values = record.values.into_iter().map(|value| match value {
            rows::Value::Nothing => String::new(),
            rows::Value::Text(text) | rows::Value::Json(text) => text,
        });
        let mut cells: Vec<String> = values.collect();
        if !self.data {
            return cells;
        }
        let first = cells.len();
        cells.resize(first + self.parts.len() + 1, String::new());
        let rest = match record.data {
            None => return cells,
            Some(data) if self.what == What::Interactions => data,
            Some(data) => match self.spread(&data, &mut cells[first..]) {
                Some(rest) => rest,
                None => data,
            },
        };
        if let Some(last) = cells.last_mut() {
            *last = rest;
        }
        cells
    }

    /// Puts parts of `data` into their cells; the rest as text. None where it is no object.
    fn spread(&self, data: &str, cells: &mut [String]) -> Option<String> {
        let Ok(Value::Object(mut data)) = serde_json::from_str(data) else {
            return None;
        };
        for (section, places) in &self.places {
            let Some(Value::Object(keys)) = data.get_mut(section) else {
                continue;
            };
            if keys.is_empty() {
                continue;
            }
            let mut left = Map::new();
            for (key, value) in std::mem::take(keys) {
                match places.get(&key) {
                    Some(at) if self.parts[*at].json => cells[*at] = value.to_string(),
                    // One that came since the look at all of them may not fit.
                    Some(at) if is_plain(&value) => {
                        value
                            .as_str()
                            .unwrap_or_default()
                            .clone_into(&mut cells[*at]);
                    }
                    _ => {
                        left.insert(key, value);
                    }
                }
            }
            if left.is_empty() {
                data.shift_remove(section);
            } else {
                data.insert(section.clone(), left.into());
            }
        }
        Some(if data.is_empty() {
            String::new()
        } else {
            Value::Object(data).to_string()
        })
    }
}

/// Whether a cell can hold a value as it is, and be told from no value.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            !text.is_empty()
                && !text.contains(|char: char| char.is_control() && char != '\n' && char != '\t')
        }
        _ => false,
    }
}

/// Whether a header `Section.key` is read back as this section and key.
fn has_header(section: &str, key: &str) -> bool {
    let plain = |text: &str| !text.is_empty() && !text.contains(char::is_control);
    plain(section)
        && !section.contains(|char: char| char == '.' || char.is_whitespace())
        && section != "data"
        && plain(key)
        && key.trim() == key
        && !key.ends_with(JSON_MARK)
        && !section.starts_with('\'')
        && section.len() + key.len() <= HEADER_MAX_BYTES
}
