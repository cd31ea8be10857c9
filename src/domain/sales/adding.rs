//! Lines are added up as they are read, in quarters of an hour, which every zone's days consist of:
//! SQLite would sort them all to group them.

use super::sums::Sum;
use crate::{
    core::search::Conditions,
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, params_from_iter, types::ValueRef};
use std::collections::HashMap;

/// Milliseconds of a quarter of an hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;

/// The key that lines have in common that are summed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// None is said.
    Nothing,
    /// A product.
    Device(i64),
    /// A method, or who sold.
    Text(String),
}

/// Lines as they are added up, each key with a place of its own.
#[derive(Default)]
pub struct Adding {
    /// In the order in which they came.
    pub keys: Vec<Key>,
    devices: HashMap<i64, usize>,
    texts: HashMap<String, usize>,
    nothing: Option<usize>,
    /// By place and quarter.
    pub sums: HashMap<(usize, i64), Sum>,
}

impl Adding {
    /// Adds up what a statement gives: time, key, how many and how much.
    pub fn read(connection: &Connection, sql: &str, condition: &Conditions) -> Result<Self> {
        let mut adding = Self::default();
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(&condition.parameters))?;
        while let Some(row) = rows.next()? {
            let at: i64 = row.get(0)?;
            let place = adding.place(row.get_ref(1)?)?;
            let (count, cents): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
            let sum = adding.sums.entry((place, at.div_euclid(QUARTER_MS)));
            sum.or_default().add(Sum {
                count: count.unwrap_or(0),
                cents: cents.unwrap_or(0),
            });
        }
        Ok(adding)
    }

    fn place(&mut self, key: ValueRef<'_>) -> Result<usize> {
        let next = self.keys.len();
        let place = match key {
            ValueRef::Integer(id) => *self.devices.entry(id).or_insert(next),
            ValueRef::Null => *self.nothing.get_or_insert(next),
            text => {
                let text = text.as_str().map_err(Error::defect)?;
                match self.texts.get(text) {
                    Some(place) => *place,
                    None => *self.texts.entry(text.to_owned()).or_insert(next),
                }
            }
        };
        if place == next {
            self.keys.push(match key {
                ValueRef::Integer(id) => Key::Device(id),
                ValueRef::Null => Key::Nothing,
                text => Key::Text(text.as_str().map_err(Error::defect)?.to_owned()),
            });
        }
        Ok(place)
    }

    /// The day of each quarter in which there is something.
    pub fn days(&self, zone: &Zone) -> HashMap<i64, String> {
        let mut quarters: Vec<i64> = self.sums.keys().map(|(_, quarter)| *quarter).collect();
        quarters.sort_unstable();
        quarters.dedup();
        let (mut day, mut end) = (String::new(), Timestamp(i64::MIN));
        let days = quarters.into_iter().map(|quarter| {
            let at = Timestamp(quarter * QUARTER_MS);
            if at >= end {
                (day, end) = zone.day(at);
            }
            (quarter, day.clone())
        });
        days.collect()
    }
}
