//! One backup from beginning to end, in the process that serves, with its line in the ledger.

use super::{
    folder,
    ledger::{self, Entry, Purpose},
    make_beside,
};
use crate::{
    core::Context,
    db::Store,
    types::{
        Timestamp, Zone,
        error::{Error, Result},
        os,
    },
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// Returns the folder for backups for which none was chosen.
#[must_use]
pub fn own_folder(database: &Path) -> PathBuf {
    let folder = database.with_file_name("backups");
    // A relative path would mean another folder to whoever reads it in a list.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// Makes a backup into a folder and writes down how that went; to be called on a thread that may
/// wait. `now` is the time, to which the time that it takes is added.
pub fn into_folder(
    store: &Store,
    ctx: &Context,
    purpose: Purpose,
    folder: &Path,
    now: Timestamp,
) -> Result<Entry> {
    let begun = Instant::now();
    let folder = std::path::absolute(folder).map_err(Error::invalid_cause)?;
    let kind = match purpose {
        Purpose::Rehearsal => "rehearsal-",
        Purpose::Manual | Purpose::Scheduled => "",
    };
    let path = free_name(&folder, kind, ctx, now);
    let planned = path.clone();
    let id = store
        .write(move |tx| ledger::begin(tx, purpose, &planned, now))
        .wait()?;
    let made = folder::make_own(&folder, store.path())
        .and_then(|()| folder::look(&folder, store.path()))
        .and_then(|_| make_beside(&store.source(), &path));
    let took = i64::try_from(begun.elapsed().as_millis()).unwrap_or_default();
    let at = Timestamp(now.0 + took);
    match made {
        Ok(made) => {
            let ctx = ctx.clone();
            store
                .write(move |tx| ledger::done(tx, &ctx, id, &made, at))
                .wait()?;
            store.look_up(|connection| ledger::find(connection, id))
        }
        Err(cause) => {
            let why = cause.to_string();
            store
                .write(move |tx| ledger::failed(tx, id, &why, at))
                .wait()?;
            Err(cause)
        }
    }
}

/// A time as names of files have it: `20261121-090200`.
pub(super) fn stamp(zone: &Zone, at: Timestamp) -> String {
    let plain = zone.plain(at);
    plain.replace(['-', ':'], "").replace(' ', "-")
}

/// A name that nothing has yet for a file of this kind, with the time in the instance's zone.
pub(super) fn free_name(folder: &Path, kind: &str, ctx: &Context, now: Timestamp) -> PathBuf {
    let stamp = stamp(&ctx.settings.zone, now);
    free(|number| folder.join(format!("gatepost-{kind}{stamp}{number}.db")))
}

/// The first of these names that nothing has yet; there may be several of one second.
pub(super) fn free(name: impl Fn(&str) -> PathBuf) -> PathBuf {
    let mut path = name("");
    let mut another = 2;
    while path.symlink_metadata().is_ok() {
        path = name(&format!("-{another}"));
        another += 1;
    }
    path
}

/// Puts an end to what an earlier run of the server began and never ended, and to its half copies.
pub fn end_interrupted(store: &Store, now: Timestamp) -> Result<()> {
    let unfinished = store.look_up(ledger::unfinished)?;
    // Whoever makes one right now has the turn.
    let Ok(_turn) = super::take_turn(store.path()) else {
        return Ok(());
    };
    for entry in unfinished {
        super::Partial(crate::db::open::beside(&entry.path, ".part")).remove();
        store
            .write(move |tx| ledger::failed(tx, entry.id, "the server was stopped meanwhile", now))
            .wait()?;
    }
    Ok(())
}

/// Runs `work` on a thread of its own with low priority: gates come first.
pub async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::Builder::new()
        .name("backup".into())
        .spawn(move || {
            os::nice_thread();
            let _ = sender.send(work());
        })
        .map_err(Error::unavailable)?;
    receiver
        .await
        .unwrap_or_else(|_| Err(Error::defect("a backup ended in a panic")))
}
