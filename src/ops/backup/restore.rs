//! Putting a backup in the file's place, while no server runs on it.
//!
//! Copied by hand, a backup brings back who was erased since, and gives ids again that were given
//! since. So it is copied beside the file, checked in full and brought to the current schema; who was
//! erased is erased from it again, and ids count on from where they were. Only then does it take the
//! file's place, which is put aside whole. Interrupted anywhere, there is a whole file in place: the
//! old one or the new.

use super::{Partial, compact, folder, refused, run, verify};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes, settings,
    },
    db::{
        Durability, ServeLock, Tx, connection, in_transaction, migrate,
        open::{self, beside},
        salvage, usage,
    },
    domain::erasure::noted::{self, Known, PUT_ASIDE},
    ops::background::Background,
    types::{
        Timestamp,
        error::{Error, Result},
        os,
    },
};
use rusqlite::{Connection, ErrorCode};
use serde_json::json;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The result of restoring.
#[derive(Debug)]
pub struct Restored {
    /// The new path of the file that was in place before; none where there was none.
    pub put_aside: Option<PathBuf>,
    /// The size of what is in place now, in bytes.
    pub bytes: u64,
    /// The schema version that the backup had.
    pub version: i64,
    /// Delegates and users who were erased from it again.
    pub erased: usize,
    /// Files that do not say who was erased, each with the reason.
    pub unread: Vec<(PathBuf, String)>,
    /// Losses of the backup, a sentence each.
    pub losses: Vec<String>,
}

/// Puts `backup` in the place of `database`. Who was erased is known from the file in place, and by
/// `others`, such as one that was moved out of the way before.
pub fn restore(
    backup: &Path,
    database: &Path,
    others: &[PathBuf],
    now: Timestamp,
) -> Result<Restored> {
    let lock = ServeLock::take(database)?;
    folder::check_apart(backup, database)?;
    let Some(version) = open::sound_version(backup)? else {
        return Err(refused(backup, "there is no backup there"));
    };
    let losses = usage::losses(backup, None);
    let partial = Partial(beside(database, ".restoring"));
    partial.remove();
    copy(backup, &partial.0)?;
    verify::verify(&partial.0, version, &Background::unchanged())?;
    let in_place = fs::metadata(database).is_ok_and(|file| file.len() > 0);
    let mut later = LaterState::default();
    if in_place {
        later.read(database);
    }
    for other in others {
        if !other.exists() {
            return Err(refused(other, "does not exist"));
        }
        later.read(other);
    }
    let erased = adjust(&partial.0, backup, &later, &losses, now)?;
    let put_aside = put_in_place(&partial.0, database, &lock, now)?;
    let placed = fs::metadata(database).map_err(|cause| refused(database, cause))?;
    Ok(Restored {
        put_aside,
        bytes: placed.len(),
        version,
        erased,
        unread: later.unread,
        losses,
    })
}

/// Puts a file in the place of another, and that aside; returns its new path.
pub(super) fn put_in_place(
    made: &Path,
    database: &Path,
    lock: &ServeLock,
    now: Timestamp,
) -> Result<Option<PathBuf>> {
    let put_aside = if fs::metadata(database).is_ok_and(|file| file.len() > 0) {
        Some(put_aside(database, lock, now)?)
    } else {
        None
    };
    fs::rename(made, database)
        .and_then(|()| os::sync_folder(open::folder_of(database)))
        .map_err(|cause| refused(database, cause))?;
    usage::forget(database);
    Ok(put_aside)
}

/// Copies a backup, with the log that may stand beside it.
fn copy(backup: &Path, to: &Path) -> Result<()> {
    for suffix in ["", "-wal"] {
        let (from, to) = (beside(backup, suffix), beside(to, suffix));
        let mut source = match File::open(&from) {
            Err(cause) if !suffix.is_empty() && cause.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(|cause| refused(&from, cause))?,
        };
        open::make_private(&to)?;
        let copied = File::options().write(true).open(&to);
        let copied = copied.and_then(|mut target| io::copy(&mut source, &mut target));
        copied.map_err(|cause| refused(&to, cause))?;
    }
    Ok(())
}

/// The record in other files of what came after the backup.
#[derive(Default)]
struct LaterState {
    known: Vec<Known>,
    /// The highest id that each table gave.
    ids: Vec<(String, i64)>,
    unread: Vec<(PathBuf, String)>,
}

