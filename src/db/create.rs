//! Makes a fresh file.

use super::{migrate, open};
use crate::types::{
    error::{Error, Result},
    os,
};
use rusqlite::Connection;
use std::path::Path;

/// Makes a fresh file. It is there as a whole or not at all, and where somebody else made one at the
/// same time, that one stays.
pub(super) fn create(path: &Path) -> Result<()> {
    let told =
        |cause: &dyn std::fmt::Display| Error::invalid(format!("{}: {cause}", path.display()));
    // A link may lead to where the file is to be.
    let path = open::resolved(path);
    let path = path.as_path();
    let folder = open::folder_of(path);
    if !folder.is_dir() {
        return Err(told(&"the folder is not there"));
    }
    if open::interrupted(path) == Some(0) {
        // Of a file that was never made whole, and is gone; SQLite would empty the new one by it.
        std::fs::remove_file(open::beside(path, "-journal")).map_err(|cause| told(&cause))?;
    }
    // Its owner alone may read it: it holds people, and what opens doors.
    let file = tempfile::Builder::new()
        .prefix(".gatepost-")
        .suffix(".new")
        .tempfile_in(folder)
        .map_err(|cause| told(&cause.kind()))?;
    let connection = Connection::open(file.path())?;
    migrate::create(&connection)?;
    connection.close().map_err(|(_, cause)| cause)?;
    if let Err(cause) = file.persist_noclobber(path)
        && !path.exists()
    {
        return Err(told(&cause.error));
    }
    // The name must survive a power loss as the file does.
    os::sync_folder(folder).map_err(|cause| told(&cause))
}
