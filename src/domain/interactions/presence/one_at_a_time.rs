//! One room at a time (`oneAtATime`, contract §6): an entry at one child of a place, or below that child,
//! ends the stay in the others, by position. It follows from what was recorded whenever somebody asks who is
//! inside; the rules of a single place never look at it.

use super::History;
use crate::{
    core::rules::{Position, PresenceState},
    domain::interactions::judge::DeviceCache,
    types::{DeviceId, error::Result},
};
use rusqlite::Connection;

/// A place where people are in one room at a time, and the child of it that leads to a device.
type Branch = (DeviceId, DeviceId);

impl History {
    /// Takes out the stays that a later entry at another room ended.
    pub(super) fn leave_other_rooms(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        entered: &mut Vec<(DeviceId, Position)>,
    ) -> Result<()> {
        let entries = || {
            let last =
                |(device, state): &(DeviceId, PresenceState)| Some((*device, state.last_in?));
            self.places.iter().filter_map(last)
        };
        if entered.is_empty() || entries().nth(1).is_none() {
            return Ok(());
        }
        let mut held = Vec::with_capacity(entered.len());
        for (device, since) in &*entered {
            let own = branches(connection, device_cache, *device)?;
            let mut is_held = true;
            for (other, _) in entries().filter(|(_, at)| !own.is_empty() && at > since) {
                is_held &= !device_cache.get(connection, other)?.alive
                    || !are_apart(&own, &branches(connection, device_cache, other)?);
            }
            held.push(is_held);
        }
        let mut held = held.into_iter();
        entered.retain(|_| held.next().unwrap_or(true));
        Ok(())
    }
}

/// Returns whether two devices are in different rooms of one place.
fn are_apart(one: &[Branch], other: &[Branch]) -> bool {
    one.iter().any(|(place, child)| {
        let mut others = other.iter();
        others.any(|(same, another)| same == place && another != child)
    })
}

/// The places above a device where people are in one room at a time.
fn branches(
    connection: &Connection,
    device_cache: &DeviceCache,
    device: DeviceId,
) -> Result<Vec<Branch>> {
    let path = device_cache.path(connection, device)?;
    let mut branches = Vec::new();
    for (child, place) in path.iter().zip(path.iter().skip(1)) {
        let known = device_cache.get(connection, *place)?;
        let rules = known.rules.as_ref().filter(|_| known.alive);
        if rules.is_some_and(|rules| rules.one_at_a_time == Some(true)) {
            branches.push((*place, *child));
        }
    }
    Ok(branches)
}
