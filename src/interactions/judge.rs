//! Gathers the facts that the rules need for one interaction, from one state of the store, and has
//! them judged.

use super::presence;
use crate::{
    error::Result,
    rules::{self, AccessRules, Facts, Passage, Place, Standing},
    settings::Settings,
    types::{DelegateId, DeviceId, Timestamp},
};
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;

/// What is asked: may this delegate pass at this device?
pub struct Question<'a> {
    /// In or out.
    pub passage: Passage,
    /// Who.
    pub delegate: DelegateId,
    /// Where.
    pub device: DeviceId,
    /// What the delegate did there so far.
    pub standing: Option<Standing>,
    /// When it happened: the earlier of recording and arrival.
    pub at: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// The settings in force.
    pub settings: &'a Settings,
}

/// The passage that an interaction type asks for; only these are judged.
#[must_use]
pub fn passage(kind: &str) -> Option<Passage> {
    match kind {
        "check-in" => Some(Passage::In),
        "check-out" => Some(Passage::Out),
        _ => None,
    }
}

/// Answers by the rules.
///
/// # Errors
/// [`crate::error::Kind::Refused`], and when the facts cannot be read.
pub fn judge(connection: &Connection, question: &Question<'_>) -> Result<()> {
    let (place, parent) = place(connection, question.device, question.settings)?;
    let standing = question.standing.unwrap_or_default();
    let entering = question.passage == Passage::In;
    let rules = place.rules.unwrap_or_default();
    let joined = entering
        && rules.needs_join()
        && (standing.is_joined() || joined_above(connection, question.delegate, parent)?);
    let inside_now = if entering && rules.capacity.is_some() {
        presence::inside_now(connection, question.device)?
    } else {
        0
    };
    rules::judge(&Facts {
        passage: question.passage,
        place: &place,
        standing: &standing,
        joined,
        inside_now,
        at: question.at,
        now: question.now,
        zone: &question.settings.zone,
    })
}

/// The part of a device's `data` that rules stand in.
#[derive(Deserialize)]
struct AccessSection {
    #[serde(rename = "Access")]
    access: Option<AccessRules>,
}

fn place(
    connection: &Connection,
    device: DeviceId,
    settings: &Settings,
) -> Result<(Place, Option<DeviceId>)> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(name, short_name, code), available, start_at, end_at, data, parent_id
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| {
            let data = row.get_ref(4)?;
            let rules = match data.as_str_or_null()? {
                None => Some(settings.access),
                Some(data) => stored_rules(data).map(|rules| rules.or(settings.access)),
            };
            let place = Place {
                name: row.get(0)?,
                available: row.get(1)?,
                start_at: row.get(2)?,
                end_at: row.get(3)?,
                rules,
            };
            Ok((place, row.get(5)?))
        })?)
}

/// The rules in a device's stored `data`; `None` when they cannot be read.
fn stored_rules(data: &str) -> Option<AccessRules> {
    // serde would take a list for the sections in their order.
    if !data.trim_ascii_start().starts_with('{') {
        return None;
    }
    let section: AccessSection = serde_json::from_str(data).ok()?;
    Some(section.access.unwrap_or_default())
}

/// Whether the delegate is joined with a device above; one that was deleted admits nobody.
fn joined_above(
    connection: &Connection,
    delegate: DelegateId,
    parent: Option<DeviceId>,
) -> Result<bool> {
    let mut above = parent;
    while let Some(device) = above {
        let found: Option<(Option<DeviceId>, bool)> = connection
            .prepare_cached("SELECT parent_id, deleted_at IS NULL FROM devices WHERE id = ?1")?
            .query_row([device], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((next, alive)) = found else {
            return Ok(false);
        };
        let standing = presence::load(connection, delegate, device)?;
        if alive && standing.is_some_and(|standing| standing.is_joined()) {
            return Ok(true);
        }
        above = next;
    }
    Ok(false)
}
