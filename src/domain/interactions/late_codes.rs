//! Scans that gates refused as unknown, to be recorded once an import brought their codes.

use super::{
    draft::Draft,
    record::{Outcome, record},
    types,
};
use crate::{
    core::Context,
    db::Tx,
    domain::delegates,
    types::{
        ClientId, DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, params};

/// Refusals that are looked through, the newest first.
const REFUSALS_MAX: i64 = 20_000;
/// Scans that are recorded at a time, so that gates need not wait.
pub const SLICE: usize = 100;

/// A scan that a gate refused as unknown, of a code that an attendee has by now.
#[derive(Debug, Clone)]
pub struct LateCode {
    refusal: i64,
    kind: String,
    delegate: DelegateId,
    device: DeviceId,
    at: Timestamp,
    client: Option<ClientId>,
}

/// Scans that were refused as unknown and whose codes attendees have by now, the newest first.
pub fn find(connection: &Connection) -> Result<Vec<LateCode>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.interaction_type, r.delegate, r.device_id, r.recorded_at, r.client_id
         FROM (SELECT * FROM refusals ORDER BY id DESC LIMIT ?2) r
         JOIN devices d ON d.id = r.device_id AND d.deleted_at IS NULL
         WHERE r.code = ?1 AND r.delegate_id IS NULL AND r.delegate IS NOT NULL ORDER BY r.id DESC",
    )?;
    let code = Kind::DelegateNotFound.code();
    let mut rows = statement.query(params![code, REFUSALS_MAX])?;
    let mut late = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, code): (String, String) = (row.get(1)?, row.get(2)?);
        // An id is no code: who gets it later is somebody else.
        let Ok(selector @ (DelegateSelector::Code(..) | DelegateSelector::Scanned(_))) =
            DelegateSelector::parse(&code)
        else {
            continue;
        };
        let delegate = match delegates::find(connection, &selector) {
            Ok(delegate) => delegate,
            Err(cause) if cause.kind == Kind::DelegateNotFound => continue,
            Err(cause) => return Err(cause),
        };
        if types::find(&kind).is_some() {
            late.push(LateCode {
                refusal: row.get(0)?,
                kind,
                delegate,
                device: row.get(3)?,
                at: row.get(4)?,
                client: row.get::<_, Option<i64>>(5)?.map(ClientId),
            });
        }
    }
    Ok(late)
}

/// Records scans as if their gates had admitted them, in the name of who asks for it, and takes their refusals
/// away. How many: one whose refusal is gone was recorded meanwhile.
pub fn record_all(tx: &Tx<'_>, ctx: &Context, late: &[LateCode]) -> Result<usize> {
    let mut recorded = 0;
    let mut settle = tx.prepare_cached("DELETE FROM refusals WHERE id = ?1")?;
    for scan in late {
        if settle.execute([scan.refusal])? == 0 {
            continue;
        }
        let draft = Draft {
            kind: scan.kind.clone(),
            delegates: [Some(DelegateSelector::Id(scan.delegate)), None, None],
            devices: [Some(DeviceSelector::Id(scan.device)), None, None],
            recorded_at: Some(scan.at),
            admitted: true,
            ..Draft::default()
        };
        let of_gate = Context {
            client: scan.client,
            ..ctx.clone()
        };
        match record(tx, &of_gate, &draft)?.outcome {
            Outcome::Created(_) => recorded += 1,
            Outcome::Replayed(_) | Outcome::Refused(_) => {
                return Err(Error::defect("a scan without nonce was not stored"));
            }
        }
    }
    Ok(recorded)
}
