//! Devices as one transaction sees them: each is looked up and its rules are read once, however many
//! interactions of a batch are at it. Kept for one transaction only, in which no device changes.

use crate::{
    devices,
    error::Result,
    rules::{AccessRules, Place},
    settings::Settings,
    types::{DeviceId, DeviceSelector},
};
use rusqlite::Connection;
use std::{cell::RefCell, collections::HashMap, rc::Rc};

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
        self.found.borrow_mut().insert(selector.clone(), id);
        Ok(id)
    }

    /// The device of an id that exists, deleted or not.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(
        &self,
        connection: &Connection,
        device: DeviceId,
        settings: &Settings,
    ) -> Result<Rc<Known>> {
        if let Some(known) = self.known.borrow().get(&device) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(load(connection, device, settings)?);
        self.known.borrow_mut().insert(device, Rc::clone(&known));
        Ok(known)
    }
}

fn load(connection: &Connection, device: DeviceId, settings: &Settings) -> Result<Known> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(name, short_name, code), available, start_at, end_at, data, parent_id,
                    deleted_at IS NULL
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| {
            let data = row.get_ref(4)?;
            let rules = AccessRules::of_stored(data.as_str_or_null()?);
            Ok(Known {
                place: Place {
                    name: row.get(0)?,
                    available: row.get(1)?,
                    start_at: row.get(2)?,
                    end_at: row.get(3)?,
                    rules: rules.map(|rules| rules.or(settings.access)),
                },
                parent: row.get(5)?,
                alive: row.get(6)?,
            })
        })?)
}
