//! Writing the file anew without what it keeps of deleted content, while no server runs on it. SQLite
//! does it in one transaction: interrupted anywhere, the file is as it was before, or compacted.

use super::{refused, verify};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        settings,
    },
    db::{
        Durability, ServeLock, connection, in_transaction, migrate::CURRENT, open, salvage, usage,
    },
    domain::delegates::erased,
    types::{Timestamp, error::Result},
};
use rusqlite::Connection;
use serde_json::json;
use std::{fs, path::Path, sync::Arc, time::Duration};

/// The result of compacting.
#[derive(Debug)]
pub struct Compacted {
    /// The size of the file before, in bytes.
    pub bytes_before: u64,
    /// Its size now.
    pub bytes: u64,
    /// Delegates and users who were erased since it was compacted last.
    pub erased: i64,
}

/// Checks the file in full and writes it anew. A file that another program has open, that is of an older
/// version or damaged, is left as it is.
pub fn compact(database: &Path, now: Timestamp) -> Result<Compacted> {
    match open::sound_version(database)? {
        Some(CURRENT) => {}
        Some(_) => return Err(refused(database, "run `gatepost migrate` on it first")),
        None => return Err(refused(database, "does not exist")),
    }
    let lock = ServeLock::take(database)?;
    if salvage::is_damaged(database, &lock) {
        return Err(refused(
            database,
            "its log is damaged; see `gatepost check`",
        ));
    }
    let losses = usage::losses(database, Some(&lock));
    let connection = Connection::open(database)?;
    connection::prepare_writer(&connection, Durability::Full)?;
    connection.busy_timeout(Duration::from_secs(1))?;
    // Nobody else has it then.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    verify::check(&connection, CURRENT).map_err(|cause| refused(database, cause.to_string()))?;
    let bytes_before = size(database)?;
    write_anew(&connection)?;
    let erased = in_transaction(&connection, now, |tx| {
        let erased = erased::since_compacted(tx)?;
        erased::note_compacted(tx)?;
        usage::release(tx)?;
        for loss in &losses {
            settings::notices::add(tx, loss.clone())?;
        }
        let ctx = Context::of_command("admin", Arc::new(settings::load(tx)?));
        let change = Change {
            action: "compact",
            record_type: "file",
            record_id: None,
            before: None,
            after: Some(json!({"erased": erased})),
        };
        audit::append(tx, &ctx, &change)?;
        Ok(erased)
    })?;
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    drop(connection);
    if losses.is_empty() {
        usage::leave(database);
    } else {
        // The file has them as notices.
        usage::forget(database);
    }
    Ok(Compacted {
        bytes_before,
        bytes: size(database)?,
        erased,
    })
}

/// Writes a file anew: nothing is left in a page's gaps, or of older words in the search index.
pub(super) fn write_anew(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "INSERT INTO delegates_search (delegates_search) VALUES ('optimize');
         VACUUM",
    )?;
    Ok(())
}

fn size(file: &Path) -> Result<u64> {
    let metadata = fs::metadata(file).map_err(|cause| refused(file, cause))?;
    Ok(metadata.len())
}
