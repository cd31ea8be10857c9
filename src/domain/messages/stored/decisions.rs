//! The decisions of the crew on a message that is there: to send it again, or to call it back.

use super::{enqueue, expiry, of};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        outbox::pending,
    },
    db::Tx,
    domain::messages::{
        address,
        types::{Channel, State},
    },
    types::{
        DelegateId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{OptionalExtension, params};
use serde_json::json;

/// The present state of a message, which the decision of a person is about.
struct Standing {
    state: State,
    channel: Channel,
    delegate: Option<DelegateId>,
    address: String,
    secret: bool,
    empty: bool,
}

fn standing(tx: &Tx<'_>, id: i64) -> Result<Standing> {
    let found = tx
        .prepare_cached(
            "SELECT state, channel, delegate_id, address, secret, coalesce(body, '') = ''
             FROM messages WHERE id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Standing {
                state: row.get(0)?,
                channel: row.get(1)?,
                delegate: row.get(2)?,
                address: row.get(3)?,
                secret: row.get(4)?,
                empty: row.get(5)?,
            })
        })
        .optional()?;
    found.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            format!("there is no message {id} any more"),
        )
    })
}

/// Has a message that was not sent, or perhaps not, sent again; to the address that its delegate has
/// now.
///
/// # Errors
/// [`Kind::Invalid`] for a message in another state, one that held a secret, or whose delegate cannot
/// be reached; [`Kind::NoSuchPath`] without such a message.
pub fn resend(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let standing = standing(tx, id)?;
    if !matches!(
        standing.state,
        State::Failed | State::Unknown | State::Cancelled
    ) {
        return Err(Error::invalid(format!(
            "this message is {} by now; only one that failed, was cancelled, or has an unknown outcome is sent again",
            standing.state.name()
        )));
    }
    if standing.secret {
        return Err(Error::invalid(
            "its text is kept nowhere, as it held a secret; have a new one sent",
        ));
    }
    if standing.empty {
        return Err(Error::invalid(
            "it never had a text, as its template failed; mend that, and send it anew",
        ));
    }
    let address = address_now(tx, ctx, &standing)?;
    tx.prepare_cached(
        "UPDATE messages SET state = 'waiting', attempts = 0, failure = NULL, address = ?2
         WHERE id = ?1",
    )?
    .execute(params![id, address])?;
    let destination = standing.channel.destination(standing.delegate.is_some());
    enqueue(tx, id, &destination, expiry(tx.now(), false))?;
    decided(tx, ctx, id, "resend", standing.state, State::Waiting)
}

fn address_now(tx: &Tx<'_>, ctx: &Context, standing: &Standing) -> Result<String> {
    let Some(delegate) = standing.delegate else {
        return Ok(standing.address.clone());
    };
    let (email, phone, deleted): (Option<String>, Option<String>, bool) = tx
        .prepare_cached("SELECT email, phone, deleted_at IS NOT NULL FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if deleted {
        return Err(Error::invalid(
            "the delegate was deleted; restore them first",
        ));
    }
    match standing.channel {
        Channel::Email => Ok(address::email(&email.unwrap_or_default())?.to_string()),
        Channel::Sms => address::phone(
            &phone.unwrap_or_default(),
            ctx.settings.communications.country_code.as_deref(),
        ),
        Channel::Push => Ok(standing.address.clone()),
    }
}

/// Calls a message back that waits.
///
/// # Errors
/// [`Kind::Invalid`] for a message in another state; [`Kind::NoSuchPath`] without such a message.
pub fn cancel(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let standing = standing(tx, id)?;
    if standing.state != State::Waiting {
        return Err(Error::invalid(format!(
            "this message is {} by now; only one that waits can be called back",
            standing.state.name()
        )));
    }
    tx.prepare_cached("UPDATE messages SET state = 'cancelled' WHERE id = ?1")?
        .execute([id])?;
    pending::remove_about(tx, of(id))?;
    decided(tx, ctx, id, "cancel", standing.state, State::Cancelled)
}

/// Calls back the first of those messages of an origin that wait, after one: how many.
pub fn cancel_some(tx: &Tx<'_>, origin: &str, after: i64, most: usize) -> Result<usize> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM messages WHERE id > ?2 AND origin = ?1 AND state = 'waiting' ORDER BY id LIMIT ?3",
    )?;
    let ids = statement.query_map(params![origin, after, most], |row| row.get(0))?;
    let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
    for id in &ids {
        tx.prepare_cached("UPDATE messages SET state = 'cancelled' WHERE id = ?1")?
            .execute([id])?;
        pending::remove_about(tx, of(*id))?;
    }
    Ok(ids.len())
}

fn decided(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    action: &'static str,
    from: State,
    to: State,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "message",
            record_id: Some(id),
            before: Some(json!({"state": from.name()})),
            after: Some(json!({"state": to.name()})),
        },
    )
}
