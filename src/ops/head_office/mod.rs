//! The venue's part of a head office (contract §14): joining one, pushing the change feed up, and applying what comes down.
//! It stands here and not beside the feed, as the configuration and `import changes` do, which it applies.
//!
//! - `push`: the venue's feed, from the cursor that the hub tells
//! - `pull`: what the head office owns, in slices; `records` and `configuration` say who wins
//! - `kept`: values that the venue keeps against the head office's

mod configuration;
pub mod kept;
mod pull;
mod push;
mod records;

use crate::{
    core::{
        Context, Services,
        head_office::{
            PairRequest,
            venue::{self, HeadOffice, Line},
        },
        standby::Standby,
    },
    db::{Store, counters, usage::FILE},
    identity::App,
    types::error::Result,
};
use std::time::Duration;

/// The actor of what came from the head office, in the audit.
pub const ACTOR: &str = "head-office";
/// The time between two looks whether the venue joined a head office.
const LOOK: Duration = Duration::from_secs(2);
/// The first wait after a failure, and the longest.
const RETRY: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Hands in a pairing code and keeps the answer.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for an address that may not be called or a code that the hub refuses.
pub async fn join(
    store: &Store,
    ctx: Context,
    url: &str,
    code: &str,
    ca: Option<String>,
) -> Result<HeadOffice> {
    let hub = venue::hub_address("url", url)?;
    let (file, epoch) = store.look_up(file)?;
    let asked = PairRequest {
        code: code.trim().to_owned(),
        file,
        epoch,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let joined = venue::pair(&hub, ca.as_deref(), &asked).await?;
    let keep = move |tx: &crate::db::Tx<'_>| {
        venue::join(tx, &ctx, &joined, &hub, ca.as_deref())?;
        HeadOffice::find(tx)
    };
    let office = store.write(keep).await?;
    office.ok_or_else(|| crate::types::error::Error::defect("no row of head_office"))
}

/// Pushes and applies, until it is dropped; while the venue belongs to no head office it only looks whether it does by now.
pub async fn follow(app: &App) {
    tokio::join!(Box::pin(push::run(app)), Box::pin(pull::run(app)));
}

/// The number of the file and its epoch: what a hub knows it by.
fn file(connection: &rusqlite::Connection) -> Result<(String, i64)> {
    let number = counters::get(connection, FILE)?.unwrap_or_default();
    let standby = Standby::find(connection)?;
    Ok((
        number.to_string(),
        standby.map_or(0, |standby| standby.epoch),
    ))
}

/// The context of what comes from the head office.
fn context(services: &Services) -> Context {
    Context {
        actor: ACTOR.to_owned(),
        ..Context::of_command("import", services.settings())
    }
}

/// The wait after so many failures in a row, with up to half of it more: hubs that come back are not met by all at once.
fn wait_after(failures: u32) -> Duration {
    let wait = (RETRY * 2_u32.pow(failures.min(10).saturating_sub(1))).min(RETRY_MAX);
    wait + wait / 2 * (getrandom::u32().unwrap_or_default() % 1024) / 1024
}

/// Waits, or until the venue joins or leaves.
async fn rest(line: &Line, wait: Duration) {
    let _ = tokio::time::timeout(wait, line.woken.notified()).await;
}
