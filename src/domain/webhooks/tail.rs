//! What happened since, of what a webhook wants to be told: the next rows of `interactions` and
//! of the changes to records, woven into one order by their times. A change is a row of `audit` or, of a
//! record that an import made, a row of `batch_rows` with a number of the audit. Each alone is in the order of its ids, which is
//! that of commits, whatever the clock did.

use super::{
    event::{Event, Ref, Source},
    state::Cursor,
    webhook::Webhook,
};
use crate::types::{DelegateId, DeviceId, InteractionId, Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashSet;

/// Rows of each source that are read at once.
pub const SLICE: usize = 1_000;

/// A step along what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What is to be told; `None` at the end of a slice that has nothing more for it.
    pub event: Option<Event>,
    /// How far it leads, with all that is none of the webhook's business.
    pub to: Cursor,
}

/// The next steps after a cursor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Whether there is more behind them.
    pub more: bool,
}

/// A row that was read.
struct Row {
    id: i64,
    at: Timestamp,
    event: Option<Event>,
}

/// Reads on after a cursor.
pub fn read(connection: &Connection, webhook: &Webhook, from: Cursor) -> Result<Read> {
    let audit = audit(connection, webhook, from.audit)?;
    let interactions = interactions(connection, webhook, from.interaction)?;
    Ok(weave(from, audit, interactions))
}

/// Whether anything at all happened after a cursor.
pub fn is_behind(connection: &Connection, from: Cursor) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM interactions WHERE id > ?1)
                 OR EXISTS (SELECT 1 FROM audit WHERE id > ?2)
                 OR EXISTS (SELECT 1 FROM batch_rows WHERE change_id > ?2)",
        )?
        .query_row(params![from.interaction, from.audit], |row| row.get(0))?)
}

/// Two sources become one, by time; where one of them was read in part, nothing goes beyond.
fn weave(from: Cursor, audit: Vec<Row>, interactions: Vec<Row>) -> Read {
    let cut = [audit.len() >= SLICE, interactions.len() >= SLICE];
    let mut to = from;
    let mut steps = Vec::new();
    let mut pending = false;
    let (mut audit, mut interactions) = (
        audit.into_iter().peekable(),
        interactions.into_iter().peekable(),
    );
    let more = loop {
        let first = match (audit.peek(), interactions.peek()) {
            (None, None) => break cut[0] || cut[1],
            (None, Some(_)) if cut[0] => break true,
            (Some(_), None) if cut[1] => break true,
            (None, Some(_)) => Source::Interaction,
            (Some(_), None) => Source::Audit,
            // At the same time a record comes before what happens to it.
            (Some(change), Some(interaction)) if change.at <= interaction.at => Source::Audit,
            _ => Source::Interaction,
        };
        let row = match first {
            Source::Audit => audit.next(),
            Source::Interaction => interactions.next(),
        };
        let Some(row) = row else { break false };
        match first {
            Source::Audit => to.audit = row.id,
            Source::Interaction => to.interaction = row.id,
        }
        pending = row.event.is_none();
        if let Some(event) = row.event {
            steps.push(Step {
                event: Some(event),
                to,
            });
        }
    };
    if pending {
        steps.push(Step { event: None, to });
    }
    Read { steps, more }
}

fn interactions(connection: &Connection, webhook: &Webhook, after: i64) -> Result<Vec<Row>> {
    let places = match &webhook.is.devices {
        Some(codes) if !webhook.is.interactions.is_empty() => Some(places(connection, codes)?),
        _ => None,
    };
    let mut statement = connection.prepare_cached(
        "SELECT id, created_at, interaction_type, first_delegate_id,
                first_device_id, second_device_id, third_device_id
         FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut rows = statement.query(params![after, SLICE])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, kind): (i64, String) = (row.get(0)?, row.get(2)?);
        let devices: [Option<i64>; 3] = [row.get(4)?, row.get(5)?, row.get(6)?];
        let there = |places: &HashSet<i64>| {
            let mut at = devices.iter().flatten();
            at.any(|device| places.contains(device))
        };
        let wanted = webhook.is.wants_interaction(&kind) && places.as_ref().is_none_or(there);
        let event = if wanted {
            let first = devices[0].map(DeviceId);
            Some(Event {
                of: Ref {
                    source: Source::Interaction,
                    id,
                },
                lane: lane_of(InteractionId(id), row.get(3)?, first),
            })
        } else {
            None
        };
        found.push(Row {
            id,
            at: row.get(1)?,
            event,
        });
    }
    Ok(found)
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
) -> Result<HashSet<i64>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE places (id) AS (
             SELECT id FROM devices WHERE code IN (SELECT value FROM json_each(?1)) AND deleted_at IS NULL
             UNION SELECT devices.id FROM devices JOIN places ON devices.parent_id = places.id)
         SELECT id FROM places",
    )?;
    let ids = statement.query_map([serde_json::json!(codes).to_string()], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

fn audit(connection: &Connection, webhook: &Webhook, after: i64) -> Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, at, action, record_type, record_id, into_id FROM (
             SELECT * FROM (SELECT id, at, action, record_type, record_id, after ->> '$.into' AS into_id
                 FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2)
             UNION ALL
             SELECT * FROM (SELECT {IMPORTED}, NULL AS into_id FROM batch_rows r CROSS JOIN batches b ON b.id = r.batch_id
                 WHERE r.change_id > ?1 ORDER BY r.change_id LIMIT ?2))
         ORDER BY id LIMIT ?2"
    ))?;
    let mut rows = statement.query(params![after, SLICE])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let (action, of): (String, String) = (row.get(2)?, row.get(3)?);
        let record: Option<i64> = row.get(4)?;
        let into: Option<i64> = row.get(5)?;
        let told = match told_as(connection, &action, &of, record, into.is_some())? {
            Some((name, lane)) if webhook.is.wants_change(name) => Some(lane),
            _ => None,
        };
        found.push(Row {
            id,
            at: row.get(1)?,
            event: told.map(|lane| Event {
                of: Ref {
                    source: Source::Audit,
                    id,
                },
                lane,
            }),
        });
    }
    Ok(found)
}

