//! The setup of readers, as the file has it now.

use crate::{
    core::{
        outgoing::{Reach, check_reader},
        presence::{PlacePresence, PresenceSettings, Zone},
        reader::{DEVICE_TYPE, Protocol, ReaderSetup},
        settings::Settings,
    },
    domain::{
        devices::{self, NAME, doors::Doors},
        readers::{
            Epc,
            presence::{AntennaPlace, Layout},
        },
    },
    types::{DeviceId, DeviceSelector, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// Every reader and place that matters to presence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    pub readers: BTreeMap<i64, ReaderConfig>,
    /// Names of the readers that are not available.
    pub switched_off: BTreeMap<i64, String>,
    pub places: BTreeMap<i64, PlaceConfig>,
    pub settings: PresenceSettings,
}

/// A reader.
#[derive(Debug, Clone, PartialEq)]
pub struct ReaderConfig {
    pub name: String,
    pub setup: ReaderSetup,
    /// The place that its antennas stand for unless they name another.
    pub parent: Option<i64>,
    /// The place that each antenna watches; empty where the whole reader watches its parent.
    pub antennas: BTreeMap<u16, Watched>,
    /// The addresses that the server may connect to.
    pub reach: Reach,
    /// The faults that keep parts of the setup from being used, in words.
    pub faults: Vec<String>,
}

/// The place that an antenna watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    pub place: i64,
    pub zone: Zone,
}

/// A place that antennas watch.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceConfig {
    pub name: String,
    pub presence: PlacePresence,
}

impl Configuration {
    /// Reads the setup of every reader.
    pub fn read(connection: &Connection, settings: &Settings) -> Result<Self> {
        let mut configuration = Self {
            settings: settings.presence,
            ..Self::default()
        };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT d.id, {NAME}, p.id, iif(json_valid(d.data), d.data -> '$.Reader', NULL), d.available
             FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
             WHERE d.device_type = ?1 AND d.deleted_at IS NULL ORDER BY d.id"
        ))?;
        let mut rows = statement.query([DEVICE_TYPE])?;
        let doors = Doors::read(connection)?;
        while let Some(row) = rows.next()? {
            let (id, name, parent): (i64, String, Option<i64>) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            if !row.get::<_, bool>(4)? {
                configuration.switched_off.insert(id, name);
                continue;
            }
            let stored: Option<String> = row.get(3)?;
            let reader = ReaderConfig::of(connection, &doors, name, parent, stored.as_deref());
            configuration.readers.insert(id, reader);
        }
        configuration.judge_addresses(settings);
        configuration.find_half_portals();
        configuration.find_shared_addresses();
        let readers = configuration.readers.values();
        let watched = readers.flat_map(|reader| {
            let antennas = reader.antennas.values().map(|watched| watched.place);
            antennas.chain(reader.parent)
        });
        // Those with rules of their own keep them where nobody listens for a while.
        let mut ruled = connection.prepare_cached(
            "SELECT id FROM devices WHERE deleted_at IS NULL AND data LIKE '%\"Presence\"%'",
        )?;
        let ruled = ruled.query_map([], |row| row.get(0))?;
        let ruled: Vec<i64> = ruled.collect::<rusqlite::Result<_>>()?;
        for place in watched.chain(ruled).collect::<Vec<_>>() {
            if !configuration.places.contains_key(&place)
                && let Some(config) = PlaceConfig::read(connection, place)?
            {
                configuration.places.insert(place, config);
            }
        }
        Ok(configuration)
    }

    /// A reader that the file of an earlier version has goes on at an address that a new one could not have, and is
    /// listed.
    fn judge_addresses(&mut self, settings: &Settings) {
        for (id, reader) in &mut self.readers {
            reader.reach = settings.reach;
            let Some(address) = reader.llrp_address() else {
                continue;
            };
            let is_earlier = settings
                .earlier_readers
                .get(id)
                .is_some_and(|of_then| of_then == address);
            if let Err(fault) = check_reader("Address", address, settings.reach) {
                reader.faults.push(fault.to_string());
            }
            if is_earlier {
                reader.reach = Reach::Local;
            }
        }
    }

    /// A portal without one of its sides tells no direction.
    fn find_half_portals(&mut self) {
        let readers = self.readers.values();
        let sides: BTreeSet<(i64, bool)> = readers
            .flat_map(|reader| reader.antennas.values())
            .filter(|watched| watched.zone.is_side())
            .map(|watched| (watched.place, watched.zone == Zone::Inside))
            .collect();
        for reader in self.readers.values_mut() {
            for (antenna, watched) in &reader.antennas {
                let is_inside = watched.zone == Zone::Inside;
                if watched.zone.is_side() && !sides.contains(&(watched.place, !is_inside)) {
                    let other = if is_inside { "outer" } else { "inner" };
                    let fault =
                        format!("Antenna {antenna}: nothing hears the {other} side of its portal");
                    reader.faults.push(fault);
                }
            }
        }
    }

    /// A reader takes one client at a time.
    fn find_shared_addresses(&mut self) {
        let mut by_address: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for (id, reader) in &self.readers {
            if let Some(address) = reader.llrp_address() {
                by_address
                    .entry(llrp::with_port(address).to_ascii_lowercase())
                    .or_default()
                    .push(*id);
            }
        }
        for ids in by_address.into_values().filter(|ids| ids.len() > 1) {
            for id in ids {
                if let Some(reader) = self.readers.get_mut(&id) {
                    let fault = "Another reader has the same address".to_owned();
                    reader.faults.push(fault);
                }
            }
        }
    }

    /// The name of a place, as far as an antenna watches it.
    pub fn place_name(&self, place: i64) -> Option<&str> {
        Some(&self.places.get(&place)?.name)
    }

    /// The layout that presence is derived by.
    pub fn layout(&self) -> Layout {
        let antennas = self.readers.iter().flat_map(|(id, reader)| {
            let whole = reader
                .setup
                .antennas
                .is_empty()
                .then_some(reader.parent)
                .flatten();
            let whole = whole.map(|place| AntennaPlace {
                reader: *id,
                antenna: None,
                place,
                zone: Zone::Room,
            });
            let each = reader
                .antennas
                .iter()
                .map(|(antenna, watched)| AntennaPlace {
                    reader: *id,
                    antenna: Some(*antenna),
                    place: watched.place,
                    zone: watched.zone,
                });
            whole.into_iter().chain(each)
        });
        let places = self.places.iter().map(|(id, place)| (*id, place.presence));
        Layout::new(antennas, places, &self.settings)
    }

    /// Returns what an antenna of a reader watches.
    pub fn watched(&self, reader: i64, antenna: u16) -> Option<Watched> {
        self.readers.get(&reader)?.watched(antenna)
    }
}

