//! Looks at a file before a byte of it is written: is it ours, whole, and of a version we know?

use super::{
    APPLICATION_ID, migrate, moments,
    second_path::{self, Claim},
};
use crate::types::{
    error::{Error, Kind, Result},
    os,
};
use rusqlite::{Connection, OpenFlags};
use std::{
    fs::{File, Metadata, TryLockError},
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The longest look at a file's pages; `check` looks at all of them.
const LOOK_MAX: Duration = Duration::from_millis(300);

/// The state of the file at the path of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing: a fresh one is made.
    Nothing,
    /// A file whose making was cut off, in place: SQLite empties it when it is opened.
    Torn,
    /// A file of this schema version.
    Version(i64),
    /// One whose index for searching is damaged, and nothing else: it is made anew from the records.
    Unindexed(i64),
}

/// Looks at the file without changing it.
pub fn look(path: &Path) -> Result<Found> {
    let Some(header) = read_header(path)? else {
        return look_at_nothing(path);
    };
    if !header.starts_with(b"SQLite format 3\0") {
        let shown = path.display();
        return Err(refused(format!("{shown} is not a SQLite file")));
    }
    let interrupted = interrupted(path);
    if interrupted == Some(0) {
        return Ok(Found::Torn);
    }
    // With a log beside it, what counts may stand in the log, and the file itself may lawfully be
    // behind, even shorter than it says.
    let log = beside(path, "-wal").exists();
    let connection = if log {
        open_with_log(path)
    } else {
        open_immutable(path)
    };
    let connection = connection.map_err(|cause| damaged(path, &cause))?;
    let (application, version) = if log {
        identity(&connection).map_err(|cause| damaged(path, &cause))?
    } else {
        (number(&header, 68), number(&header, 60))
    };
    check_identity(path, application, version)?;
    if log {
        moments::refuse_other(path)?;
    }
    // An interrupted change is undone by SQLite when the file is opened; until then it looks torn.
    if interrupted.is_none() {
        if !log {
            look_at_size(path, &header, number(&header, 28))?;
        }
        return look_inside(path, &connection, version);
    }
    Ok(Found::Version(version))
}

/// Looks at a file that is empty or not there.
fn look_at_nothing(path: &Path) -> Result<Found> {
    let shown = path.display();
    let is_torn = interrupted(path) == Some(0);
    if path.exists() {
        return if is_torn {
            Ok(Found::Torn)
        } else {
            Err(refused(format!(
                "{shown} is empty: put a backup in its place, or remove it if it never held anything"
            )))
        };
    }
    // SQLite would clear it away, or put it into what is made here; it may be all that is left.
    let is_left = |end: &&&str| {
        let log = std::fs::metadata(beside(path, end));
        log.is_ok_and(|log| log.len() > 0) && !is_torn
    };
    match ["-wal", "-journal"].iter().find(is_left) {
        Some(end) => Err(refused(format!(
            "{shown} is gone, and its log {shown}{end} is still there: put the file back beside it, or a backup in their place"
        ))),
        None => Ok(Found::Nothing),
    }
}

/// A number of a header.
fn number(header: &[u8; 100], at: usize) -> i64 {
    let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
    i64::from(u32::from_be_bytes(bytes))
}

/// Refuses files of other applications, and of newer versions of this one.
fn check_identity(path: &Path, application: i64, version: i64) -> Result<()> {
    let shown = path.display();
    if application != i64::from(APPLICATION_ID) {
        return Err(Error::new(
            Kind::ForeignFile,
            format!("{shown} is a SQLite file of another application"),
        ));
    }
    if version > migrate::CURRENT {
        return Err(Error::new(
            Kind::ForeignFile,
            format!(
                "{shown} has schema version {version}, this program knows up to {}; use a newer gatepost",
                migrate::CURRENT
            ),
        ));
    }
    Ok(())
}

/// The schema version of a file in which everything is sound, as far as [`look`] sees; none where there
/// is no file.
pub fn sound_version(path: &Path) -> Result<Option<i64>> {
    match look(path)? {
        Found::Version(version) => Ok(Some(version)),
        Found::Unindexed(_) => Err(refused(format!(
            "{}: its index for searching is damaged, and no record is lost: run `gatepost check --repair` on it",
            path.display()
        ))),
        Found::Nothing | Found::Torn => Ok(None),
    }
}

/// Makes an empty file that its owner alone may read: it holds people, and what opens doors. What SQLite
/// makes beside it is as private.
pub fn make_private(path: &Path) -> Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    os::private(&mut options);
    options
        .open(path)
        .map(drop)
        .map_err(|cause| refused(format!("{}: {cause}", path.display())))
}

