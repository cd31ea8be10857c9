//! Backups that are there: sent to a browser, checked, deleted. To be called on a thread that may wait.

use super::{
    folder,
    ledger::{self, Entry},
    make_beside, record,
    run::stamp,
    verify::{self, Inspected},
};
use crate::{
    core::Context,
    db::Store,
    types::{
        Timestamp,
        error::{Error, Result},
        os,
    },
};
use std::{fs::File, io, path::Path};
use tempfile::TempDir;

/// A file to be sent.
#[derive(Debug)]
pub struct Download {
    pub name: String,
    pub file: File,
    pub bytes: u64,
    /// The folder that goes once it is sent.
    pub folder: Option<TempDir>,
}

/// Makes a backup for a download; it is deleted once it is sent.
pub fn for_download(store: &Store, ctx: &Context, now: Timestamp) -> Result<Download> {
    let beside = store.path().parent().unwrap_or(Path::new(""));
    let beside = std::path::absolute(beside).map_err(Error::invalid_cause)?;
    folder::look(&beside, store.path())?;
    let folder = tempfile::Builder::new()
        .prefix(".gatepost-")
        .tempdir_in(&beside)
        .map_err(Error::unavailable)?;
    let name = format!("gatepost-{}.db", stamp(&ctx.settings.zone, now));
    let made = make_beside(&store.source(), &folder.path().join(&name))?;
    let file = File::open(&made.path).map_err(Error::unavailable)?;
    let (bytes, ctx) = (made.bytes, ctx.clone());
    // Where an open file may be deleted, it is right away: not even a killed server leaves it.
    let folder = (!os::DELETES_OPEN_FILES).then_some(folder);
    store.write(move |tx| record(tx, &ctx, &made)).wait()?;
    Ok(Download {
        name,
        file,
        bytes,
        folder,
    })
}

/// Opens a backup for a download.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where it cannot be read.
pub fn open(store: &Store, entry: &Entry) -> Result<Download> {
    folder::check_apart(&entry.path, store.path())?;
    let refused = |cause: io::Error| {
        let path = entry.path.display();
        Error::field(
            path,
            format!("{cause}; if it is on a stick, is the stick plugged in?"),
        )
    };
    let file = File::open(&entry.path).map_err(refused)?;
    Ok(Download {
        name: entry.file_name(),
        bytes: file.metadata().map_err(refused)?.len(),
        file,
        folder: None,
    })
}

/// Checks a backup, and counts what is there now beside it.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with what is wrong with the backup.
pub fn check(store: &Store, entry: &Entry) -> Result<(Inspected, Vec<(&'static str, i64)>)> {
    let found = verify::inspect(&entry.path, store.path());
    // A stick that is not plugged in says nothing about the file on it.
    if found.is_ok() || entry.path.exists() {
        let (id, failure) = (entry.id, found.as_ref().err().map(ToString::to_string));
        store
            .write(move |tx| ledger::checked(tx, id, failure.as_deref()))
            .wait()?;
    }
    Ok((found?, store.look_up(verify::counts)?))
}

/// Deletes a backup and its line in the ledger.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] while it is being made, and for a file that is no backup.
pub fn delete(store: &Store, ctx: &Context, entry: Entry) -> Result<()> {
    if entry.finished_at.is_none() {
        return Err(Error::invalid("this backup is not finished yet"));
    }
    if entry.failure.is_none() {
        folder::delete(&entry.path, store.path())?;
    }
    let ctx = ctx.clone();
    store
        .write(move |tx| ledger::forget(tx, &ctx, &entry))
        .wait()
}
