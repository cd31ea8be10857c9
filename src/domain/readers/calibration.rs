//! The findings of a walk with a tag about antennas and thresholds.

use super::{config::Configuration, state::FollowedRead};
use crate::{
    domain::delegates,
    types::{DelegateSelector, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// The milliseconds that count as now.
const NOW_MS: i64 = 3_000;
/// Levels are compared within slots of this.
const SLOT_MS: i64 = 1_000;
/// A suggestion takes reads of so many slots.
const SLOTS_MIN: usize = 20;
/// Below the weakest usual level of the nearest antenna.
const FLOOR_MARGIN_DB: f32 = 6.0;

/// The reads of the tag by an antenna.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub reader: String,
    pub antenna: u16,
    pub place: Option<String>,
    /// The part of the place that it hears.
    pub zone: &'static str,
    pub reads: usize,
    /// The mean level of now.
    pub now_dbm: Option<f32>,
    pub best_dbm: f32,
    /// Set where no other antenna hears it as well now.
    pub is_strongest: bool,
}

impl Heard {
    /// The part of a bar that the level of now fills, in percent: from -80 to -30 dBm.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 100"
    )]
    pub fn percent(&self) -> u8 {
        self.now_dbm
            .map_or(0.0, |level| ((level + 80.0) * 2.0).clamp(0.0, 100.0)) as u8
    }
}

/// The settings that a walk suggests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suggestion {
    pub rssi_floor_dbm: f32,
    pub move_db: f32,
}

/// Lists what each antenna heard, by reader and antenna.
pub fn heard(configuration: &Configuration, reads: &[FollowedRead], now: Timestamp) -> Vec<Heard> {
    let mut antennas: BTreeMap<(i64, u16), Vec<FollowedRead>> = BTreeMap::new();
    for read in reads {
        antennas
            .entry((read.reader, read.antenna))
            .or_default()
            .push(*read);
    }
    let mut heard: Vec<Heard> = antennas
        .into_iter()
        .map(|((reader, antenna), reads)| {
            let watched = configuration.watched(reader, antenna);
            let known = configuration.readers.get(&reader);
            let levels = reads.iter().filter(|read| now.0 - read.at.0 <= NOW_MS);
            Heard {
                reader: known.map_or_else(String::new, |reader| reader.name.clone()),
                antenna,
                place: watched
                    .and_then(|watched| configuration.place_name(watched.place))
                    .map(ToOwned::to_owned),
                zone: watched.map_or("", |watched| watched.zone.name()),
                reads: reads.len(),
                now_dbm: mean(levels.map(|read| read.rssi_dbm)),
                best_dbm: reads
                    .iter()
                    .map(|read| read.rssi_dbm)
                    .fold(f32::MIN, f32::max),
                is_strongest: false,
            }
        })
        .collect();
    let now = |one: &Heard| one.now_dbm.unwrap_or(f32::MIN);
    if let Some(strongest) = heard
        .iter_mut()
        .max_by(|one, other| now(one).total_cmp(&now(other)))
    {
        strongest.is_strongest = strongest.now_dbm.is_some();
    }
    heard
}

/// Suggests settings from the walk so far: a floor below what the nearest place usually hears, and half of what it
/// usually hears better than the next place. None before some twenty seconds.
pub fn suggest(configuration: &Configuration, reads: &[FollowedRead]) -> Option<Suggestion> {
    let mut slots: BTreeMap<i64, BTreeMap<i64, f32>> = BTreeMap::new();
    for read in reads {
        if let Some(watched) = configuration.watched(read.reader, read.antenna) {
            let places = slots.entry(read.at.0 / SLOT_MS).or_default();
            let level = places.entry(watched.place).or_insert(f32::MIN);
            *level = level.max(read.rssi_dbm);
        }
    }
    if slots.len() < SLOTS_MIN {
        return None;
    }
    let (mut nearest, mut leads) = (Vec::new(), Vec::new());
    for places in slots.values() {
        let mut levels: Vec<f32> = places.values().copied().collect();
        levels.sort_by(|one, other| other.total_cmp(one));
        nearest.push(levels[0]);
        if let Some(next) = levels.get(1) {
            leads.push(levels[0] - next);
        }
    }
    let floor = percentile(&mut nearest, 5)? - FLOOR_MARGIN_DB;
    let lead = percentile(&mut leads, 50).unwrap_or(12.0);
    Some(Suggestion {
        rssi_floor_dbm: floor.clamp(-85.0, -50.0).round(),
        move_db: (lead / 2.0).clamp(3.0, 12.0).round(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand reads")]
fn mean(levels: impl Iterator<Item = f32>) -> Option<f32> {
    let levels: Vec<f32> = levels.collect();
    (!levels.is_empty()).then(|| levels.iter().sum::<f32>() / levels.len() as f32)
}

fn percentile(levels: &mut [f32], percent: usize) -> Option<f32> {
    levels.sort_by(f32::total_cmp);
    levels.get(levels.len() * percent / 100).copied()
}

/// The attendee whom a code or an e-mail address means, with the tag that they may have.
pub fn tag(connection: &Connection, typed: &str) -> Result<Option<Option<String>>> {
    let scanned = DelegateSelector::Scanned(typed.to_owned());
    let Ok(delegate) = delegates::find(connection, &scanned) else {
        return Ok(None);
    };
    let tag = connection
        .prepare_cached("SELECT uhf_id FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| row.get(0));
    Ok(tag.optional()?)
}

/// The name of whom a tag belongs to.
pub fn whose(connection: &Connection, epc: &str) -> Result<Option<String>> {
    let id: Option<i64> = connection
        .prepare_cached(
            "SELECT id FROM delegates WHERE uhf_id = ?1 COLLATE NOCASE AND uhf_id IS NOT NULL AND deleted_at IS NULL",
        )?
        .query_row([epc], |row| row.get(0))
        .optional()?;
    let name = id.map(|id| delegates::name_of(connection, id));
    Ok(name.transpose()?.flatten())
}
