//! The second machine takes over (contract §14): the replica in the file's place, with a higher epoch.

use super::{Partial, refused, restore::put_in_place};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        settings,
        standby::{self, Standby},
    },
    db::{
        Durability, ServeLock, connection, in_transaction, migrate,
        open::{self, beside},
        usage,
    },
    ops::standby::{Config, followed},
    types::{
        Timestamp,
        error::{Error, Result},
        os,
    },
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// The time that a copy which follows has to come up to the replica.
const CATCH_UP_MAX: Duration = Duration::from_secs(5);
/// Files up to this size are checked with their indexes.
const INDEXES_MAX_BYTES: u64 = 128 << 20;
/// Larger files are checked by the server, after its start.
const CHECKED_MAX_BYTES: u64 = 512 << 20;

/// A takeover.
#[derive(Debug)]
pub struct Promoted {
    pub standby: Standby,
    /// The mark that was restored.
    pub mark: i64,
    /// True if a copy that followed was taken.
    pub was_followed: bool,
    /// True if every page was read.
    pub is_checked: bool,
    /// The new path of the file that was in place before.
    pub put_aside: Option<PathBuf>,
}

/// Puts what the replica has in the place of `database`, and raises the epoch.
pub fn promote(config: &Config, database: &Path, now: Timestamp) -> Result<Promoted> {
    let lock = ServeLock::take(database)?;
    let partial = Partial(beside(database, ".promoting"));
    partial.remove();
    let was_followed = take_followed(config, &followed(database), &partial.0)?;
    if !was_followed {
        config.restore(&partial.0)?;
    }
    make_private(&partial.0)?;
    let is_checked = check(&partial.0)?;
    if fs::metadata(database).is_ok_and(|file| file.len() > 0) {
        refuse_newer(database, &partial.0)?;
    }
    let (standby, mark) = raise(&partial.0, now)?;
    let put_aside = put_in_place(&partial.0, database, &lock, now)?;
    Ok(Promoted {
        standby,
        mark,
        was_followed,
        is_checked,
        put_aside,
    })
}

/// Copies the file that follows the replica, once it has everything; false where there is none, or it does not come up.
fn take_followed(config: &Config, followed: &Path, to: &Path) -> Result<bool> {
    let at = || fs::read_to_string(beside(followed, "-txid")).map(|text| text.trim().to_owned());
    if !followed.exists() || at().is_err() {
        return Ok(false);
    }
    let Some((newest, _)) = config.newest()? else {
        return Ok(false);
    };
    let begun = Instant::now();
    while begun.elapsed() < CATCH_UP_MAX {
        if at().is_ok_and(|at| at >= newest) {
            let before = at().ok();
            fs::copy(followed, to).map_err(|cause| refused(to, cause))?;
            // It went on meanwhile where the primary still writes.
            if at().ok() == before {
                return Ok(true);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::remove_file(to)
        .or_else(|cause| {
            if cause.kind() == std::io::ErrorKind::NotFound {
                Ok(())
            } else {
                Err(cause)
            }
        })
        .map_err(|cause| refused(to, cause))?;
    Ok(false)
}

/// Litestream makes files that everybody can read.
fn make_private(path: &Path) -> Result<()> {
    os::make_private(path).map_err(|cause| refused(path, cause))
}

/// Checks what was restored; whether every page was read.
fn check(path: &Path) -> Result<bool> {
    if open::sound_version(path)?.is_none() {
        return Err(refused(path, "the replica holds no file of Gatepost"));
    }
    let bytes = fs::metadata(path).map_or(u64::MAX, |file| file.len());
    if bytes > CHECKED_MAX_BYTES {
        return Ok(false);
    }
    let check = if bytes > INDEXES_MAX_BYTES {
        "PRAGMA quick_check(1)"
    } else {
        "PRAGMA integrity_check(1)"
    };
    let told: String = Connection::open(path)?.query_row(check, [], |row| row.get(0))?;
    if told != "ok" {
        return Err(refused(path, told));
    }
    Ok(true)
}

/// Refuses to put the replica in the place of a file that has more: the primary's own, or one that was promoted already.
fn refuse_newer(database: &Path, restored: &Path) -> Result<()> {
    let read = |path: &Path| Standby::find(&open::unchanged(path)?);
    let (Some(known), Some(found)) = (read(database).unwrap_or_default(), read(restored)?) else {
        return Ok(());
    };
    if known.epoch >= found.epoch && known.replaced().is_none() {
        return Err(refused(
            database,
            format!(
                "is of epoch {} and may have more than the replica (epoch {}): this machine is in charge already. Start it by `gatepost serve`",
                known.epoch, found.epoch
            ),
        ));
    }
    Ok(())
}

fn raise(path: &Path, now: Timestamp) -> Result<(Standby, i64)> {
    let mut connection = Connection::open(path)?;
    connection::prepare_writer(&connection, Durability::Full)?;
    migrate::upgrade(&mut connection)?;
    let raised = in_transaction(&connection, now, |tx| {
        usage::release(tx)?;
        standby::raise(tx)?;
        let raised = Standby::find(tx)?
            .ok_or_else(|| Error::invalid("`gatepost standby init` was never run on this file"))?;
        let ctx = Context::of_command("admin", Arc::new(settings::load(tx)?));
        let after = json!({"epoch": raised.epoch, "restored": raised.restored});
        audit::append(
            tx,
            &ctx,
            &Change {
                action: "promote",
                record_type: "file",
                record_id: None,
                before: None,
                after: Some(after),
            },
        )?;
        let mark = raised.restored.unwrap_or_default();
        Ok((raised, mark))
    })?;
    connection::keep_log(&connection)?;
    drop(connection);
    let file = File::options().write(true).open(path);
    file.and_then(|file| file.sync_all())
        .map_err(|cause| refused(path, cause))?;
    Ok(raised)
}
