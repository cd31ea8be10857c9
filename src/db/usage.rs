//! Notes on the file's use that stand beside it, in its lock file, and by which a loss is noticed that no
//! checksum tells: a copy without its log, a log that was emptied, an older file in the file's place.
//!
//! While the file is in use, a counter in it (`in use`) has a random number, which the lock file has, too. A file
//! with a number that is not that of the lock file, and without the log that its header promises, was copied while
//! it was in use. And after each commit, before its answers, the lock file is told how far the file is: the newest
//! interaction and the newest change. A file that is behind that has lost writes, however that came about. The
//! lock file is not synced, so this is a lower bound; it never promises what the disk does not have (but for
//! `--durability normal`, where a power cut takes writes with it, and this tells how many).
//!
//! Whoever opens the file to write keeps both, be it the server or a command; a command beside a server leaves them to
//! the server. Losses that were found are kept in the lock file until the server has put them on the dashboard.

use super::{
    ServeLock, counters,
    open::{self, beside, is_served},
    salvage,
};
use crate::types::{
    error::{Error, Result},
    os::WRITES_LOCKED_FILES,
};
use rusqlite::{Connection, OptionalExtension};
use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The counter with the number of whoever uses the file; it is not there while nobody does.
pub const IN_USE: &str = "in use";
/// The counter by which a file and its copies are known from others.
pub const FILE: &str = "file";

/// The progress of a file, and a position in its feed: everything up to here is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Up to this interaction.
    pub interaction: i64,
    /// Up to this change to anything else.
    pub change: i64,
}

impl Position {
    /// Reads how far the file is now, as the open transaction has it.
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('interactions', 'audit')",
        )?;
        let mut rows = statement.query([])?;
        let mut found = Self::default();
        while let Some(row) = rows.next()? {
            match row.get_ref(0)?.as_str() {
                Ok("interactions") => found.interaction = row.get(1)?,
                _ => found.change = row.get(1)?,
            }
        }
        Ok(found)
    }

    /// Returns the position as one number, which grows with each change: how far a replica has come is told by it.
    pub fn mark(self) -> i64 {
        self.interaction + self.change
    }

    /// Returns whether this is as far as that.
    pub fn reaches(self, other: Self) -> bool {
        self.interaction >= other.interaction && self.change >= other.change
    }
}

/// The content of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Of [`FILE`].
    file: i64,
    /// Of [`IN_USE`]; 0 after a clean end.
    number: i64,
    /// The start of the machine since which the file is in use.
    boot: String,
    position: Position,
    /// Losses that the dashboard has not shown yet, a line each.
    told: Vec<String>,
}

/// The offset of the position in the lock file: behind three lines of a fixed length.
const POSITION_AT: u64 = 3 * LINE_BYTES as u64;
const LINE_BYTES: usize = 48;

/// The file with the state: the lock file, or one of its own where the lock keeps writers out.
fn state_file(database: &Path) -> PathBuf {
    beside(database, if WRITES_LOCKED_FILES { ".lock" } else { ".use" })
}

impl State {
    /// Reads the notes beside a database file; nothing where this version knows of none.
    pub fn read(database: &Path) -> Option<Self> {
        let mut text = String::new();
        let file = File::open(state_file(database)).ok()?;
        file.take(1 << 20).read_to_string(&mut text).ok()?;
        let mut lines = text.lines();
        let mut value = |name: &str| Some(lines.next()?.strip_prefix(name)?.trim().to_owned());
        let (file, number) = (value("file")?.parse().ok()?, value("in use")?.parse().ok()?);
        let boot = value("boot")?;
        let position = value("position")?;
        let (interaction, change) = position.split_once(' ')?;
        Some(Self {
            file,
            number,
            boot,
            position: Position {
                interaction: interaction.parse().ok()?,
                change: change.parse().ok()?,
            },
            told: lines.map(ToOwned::to_owned).collect(),
        })
    }

    fn written(&self) -> String {
        let line = |text: String| format!("{text:<width$}\n", width = LINE_BYTES - 1);
        let mut written = line(format!("file {}", self.file))
            + &line(format!("in use {}", self.number))
            + &line(format!("boot {}", self.boot))
            + &line(position_line(self.position));
        for told in &self.told {
            written += told;
            written.push('\n');
        }
        written
    }

    /// Returns what a file with this number ([`FILE`]) that is only so far has lost, in words; nothing where it has
    /// lost nothing, or these notes are about another file.
    pub fn missing(&self, file: i64, now: Position) -> Option<String> {
        let gone = Position {
            interaction: (self.position.interaction - now.interaction).max(0),
            change: (self.position.change - now.change).max(0),
        };
        counted(gone).filter(|_| self.file != 0 && self.file == file)
    }

