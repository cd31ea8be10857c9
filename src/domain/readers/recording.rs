//! Records what presence derived as interactions, through the same function as a gate's scans.

use super::presence::{Derived, DerivedKind, Restored};
use crate::{
    core::Context,
    db::Tx,
    domain::{
        delegates, devices,
        interactions::{
            draft::Draft,
            record::record,
            types::{ENTERED, EXITED, SEEN},
        },
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

/// Interactions that a slice writes.
pub const SLICE: usize = 100;
/// Stays of the last so many milliseconds go on after a restart.
const STAYS_MS: i64 = 7 * 24 * 3_600_000;

/// The part of a sighting that stands in `data.Reader`.
pub struct Sighting {
    pub antenna: u16,
    pub rssi_dbm: f64,
    pub reads: u32,
}

impl Sighting {
    /// `data` of the interaction.
    pub fn data(&self) -> String {
        let rssi = (self.rssi_dbm * 10.0).round() / 10.0;
        json!({"Reader": {"antenna": self.antenna, "rssi": rssi, "reads": self.reads}}).to_string()
    }
}

/// The type of interaction that something derived is.
pub fn name(kind: DerivedKind) -> &'static str {
    match kind {
        DerivedKind::Seen => SEEN.name,
        DerivedKind::Entered => ENTERED.name,
        DerivedKind::Exited => EXITED.name,
    }
}

/// Records what was derived, in order. Who or what was deleted meanwhile is passed over. Gives who left and was merged
/// into another record meanwhile, as that one.
pub fn store(tx: &Tx<'_>, ctx: &Context, derived: &[Derived]) -> Result<Vec<Derived>> {
    let mut merged = Vec::new();
    for one in derived {
        let place = DeviceSelector::Id(DeviceId(one.place));
        let delegate = DelegateSelector::Id(DelegateId(one.tag));
        let Some(delegate) = known(delegates::find(tx, &delegate))? else {
            merged.extend(leaves_as(tx, one)?.map(|tag| Derived { tag, ..*one }));
            continue;
        };
        if known(devices::find(tx, &place))?.is_none() {
            continue;
        }
        let reader = DeviceSelector::Id(DeviceId(one.reader));
        let reader = devices::find(tx, &reader).is_ok().then_some(reader);
        let sighting = Sighting {
            antenna: one.antenna,
            rssi_dbm: f64::from(one.rssi_dbm),
            reads: one.reads,
        };
        let draft = Draft {
            kind: name(one.kind).to_owned(),
            delegates: [Some(DelegateSelector::Id(delegate)), None, None],
            devices: [Some(place), reader, None],
            recorded_at: Some(Timestamp(one.at_ms)),
            data: Some(sighting.data()),
            ..Draft::default()
        };
        record(tx, ctx, &draft)?;
    }
    Ok(merged)
}

/// Returns what was found; none where it is deleted.
fn known<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(cause) if matches!(cause.kind, Kind::DeviceNotFound | Kind::DelegateNotFound) => {
            Ok(None)
        }
        Err(cause) => Err(cause),
    }
}

/// Finds the record that somebody who leaves became, unless that one came again later.
fn leaves_as(connection: &Connection, left: &Derived) -> Result<Option<i64>> {
    if left.kind != DerivedKind::Exited {
        return Ok(None);
    }
    let kept = connection
        .prepare_cached(
            "WITH RECURSIVE kept (id) AS (
                 SELECT ?1
                 UNION SELECT a.after ->> '$.into' FROM kept JOIN audit a
                 ON a.record_type = 'delegate' AND a.record_id = kept.id AND a.action = 'merge'
                 WHERE a.after ->> '$.into' IS NOT NULL)
             SELECT d.id FROM kept JOIN delegates d ON d.id = kept.id AND d.deleted_at IS NULL
             WHERE (SELECT i.interaction_type = ?2 AND i.recorded_at <= ?4 FROM interactions i
                    WHERE i.first_delegate_id = d.id AND i.first_device_id = ?5 AND i.interaction_type IN (?2, ?3)
                    ORDER BY i.recorded_at DESC, i.id DESC LIMIT 1)",
        )?
        .query_row(
            (left.tag, ENTERED.name, EXITED.name, left.at_ms, left.place),
            |row| row.get(0),
        );
    Ok(kept.optional()?)
}

/// Lists who is at which place by what readers noticed so far.
pub fn stays(connection: &Connection, now: Timestamp) -> Result<Vec<Restored>> {
    // When they were heard last is not in the file; the server ran at least until it recorded something last.
    let ran_until: Option<i64> = connection
        .prepare_cached("SELECT created_at FROM interactions ORDER BY id DESC LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    let mut statement = connection.prepare_cached(
        // Who moves leaves and enters at once, in this order.
        "SELECT delegate, place, reader, at, data ->> '$.Reader.antenna', data ->> '$.Reader.rssi',
             data ->> '$.Reader.reads'
         FROM (
             SELECT first_delegate_id AS delegate, first_device_id AS place, second_device_id AS reader,
                 interaction_type AS kind, recorded_at AS at, iif(json_valid(data), data, NULL) AS data,
                 row_number() OVER (PARTITION BY first_delegate_id ORDER BY recorded_at DESC, id DESC) AS age
             FROM interactions
             WHERE lower(interaction_type) IN (?1, ?2) AND recorded_at BETWEEN ?3 AND ?4
                 AND first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL)
         WHERE age = 1 AND kind = ?1 AND reader IS NOT NULL",
    )?;
    let since = now.0 - STAYS_MS;
    let stays = statement.query_map((ENTERED.name, EXITED.name, since, now), |row| {
        let since_ms: i64 = row.get(3)?;
        Ok(Restored {
            tag: row.get(0)?,
            place: row.get(1)?,
            since_ms,
            reader: row.get(2)?,
            antenna: row.get(4).unwrap_or_default(),
            rssi_dbm: row.get(5).unwrap_or_default(),
            reads: row.get(6).unwrap_or_default(),
            heard_ms: ran_until.unwrap_or_default().clamp(since_ms, now.0),
        })
    })?;
    Ok(stays.collect::<rusqlite::Result<_>>()?)
}
