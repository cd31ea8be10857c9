//! The decisions of people about a webhook's deliveries, and what it has yet to send.

use super::{
    attempts::{self, Attempt},
    store::{self, destination},
    subscription,
    webhook::Webhook,
};
use crate::{
    core::{
        Context, changes,
        outbox::{self, Delivery, Ref, State, pending},
    },
    db::Tx,
    types::error::{Error, Result},
};
use rusqlite::Connection;
use serde_json::json;

/// Pauses a webhook. Later changes wait.
pub fn pause(tx: &Tx<'_>, ctx: &Context, webhook: i64) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    if outbox::destination::pause(tx, &destination(webhook))? {
        store::write_audit(tx, ctx, webhook, "pause", json!({"name": name}))?;
    }
    Ok(())
}

/// Resumes a webhook with what waited.
pub fn resume(tx: &Tx<'_>, ctx: &Context, webhook: i64) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    outbox::destination::resume(tx, &destination(webhook))?;
    store::write_audit(tx, ctx, webhook, "resume", json!({"name": name}))
}

/// Resumes a webhook with what happens from now on; what waited is discarded.
pub fn skip(tx: &Tx<'_>, ctx: &Context, webhook: i64) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    outbox::destination::skip(tx, &destination(webhook), changes::newest(tx)?)?;
    store::write_audit(tx, ctx, webhook, "skip", json!({"name": name}))
}

/// Sends a delivery again under its own id, as soon as none with the same ordering key is running.
pub fn send_again(
    tx: &Tx<'_>,
    ctx: &Context,
    webhook: i64,
    of: Ref,
    ordering_key: &str,
) -> Result<()> {
    let delivery = Delivery {
        of,
        ordering_key: ordering_key.to_owned(),
        attempts: 0,
    };
    pending::add(tx, &destination(webhook), &delivery, None)?;
    audit(tx, ctx, webhook, "resend", of)
}

/// Sends the delivery of an attempt again, which it returns.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where the attempt is not kept any more, or was a test.
pub fn resend(tx: &Tx<'_>, ctx: &Context, webhook: i64, attempt: i64) -> Result<Attempt> {
    store::get(tx, webhook)?;
    let attempt = attempts::get(tx, webhook, attempt)?;
    let of = attempt
        .of
        .ok_or_else(|| Error::invalid("a test cannot be repeated; send another one"))?;
    send_again(tx, ctx, webhook, of, &attempt.ordering_key)?;
    Ok(attempt)
}

/// Cancels a pending delivery. Those behind it go on.
pub fn cancel(tx: &Tx<'_>, ctx: &Context, webhook: i64, of: Ref) -> Result<()> {
    pending::remove(tx, &destination(webhook), of)?;
    audit(tx, ctx, webhook, "give-up", of)
}

fn audit(tx: &Tx<'_>, ctx: &Context, webhook: i64, action: &'static str, of: Ref) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    let what = json!({"name": name, "source": of.source.name(), "sourceId": of.id});
    store::write_audit(tx, ctx, webhook, action, what)
}

/// Slices of the feed that are counted.
const SLICES: usize = 5;

/// Deliveries to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// At least so many.
    pub count: i64,
    /// Set where there may be more.
    pub more: bool,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.more, self.count) {
            (true, count) => write!(f, "{count} or more"),
            (false, count) => write!(f, "{count}"),
        }
    }
}

/// Counts what a webhook has yet to send.
pub fn waiting(connection: &Connection, webhook: &Webhook, state: &State) -> Result<Waiting> {
    let mut count = pending::count(connection, &destination(webhook.id))?;
    let mut from = state.cursor.unwrap_or_default();
    for _ in 0..SLICES {
        let read = subscription::read(connection, webhook, from)?;
        let wanted = read.steps.iter().filter(|step| step.delivery.is_some());
        count += i64::try_from(wanted.count()).unwrap_or(i64::MAX);
        if !read.more {
            return Ok(Waiting { count, more: false });
        }
        from = read.steps.last().map_or(from, |step| step.to);
    }
    Ok(Waiting { count, more: true })
}