    /// The start of the machine since which the file is in use, where it still is.
    pub fn boot(&self) -> Option<&str> {
        (self.number != 0).then_some(&self.boot)
    }
}

fn position_line(at: Position) -> String {
    format!("position {:019} {:019}", at.interaction, at.change)
}

/// Returns an id of this start of the machine; empty where the system does not say.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

/// Tells what a file has lost, as far as can be told without changing it, and what was told of it already; nothing
/// while a server runs on it.
pub fn losses(database: &Path, serving: Option<&ServeLock>) -> Vec<String> {
    if serving.is_none() && is_served(database) {
        return Vec::new();
    }
    let state = State::read(database).unwrap_or_default();
    let mut losses = state.told.clone();
    // What cannot be read is told by whoever opens it.
    if let Ok(Some(loss)) = find_loss(database, &state) {
        losses.push(loss);
    }
    losses
}

fn find_loss(database: &Path, state: &State) -> Result<Option<String>> {
    // Before SQLite has the file: closing another handle on it drops its locks.
    let lacks_log = open::needs_log(database) && !beside(database, "-wal").exists();
    if !database.exists() {
        return Ok(counted(state.position).map(|gone| {
            format!(
                "{} is gone with its log, and with it {gone} that were stored: put the file back while no server runs, or a backup with `gatepost restore`.",
                database.display()
            )
        }));
    }
    // An empty file has SQLite remove the log, and of a damaged one it would make the index anew.
    if !open::has_header(database) || !matches!(salvage::examine(database), Ok(None)) {
        return Ok(None);
    }
    let connection = open::unchanged(database)?;
    let counter = |name: &str| {
        let found = connection
            .query_row(
                "SELECT value FROM counters WHERE name = ?1",
                [name],
                |row| row.get(0),
            )
            .optional();
        Ok::<i64, Error>(found?.unwrap_or(0))
    };
    let (shown, log) = (database.display(), beside(database, "-wal"));
    let log = log.display();
    if let Some(gone) = state.missing(counter(FILE)?, Position::read(&connection)?) {
        let power = if state.number != 0 && state.boot != boot_id() {
            ", or the machine went off while the server ran with `--durability normal`"
        } else {
            ""
        };
        return Ok(Some(format!(
            "{gone} that were stored are missing in {shown}: its log {log} was removed, emptied or cut, or an older copy took the file's place{power}.",
        )));
    }
    let number = counter(IN_USE)?;
    if number != 0 && number != state.number && lacks_log {
        return Ok(Some(format!(
            "{shown} was copied while it was in use, without its log ({shown}-wal): what was stored last may be missing, and that may be much. Copy a file in use with `gatepost backup`, or after a clean stop.",
        )));
    }
    Ok(None)
}

/// So many interactions and changes, in words; nothing where there are none.
fn counted(gone: Position) -> Option<String> {
    let gone = [(gone.interaction, "interaction"), (gone.change, "change")];
    let gone = gone.into_iter().filter(|(count, _)| *count > 0);
    let gone = gone.map(|(count, what)| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {what}{plural}")
    });
    let gone: Vec<_> = gone.collect();
    (!gone.is_empty()).then(|| gone.join(" and "))
}

/// The use of a file by this process.
#[derive(Debug)]
pub struct Usage {
    database: PathBuf,
    /// None beside a server, which keeps what stands there.
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    number: i64,
    /// None where it cannot be written, as on some network disks; nothing is noticed then.
    lock: Option<Mutex<File>>,
    serving: bool,
    /// The number is in the file itself, not in its log alone.
    is_marked: AtomicBool,
}

impl Usage {
    /// Begins to use a file, which `connection` writes to: `losses` were found in it.
    pub fn begin(
        database: &Path,
        connection: &Connection,
        serving: Option<&ServeLock>,
        losses: Vec<String>,
    ) -> Result<Self> {
        let database = database.to_owned();
        if serving.is_none() && is_served(&database) {
            return Ok(Self {
                database,
                own: None,
            });
        }
        let (file, number, position) = match enter(connection) {
            Ok(entered) => entered,
            // What can be read is to be read on a full disk, too.
            Err(cause) => {
                let _ = connection.execute_batch("ROLLBACK");
                tracing::warn!(
                    "{}: {}; should its log be lost, nobody will be told",
                    database.display(),
                    cause
                );
                return Ok(Self {
                    database,
                    own: None,
                });
            }
        };
        let state = State {
            file,
            number,
            boot: boot_id(),
            position,
            told: losses,
        };
        let written = write_lock(&database, &state);
        if let Err(cause) = &written {
            tracing::warn!(
                "{}: {cause}; should the file's log be lost, nobody will be told",
                state_file(&database).display()
            );
        }
        let own = Own {
            number,
            lock: written.ok().map(Mutex::new),
            serving: serving.is_some(),
            is_marked: AtomicBool::new(false),
        };
        Ok(Self {
            database,
            own: Some(own),
        })
    }