/// The number of pages that the file had before a change without a log that was cut off; `None` where there
/// was no such change. A Gatepost file is changed so only while it is made.
pub(super) fn interrupted(path: &Path) -> Option<u32> {
    let mut header = [0; 28];
    File::open(beside(path, "-journal"))
        .and_then(|mut journal| journal.read_exact(&mut header))
        .ok()?;
    let pages = [header[16], header[17], header[18], header[19]];
    header
        .starts_with(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        .then_some(u32::from_be_bytes(pages))
}

/// Application id and schema version, read through the log.
fn identity(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((pragma("application_id")?, pragma("user_version")?))
}

/// A read-only connection leaves file and log as they are.
fn open_with_log(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// A connection that only reads, and takes no lock and writes no byte unless a log stands beside the
/// file; of that it makes an index, which is made anew each time.
pub fn unchanged(path: &Path) -> rusqlite::Result<Connection> {
    let connection = if beside(path, "-wal").exists() {
        open_with_log(path)
    } else {
        open_immutable(path)
    }?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// A connection that reads what the file has without its log.
pub(super) fn alone(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open_immutable(path)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

pub(super) fn damaged(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    refused(format!(
        "{} is damaged ({cause}); restore a backup",
        path.display()
    ))
}

pub(super) fn refused(message: String) -> Error {
    Error::invalid(message)
}

fn read_header(path: &Path) -> Result<Option<[u8; 100]>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(refused(format!("{}: {cause}", path.display()))),
    };
    second_path::refuse(&file, path)?;
    let mut header = [0; 100];
    let mut length = 0;
    while length < header.len() {
        match file.read(&mut header[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(cause) => return Err(refused(format!("{}: {cause}", path.display()))),
        }
    }
    match length {
        0 => Ok(None),
        100 => Ok(Some(header)),
        _ => Err(refused(format!(
            "{} is cut off: it has {length} bytes, less than a SQLite header",
            path.display()
        ))),
    }
}

/// The path of a companion file, such as `gatepost.db-wal`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn look_at_size(path: &Path, header: &[u8; 100], pages: i64) -> Result<()> {
    let page_size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => i64::from(size),
    };
    let size = std::fs::metadata(path).map_or(0, |file| file.len());
    let expected = pages * page_size;
    if i64::try_from(size).is_ok_and(|size| size < expected) {
        return Err(refused(format!(
            "{} is cut off: {size} bytes of {expected}; restore a backup",
            path.display()
        )));
    }
    Ok(())
}

/// Reads the schema and as many pages as the time allows.
fn look_inside(path: &Path, connection: &Connection, version: i64) -> Result<Found> {
    let damaged = |cause: &dyn std::fmt::Display| damaged(path, cause);
    let deadline = Instant::now() + LOOK_MAX;
    connection
        .progress_handler(10_000, Some(move || Instant::now() > deadline))
        .map_err(|cause| damaged(&cause))?;
    let lines = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("PRAGMA quick_check(10)")?;
        let lines = statement.query_map([], |row| row.get(0))?;
        lines.collect()
    };
    let lines = match lines() {
        Ok(lines) => lines,
        Err(cause)
            if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            return Ok(Found::Version(version));
        }
        Err(cause) => return Err(damaged(&cause)),
    };
    match lines.iter().find(|line| !is_of_search_index(line)) {
        Some(line) if line == "ok" => Ok(Found::Version(version)),
        Some(line) => Err(damaged(line)),
        None => Ok(Found::Unindexed(version)),
    }
}

/// Tells whether a line of SQLite's own check is about what the index for searching says, and not about a
/// page that it stands on.
pub fn is_of_search_index(line: &str) -> bool {
    line.contains("fts5") || line.contains("FTS5") || line.contains("inverted index")
}

/// The address by which SQLite reads a file that nobody writes to, without a lock and without a file
/// beside it.
pub fn read_only_address(path: &Path) -> String {
    let encoded = percent_encoding::percent_encode(
        path.as_os_str().as_encoded_bytes(),
        percent_encoding::NON_ALPHANUMERIC,
    );
    format!("file:{encoded}?immutable=1&mode=ro")
}

fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(
        read_only_address(path),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

/// The lock against a second `serve`, held as long as this lives. It is a file of its own: a
/// handle on the database file, closed, would drop SQLite's own locks. What stands in it is about the use of the
/// database file (`usage`).
pub struct ServeLock {
    _file: File,
    path: PathBuf,
    /// None before there is a database file.
    claim: Option<Claim>,
}

impl ServeLock {
    /// Takes the lock of a database file.
    pub fn take(path: &Path) -> Result<Self> {
        refuse_links(path)?;
        let lock = beside(path, ".lock");
        let told = |cause: &dyn std::fmt::Display| refused(format!("{}: {cause}", lock.display()));
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&lock)
            .map_err(|cause| told(&cause))?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                _file: file,
                claim: Claim::take(path)?,
                path: path.to_owned(),
            }),
            Err(TryLockError::WouldBlock) => Err(refused(format!(
                "another `gatepost serve` runs on {}",
                path.display()
            ))),
            Err(TryLockError::Error(cause)) => Err(told(&cause)),
        }
    }

    /// Locks the database file as well, which may have been made since.
    pub fn claim(&mut self) -> Result<()> {
        if self.claim.is_none() {
            self.claim = Claim::take(&self.path)?;
        }
        Ok(())
    }
}

/// Tells whether there is a file with a header.
pub(super) fn has_header(path: &Path) -> bool {
    matches!(read_header(path), Ok(Some(_)))
}

/// Tells whether the file's header promises a log: a backup that was put here by hand needs none.
pub(super) fn needs_log(path: &Path) -> bool {
    matches!(read_header(path), Ok(Some(header)) if header[18] == LOGGED)
}

/// Byte 18 of SQLite's header in a file that has a log.
const LOGGED: u8 = 2;

/// Tells whether a server runs on a file.
pub fn is_served(path: &Path) -> bool {
    let lock = File::open(beside(path, ".lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Links that lead from one to the next.
const LINKS_MAX: usize = 8;

/// The path that symbolic links lead to, whether there is a file or not: what belongs to a file is
/// found by its name.
pub fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = std::fs::read_link(&path) else {
            break;
        };
        path = folder_of(&path).join(target);
    }
    path
}

/// Refuses a file with a second name: whoever opens it by that would not find its log and its lock.
pub fn refuse_links(path: &Path) -> Result<()> {
    let found = std::fs::metadata(path).ok().filter(Metadata::is_file);
    let names = found.map_or(1, |found| os::names(&found));
    if names > 1 {
        let shown = path.display();
        return Err(refused(format!(
            "{shown} has {names} names (hard links), and whoever opens it by another one would not find its log; remove the others (`find / -xdev -samefile {shown}` shows them), or copy it to a new file and use that"
        )));
    }
    Ok(())
}