impl ReaderConfig {
    /// The address at which the server connects to the reader.
    pub fn llrp_address(&self) -> Option<&str> {
        let address = self.setup.address.as_deref();
        address.filter(|_| self.setup.protocol == Protocol::Llrp)
    }

    /// Returns what an antenna watches.
    pub fn watched(&self, antenna: u16) -> Option<Watched> {
        if self.setup.antennas.is_empty() {
            return Some(Watched {
                place: self.parent?,
                zone: Zone::Room,
            });
        }
        self.antennas.get(&antenna).copied()
    }

    /// Returns whether a tag is one of those that count, by the beginning of its EPC.
    pub fn takes(&self, epc: &Epc) -> bool {
        let Some(prefix) = &self.setup.epc_prefix else {
            return true;
        };
        let begins = epc.to_string();
        begins
            .get(..prefix.len())
            .is_some_and(|begins| begins.eq_ignore_ascii_case(prefix))
    }

    /// Reads the setup of a reader. An antenna at a door is at the place of the door: whoever walks from door to door
    /// leaves nothing.
    fn of(
        connection: &Connection,
        doors: &Doors,
        name: String,
        parent: Option<i64>,
        stored: Option<&str>,
    ) -> Self {
        let parent = parent.map(|parent| doors.place_of(DeviceId(parent)).0);
        let mut faults = Vec::new();
        let setup = stored
            .map(serde_json::from_str)
            .transpose()
            .map_err(crate::types::error::Error::defect)
            .and_then(|value| match value {
                Some(value) => ReaderSetup::parse("data.Reader", &value),
                None => Ok(ReaderSetup::default()),
            })
            .unwrap_or_else(|fault| {
                faults.push(fault.to_string());
                ReaderSetup::default()
            });
        let mut antennas = BTreeMap::new();
        for one in &setup.antennas {
            let place = match &one.place {
                Some(selector) => DeviceSelector::parse(selector)
                    .and_then(|selector| devices::find(connection, &selector))
                    .map(|place| doors.place_of(place).0),
                None => parent.ok_or_else(|| {
                    crate::types::error::Error::invalid(
                        "no place is set, and the reader has no parent",
                    )
                }),
            };
            match place {
                Ok(place) => {
                    let zone = one.zone;
                    antennas.insert(one.antenna, Watched { place, zone });
                }
                Err(fault) => faults.push(format!("Antenna {}: {}", one.antenna, fault)),
            }
        }
        if setup.antennas.is_empty() && parent.is_none() {
            faults.push("No place: set antennas, or a parent".to_owned());
        }
        Self {
            name,
            setup,
            parent,
            antennas,
            reach: Reach::default(),
            faults,
        }
    }
}

impl PlaceConfig {
    fn read(connection: &Connection, place: i64) -> Result<Option<Self>> {
        let found = connection
            .prepare_cached(&format!(
                "SELECT {NAME}, data FROM devices d WHERE id = ?1 AND deleted_at IS NULL"
            ))?
            .query_row([DeviceId(place)], |row| {
                Ok(Self {
                    name: row.get(0)?,
                    presence: PlacePresence::of_stored(row.get_ref(1)?.as_str_or_null()?),
                })
            });
        Ok(found.optional()?)
    }
}
