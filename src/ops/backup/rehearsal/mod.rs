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
//! As one transaction that no other write shares (`Store::write_attached`), row by row where rows
//! differ: kill it half-way and nothing has happened; readers see one state or the other. Within that
//! transaction, before anything is changed, a safety backup is made. So every scan that was ever
//! acknowledged is in that backup, or in the file, or in both: what was acknowledged before is in
//! the backup, and what waits meanwhile is written after. Gates wait that long, a few seconds for a
//! large file.

mod rows;

pub use rows::{KEPT, RESTORED};

use super::{
    ledger::{self, Entry, Purpose},
    make_beside, run, verify,
};
use crate::{
    core::{Context, audit, changes, settings},
    db::{Store, Tx, open::read_only_address},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What goes when the file goes back to a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Going {
    /// Interactions recorded since.
    pub interactions: i64,
    /// Delegates made since.
    pub delegates: i64,
    /// Devices and events made since, but for those of connected apps.
    pub devices: i64,
}

/// How going back went.
#[derive(Debug, Clone)]
pub struct Returned {
    /// What went.
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

/// What would go, counted on a connection of its own.
pub fn preview(store: &Store, snapshot: &Path) -> Result<Going> {
    let connection = Connection::open_in_memory()?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let live = read_only_address(store.path()).replace("immutable=1&", "");
    connection.execute("ATTACH ?1 AS now", [live])?;
    connection.execute(
        &format!("ATTACH ?1 AS {}", crate::db::ATTACHED),
        [read_only_address(snapshot)],
    )?;
    rows::going(&connection, "now")
}

/// Goes back to a snapshot, after a safety backup into `folder`.
pub async fn go_back(store: &Store, ctx: &Context, snapshot: &Entry) -> Result<Returned> {
    let (path, database) = (snapshot.path.clone(), store.path().to_owned());
    // In full, and before anybody waits: a snapshot that is damaged is noticed now.
    let found = run::on_thread(move || verify::inspect(&path, &database)).await?;
    if !found.is_current() {
        return Err(Error::invalid(
            "this snapshot was made by another version of Gatepost; stop the server and put it in the file's place with `gatepost restore`",
        ));
    }
    let folder = run::own_folder(store.path());
    super::folder::make_own(&folder, store.path())?;
    super::folder::look(&folder, store.path())?;
    let (source, ctx, taken_at) = (store.source(), ctx.clone(), snapshot.started_at);
    store
        .write_attached(snapshot.path.clone(), move |tx| {
            check_doors(tx)?;
            let safety = run::free_name(&folder, "before-return-", &ctx, tx.now());
            let made = make_beside(&source, &safety)?;
            let gone = rows::put_back(tx, &ctx)?;
            let id = ledger::begin(tx, Purpose::Manual, &safety, tx.now())?;
            ledger::done(tx, &ctx, id, &made, Timestamp::now())?;
            note(tx, &ctx, &gone, taken_at)?;
            tx.outdate_caches();
            Ok(Returned { gone, safety })
        })
        .await
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
