//! Checks whether a backup can be put into a folder, and taken away from there again.

use super::refused;
use crate::{
    db::{APPLICATION_ID, open},
    types::{error::Result, os},
};
use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
};

/// Free space that is left beside a backup, in bytes.
const SPARE_BYTES: u64 = 16 << 20;

/// The space in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that are free.
    pub free: u64,
    /// Bytes that a backup takes now.
    pub needed: u64,
}

/// Returns the bytes that a backup of the file takes now.
#[must_use]
pub fn needed(database: &Path) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    length(database) + length(&open::beside(database, "-wal"))
}

/// Looks whether a backup of the file could be put into a folder: it is there, can be written to,
/// and has room.
pub fn look(folder: &Path, database: &Path) -> Result<Room> {
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(refused(folder, "is a file, not a folder")),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Err(refused(
                folder,
                "this folder is not there; if it is on a stick, is the stick plugged in?",
            ));
        }
        Err(cause) => return Err(refused(folder, cause)),
    }
    let mut tried = tempfile::Builder::new()
        .prefix(".gatepost-")
        .tempfile_in(folder)
        .map_err(|cause| refused(folder, format!("nothing can be written there: {cause}")))?;
    let written = tried
        .write_all(b"Gatepost looks whether it can write here.")
        .and_then(|()| tried.as_file().sync_all());
    written.map_err(|cause| refused(folder, format!("nothing can be written there: {cause}")))?;
    let room = Room {
        free: fs4::available_space(folder).map_err(|cause| refused(folder, cause))?,
        needed: needed(database),
    };
    if room.free < room.needed + SPARE_BYTES {
        let mebi = |bytes: u64| bytes.div_ceil(1 << 20);
        return Err(refused(
            folder,
            format!(
                "{} MiB are free there, and a backup takes {}; make room, or choose another folder",
                mebi(room.free),
                mebi(room.needed + SPARE_BYTES)
            ),
        ));
    }
    Ok(room)
}

/// Deletes the file of a backup, where it is there and one of ours: never the database file, however
/// it came to be listed.
pub fn delete(backup: &Path, database: &Path) -> Result<()> {
    let found = match fs::symlink_metadata(backup) {
        Ok(found) => found,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(refused(backup, cause)),
    };
    check_apart(backup, database)?;
    if !found.is_file() || !is_ours(backup)? {
        return Err(refused(
            backup,
            "is no backup of Gatepost any more, and was left alone",
        ));
    }
    fs::remove_file(backup).map_err(|cause| refused(backup, cause))
}

/// Checks that a path does not lead to the database file: opening and closing that would drop the
/// locks on it.
pub fn check_apart(backup: &Path, database: &Path) -> Result<()> {
    if os::is_same(backup, database) {
        return Err(refused(backup, "is the database file itself"));
    }
    Ok(())
}

/// Returns whether a file begins as one of Gatepost does.
fn is_ours(path: &Path) -> Result<bool> {
    let mut header = [0; 100];
    let mut file = File::open(path).map_err(|cause| refused(path, cause))?;
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(cause) => return Err(refused(path, cause)),
    }
    let application = i32::from_be_bytes([header[68], header[69], header[70], header[71]]);
    Ok(header.starts_with(b"SQLite format 3\0") && application == APPLICATION_ID)
}

/// Makes the folder that is beside the database file, unless it is there; any other must be there.
pub(super) fn make_own(folder: &Path, database: &Path) -> Result<()> {
    if folder != super::run::own_folder(database) || folder.exists() {
        return Ok(());
    }
    fs::create_dir(folder).map_err(|cause| refused(folder, cause))
}
