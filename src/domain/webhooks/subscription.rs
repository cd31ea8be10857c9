//! The subscriptions of a webhook: which changes it gets, and under which name.

use super::webhook::Webhook;
use crate::{
    core::{
        changes::{self, Changed, Position, Recorded, What, action},
        outbox::{Delivery, Read, Ref, Source, Step},
    },
    types::{DelegateId, DeviceId, InteractionId, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;

/// Changes read at once.
pub const SLICE: usize = 1_000;

/// Reads the feed after a position.
pub fn read(connection: &Connection, webhook: &Webhook, from: Position) -> Result<Read> {
    let places = match &webhook.is.devices {
        Some(codes) if !webhook.is.interactions.is_empty() => Some(places(connection, codes)?),
        _ => None,
    };
    let found = changes::read_all(connection, from, SLICE)?;
    let mut steps = Vec::new();
    for change in &found.changes {
        let delivery = match &change.what {
            What::Recorded(recorded) => delivery_of(webhook, places.as_ref(), recorded),
            What::Changed(changed) => delivery_of_change(connection, webhook, changed)?,
        };
        if delivery.is_some() {
            steps.push(Step {
                delivery,
                to: change.to,
            });
        }
    }
    Ok(Read::along(steps, &found))
}

fn delivery_of(
    webhook: &Webhook,
    places: Option<&HashSet<DeviceId>>,
    recorded: &Recorded,
) -> Option<Delivery> {
    let there = |places: &HashSet<DeviceId>| {
        let mut at = recorded.devices.iter().flatten();
        at.any(|device| places.contains(device))
    };
    let subscription =
        webhook.is.wants_interaction(&recorded.interaction_type) && places.is_none_or(there);
    subscription.then(|| Delivery {
        of: Ref {
            source: Source::Interaction,
            id: recorded.id,
        },
        ordering_key: ordering_key_of(
            InteractionId(recorded.id),
            recorded.first_delegate,
            recorded.devices[0],
        ),
        attempts: 0,
    })
}

fn delivery_of_change(
    connection: &Connection,
    webhook: &Webhook,
    changed: &Changed,
) -> Result<Option<Delivery>> {
    let named = event_name(connection, changed)?;
    let ordering_key = named.filter(|(name, _)| webhook.is.wants_change(name));
    Ok(ordering_key.map(|(_, ordering_key)| Delivery {
        of: Ref {
            source: Source::Audit,
            id: changed.id,
        },
        ordering_key,
        attempts: 0,
    }))
}

/// The ordering key of an interaction.
pub fn ordering_key_of(
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

/// The devices with these codes and all below them.
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

/// The event name and the ordering key of a change; `None` for what no webhook
/// gets. A change of a device that is an event is a change of the event.
pub fn event_name(
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
        ("delegate", action::MERGED) => "delegate.merged",
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
    let ordering_key = match of {
        "delegate" => format!("delegate:{id}"),
        "interaction" => ordering_key_of_deleted(connection, changed.id, id)?,
        _ => "instance".to_owned(),
    };
    Ok(Some((name, ordering_key)))
}

/// The ordering key that a deleted interaction had, so that its creation is told first.
fn ordering_key_of_deleted(connection: &Connection, change: i64, id: i64) -> Result<String> {
    let participants = connection
        .prepare_cached(
            "SELECT before ->> '$.firstDelegate.id', before ->> '$.firstDevice.id' FROM audit WHERE id = ?1",
        )?
        .query_row([change], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (delegate, device) = participants.unwrap_or_default();
    Ok(ordering_key_of(InteractionId(id), delegate, device))
}

fn is_event(connection: &Connection, of: &str, id: i64) -> Result<bool> {
    let found: Option<bool> = connection
        .prepare_cached("SELECT device_type IS 'event' FROM devices WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(of == "event"))
}