    /// Has the number reach the file itself, so that a copy of the file alone has it. Something that reads an older
    /// state may keep it from that; then it is to be tried again.
    pub fn mark(&self, connection: &Connection) {
        let Some(own) = self.own.as_ref() else { return };
        if self.is_marked() {
            return;
        }
        let copied = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(row.get::<_, i64>(0)? == 0 && log == copied)
        });
        own.is_marked
            .store(copied.unwrap_or(false), Ordering::Release);
    }

    /// Returns whether a copy of the file alone would tell that it was made while the file was in use.
    pub fn is_marked(&self) -> bool {
        let own = self.own.as_ref();
        own.is_none_or(|own| own.is_marked.load(Ordering::Acquire))
    }

    /// Notes how far the file is, after a commit and before its answers.
    pub fn committed(&self, position: Position) {
        self.with_lock(|lock| {
            lock.seek(SeekFrom::Start(POSITION_AT))?;
            lock.write_all(position_line(position).as_bytes())
        });
    }

    /// Keeps a loss for the next start.
    pub fn tell(&self, loss: &str) {
        self.with_lock(|lock| {
            lock.seek(SeekFrom::End(0))?;
            lock.write_all(format!("{}\n", loss.replace('\n', " ")).as_bytes())
        });
    }

    /// The losses that are kept.
    pub fn told(&self) -> Vec<String> {
        State::read(&self.database).map_or_else(Vec::new, |state| state.told)
    }

    /// Keeps losses no longer: the dashboard has them.
    pub fn forget_told(&self) {
        self.with_lock(|lock| lock.set_len(4 * LINE_BYTES as u64));
    }

    /// The lock file, where another server has written its number: on some network disks locks do not lock.
    pub fn taken(&self) -> Option<PathBuf> {
        let own = self.own.as_ref().filter(|own| own.serving)?;
        let number = State::read(&self.database)?.number;
        (number != 0 && number != own.number).then(|| state_file(&self.database))
    }

    /// Puts the log aside, which is not of the file that stands in the database's place; a sentence about it.
    pub fn put_log_aside(&self) -> String {
        let log = beside(&self.database, "-wal");
        let names = (1..).map(|number| beside(&log, &format!(".kept-{number}")));
        let Some(kept) = names.into_iter().find(|kept| !kept.exists()) else {
            return String::new();
        };
        if let Err(cause) = std::fs::rename(&log, &kept) {
            return format!(
                " Its log {} could not be put aside ({cause}): do it before the next start.",
                log.display()
            );
        }
        // It is of the log, and is made anew.
        let _ = std::fs::remove_file(beside(&self.database, "-shm"));
        format!(" Its log is kept as {}.", kept.display())
    }

    /// Ends the use, before the file is closed.
    pub fn end(&self, connection: &Connection) -> Result<()> {
        let Some(own) = &self.own else { return Ok(()) };
        connection.execute(
            "DELETE FROM counters WHERE name = ?1 AND value = ?2",
            (IN_USE, own.number),
        )?;
        self.committed(Position::read(connection)?);
        if State::read(&self.database).is_some_and(|state| state.number == own.number) {
            leave(&self.database);
        }
        Ok(())
    }

    fn with_lock(&self, write: impl FnOnce(&mut File) -> std::io::Result<()>) {
        let Some(lock) = self.own.as_ref().and_then(|own| own.lock.as_ref()) else {
            return;
        };
        let mut lock = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(cause) = write(&mut lock) {
            tracing::debug!("the lock file: {cause}");
        }
    }
}

/// Notes in the file that it is in use: its own number, that of the use, and how far it is.
fn enter(connection: &Connection) -> Result<(i64, i64, Position)> {
    let random = || {
        let random = getrandom::u64().map_err(Error::defect)?;
        Ok::<_, Error>((random >> 1).cast_signed() | 1)
    };
    let number = random()?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let file = match counters::get(connection, FILE)? {
        Some(file) => file,
        None => random()?,
    };
    counters::set(connection, FILE, file)?;
    counters::set(connection, IN_USE, number)?;
    // A file that another program filled may not say which id was given last.
    connection.execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'interactions', (SELECT coalesce(max(id), 0) FROM interactions)
         WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'interactions')",
        [],
    )?;
    let position = Position::read(connection)?;
    connection.execute_batch("COMMIT")?;
    Ok((file, number, position))
}

fn write_lock(database: &Path, state: &State) -> std::io::Result<File> {
    let mut lock = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(state_file(database))?;
    let written = state.written();
    lock.write_all(written.as_bytes())?;
    lock.set_len(written.len() as u64)?;
    Ok(lock)
}

