//! Back to a snapshot from before the rehearsal, while the server runs.
//!
//! # What goes back, and what stays
//!
//! People, devices, events and all that happened to them become what they were, as do settings,
//! sections, statements, the logo and the draft of the app configuration. A version of the app
//! configuration is never taken back: apps would not notice. The snapshot's is published anew where
//! it differs. What stays as it is now:
//!
//! - who may come in: users, clients, tokens, sessions, second factors. A client that was revoked
//!   stays revoked, a password that was changed stays changed, and nobody is signed out. The devices
//!   of apps that were connected since stay too, so that no phone has to be connected again.
//! - webhooks, and how far each has come. What they told of the rehearsal is told; one that asks for
//!   it is told `rehearsal.returned`.
//! - nonces and stored answers: an app that sends a scan of the rehearsal once more is told that it
//!   is known, and the scan does not come to life.
//! - the audit, the list of backups and their plan.
//! - erasure: who was deleted for good since does not come back.
//!
//! Ids are never used twice: the sequences (`sqlite_sequence`) count on from where they are.
//!
//! # How
//!
//! What takes long is done beside the writer, while gates go on: the snapshot is checked, a safety backup is
//! made and checked but for its log, all rows are compared, and those that differ are noted. What remains is one
//! transaction that no other write shares (`Store::write_exclusive`): the end of the log goes into the safety backup,
//! and rows that differed, or were written since, become those of the snapshot. Kill it half-way and nothing has
//! happened; readers see the old state until it is committed, and the new one from then on. Every scan that was ever
//! acknowledged is in that backup, or in the file, or in both: what was acknowledged before is in the
//! backup, and what waits meanwhile is written after. Gates wait for as long as it takes to put back what the
//! rehearsal changed, however large the file is. Who is inside where is counted anew right after, and the index for
//! searching follows in slices; until then searches look at the rows themselves (`db/search_index.rs`). Where that is
//! interrupted, the next start does it.
//!
//! Another program that writes to the file meanwhile is not seen by the comparison: then nothing is changed,
//! and whoever asked is told to try again.

mod rows;

use super::{
    Unfinished,
    ledger::{self, Entry, Purpose},
    run, verify,
};
use crate::{
    core::{Context, audit, changes, settings},
    db::{Store, Tx, open::read_only_address, search_index},
    domain::interactions::recount,
    identity::App,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Counts of what goes when the file goes back to a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Going {
    /// Interactions recorded since.
    pub interactions: i64,
    /// Delegates made since.
    pub delegates: i64,
    /// Devices and events made since, but for those of connected apps.
    pub devices: i64,
}

/// The outcome of going back.
#[derive(Debug, Clone)]
pub struct Returned {
    /// Counts of what went.
    pub gone: Going,
    /// The backup of what was there before.
    pub safety: PathBuf,
}

/// Refuses what is for rehearsal once the doors are open.
///
/// # Errors
/// [`Kind::Forbidden`].
pub fn check_doors(connection: &Connection) -> Result<()> {
    if settings::load(connection)?.doors_opened_at.is_some() {
        return Err(Error::new(
            Kind::Forbidden,
            "the doors are open: what happens now is no rehearsal, and there is no way back",
        ));
    }
    Ok(())
}

/// Counts what would go, on a connection of its own.
pub fn preview(store: &Store, snapshot: &Path) -> Result<Going> {
    rows::going(&both(store.path(), snapshot)?, NOW)
}

/// The name of our file on a connection to both.
const NOW: &str = "now";

/// A connection that reads our file and the snapshot.
fn both(database: &Path, snapshot: &Path) -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let live = read_only_address(database).replace("immutable=1&", "");
    connection.execute(&format!("ATTACH ?1 AS {NOW}"), [live])?;
    connection.execute(
        &format!("ATTACH ?1 AS {}", crate::db::ATTACHED),
        [read_only_address(snapshot)],
    )?;
    Ok(connection)
}

/// Goes back to a snapshot, after a safety backup.
pub async fn go_back(app: &App, ctx: &Context, snapshot: &Entry) -> Result<Returned> {
    let store = &app.store;
    let (path, database) = (snapshot.path.clone(), store.path().to_owned());
    // In full, and before anybody waits: a snapshot that is damaged is noticed now.
    let found = run::on_thread(move || verify::inspect(&path, &database)).await?;
    if !found.is_current() {
        return Err(Error::invalid(
            "this snapshot was made by another version of Gatepost; stop the server and put it in the file's place with `gatepost restore`",
        ));
    }
    store.look_up(check_doors)?;
    let folder = run::own_folder(store.path());
    super::folder::make_own(&folder, store.path())?;
    super::folder::look(&folder, store.path())?;
    let safety = run::free_name(&folder, "before-return-", ctx, Timestamp::now());
    let planned = safety.clone();
    let begin = move |tx: &Tx<'_>| ledger::begin(tx, Purpose::Manual, &planned, tx.now());
    let id = store.write(begin).await?;
    let returned = put_back(app, ctx, snapshot, safety, id).await;
    if let Err(cause) = &returned {
        let why = cause.to_string();
        let fail = move |tx: &Tx<'_>| {
            rows::forget(tx)?;
            ledger::failed(tx, id, &why, tx.now())
        };
        store.write(fail).await?;
    } else {
        recount::where_due(store).await?;
        index(store).await;
    }
    returned
}

/// Has everybody found by what came back, a slice at a time beside gates. The writer goes on where this ends early.
async fn index(store: &Store) {
    let mut behind = usize::MAX;
    while let Ok(now) = store.look_up(search_index::rows_behind)
        && (1..behind).contains(&now)
        && store.write_bulk(|_| Ok(())).await.is_ok()
    {
        behind = now;
    }
}

/// Puts the rows back, once the safety backup is made that is listed under this id.
async fn put_back(
    app: &App,
    ctx: &Context,
    snapshot: &Entry,
    safety: PathBuf,
    id: i64,
) -> Result<Returned> {
    let (of_thread, path, target) = (app.clone(), snapshot.path.clone(), safety.clone());
    let prepared = run::on_thread(move || {
        let store = &of_thread.store;
        Unfinished::begin(&store.source(), &target, || {
            let watched = store.write(rows::watch).wait()?;
            for rows in rows::compare(&both(store.path(), &path)?, NOW)? {
                store.write_bulk(move |tx| rows::note(tx, &rows)).wait()?;
            }
            Ok(watched)
        })
    });
    let (backup, watched) = prepared.await?;
    let (of_job, taken_at) = (ctx.clone(), snapshot.started_at);
    let returned = app
        .store
        .write_exclusive(Some(snapshot.path.clone()), move |tx| {
            check_doors(tx)?;
            let made = backup.finish()?;
            let gone = rows::put_back(tx, &of_job, watched)?;
            ledger::done(tx, &of_job, id, &made, Timestamp::now())?;
            note(tx, &of_job, &gone, taken_at)?;
            tx.outdate_caches();
            Ok(Returned { gone, safety })
        });
    returned.await
}

fn note(tx: &Tx<'_>, ctx: &Context, gone: &Going, taken_at: Timestamp) -> Result<()> {
    let change = audit::Change {
        action: "restore",
        record_type: "rehearsal",
        record_id: None,
        before: None,
        after: Some(json!({
            "snapshotOf": ctx.settings.zone.iso(taken_at),
            "interactionsGone": gone.interactions,
            "delegatesGone": gone.delegates,
            "devicesGone": gone.devices,
        })),
    };
    audit::append(tx, ctx, &change)?;
    changes::reset(tx)
}

#[cfg(test)]
mod tests;
