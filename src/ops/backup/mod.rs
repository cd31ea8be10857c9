//! A copy of the file while gates go on writing to it, checked before it is called done. It never
//! writes to the file, takes no lock that a write waits for, and leaves no half copy behind.
//!
//! - `copy`: pages of a file that changes under the copier's hands
//! - `verify`: is a copy a whole file of ours, still, and what is in it?
//! - `ledger`: which backups were made, and how that went; `run` makes one and writes it down there
//! - `schedule`: when the next one is due; `folder`: whether one can be put somewhere
//! - `rehearsal`: back to a snapshot, without a restart
//! - `promote`: the second machine's replica in the file's place
//! - `restore`: a backup in the file's place, who was erased erased again
//! - `compact`: the file written anew without what deleted content left in it
//!
//! # How
//!
//! Three simpler ways do not hold here. SQLite's backup interface begins anew with every commit of
//! another process, and would never finish. `VACUUM INTO`, or one read transaction as long as the
//! copying takes, keeps the log from being begun anew: at 8,000 check-ins a second it grows by 60 MB
//! a second, and on a slow stick for minutes. And pages that the server's writer copied between two
//! groups would make every gate wait for the disk that the copy goes to.
//!
//! So the bytes of the file are copied without any lock, in passes: the first takes all of them,
//! each later one the pages that changed since, told by a hash. Such a copy is a mixture of moments.
//! The last pass makes it one: it runs inside a read transaction, and takes the log along.
//!
//! - While a read transaction looks at a state with a part in the log, the log is not begun anew, and
//!   a checkpoint moves only pages into the file that are older than that state and stand in the log
//!   still. So file (in whatever mixture) and log, copied in this order, are what a crash would have
//!   left: SQLite puts the log's pages over the file's, up to the last commit that is whole.
//! - Where the state has no part in the log, nothing is moved into the file while the transaction
//!   lasts. The log may be begun anew once; its header then differs from what it was before, and the
//!   last pass is done again.
//!
//! The last pass reads the whole file (a second for a gigabyte in memory) and writes little, so the
//! log grows for about that long. Writes to the copy are synced one mebibyte at a time: a large sync
//! would make the gates' small ones wait.

pub mod compact;
mod copy;
pub mod files;
pub mod folder;
pub mod ledger;
pub mod promote;
pub mod rehearsal;
pub mod restore;
pub mod run;
pub mod schedule;
pub mod verify;

use crate::{
    core::{Context, audit},
    db::{Source, Tx, connection, migrate, open, salvage, usage},
    ops::background::Background,
    types::{
        error::{Error, Result},
        os,
    },
};
use copy::Copier;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Changes since a pass that the last one may find; with fewer the log hardly grows.
const CHANGES_MAX_BYTES: u64 = 16 << 20;
/// Passes before the last one.
const PASSES_MAX: usize = 6;
/// The number of times that the last pass is done again because the log was begun anew.
const TRIES_MAX: usize = 20;

/// A backup that was made.
#[derive(Debug)]
pub struct Backup {
    /// The copy.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its schema version.
    pub version: i64,
    /// The time that copying took.
    pub copied_in: Duration,
    /// For how long of that the log could not be begun anew.
    pub held_for: Duration,
    /// The time that checking took.
    pub checked_in: Duration,
}

/// Copies the file at `db` to `target`, which must not exist unless `force`. Run it in a process of
/// its own: the file is opened beside SQLite, and closing it drops SQLite's locks on it.
pub fn make(db: &Path, target: &Path, force: bool, background: &Background) -> Result<Backup> {
    open::refuse_links(db)?;
    salvage::refuse_damaged(db)?;
    let Some(version) = open::sound_version(db)? else {
        return Err(refused(db, "does not exist"));
    };
    let losses = usage::losses(db, None);
    let file = File::open(db).map_err(|cause| refused(db, cause))?;
    let copy = (&file, version, &*losses);
    checked_copy(db, copy, target, force, background)
}

/// As [`make`], in the process that has the file open, to a target that must not exist.
pub fn make_beside(source: &Source, target: &Path) -> Result<Backup> {
    let unchanged = Background::unchanged();
    let copy = (source.file, migrate::CURRENT, &[][..]);
    checked_copy(&source.path, copy, target, false, &unchanged)
}

/// Copies an open file of a version, which has lost something.
fn checked_copy(
    db: &Path,
    (file, version, losses): (&File, i64, &[String]),
    target: &Path,
    force: bool,
    background: &Background,
) -> Result<Backup> {
    let begun = Instant::now();
    check_target(db, target, force)?;
    let _alone = take_turn(db)?;
    let partial = Partial(open::beside(target, ".part"));
    partial.remove();
    let mut copier = Copier::new(db, file, &partial.0)?;
    let held_for = copied(&mut copier, db, &partial.0, background)?;
    let copied_in = begun.elapsed();
    let mut bytes = verify::verify(&partial.0, version, background)?;
    if !losses.is_empty() {
        bytes = verify::note_losses(&partial.0, losses)?;
    }
    check_target(db, target, force)?;
    put_in_place(&partial, target)?;
    Ok(Backup {
        path: target.to_owned(),
        bytes,
        version,
        copied_in,
        held_for,
        checked_in: begun.elapsed().saturating_sub(copied_in),
    })
}

fn put_in_place(partial: &Partial, target: &Path) -> Result<()> {
    let moved =
        fs::rename(&partial.0, target).and_then(|()| os::sync_folder(open::folder_of(target)));
    moved.map_err(|cause| refused(target, cause))
}

