//! What is kept of each delegate at each device, with every interaction, so that a decision costs
//! the same however many interactions the file has. It follows from the interactions alone.

use crate::{
    error::Result,
    rules::{Moment, Standing},
    store::Tx,
    types::{DelegateId, DeviceId, Timestamp},
};
use rusqlite::{Connection, OptionalExtension, Row};

/// What an interaction type means for presence; `None` for most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Entered: `check-in`, `check-in-override`.
    Enter,
    /// Left: `check-out`.
    Exit,
    /// Allowed in: `join`, `booking`.
    Join,
    /// Taken back: `uninvite`, `cancel-booking`.
    Leave,
}

impl Effect {
    /// The effect of an interaction type.
    #[must_use]
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            "check-in" | "check-in-override" => Some(Self::Enter),
            "check-out" => Some(Self::Exit),
            "join" | "booking" => Some(Self::Join),
            "uninvite" | "cancel-booking" => Some(Self::Leave),
            _ => None,
        }
    }

    /// Adds it to a standing.
    pub(super) fn apply(self, standing: &mut Standing, moment: Moment) {
        let latest = match self {
            Self::Enter => {
                standing.entries += 1;
                &mut standing.last_in
            }
            Self::Exit => &mut standing.last_out,
            Self::Join => &mut standing.last_join,
            Self::Leave => &mut standing.last_leave,
        };
        *latest = (*latest).max(Some(moment));
    }
}

/// Whose presence an interaction changes: an invitation is taken back from the second delegate,
/// where there is one; everything else is the first delegate's.
#[must_use]
pub fn subject(
    kind: &str,
    first: Option<DelegateId>,
    second: Option<DelegateId>,
) -> Option<DelegateId> {
    if kind == "uninvite" {
        second.or(first)
    } else {
        first
    }
}

fn moment(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Moment>> {
    let at_ms: Option<Timestamp> = row.get(at)?;
    let id: Option<i64> = row.get(at + 1)?;
    Ok(at_ms.zip(id).map(|(at, id)| Moment { at, id }))
}

/// The standing of a delegate at a device; `None` when it never did anything there.
///
/// # Errors
/// When it cannot be read.
pub fn load(
    connection: &Connection,
    delegate: DelegateId,
    device: DeviceId,
) -> Result<Option<Standing>> {
    Ok(connection
        .prepare_cached(
            "SELECT entries, in_at, in_id, out_at, out_id, join_at, join_id, leave_at, leave_id
             FROM presence WHERE delegate_id = ?1 AND device_id = ?2",
        )?
        .query_row([delegate.0, device.0], |row| {
            Ok(Standing {
                entries: row.get(0)?,
                last_in: moment(row, 1)?,
                last_out: moment(row, 3)?,
                last_join: moment(row, 5)?,
                last_leave: moment(row, 7)?,
            })
        })
        .optional()?)
}

/// Delegates inside a device now.
///
/// # Errors
/// When it cannot be read.
pub fn inside_now(connection: &Connection, device: DeviceId) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT inside FROM occupancy WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

/// People inside anywhere now, each counted once; looks at every presence in the file. Whoever is in
/// a deleted device is inside nothing.
///
/// # Errors
/// When it cannot be read.
pub fn people_inside(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT DISTINCT delegate_id FROM presence
             WHERE in_at IS NOT NULL AND (out_at IS NULL OR (in_at, in_id) > (out_at, out_id))
             AND device_id IN (SELECT o.device_id FROM occupancy o JOIN devices d ON d.id = o.device_id
                               WHERE o.inside > 0 AND d.deleted_at IS NULL))",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Adds an interaction's effect to a standing that was loaded in the same transaction.
///
/// # Errors
/// When it cannot be written.
pub fn advance(
    tx: &Tx<'_>,
    delegate: DelegateId,
    device: DeviceId,
    known: Option<Standing>,
    effect: Effect,
    moment: Moment,
) -> Result<()> {
    let before = known.unwrap_or_default();
    let mut after = before;
    effect.apply(&mut after, moment);
    save(tx, delegate, device, known.is_some(), &after)?;
    count_inside(tx, device, before.is_inside(), after.is_inside())
}

/// Makes a standing anew from the interactions that are left, after one was deleted.
///
/// # Errors
/// When it cannot be read or written.
pub fn rebuild(tx: &Tx<'_>, delegate: DelegateId, device: DeviceId) -> Result<()> {
    let known = load(tx, delegate, device)?;
    let mut after = Standing::default();
    // By the delegate's interactions (the plus says so), which are few; the device's may be all.
    let mut statement = tx.prepare_cached(
        "SELECT interaction_type, first_delegate_id, second_delegate_id,
                min(recorded_at, created_at), id
         FROM interactions
         WHERE (first_delegate_id = ?1 OR second_delegate_id = ?1) AND +first_device_id = ?2",
    )?;
    let mut rows = statement.query([delegate.0, device.0])?;
    while let Some(row) = rows.next()? {
        let kind: String = row.get(0)?;
        let of = subject(&kind, row.get(1)?, row.get(2)?);
        if let Some(effect) = Effect::of(&kind)
            && of == Some(delegate)
        {
            let moment = Moment {
                at: row.get(3)?,
                id: row.get(4)?,
            };
            effect.apply(&mut after, moment);
        }
    }
    if known.is_none() && after == Standing::default() {
        return Ok(());
    }
    save(tx, delegate, device, known.is_some(), &after)?;
    let was_inside = known.is_some_and(|known| known.is_inside());
    count_inside(tx, device, was_inside, after.is_inside())
}

fn save(
    tx: &Tx<'_>,
    delegate: DelegateId,
    device: DeviceId,
    exists: bool,
    standing: &Standing,
) -> Result<()> {
    let sql = if exists {
        "UPDATE presence SET entries = ?3, in_at = ?4, in_id = ?5, out_at = ?6, out_id = ?7,
                join_at = ?8, join_id = ?9, leave_at = ?10, leave_id = ?11
         WHERE delegate_id = ?1 AND device_id = ?2"
    } else {
        "INSERT INTO presence (delegate_id, device_id, entries, in_at, in_id, out_at, out_id,
                               join_at, join_id, leave_at, leave_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
    };
    let at = |moment: Option<Moment>| moment.map(|moment| moment.at);
    let id = |moment: Option<Moment>| moment.map(|moment| moment.id);
    tx.prepare_cached(sql)?.execute(rusqlite::params![
        delegate,
        device,
        standing.entries,
        at(standing.last_in),
        id(standing.last_in),
        at(standing.last_out),
        id(standing.last_out),
        at(standing.last_join),
        id(standing.last_join),
        at(standing.last_leave),
        id(standing.last_leave),
    ])?;
    Ok(())
}

fn count_inside(tx: &Tx<'_>, device: DeviceId, before: bool, after: bool) -> Result<()> {
    if before != after {
        tx.prepare_cached(
            "INSERT INTO occupancy (device_id, inside) VALUES (?1, max(?2, 0))
             ON CONFLICT (device_id) DO UPDATE SET inside = inside + ?2",
        )?
        .execute([device.0, if after { 1 } else { -1 }])?;
    }
    Ok(())
}
