//! The columns of a table: the properties, each part of `data` that fits into a column of its own
//! (`Section.key`), and `data` for the rest. Read back, they make the same `data`.

use super::{
    Export,
    rows::{self, List, Record},
};
use crate::{ops::import::JSON_MARK, types::error::Result};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most columns that parts of `data` get; what is beyond stands in the column `data`.
const DATA_COLUMNS_MAX: usize = 500;

/// The longest header, in bytes: it has to fit into a cell.
const HEADER_MAX_BYTES: usize = 1_000;

pub(super) struct Layout {
    names: Vec<&'static str>,
    has_data: bool,
    /// The parts of `data` with columns of their own, by section and key.
    parts: BTreeMap<String, BTreeMap<String, Part>>,
    part_count: usize,
}

struct Part {
    /// The number of its column among those of parts.
    at: usize,
    /// Its cells are JSON: not all of its values are texts that a cell can hold as they are.
    is_json: bool,
}

impl Layout {
    /// Looks at the `data` of all that is exported.
    pub(super) fn of(export: &Export<'_>, list: &List) -> Result<Self> {
        let mut layout = Self {
            names: list.names(),
            has_data: list.data.is_some(),
            parts: BTreeMap::new(),
            part_count: 0,
        };
        list.each_data(export, |data| layout.look_at(data))?;
        let parts = layout.parts.values_mut().flat_map(BTreeMap::values_mut);
        parts.enumerate().for_each(|(at, part)| part.at = at);
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
                let is_json = !is_plain(&value);
                let known = self.parts.get_mut(&section);
                if let Some(known) = known.and_then(|parts| parts.get_mut(&key)) {
                    known.is_json |= is_json;
                } else if self.part_count < DATA_COLUMNS_MAX && has_header(&section, &key) {
                    self.part_count += 1;
                    let parts = self.parts.entry(section.clone()).or_default();
                    parts.insert(key, Part { at: 0, is_json });
                }
            }
        }
    }

    pub(super) fn headers(&self) -> Vec<String> {
        let mut headers: Vec<String> = self.names.iter().map(|name| (*name).to_owned()).collect();
        for (section, parts) in &self.parts {
            headers.extend(parts.iter().map(|(key, part)| {
                let mark = if part.is_json { JSON_MARK } else { "" };
                format!("{section}.{key}{mark}")
            }));
        }
        headers.extend(self.has_data.then(|| "data".to_owned()));
        headers
    }

    /// The cells of a record, in the order of the headers.
    pub(super) fn cells(&self, record: Record) -> Vec<String> {
        let values = record.values.into_iter().map(|value| match value {
            rows::Value::Nothing => String::new(),
            rows::Value::Text(text) | rows::Value::Json(text) => text,
        });
        let mut cells: Vec<String> = values.collect();
        if !self.has_data {
            return cells;
        }
        let first = cells.len();
        cells.resize(first + self.part_count, String::new());
        let data = record.data.unwrap_or_default();
        let rest = self.spread(&data, &mut cells[first..]);
        cells.push(rest.unwrap_or(data));
        cells
    }

    /// Puts parts of `data` into their cells; the rest as text. None where all of it is the rest.
    fn spread(&self, data: &str, cells: &mut [String]) -> Option<String> {
        if self.parts.is_empty() {
            return None;
        }
        let mut data: Map<String, Value> = serde_json::from_str(data).ok()?;
        for (section, parts) in &self.parts {
            let Some(Value::Object(keys)) = data.get_mut(section) else {
                continue;
            };
            if keys.is_empty() {
                continue;
            }
            keys.retain(|key, value| match (parts.get(key), &*value) {
                (Some(part), value) if part.is_json => {
                    cells[part.at] = value.to_string();
                    false
                }
                // One that came since the look at all of them may not fit.
                (Some(part), Value::String(text)) if is_plain(value) => {
                    cells[part.at].clone_from(text);
                    false
                }
                _ => true,
            });
            if keys.is_empty() {
                data.shift_remove(section);
            }
        }
        Some(if data.is_empty() {
            String::new()
        } else {
            Value::Object(data).to_string()
        })
    }
}

/// Returns whether a cell can hold a value as it is, and be told from no value.
fn is_plain(value: &Value) -> bool {
    let odd = |char: char| char.is_control() && char != '\n' && char != '\t';
    matches!(value, Value::String(text) if !text.is_empty() && !text.contains(odd))
}

/// Returns whether a header `Section.key` is read back as this section and key.
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
