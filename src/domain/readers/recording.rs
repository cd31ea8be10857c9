//! Records what presence derived as interactions, through the same function as a gate's scans.

use super::presence::{Derived, DerivedKind, Restored};
use crate::{
    core::Context,
    db::Tx,
    domain::{
        devices,
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
use rusqlite::Connection;
use serde_json::json;

/// Interactions that a slice writes.
pub const SLICE: usize = 100;
/// Stays of the last so many milliseconds go on after a restart.
const STAYS_MS: i64 = 24 * 3_600_000;

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

/// Records what was derived, in order. Who or what was deleted meanwhile is passed over.
pub fn store(tx: &Tx<'_>, ctx: &Context, derived: &[Derived]) -> Result<()> {
    for one in derived {
        let place = DeviceSelector::Id(DeviceId(one.place));
        let is_gone = |cause: &crate::types::error::Error| {
            matches!(cause.kind, Kind::DeviceNotFound | Kind::DelegateNotFound)
        };
        let delegate = DelegateSelector::Id(DelegateId(one.tag));
        match crate::domain::delegates::find(tx, &delegate).and_then(|_| devices::find(tx, &place))
        {
            Err(cause) if is_gone(&cause) => continue,
            found => found?,
        };
        let reader = DeviceSelector::Id(DeviceId(one.reader));
        let reader = devices::find(tx, &reader).is_ok().then_some(reader);
        let sighting = Sighting {
            antenna: one.antenna,
            rssi_dbm: f64::from(one.rssi_dbm),
            reads: one.reads,
        };
        let draft = Draft {
            kind: name(one.kind).to_owned(),
            delegates: [Some(delegate), None, None],
            devices: [Some(place), reader, None],
            recorded_at: Some(Timestamp(one.at_ms)),
            data: Some(sighting.data()),
            ..Draft::default()
        };
        record(tx, ctx, &draft)?;
    }
    Ok(())
}

/// Who is at which place by what readers noticed so far.
pub fn stays(connection: &Connection, now: Timestamp) -> Result<Vec<Restored>> {
    let mut statement = connection.prepare_cached(
        // Who moves leaves and enters at once, in this order.
        "SELECT delegate, place, reader FROM (
             SELECT first_delegate_id AS delegate, first_device_id AS place, second_device_id AS reader,
                 interaction_type AS kind,
                 row_number() OVER (PARTITION BY first_delegate_id ORDER BY recorded_at DESC, id DESC) AS age
             FROM interactions
             WHERE lower(interaction_type) IN (?1, ?2) AND recorded_at > ?3
                 AND first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL)
         WHERE age = 1 AND kind = ?1",
    )?;
    let since = now.0 - STAYS_MS;
    let stays = statement.query_map((ENTERED.name, EXITED.name, since), |row| {
        Ok(Restored {
            tag: row.get(0)?,
            place: row.get(1)?,
            reader: row.get::<_, Option<i64>>(2)?.unwrap_or_default(),
            // They have as long as anybody to be heard again.
            since_ms: now.0,
        })
    })?;
    Ok(stays.collect::<rusqlite::Result<_>>()?)
}
