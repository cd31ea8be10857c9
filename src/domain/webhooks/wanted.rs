//! Which changes a webhook wants to be told, and under which name.

use super::{
    event::{Event, Ref, Source},
    webhook::Webhook,
};
use crate::{
    core::changes::{self, Changed, Position, Recorded, What},
    types::{DelegateId, DeviceId, InteractionId, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;

/// Changes that are read at once.
pub const SLICE: usize = 1_000;

/// A step along what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What is to be told; `None` at the end of a slice that has nothing more for it.
    pub event: Option<Event>,
    /// How far it leads, with all that is none of the webhook's business.
    pub to: Position,
}

/// The next steps after a position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Whether there is more behind them.
    pub more: bool,
}

/// Reads on after a position.
pub fn read(connection: &Connection, webhook: &Webhook, from: Position) -> Result<Read> {
    let places = match &webhook.is.devices {
        Some(codes) if !webhook.is.interactions.is_empty() => Some(places(connection, codes)?),
        _ => None,
    };
    let found = changes::read(connection, from, SLICE)?;
    let mut steps = Vec::new();
    for change in &found.changes {
        let event = match &change.what {
            What::Recorded(recorded) => event_of(webhook, places.as_ref(), recorded),
            What::Changed(changed) => event_of_change(connection, webhook, changed)?,
        };
        if event.is_some() {
            steps.push(Step {
                event,
                to: change.to,
            });
        }
    }
    let last = found.changes.last().map(|change| change.to);
    if let Some(to) = last.filter(|to| steps.last().is_none_or(|step| step.to != *to)) {
        steps.push(Step { event: None, to });
    }
    Ok(Read {
        steps,
        more: found.more,
    })
}

fn event_of(
    webhook: &Webhook,
    places: Option<&HashSet<DeviceId>>,
    recorded: &Recorded,
) -> Option<Event> {
    let there = |places: &HashSet<DeviceId>| {
        let mut at = recorded.devices.iter().flatten();
        at.any(|device| places.contains(device))
    };
    let wanted =
        webhook.is.wants_interaction(&recorded.interaction_type) && places.is_none_or(there);
    wanted.then(|| Event {
        of: Ref {
            source: Source::Interaction,
            id: recorded.id,
        },
        lane: lane_of(
            InteractionId(recorded.id),
            recorded.first_delegate,
            recorded.devices[0],
        ),
    })
}

fn event_of_change(
    connection: &Connection,
    webhook: &Webhook,
    changed: &Changed,
) -> Result<Option<Event>> {
    let told = told_as(connection, changed)?;
    let lane = told.filter(|(name, _)| webhook.is.wants_change(name));
    Ok(lane.map(|(_, lane)| Event {
        of: Ref {
            source: Source::Audit,
            id: changed.id,
        },
        lane,
    }))
}

/// The record that an interaction is about.
pub fn lane_of(
    id: InteractionId,
    delegate: Option<DelegateId>,
    device: Option<DeviceId>,
) -> String {
    match (delegate, device) {
        (Some(delegate), _) => format!("delegate:{delegate}"),
        (None, Some(device)) => format!("device:{device}"),
        (None, None) => format!("interaction:{id}"),
    }
}

/// The devices of these codes and all below them.
fn places(
    connection: &Connection,
    codes: &std::collections::BTreeSet<String>,
) -> Result<HashSet<DeviceId>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE places (id) AS (
             SELECT id FROM devices WHERE code IN (SELECT value FROM json_each(?1)) AND deleted_at IS NULL
             UNION SELECT devices.id FROM devices JOIN places ON devices.parent_id = places.id)
         SELECT id FROM places",
    )?;
    let ids = statement.query_map([serde_json::json!(codes).to_string()], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// The name that a change is told by, and the record that it is about; `None` for what is told
/// nobody. Whoever changed an event by the name of its device changed an event.
pub fn told_as(
    connection: &Connection,
    changed: &Changed,
) -> Result<Option<(&'static str, String)>> {
    let id = changed.record.unwrap_or_default();
    let (of, action) = (changed.record_type.as_str(), changed.action.as_str());
    let name = match (of, action) {
        ("delegate", "create") => "delegate.created",
        ("delegate", "update") => "delegate.updated",
        ("delegate", "delete") => "delegate.deleted",
        ("delegate", "restore") => "delegate.restored",
        ("delegate", "erase") => "delegate.erased",
        // Of the one that stays it is told that it was updated.
        ("delegate", "merge") if changed.into.is_some() => "delegate.merged",
        ("device" | "event", _) => {
            let names = if is_event(connection, of, id)? {
                [
                    "event.created",
                    "event.updated",
                    "event.deleted",
                    "event.restored",
                ]
            } else {
                [
                    "device.created",
                    "device.updated",
                    "device.deleted",
                    "device.restored",
                ]
            };
            let at = ["create", "update", "delete", "restore"]
                .iter()
                .position(|known| *known == action);
            return Ok(at.map(|at| (names[at], format!("device:{id}"))));
        }
        ("interaction", "delete") => "interaction.deleted",
        ("batch", "undo") => "import.undone",
        ("rehearsal", "restore") => "rehearsal.returned",
        _ => return Ok(None),
    };
    let lane = match of {
        "delegate" => format!("delegate:{id}"),
        "interaction" => format!("interaction:{id}"),
        _ => "instance".to_owned(),
    };
    Ok(Some((name, lane)))
}

fn is_event(connection: &Connection, of: &str, id: i64) -> Result<bool> {
    let found: Option<bool> = connection
        .prepare_cached("SELECT device_type IS 'event' FROM devices WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(of == "event"))
}
