//! Erasures as the file remembers them: an id, and a salted hash of it with the time at which the record was
//! created. With these an older state of the file, such as a restored backup, is rid of the same people again
//! (contract §8). And the copies of the file that may still have a person.

use super::traces;
use crate::{
    core::{
        Context,
        audit::{self, Change},
        standby::Standby,
    },
    db::Tx,
    types::{
        Timestamp, UserId,
        error::{Error, Result},
        secret::{self, Digest},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use std::{fs, path::Path, time::UNIX_EPOCH};

/// The length of a salt.
const SALT_BYTES: usize = 16;

/// What kind of record was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Delegate,
    /// A user that the delegate signed in as.
    User,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::User => "user",
        }
    }

    fn made_at(self, connection: &Connection, id: i64) -> Result<Option<Timestamp>> {
        let sql = match self {
            Self::Delegate => "SELECT created_at FROM delegates WHERE id = ?1",
            Self::User => "SELECT created_at FROM users WHERE id = ?1",
        };
        Ok(connection
            .prepare_cached(sql)?
            .query_row([id], |row| row.get(0))
            .optional()?)
    }
}

/// An erasure, as it is kept.
#[derive(Clone)]
struct Row {
    kind: Kind,
    id: i64,
    salt: [u8; SALT_BYTES],
    hash: Digest,
    at: Timestamp,
}

impl Row {
    fn new(kind: Kind, id: i64, made_at: Timestamp, at: Timestamp) -> Result<Self> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt).map_err(Error::defect)?;
        Ok(Self {
            kind,
            id,
            salt,
            hash: hash(kind, id, made_at, salt),
            at,
        })
    }

    /// Whether it is of the record of this id that was made then, and not of another one.
    fn is_of(&self, made_at: Timestamp) -> bool {
        hash(self.kind, self.id, made_at, self.salt) == self.hash
    }

    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: match row.get_ref(0)?.as_str()? {
                "user" => Kind::User,
                _ => Kind::Delegate,
            },
            id: row.get(1)?,
            salt: row.get(2)?,
            hash: row.get(3)?,
            at: row.get(4)?,
        })
    }

    /// Stores it.
    fn keep(&self, tx: &Tx<'_>) -> Result<()> {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO erasures (record_type, record_id, salt, hash, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![self.kind.name(), self.id, self.salt, self.hash, self.at])?;
        Ok(())
    }
}

fn hash(kind: Kind, id: i64, made_at: Timestamp, salt: [u8; SALT_BYTES]) -> Digest {
    let mut text = salt.to_vec();
    text.extend_from_slice(format!("{} {id} {}", kind.name(), made_at.0).as_bytes());
    secret::digest(&text)
}

/// Notes that a record is about to be erased; it is there still.
pub fn note(tx: &Tx<'_>, kind: Kind, id: i64) -> Result<()> {
    let Some(made_at) = kind.made_at(tx, id)? else {
        return Ok(());
    };
    // Erased anew, where an older state brought the record back, it is one erasure still.
    let known = read(tx)?
        .into_iter()
        .find(|row| (row.kind, row.id) == (kind, id) && row.is_of(made_at));
    match known {
        Some(row) => {
            tx.prepare_cached("UPDATE erasures SET wiped_at = NULL WHERE hash = ?1")?
                .execute([row.hash])?;
            Ok(())
        }
        None => Row::new(kind, id, made_at, tx.now())?.keep(tx),
    }
}

fn read(connection: &Connection) -> Result<Vec<Row>> {
    // Users first: a delegate takes along only those that are tied to it in this state.
    let mut statement = connection.prepare_cached(
        "SELECT record_type, record_id, salt, hash, at FROM erasures ORDER BY record_type DESC, record_id",
    )?;
    let rows = statement.query_map([], Row::read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What one file knows of who was erased, to be held against another.
pub struct Known(Vec<Row>);

impl Known {
    /// What a file knows. One of before erasures were noted knows nothing.
    pub fn read(connection: &Connection) -> Result<Self> {
        let notes = connection
            .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'erasures'")?
            .exists([])?;
        Ok(Self(if notes { read(connection)? } else { Vec::new() }))
    }

    /// Erases whoever of these is in the file; how many delegates and users that were. The file knows
    /// of all of them from then on.
    pub fn erase_from(&self, tx: &Tx<'_>, ctx: &Context) -> Result<usize> {
        let mut erased = 0;
        for row in &self.0 {
            row.keep(tx)?;
            let made_at = row.kind.made_at(tx, row.id)?;
            if !made_at.is_some_and(|made_at| row.is_of(made_at)) {
                continue;
            }
            match row.kind {
                Kind::User => traces::remove_user(tx, UserId(row.id))?,
                Kind::Delegate => super::at_once(tx, row.id)?,
            }
            let change = Change {
                action: "erase",
                record_type: row.kind.name(),
                record_id: Some(row.id),
                before: None,
                after: None,
            };
            audit::append(tx, ctx, &change)?;
            erased += 1;
        }
        Ok(erased)
    }
}

/// Erases whoever was erased before and came back with an older state; how many records.
pub fn again(tx: &Tx<'_>, ctx: &Context) -> Result<usize> {
    Known::read(tx)?.erase_from(tx, ctx)
}

/// The number of records that were erased.
pub fn count(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM erasures")?
        .query_row([], |row| row.get(0))?)
}

/// How many records were erased since the file was compacted.
pub fn since_compacted(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM erasures WHERE wiped_at IS NULL")?
        .query_row([], |row| row.get(0))?)
}

