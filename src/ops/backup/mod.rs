//! A copy of the file while gates go on writing to it, checked before it is called done. It never
//! writes to the file, takes no lock that a write waits for, and leaves no half copy behind.
//!
//! - `copy`: one state of a file that is being written to
//! - `verify`: is a copy a whole file of ours, still, and what is in it?
//! - `ledger`: which backups were made, and how that went; `run` makes one and writes it down there
//! - `schedule`: when the next one is due; `folder`: whether one can be put somewhere
//! - `rehearsal`: back to a snapshot, without a restart
//! - `restore`: a backup in the file's place, who was erased erased again
//! - `compact`: the file written anew without what deleted content left in it
//!
//! # How
//!
//! SQLite's backup interface copies the pages of one read transaction, a mebibyte between two syncs: a
//! large sync would make the gates' small ones wait. Without the transaction it would begin anew with
//! every commit of another process. While it lasts the log is not begun anew, so it grows by what is
//! written meanwhile; whoever copies to a slow disk copies to a fast one first.

pub mod compact;
mod copy;
pub mod files;
pub mod folder;
pub mod ledger;
pub mod rehearsal;
pub mod restore;
pub mod run;
pub mod schedule;
pub mod verify;

use crate::{
    core::{Context, audit},
    db::{Tx, migrate, open, salvage},
    types::{
        error::{Error, Result},
        os,
    },
};
use serde_json::json;
use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// What was made.
#[derive(Debug)]
pub struct Backup {
    /// The copy.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its schema version.
    pub version: i64,
    /// How long copying took.
    pub copied_in: Duration,
    /// For how long of that the log could not be begun anew.
    pub held_for: Duration,
    /// How long checking took.
    pub checked_in: Duration,
}

/// Copies the file at `db` to `target`, which must not exist unless `force`.
pub fn make(db: &Path, target: &Path, force: bool) -> Result<Backup> {
    open::refuse_links(db)?;
    salvage::refuse_damaged(db)?;
    let Some(version) = open::sound_version(db)? else {
        return Err(refused(db, "does not exist"));
    };
    open::log_is_taken_in(db);
    checked_copy(db, version, target, force)
}

/// As [`make`], in the process that has the file open, to a target that must not exist.
pub fn make_beside(db: &Path, target: &Path) -> Result<Backup> {
    checked_copy(db, migrate::CURRENT, target, false)
}

fn checked_copy(db: &Path, version: i64, target: &Path, force: bool) -> Result<Backup> {
    let begun = Instant::now();
    check_target(db, target, force)?;
    let _alone = take_turn(db)?;
    let partial = Partial(open::beside(target, ".part"));
    partial.remove();
    let held_for = copy::copy(db, &partial.0)?;
    let copied_in = begun.elapsed();
    let bytes = verify::verify(&partial.0, version)?;
    check_target(db, target, force)?;
    let moved =
        fs::rename(&partial.0, target).and_then(|()| os::sync_folder(open::folder_of(target)));
    moved.map_err(|cause| refused(target, cause))?;
    Ok(Backup {
        path: target.to_owned(),
        bytes,
        version,
        copied_in,
        held_for,
        checked_in: begun.elapsed().saturating_sub(copied_in),
    })
}

/// Writes into the audit that a backup was made.
pub fn record(tx: &Tx<'_>, ctx: &Context, made: &Backup) -> Result<()> {
    let change = audit::Change {
        action: "create",
        record_type: "backup",
        record_id: None,
        before: None,
        after: Some(json!({"file": made.path.to_string_lossy(), "bytes": made.bytes})),
    };
    audit::append(tx, ctx, &change)
}

fn refused(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::invalid(format!("{}: {why}", path.display()))
}

/// A target must not be there, and must never be the file itself or what belongs to it.
fn check_target(db: &Path, target: &Path, force: bool) -> Result<()> {
    let place = |path: &Path| {
        let folder = fs::canonicalize(open::folder_of(path));
        folder.map(|folder| path.file_name().map(|name| folder.join(name)))
    };
    let real = fs::canonicalize(db).map_err(|cause| refused(db, cause))?;
    let wanted = place(target).map_err(|cause| refused(target, format!("its folder: {cause}")))?;
    let ours = ["", "-wal", "-shm", "-journal", ".lock", ".backup.lock"];
    let of_file = |path: &Path| ours.map(|suffix| open::beside(path, suffix));
    let wanted = wanted.ok_or_else(|| refused(target, "is not the name of a file"))?;
    if of_file(&real).contains(&wanted) || fs::canonicalize(target).is_ok_and(|found| found == real)
    {
        return Err(refused(
            target,
            "is the database file itself, or belongs to it",
        ));
    }
    match fs::symlink_metadata(target) {
        Ok(found) if found.is_dir() => Err(refused(target, "is a folder")),
        Ok(_) if !force => Err(refused(
            target,
            "is there already; choose another name, or replace it with --force",
        )),
        _ => Ok(()),
    }
}

/// One backup of a file at a time: two to the same target would write into each other.
fn take_turn(db: &Path) -> Result<File> {
    let lock = open::beside(db, ".backup.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock)
        .map_err(|cause| refused(&lock, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(refused(db, "another backup of it is being made")),
        Err(TryLockError::Error(cause)) => Err(refused(&lock, cause)),
    }
}

/// An incomplete copy, which is removed at the end.
struct Partial(PathBuf);

impl Partial {
    fn remove(&self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(open::beside(&self.0, suffix));
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        self.remove();
    }
}
