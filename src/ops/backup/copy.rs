//! One state of a file that is being written to, copied by SQLite.

use super::refused;
use crate::{
    db::connection,
    types::error::{Error, Result},
};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};

/// Written between two syncs. More at a time would stand in the way of the gates' own syncs.
const SYNC_BYTES: i32 = 1 << 20;
/// The longest rest after a sync; it is as long as the sync took, so that gates have the disk to
/// themselves half of the time.
const REST_MAX: Duration = Duration::from_millis(50);

/// Copies the state that the file has now to `to`, which is made anew; for how long the log could not
/// be begun anew.
pub(super) fn copy(db: &Path, to: &Path) -> Result<Duration> {
    let source = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection::prepare_reader(&source)?;
    let page_bytes: i32 = source.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let file = File::create(to).map_err(|cause| refused(to, cause))?;
    // The copy has the permissions of the file.
    let permissions = db.metadata().map(|found| found.permissions());
    permissions
        .and_then(|found| file.set_permissions(found))
        .map_err(|cause| refused(to, cause))?;
    let in_copy = |cause: rusqlite::Error| {
        let cause = Error::from(cause);
        Error::new(cause.kind, format!("{}: {}", to.display(), cause.message))
    };
    let mut target = Connection::open(to).map_err(in_copy)?;
    // Nothing is kept of a copy that is interrupted, and `verify` makes a whole one durable.
    target
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        .map_err(in_copy)?;
    let begun = Instant::now();
    // The state is that of the transaction's first read, and stays until its end.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
    let backup = Backup::new(&source, &mut target)?;
    while backup.step(SYNC_BYTES / page_bytes).map_err(in_copy)? != StepResult::Done {
        let syncing = Instant::now();
        file.sync_data().map_err(|cause| refused(to, cause))?;
        std::thread::sleep(syncing.elapsed().min(REST_MAX));
    }
    drop(backup);
    source.execute_batch("COMMIT")?;
    Ok(begun.elapsed())
}
