//! Joins the delegates of an import with a device: as they are written, or all of them once the import
//! is complete, as the event may be made after it.

use super::{
    Stop, What, batches,
    kept::Kept,
    slices::{self, Steps},
};
use crate::{
    core::Context,
    db::{Store, Tx},
    domain::{
        devices,
        interactions::{
            draft::Draft,
            judge::{self, DeviceCache},
            record,
            types::JOIN,
        },
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector,
        error::{Error, Result},
    },
};
use serde_json::json;

/// Joins that are made, and how many are.
pub struct Join {
    batch: i64,
    device: DeviceId,
    ctx: Context,
    stop: Stop,
    /// Rows up to this line are done with.
    after_line: i64,
    /// Delegates that were joined.
    pub joined: u64,
    /// Delegates that were joined before, or are deleted.
    pub skipped: u64,
    /// Set once it came to its end.
    pub finished: bool,
}

/// Joins every delegate of a batch with a device, unless it is joined; `on_progress` is called after each slice. Begun
/// again after an interruption it does the rest.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a batch that has no delegates, or is not complete, and when
/// there is no such device.
pub fn join_all(
    store: &Store,
    ctx: Context,
    id: i64,
    device: DeviceId,
    stop: Stop,
    on_progress: impl FnMut(&Join),
) -> Result<Join> {
    store.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        if batch.what != What::Delegates {
            return Err(Error::invalid(format!(
                "import {id} is of {}; only delegates can be joined",
                batch.what.name()
            )));
        }
        if batch.undone_at.is_some() || batch.finished_at.is_none() {
            return Err(Error::invalid(format!(
                "import {id} is {}; only the delegates of a complete import can be joined",
                batch.state().name()
            )));
        }
        devices::find(connection, &DeviceSelector::Id(device))?;
        Ok(())
    })?;
    let work = Join {
        batch: id,
        device,
        ctx,
        stop,
        after_line: i64::MIN,
        joined: 0,
        skipped: 0,
        finished: false,
    };
    slices::write(store, work, on_progress)
}

impl Steps for Join {
    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        if batches::find(tx, self.batch)?.undone_at.is_some() {
            return Err(Error::invalid("the import is being undone"));
        }
        Ok(())
    }

    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if self.stop.is_stopped() {
            return Ok(false);
        }
        let Some(row) = Kept::after_line(tx, self.batch, self.after_line)? else {
            self.finished = true;
            return Ok(false);
        };
        self.after_line = row.line;
        let delegate = row.record;
        let alive = "SELECT 1 FROM delegates WHERE id = ?1 AND deleted_at IS NULL";
        let joined = if tx.prepare_cached(alive)?.exists([delegate])? {
            join(tx, &self.ctx, DelegateId(delegate), self.device)?
        } else {
            None
        };
        let Some(join) = joined else {
            self.skipped += 1;
            return Ok(true);
        };
        self.joined += 1;
        // Undoing the import takes this join back, too, where its row has no other.
        tx.prepare_cached(
            "UPDATE batch_rows SET interaction_id = ?3
             WHERE batch_id = ?1 AND line = ?2 AND interaction_id IS NULL",
        )?
        .execute([self.batch, row.line, join])?;
        Ok(true)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        if !self.finished {
            return Ok(());
        }
        tx.prepare_cached(
            "UPDATE batches SET options = json_set(options, '$.join', ?2)
             WHERE id = ?1 AND options ->> '$.join' IS NULL",
        )?
        .execute(rusqlite::params![self.batch, self.device])?;
        let counts = json!({"device": self.device, "joined": self.joined, "skipped": self.skipped});
        batches::audit_change(tx, &self.ctx, self.batch, "join", counts)
    }
}

/// Joins a delegate with a device, unless it is; the id of the `join`.
pub(super) fn join(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    device: DeviceId,
) -> Result<Option<i64>> {
    if judge::is_joined_itself(tx, &tx.cache::<DeviceCache>(), delegate, device)? {
        return Ok(None);
    }
    let draft = Draft {
        kind: JOIN.name.into(),
        delegates: [Some(DelegateSelector::Id(delegate)), None, None],
        devices: [Some(DeviceSelector::Id(device)), None, None],
        ..Draft::default()
    };
    // What keeps a join from being made concerns all rows: the device is gone.
    let past = record::record_past(tx, ctx, &draft)
        .map_err(|cause| Error::unavailable(format!("joining was not possible: {cause}")))?;
    Ok(past.id)
}
