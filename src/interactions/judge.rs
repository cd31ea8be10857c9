//! Gathers the facts that the rules need for one interaction, from one state of the store, and has
//! them judged.

use super::{places::Places, presence};
use crate::{
    error::Result,
    rules::{self, Facts, Passage, Standing},
    settings::Settings,
    types::{DelegateId, DeviceId, Timestamp},
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
    /// What the delegate last did there.
    pub standing: Standing,
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
pub fn judge(connection: &Connection, places: &Places, question: &Question<'_>) -> Result<()> {
    let settings = question.settings;
    let known = places.get(connection, question.device)?;
    let entering = question.passage == Passage::In;
    // None where they cannot be read, which is for the rules to say.
    let rules = known.rules.map(|own| own.or(settings.access));
    let in_force = rules.unwrap_or_default();
    let joined = entering
        && in_force.needs_join()
        && (joined_at(
            connection,
            places,
            question.delegate,
            question.device,
            &question.standing,
        )? || joined_above(connection, places, question.delegate, known.parent)?);
    let entries = match in_force.max_check_ins {
        Some(most) if entering => {
            presence::entries(connection, question.delegate, question.device, most)?
        }
        _ => 0,
    };
    let inside_now = if entering && in_force.capacity.is_some() {
        presence::inside_now(connection, question.device)?
    } else {
        0
    };
    rules::judge(&Facts {
        passage: question.passage,
        place: &known.place,
        rules,
        standing: &question.standing,
        entries,
        joined,
        inside_now,
        at: question.at,
        now: question.now,
        zone: &settings.zone,
    })
}

/// As [`presence::is_joined`], and quicker where nobody was ever uninvited by another.
fn joined_at(
    connection: &Connection,
    places: &Places,
    delegate: DelegateId,
    device: DeviceId,
    standing: &Standing,
) -> Result<bool> {
    Ok(standing.last_join > standing.last_leave
        && (!places.has_uninvites(connection)?
            || presence::is_joined(connection, delegate, device, standing)?))
}

/// Whether the delegate is joined with a device above; one that was deleted admits nobody.
fn joined_above(
    connection: &Connection,
    places: &Places,
    delegate: DelegateId,
    parent: Option<DeviceId>,
) -> Result<bool> {
    let mut above = parent;
    while let Some(device) = above {
        let known = places.get(connection, device)?;
        if known.alive {
            let standing = presence::standing(connection, delegate, device)?;
            if joined_at(connection, places, delegate, device, &standing)? {
                return Ok(true);
            }
        }
        above = known.parent;
    }
    Ok(false)
}
