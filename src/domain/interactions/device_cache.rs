//! Devices as interactions find them: each is looked up and its rules are read once, however many
//! interactions are at it, for as long as no device changes (see [`crate::db::Tx::cache`]). The same
//! goes for what most events have none of, gate notes and people who were uninvited by another.

use super::presence::{self, PresenceChange};
use crate::{
    core::rules::{AccessRules, Place},
    domain::{delegates::note, devices},
    types::{DeviceId, DeviceSelector, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    hash::Hash,
    rc::Rc,
};

/// Devices kept at the most; more begin anew.
const DEVICES_MAX: usize = 4_096;

/// The devices that were looked at so far.
#[derive(Default)]
pub struct DeviceCache {
    found: RefCell<HashMap<DeviceSelector, DeviceId>>,
    known: RefCell<HashMap<DeviceId, Rc<CachedDevice>>>,
    paths: RefCell<HashMap<DeviceId, Rc<[DeviceId]>>>,
    notes: Cell<Option<bool>>,
    uninvites: Cell<Option<bool>>,
}

/// What is known of a device.
pub struct CachedDevice {
    /// The device as the rules see it.
    pub place: Place,
    /// Its own rules; `None` when what is stored cannot be read.
    pub rules: Option<AccessRules>,
    /// What it belongs to.
    pub parent: Option<DeviceId>,
    /// Whether it is not deleted.
    pub alive: bool,
}

impl DeviceCache {
    /// The id of the living device that a selector means.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::DeviceNotFound`].
    pub fn find(&self, connection: &Connection, selector: &DeviceSelector) -> Result<DeviceId> {
        if let Some(id) = self.found.borrow().get(selector) {
            return Ok(*id);
        }
        let id = devices::find(connection, selector)?;
        insert(&mut self.found.borrow_mut(), selector.clone(), id);
        Ok(id)
    }

    /// The device of an id, deleted or not.
    pub fn get(&self, connection: &Connection, device: DeviceId) -> Result<Rc<CachedDevice>> {
        if let Some(known) = self.known.borrow().get(&device) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(load(connection, device)?);
        insert(&mut self.known.borrow_mut(), device, Rc::clone(&known));
        Ok(known)
    }

    /// A device and what it belongs to, nearest first.
    pub fn path(&self, connection: &Connection, device: DeviceId) -> Result<Rc<[DeviceId]>> {
        if let Some(path) = self.paths.borrow().get(&device) {
            return Ok(Rc::clone(path));
        }
        let mut path = vec![device];
        let mut above = self.get(connection, device)?.parent;
        // Nobody can write a ring of parents; a damaged file may hold one.
        while let Some(parent) = above.filter(|parent| !path.contains(parent)) {
            path.push(parent);
            above = self.get(connection, parent)?.parent;
        }
        let path: Rc<[DeviceId]> = path.into();
        insert(&mut self.paths.borrow_mut(), device, Rc::clone(&path));
        Ok(path)
    }

    /// Whether anybody has a gate note.
    pub fn has_notes(&self, connection: &Connection) -> Result<bool> {
        once(&self.notes, || note::is_any(connection))
    }

    /// Whether anybody may have been uninvited as a second delegate: it holds still when the one
    /// interaction that did it was undone.
    pub fn has_uninvites(&self, connection: &Connection) -> Result<bool> {
        once(&self.uninvites, || presence::is_any_uninvite(connection))
    }

    /// To be called when an interaction of this effect is recorded: it may be the first of them.
    pub fn recorded(&self, effect: Option<PresenceChange>) {
        if effect == Some(PresenceChange::LeaveSecond) {
            self.uninvites.set(None);
        }
    }
}

fn once(kept: &Cell<Option<bool>>, look: impl FnOnce() -> Result<bool>) -> Result<bool> {
    if let Some(known) = kept.get() {
        return Ok(known);
    }
    let found = look()?;
    kept.set(Some(found));
    Ok(found)
}

fn insert<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= DEVICES_MAX {
        map.clear();
    }
    map.insert(key, value);
}

fn load(connection: &Connection, device: DeviceId) -> Result<CachedDevice> {
    let found = connection
        .prepare_cached(
            "SELECT coalesce(name, short_name, code), available, start_at, end_at, data, parent_id,
                    deleted_at IS NULL
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| {
            let data = row.get_ref(4)?;
            Ok(CachedDevice {
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
        })
        .optional()?;
    // Only a damaged file lacks a device that interactions name.
    Ok(found.unwrap_or_else(|| CachedDevice {
        place: Place {
            name: format!("device {device}"),
            available: false,
            start_at: None,
            end_at: None,
        },
        rules: None,
        parent: None,
        alive: false,
    }))
}