/// The number, time, action, type and id of a record that an import (`b`) made by a row (`r`), as the
/// audit would have them.
pub const IMPORTED: &str = "r.change_id AS id,
    coalesce(iif(b.kind = 'delegates', (SELECT created_at FROM delegates WHERE id = r.record_id),
        (SELECT created_at FROM devices WHERE id = r.record_id)), b.created_at) AS at,
    'create' AS action, iif(b.kind = 'delegates', 'delegate', 'device') AS record_type, r.record_id";

/// The name that a change is told by, and the record that it is about; `None` for what is told
/// nobody. Whoever changed an event by the name of its device changed an event.
pub fn told_as(
    connection: &Connection,
    action: &str,
    of: &str,
    record: Option<i64>,
    into: bool,
) -> Result<Option<(&'static str, String)>> {
    let id = record.unwrap_or_default();
    let name = match (of, action) {
        ("delegate", "create") => "delegate.created",
        ("delegate", "update") => "delegate.updated",
        ("delegate", "delete") => "delegate.deleted",
        ("delegate", "restore") => "delegate.restored",
        ("delegate", "erase") => "delegate.erased",
        // Of the one that stays it is told that it was updated.
        ("delegate", "merge") if into => "delegate.merged",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(source: Source, of: &[(i64, i64, bool)]) -> Vec<Row> {
        let row = |(id, at, wanted): &(i64, i64, bool)| Row {
            id: *id,
            at: Timestamp(*at),
            event: wanted.then(|| Event {
                of: Ref { source, id: *id },
                lane: String::new(),
            }),
        };
        of.iter().map(row).collect()
    }

    fn woven(audit: &[(i64, i64, bool)], interactions: &[(i64, i64, bool)]) -> Vec<String> {
        let read = weave(
            Cursor::default(),
            rows(Source::Audit, audit),
            rows(Source::Interaction, interactions),
        );
        let shown = |step: &Step| {
            let event = step.event.as_ref().map_or("-".to_owned(), |event| {
                format!("{}{}", &event.of.source.name()[..1], event.of.id)
            });
            format!("{event} to a{} i{}", step.to.audit, step.to.interaction)
        };
        read.steps.iter().map(shown).collect()
    }

    #[test]
    fn two_sources_are_told_in_the_order_of_time() {
        assert_eq!(
            woven(
                &[(1, 10, true), (2, 30, false), (3, 40, true)],
                &[(7, 10, true), (8, 35, true), (9, 50, false)],
            ),
            [
                "a1 to a1 i0",
                "i7 to a1 i7",
                "i8 to a2 i8",
                "a3 to a3 i8",
                "- to a3 i9"
            ]
        );
        assert!(woven(&[], &[]).is_empty());
    }

    #[test]
    fn a_clock_that_jumps_back_leaves_each_source_in_its_order() {
        assert_eq!(
            woven(
                &[(1, 50, true), (2, 20, true)],
                &[(1, 30, true), (2, 10, true)]
            ),
            ["i1 to a0 i1", "i2 to a0 i2", "a1 to a1 i2", "a2 to a2 i2"]
        );
    }

    #[test]
    fn nothing_is_told_before_what_was_not_read_yet() {
        let many: Vec<_> = (1..=i64::try_from(SLICE).unwrap())
            .map(|id| (id, id, false))
            .collect();
        let read = weave(
            Cursor::default(),
            rows(Source::Audit, &many),
            rows(Source::Interaction, &[(1, 5, true), (2, 1_000_000, true)]),
        );
        assert!(read.more);
        let to = read.steps.last().unwrap().to;
        assert_eq!((to.audit, to.interaction), (1_000, 1));
        assert_eq!(read.steps.len(), 2);
    }
}
