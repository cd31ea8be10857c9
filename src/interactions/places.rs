//! Devices as interactions find them: each is looked up and its rules are read once, however many
//! interactions are at it, for as long as no device changes (see [`crate::store::Tx::memory`]).

use crate::{
    devices,
    error::Result,
    rules::{AccessRules, Place},
    types::{DeviceId, DeviceSelector},
};
use rusqlite::Connection;
use std::{cell::RefCell, collections::HashMap, hash::Hash, rc::Rc};

/// Devices kept at the most; more begin anew.
const PLACES_MAX: usize = 4_096;

/// The devices that were looked at so far.
#[derive(Default)]
pub struct Places {
    found: RefCell<HashMap<DeviceSelector, DeviceId>>,
    known: RefCell<HashMap<DeviceId, Rc<Known>>>,
}

/// What is known of a device.
pub struct Known {
    /// The device as the rules see it.
    pub place: Place,
    /// Its own rules; `None` when what is stored cannot be read.
    pub rules: Option<AccessRules>,
    /// What it belongs to.
    pub parent: Option<DeviceId>,
    /// Whether it is not deleted.
    pub alive: bool,
}

impl Places {
    /// The id of the living device that a selector means.
    ///
    /// # Errors
    /// [`crate::error::Kind::DeviceNotFound`].
    pub fn find(&self, connection: &Connection, selector: &DeviceSelector) -> Result<DeviceId> {
        if let Some(id) = self.found.borrow().get(selector) {
            return Ok(*id);
        }
        let id = devices::find(connection, selector)?;
        insert(&mut self.found.borrow_mut(), selector.clone(), id);
        Ok(id)
    }

    /// The device of an id that exists, deleted or not.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, connection: &Connection, device: DeviceId) -> Result<Rc<Known>> {
        if let Some(known) = self.known.borrow().get(&device) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(load(connection, device)?);
        insert(&mut self.known.borrow_mut(), device, Rc::clone(&known));
        Ok(known)
    }
}

fn insert<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= PLACES_MAX {
        map.clear();
    }
    map.insert(key, value);
}

fn load(connection: &Connection, device: DeviceId) -> Result<Known> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(name, short_name, code), available, start_at, end_at, data, parent_id,
                    deleted_at IS NULL
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| {
            let data = row.get_ref(4)?;
            Ok(Known {
                rules: AccessRules::of_stored(data.as_str_or_null()?),
                place: Place {
                    name: row.get(0)?,
                    available: row.get(1)?,
                    start_at: row.get(2)?,
                    end_at: row.get(3)?,
                },
                parent: row.get(5)?,
                alive: row.get(6)?,
            })
        })?)
}
