//! Gathers the facts that the rules need for one interaction, from one state of the store, and has
//! them judged.

use super::{
    device_cache::{CachedDevice, DeviceCache},
    presence::{self, History},
};
use crate::{
    core::{
        rules::{self, AccessRules, CheckInFacts, Passage, PresenceState, Room},
        settings::Settings,
    },
    types::{
        DelegateId, DeviceId, Timestamp,
        error::{Error, Kind, Refusal, Result},
    },
};
use rusqlite::Connection;

/// What is asked: may this delegate pass at this device?
pub struct Question<'a> {
    /// In or out.
    pub passage: Passage,
    /// Who.
    pub delegate: DelegateId,
    /// Where.
    pub device: DeviceId,
    /// What the delegate did so far.
    pub history: &'a History,
    /// Devices the delegate is inside of, in order.
    pub inside: &'a [DeviceId],
    /// Counts the delegates inside a device.
    pub people: &'a dyn Fn(DeviceId) -> Result<i64>,
    /// When it happened: the earlier of recording and arrival.
    pub at: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// The settings in force.
    pub settings: &'a Settings,
}

/// Answers by the rules.
///
/// # Errors
/// [`crate::types::error::Kind::Refused`], and when the facts cannot be read.
pub fn judge(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
) -> Result<()> {
    let settings = question.settings;
    let known = device_cache.get(connection, question.device)?;
    let entering = question.passage == Passage::In;
    let rules = in_force(connection, device_cache, question, known.rules)?;
    let needed = rules.unwrap_or_default();
    let state = question
        .history
        .state(connection, device_cache, question.device)?;
    let joined = entering && needed.needs_join() && is_joined(connection, device_cache, question)?;
    let entries = match needed.max_check_ins {
        Some(most) if entering => {
            presence::entries(connection, question.delegate, question.device, most)?
        }
        _ => 0,
    };
    let rooms = if entering {
        rooms(connection, device_cache, question, &needed)?
    } else {
        Vec::new()
    };
    rules::judge(&CheckInFacts {
        passage: question.passage,
        place: &known.place,
        rules,
        state: &state,
        recorded_at: &|last| presence::recorded_at(connection, last),
        inside: question.inside.binary_search(&question.device).is_ok(),
        entries,
        joined,
        rooms: &rooms,
        at: question.at,
        now: question.now,
        zone: &settings.zone,
    })
}

/// The rules in force at the device: its own; its `ruleSet`, if it sets none, from the nearest place
/// above that sets one; the rest from the settings. `None` where its own cannot be read, which is for
/// the rules to say.
fn in_force(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    own: Option<AccessRules>,
) -> Result<Option<AccessRules>> {
    let Some(mut rules) = own else {
        return Ok(None);
    };
    if question.passage == Passage::In {
        for above in &device_cache.path(connection, question.device)?[1..] {
            let known = device_cache.get(connection, *above)?;
            if known.alive {
                rules.rule_set = rules.rule_set.or(readable(&known)?.rule_set);
            }
        }
    }
    Ok(Some(rules.or(question.settings.access)))
}

fn readable(known: &CachedDevice) -> Result<AccessRules> {
    known.rules.ok_or_else(|| {
        Error::new(
            Kind::Refused(Refusal::NotAvailable),
            rules::unreadable(&known.place.name),
        )
    })
}

/// The device and the places above it that have a capacity and that the delegate is not inside of yet.
fn rooms(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    rules: &AccessRules,
) -> Result<Vec<Room>> {
    let mut rooms = Vec::new();
    for device in device_cache.path(connection, question.device)?.iter() {
        let known = device_cache.get(connection, *device)?;
        let capacity = if *device == question.device {
            rules.capacity
        } else {
            known
                .rules
                .filter(|_| known.alive)
                .and_then(|own| own.capacity)
        };
        if let Some(capacity) = capacity
            && question.inside.binary_search(device).is_err()
        {
            rooms.push(Room {
                name: known.place.name.clone(),
                capacity,
                inside: (question.people)(*device)?,
            });
        }
    }
    Ok(rooms)
}

/// Whether the delegate is joined with the device or with one above it; one that was deleted admits
/// nobody.
fn is_joined(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
) -> Result<bool> {
    for device in device_cache.path(connection, question.device)?.iter() {
        if *device != question.device && !device_cache.get(connection, *device)?.alive {
            continue;
        }
        let state = question.history.at(*device);
        if joined_at(connection, device_cache, question.delegate, *device, &state)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// As [`presence::is_joined`], and quicker where nobody was ever uninvited by another.
fn joined_at(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
    state: &PresenceState,
) -> Result<bool> {
    Ok(state.last_join > state.last_leave
        && (!device_cache.has_uninvites(connection)?
            || presence::is_joined(connection, delegate, device, state)?))
}
