//! Interactions as they happen: those that something may follow from, such as a message or a badge. Imported ones are none,
//! nor are the check-outs of everybody at once.

use super::everybody_out;
use crate::types::{ClientId, DelegateId, DeviceId, Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension};

/// An interaction that was recorded as it happened.
pub struct Live {
    pub interaction_type: String,
    pub delegate: Option<DelegateId>,
    pub place: Option<DeviceId>,
    pub client: Option<ClientId>,
    pub recorded_at: Timestamp,
    /// The time from when it happened until it arrived, in milliseconds.
    pub delay_ms: i64,
    pub data: Option<String>,
}

/// Finds an interaction; none that was deleted since, imported (as a row of a list of interactions, the join of a
/// delegate's row, or the `connected` that such a row created), or recorded because everybody had to leave.
pub fn find(connection: &Connection, id: i64) -> Result<Option<Live>> {
    Ok(connection
        .prepare_cached(
            "SELECT i.interaction_type, i.first_delegate_id, i.first_device_id, i.client_id, i.recorded_at,
                 i.created_at - i.recorded_at, iif(json_valid(i.data), i.data, NULL)
             FROM interactions i
             WHERE i.id = ?1 AND NOT (i.interaction_type = 'check-out' AND i.client_id IS NULL
                 AND i.user_id IS NULL AND i.data IS ?2)
             AND NOT EXISTS (SELECT 1 FROM batch_rows r JOIN batches b ON b.id = r.batch_id
                 WHERE r.record_id = i.id AND b.kind = 'interactions')
             AND NOT EXISTS (SELECT 1 FROM batch_rows r
                 WHERE r.record_id IN (i.first_delegate_id, i.id - 1) AND r.interaction_id = i.id)",
        )?
        .query_row((id, everybody_out::DATA), |row| {
            Ok(Live {
                interaction_type: row.get(0)?,
                delegate: row.get(1)?,
                place: row.get(2)?,
                client: row.get(3)?,
                recorded_at: row.get(4)?,
                delay_ms: row.get(5)?,
                data: row.get(6)?,
            })
        })
        .optional()?)
}