/// A backup that misses only its log: it was copied and checked in full beside the writer, and brought up
/// to date. [`Unfinished::finish`] copies the log within a write, so that no acknowledged write is missing.
pub struct Unfinished {
    db: PathBuf,
    target: PathBuf,
    partial: Partial,
    held: Held,
    copied_in: Duration,
    checked_in: Duration,
    _alone: File,
}

impl Unfinished {
    /// Begins a backup in the process that has the file open, to a target that must not exist. What takes
    /// long and is done `meanwhile` holds up nothing.
    pub fn begin<T>(
        source: &Source,
        target: &Path,
        meanwhile: impl FnOnce() -> Result<T>,
    ) -> Result<(Self, T)> {
        let (begun, db) = (Instant::now(), &source.path);
        check_target(db, target, false)?;
        let alone = take_turn(db)?;
        let partial = Partial(open::beside(target, ".part"));
        partial.remove();
        let mut copier = Copier::new(db, source.file, &partial.0)?;
        let unchanged = Background::unchanged();
        copied(&mut copier, db, &partial.0, &unchanged)?;
        let copied_in = begun.elapsed();
        // With its log beside it, the copy stays as the copier knows it.
        verify::check(&open::unchanged(&partial.0)?, migrate::CURRENT)?;
        partial.remove_log();
        let checked_in = begun.elapsed().saturating_sub(copied_in);
        let done = meanwhile()?;
        catch_up(&mut copier, &unchanged)?;
        let held = Held::begin(db)?;
        copier.pass(&unchanged)?;
        let begun = Self {
            db: db.clone(),
            target: target.to_owned(),
            partial,
            held,
            copied_in,
            checked_in,
            _alone: alone,
        };
        Ok((begun, done))
    }

    /// Copies the log and puts the backup in its place; to be called before a transaction changes anything.
    ///
    /// Since [`Unfinished::begin`] the log was not begun anew, unless all before it was in the file: it has
    /// all that the copy lacks.
    pub fn finish(self) -> Result<Backup> {
        let begun = Instant::now();
        let log = open::beside(&self.db, "-wal");
        let header = copy::log_header(&log)?;
        if !copy::copy_log(&log, &header, &open::beside(&self.partial.0, "-wal"))? {
            return Err(Error::unavailable(
                "another program emptied the log; try once more",
            ));
        }
        self.held.end()?;
        let bytes = verify::fold(&self.partial.0)?;
        check_target(&self.db, &self.target, false)?;
        put_in_place(&self.partial, &self.target)?;
        Ok(Backup {
            path: self.target,
            bytes,
            version: migrate::CURRENT,
            copied_in: self.copied_in,
            held_for: begun.elapsed(),
            checked_in: self.checked_in,
        })
    }
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
    Error::field(path.display(), why)
}

/// A target must not be there, and must never be the file itself or what belongs to it.
fn check_target(db: &Path, target: &Path, force: bool) -> Result<()> {
    let place = |path: &Path| {
        let folder = fs::canonicalize(open::folder_of(path));
        folder.map(|folder| path.file_name().map(|name| folder.join(name)))
    };
    let real = fs::canonicalize(db).map_err(|cause| refused(db, cause))?;
    let wanted = place(target).map_err(|cause| refused(target, format!("its folder: {cause}")))?;
    let ours = [
        "",
        "-wal",
        "-shm",
        "-journal",
        ".lock",
        ".use",
        ".backup.lock",
    ];
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

/// Copies what changed, until little does meanwhile.
fn catch_up(copier: &mut Copier<'_>, background: &Background) -> Result<()> {
    for _ in 0..PASSES_MAX {
        if copier.pass(background)? < CHANGES_MAX_BYTES {
            break;
        }
    }
    Ok(())
}

/// Copies file and log to `partial` and `partial-wal`; for how long the log was held.
fn copied(
    copier: &mut Copier<'_>,
    db: &Path,
    partial: &Path,
    background: &Background,
) -> Result<Duration> {
    catch_up(copier, background)?;
    let log = open::beside(db, "-wal");
    let log_copy = open::beside(partial, "-wal");
    for _ in 0..TRIES_MAX {
        let begun = Instant::now();
        let held = Held::begin(db)?;
        let header = copy::log_header(&log)?;
        copier.pass(background)?;
        let whole = background.run(|| copy::copy_log(&log, &header, &log_copy))?;
        held.end()?;
        if whole {
            return Ok(begun.elapsed());
        }
    }
    Err(Error::unavailable(
        "the log was begun anew again and again; try once more",
    ))
}

/// A read transaction that looks at nothing.
struct Held(Connection);

impl Held {
    fn begin(db: &Path) -> Result<Self> {
        let connection = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection::prepare_reader(&connection)?;
        connection.execute_batch("BEGIN")?;
        // It begins with the first read.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
            row.get::<_, i64>(0)
        })?;
        Ok(Self(connection))
    }

    fn end(self) -> Result<()> {
        Ok(self.0.execute_batch("COMMIT")?)
    }
}

/// An incomplete copy, which is removed at the end.
struct Partial(PathBuf);

impl Partial {
    fn remove(&self) {
        self.remove_log();
        for suffix in ["", "-journal"] {
            let _ = fs::remove_file(open::beside(&self.0, suffix));
        }
    }

    fn remove_log(&self) {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(open::beside(&self.0, suffix));
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        self.remove();
    }
}