impl LaterState {
    /// Reads a file that may be damaged: it is being replaced for some reason.
    fn read(&mut self, path: &Path) {
        let read = open::look(path)
            .and_then(|_| Ok(open::unchanged(path)?))
            .and_then(|connection| Ok((Known::read(&connection)?, ids(&connection)?)));
        match read {
            Ok((known, ids)) => {
                self.known.push(known);
                self.ids.extend(ids);
            }
            Err(cause) => self.unread.push((path.to_owned(), cause.to_string())),
        }
    }
}

fn ids(connection: &Connection) -> Result<Vec<(String, i64)>> {
    let mut statement = connection.prepare("SELECT name, seq FROM sqlite_sequence")?;
    let ids = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Brings the copy to the current schema and rids it of who was erased; how many records that were.
fn adjust(
    copy: &Path,
    backup: &Path,
    later: &LaterState,
    losses: &[String],
    now: Timestamp,
) -> Result<usize> {
    let mut connection = Connection::open(copy)?;
    connection::prepare_writer(&connection, Durability::Full)?;
    migrate::upgrade(&mut connection)?;
    let erased = in_transaction(&connection, now, |tx| {
        usage::release(tx)?;
        let ctx = Context::of_command("admin", Arc::new(settings::load(tx)?));
        let mut erased = 0;
        for known in &later.known {
            erased += known.erase_from(tx, &ctx)?;
        }
        for (table, highest) in &later.ids {
            count_on(tx, table, *highest)?;
        }
        note(tx, &ctx, backup, erased)?;
        for loss in losses {
            settings::notices::add(tx, loss.clone())?;
        }
        if erased > 0 {
            noted::note_compacted(tx)?;
        }
        Ok(erased)
    })?;
    if erased > 0 {
        compact::write_anew(&connection)?;
    }
    // By this a file that was put in place by this command is known from one that was by hand.
    connection::keep_log(&connection)?;
    drop(connection);
    let file = File::options().write(true).open(copy);
    file.and_then(|file| file.sync_all())
        .map_err(|cause| refused(copy, cause))?;
    Ok(erased)
}

/// No id that was given since means somebody else.
fn count_on(tx: &Tx<'_>, table: &str, highest: i64) -> Result<()> {
    let changed = tx.execute(
        "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
        (table, highest),
    )?;
    if changed == 0 {
        tx.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT name, ?2 FROM sqlite_schema
             WHERE type = 'table' AND name = ?1",
            (table, highest),
        )?;
    }
    Ok(())
}

fn note(tx: &Tx<'_>, ctx: &Context, backup: &Path, erased: usize) -> Result<()> {
    let change = Change {
        action: "restore",
        record_type: "file",
        record_id: None,
        before: None,
        after: Some(json!({"path": backup.to_string_lossy(), "erasedAgain": erased})),
    };
    audit::append(tx, ctx, &change)?;
    changes::reset(tx)
}

/// Puts the file in place aside, under a name of its own; it stays where it is as well, until the new
/// one takes its place.
fn put_aside(database: &Path, lock: &ServeLock, now: Timestamp) -> Result<PathBuf> {
    // SQLite would cut a damaged log off; it goes aside as it is.
    if !salvage::is_damaged(database, lock) {
        fold_log(database)?;
    }
    let stamp = run::stamp(&settings::Settings::default().zone, now);
    let aside = run::free(|number| beside(database, &format!("{PUT_ASIDE}{stamp}{number}")));
    // Its log must not meet the new file.
    for suffix in ["-wal", "-shm"] {
        let log = beside(database, suffix);
        if log.exists() {
            fs::rename(&log, beside(&aside, suffix)).map_err(|cause| refused(&log, cause))?;
        }
    }
    if fs::hard_link(database, &aside).is_err() {
        // A stick's file system may have no links; then there is no file in place for a moment.
        fs::rename(database, &aside).map_err(|cause| refused(database, cause))?;
    }
    Ok(aside)
}

/// Brings the log of a file into it, so that it can be put aside as one; a damaged one is left as it
/// is.
fn fold_log(database: &Path) -> Result<()> {
    let fold = || -> rusqlite::Result<()> {
        let connection = Connection::open(database)?;
        connection.busy_timeout(std::time::Duration::from_secs(1))?;
        // It is had by nobody else, then.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.execute_batch("BEGIN IMMEDIATE; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    };
    match fold() {
        Err(cause)
            if matches!(
                cause.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            Err(Error::field(
                database.display(),
                "another program has it open; end that first",
            ))
        }
        _ => Ok(()),
    }
}