/// Notes that the file is being compacted.
pub fn note_compacted(tx: &Tx<'_>) -> Result<()> {
    tx.prepare_cached("UPDATE erasures SET wiped_at = ?1 WHERE wiped_at IS NULL")?
        .execute([tx.now()])?;
    Ok(())
}

/// What the name of a copy beside the file begins with, after the file's own, and how it ends.
const ATTACHED: [(&str, &str); 3] = [(".v", ".bak"), (PUT_ASIDE, ""), (DAMAGED_LOG, "")];

/// A damaged log that was kept: the file's own name, this, and when.
const DAMAGED_LOG: &str = "-wal.damaged-";

/// A file that a restore put aside: its own name, this, and when.
pub const PUT_ASIDE: &str = ".before-restore-";

/// The hours for which a replica keeps what was deleted: the retention in `ops/standby/files/litestream.yml`.
const REPLICA_HOURS: i64 = 24;

/// The copies of the file at `database` that may have a delegate, the newest backup first.
pub fn copies_with(connection: &Connection, database: &Path, delegate: i64) -> Result<Vec<String>> {
    let since: Option<Timestamp> = connection
        .prepare_cached("SELECT min(created_at) FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| row.get(0))?;
    since.map_or(Ok(Vec::new()), |since| copies(connection, database, since))
}

/// The copies of the file at `database` that were written since a moment.
pub fn copies(connection: &Connection, database: &Path, since: Timestamp) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT path FROM backups WHERE failure IS NULL AND finished_at >= ?1 ORDER BY id DESC",
    )?;
    let listed = statement.query_map([since], |row| row.get(0))?;
    let mut copies: Vec<String> = listed.collect::<rusqlite::Result<_>>()?;
    copies.extend(beside(database, since));
    if let Some(standby) = Standby::find(connection)? {
        copies.push(format!(
            "{} (the replica, for {REPLICA_HOURS} hours; \"Standby\" in the handbook says how to empty it now)",
            standby.replica_of_epoch()
        ));
    }
    Ok(copies)
}

/// Copies beside the file that were written since.
fn beside(database: &Path, since: Timestamp) -> Vec<String> {
    let folder = database
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let mut found: Vec<String> = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let rest = entry.file_name().to_string_lossy().into_owned();
            let rest = rest.strip_prefix(&*name);
            let named = |(begins, ends): &(&str, &str)| {
                rest.is_some_and(|rest| rest.starts_with(begins) && rest.ends_with(ends))
            };
            let written = entry.metadata().and_then(|file| file.modified()).ok();
            let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            // Of unknown age: it may have them.
            let may = written
                .is_none_or(|at| i64::try_from(at.as_millis()).is_ok_and(|at| at >= since.0));
            ATTACHED.iter().any(named) && may
        })
        .map(|entry| entry.path().display().to_string())
        .collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_beside_the_file_are_told_by_their_names_and_age() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        for name in [
            "a.db",
            "a.db-wal",
            "a.db.v3.bak",
            "a.db.before-restore-20261121-090000",
            "a.db-wal.damaged-20261121-090000",
            "b.db.v3.bak",
            "a.db.lock",
        ] {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        let names = |since| {
            let found = beside(&database, Timestamp(since));
            let names = found
                .iter()
                .map(|path| path.rsplit('/').next().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(
            names(0),
            [
                "a.db-wal.damaged-20261121-090000",
                "a.db.before-restore-20261121-090000",
                "a.db.v3.bak"
            ]
        );
        assert_eq!(names(i64::MAX), [""; 0]);
    }
}