/// Forgets what stands beside a file that was replaced on purpose.
pub fn forget(database: &Path) {
    // Where there is none, there is nothing to forget.
    if let Ok(lock) = File::options().write(true).open(state_file(database)) {
        let _ = lock.set_len(0);
    }
}

/// Notes that nobody uses the file any more; losses that were told stay.
pub fn leave(database: &Path) {
    if let Some(mut state) = State::read(database) {
        state.number = 0;
        if let Err(cause) = write_lock(database, &state) {
            tracing::debug!("the lock file: {cause}");
        }
    }
}

/// Takes the number of a use out of a copy.
pub fn release(copy: &Connection) -> Result<()> {
    // One of an early version has no counters.
    if copy.table_exists(None, "counters")? {
        copy.execute("DELETE FROM counters WHERE name = ?1", [IN_USE])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store};

    #[test]
    fn a_lock_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let state = State {
            file: i64::MAX,
            number: i64::MAX - 1,
            boot: "01234567-89ab-cdef-0123-456789abcdef".into(),
            position: Position {
                interaction: i64::MAX,
                change: 0,
            },
            told: vec!["One thing.".into(), "Another.".into()],
        };
        write_lock(&database, &state).unwrap();
        assert_eq!(State::read(&database), Some(state));
        // What an earlier version left says nothing.
        std::fs::write(state_file(&database), "serving\n").unwrap();
        assert_eq!(State::read(&database), None);
    }

    #[test]
    fn checkpoints_of_others_are_no_loss() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let store = Store::open(&database, Durability::Normal).unwrap();
        let path = database.clone();
        let checkpoints = std::thread::spawn(move || {
            let other = Connection::open(path).unwrap();
            for number in 0..10_000 {
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][number % 4];
                let sql = format!("PRAGMA wal_checkpoint({kind})");
                other.query_row(&sql, [], |_| Ok(())).unwrap();
            }
        });
        let mut written = 0;
        while !checkpoints.is_finished() {
            store
                .write(|tx| {
                    tx.new_interaction_id()?;
                    tx.execute("INSERT INTO statements (name, sql) VALUES ('a', 'b')", [])
                        .or_else(|_| tx.execute("DELETE FROM statements", []))?;
                    Ok(())
                })
                .wait()
                .unwrap();
            written += 1;
        }
        checkpoints.join().unwrap();
        assert_eq!(store.lost(), None);
        drop(store);
        assert_eq!(losses(&database, None), Vec::<String>::new());
        let state = State::read(&database).unwrap();
        assert_eq!((state.number, state.position.interaction), (0, written));
    }

    /// The content of a log of another beginning says nothing of the frames that are lost; the position does.
    #[test]
    fn an_index_of_an_earlier_log_is_noticed_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let store = Store::open(&database, Durability::Normal).unwrap();
        let record = || {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method alone is for one lifetime only"
            )]
            store.write(|tx| tx.new_interaction_id()).wait()
        };
        let other = Connection::open(&database).unwrap();
        let empty = || {
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            assert_eq!(other.query_row(sql, [], |row| row.get(0)), Ok(0));
        };
        record().unwrap();
        empty();
        let index = beside(&database, "-shm");
        let older = std::fs::read(&index).unwrap();
        record().unwrap();
        empty();
        // Keeps the log from being copied.
        other
            .execute_batch("BEGIN; SELECT count(*) FROM counters")
            .unwrap();
        record().unwrap();
        assert_eq!(record().unwrap(), 4);
        let mut file = File::options().write(true).open(&index).unwrap();
        file.write_all(&older).unwrap();
        assert!(record().is_err());
        assert!(store.lost().is_some());
        let state = State::read(&database).unwrap();
        assert_eq!(state.position.interaction, 4);
        assert!(state.told.concat().contains("was removed, renamed"));
    }

    #[test]
    fn a_file_that_cannot_be_written_to_is_opened_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        drop(Store::open(&database, Durability::Normal).unwrap());
        let before = State::read(&database);
        let connection = Connection::open(&database).unwrap();
        connection.pragma_update(None, "query_only", true).unwrap();
        let usage = Usage::begin(&database, &connection, None, Vec::new()).unwrap();
        usage.committed(Position::default());
        usage.end(&connection).unwrap();
        assert!(connection.is_autocommit());
        assert_eq!(State::read(&database), before);
    }

    #[test]
    fn a_lock_that_another_server_wrote_to_ends_the_use() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let lock = ServeLock::take(&database).unwrap();
        let store = Store::open_to_serve(&database, Durability::Normal, &lock).unwrap();
        assert_eq!(store.usage().taken(), None);
        let mut state = State::read(&database).unwrap();
        state.number += 1;
        write_lock(&database, &state).unwrap();
        assert_eq!(store.usage().taken(), Some(state_file(&database)));
    }
}
