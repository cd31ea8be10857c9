//! The tickets of a purchase become delegates with their joins. Loading may be cut off anywhere, and
//! go on here or in another run: no ticket is made twice. That of a delegate who was deleted is not
//! made anew either, whichever purchase it comes with: another than the first gets an inconsistency.

use super::{
    load::{Received, add_inconsistency, existing},
    sale::{Sale, Ticket},
};
use crate::{
    core::{
        Context,
        changes::{self, action},
        keyed::Key,
        records::write,
        settings,
    },
    db::{Store, Tx},
    domain::{
        delegates,
        interactions::{
            draft::Draft,
            judge::{self, DeviceCache},
            record,
            types::JOIN,
        },
    },
    types::{
        ClientId, DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp, UserId,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The longest time of making tickets in one go; then gates get their turn.
const SLICE: Duration = Duration::from_millis(15);

/// The places where tickets of a purchase let in, and since when.
struct Admission {
    context: Option<DeviceId>,
    bought_at: Option<Timestamp>,
}

/// Makes the delegates of the tickets that were not looked at yet, as many as go into a slice; false
/// when there are no more.
pub fn tickets(tx: &Tx<'_>, ctx: &Context, received: Received, sale: &Sale) -> Result<bool> {
    let begun = Instant::now();
    let mut loaded: usize = tx
        .prepare_cached("SELECT loaded FROM transaction_bodies WHERE id = ?1")?
        .query_row([received.body], |row| row.get(0))?;
    let admission = Admission {
        context: existing(tx, sale.context)?,
        bought_at: sale.bought_at(),
    };
    while let Some(next) = sale.tickets.get(loaded) {
        ticket(tx, ctx, received, &admission, next)?;
        loaded += 1;
        if begun.elapsed() >= SLICE {
            break;
        }
    }
    tx.prepare_cached("UPDATE transaction_bodies SET loaded = ?2 WHERE id = ?1")?
        .execute(params![received.body, loaded])?;
    changes::note(tx, action::REFRESH, "transaction", received.transaction)?;
    Ok(loaded < sale.tickets.len())
}

fn ticket(
    tx: &Tx<'_>,
    ctx: &Context,
    received: Received,
    admission: &Admission,
    ticket: &Ticket,
) -> Result<()> {
    let made = tx
        .prepare_cached(
            "SELECT 1 FROM transaction_delegates WHERE transaction_id = ?1 AND barcode = ?2",
        )?
        .exists(params![received.transaction, ticket.barcode])?;
    if made {
        return Ok(());
    }
    let note = |path: &str, cause: &Error| {
        let path = format!("{}.{path}", ticket.path);
        add_inconsistency(tx, received, &path, &cause.to_string())
    };
    match was_erased(tx, received.transaction, &ticket.barcode)? {
        Some(true) => return Ok(()),
        Some(false) => {
            let cause = "another purchase sold this ticket, to somebody who was deleted for good; it is not made anew";
            return note("barcode", &Error::invalid(cause));
        }
        None => {}
    }
    let make =
        |described: bool| tx.nested(|tx| make(tx, ctx, received, admission, ticket, described));
    let mut outcome = make(true);
    if let Err(cause) = &outcome
        && cause.kind == Kind::Invalid
        && ticket.description.is_some()
    {
        // Whoever paid is let in, whatever is wrong with what the ticket is called.
        let plain = make(false);
        if plain.is_ok() {
            return note("description", cause);
        }
        outcome = plain;
    }
    match outcome {
        Err(cause) if matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) => {
            note("barcode", &cause)
        }
        outcome => outcome,
    }
}

/// Makes the delegate of a ticket, joined with its product and with the purchase's context.
fn make(
    tx: &Tx<'_>,
    ctx: &Context,
    received: Received,
    admission: &Admission,
    ticket: &Ticket,
    described: bool,
) -> Result<()> {
    let product = existing(tx, ticket.product)?;
    let mut body = Map::new();
    body.insert("barcode".into(), ticket.barcode.clone().into());
    if let Some(description) = ticket.description.as_ref().filter(|_| described) {
        text::check_text("description", description)?;
        body.insert("data".into(), json!({"Data": {"ticket": description}}));
    }
    let delegate = DelegateId(write::create(tx, ctx, &delegates::RESOURCE, body)?);
    // Only now: whoever has the barcode today counts more than who had it.
    if let Some((code, deleted)) = sold_before(tx, &ticket.barcode)? {
        let code = text::shortened(&code);
        let message = format!(
            "purchase {code} sold this ticket, and its delegate {deleted} was deleted since; restore that delegate if the ticket is to let in"
        );
        return Err(Error::new(Kind::CodeTaken, message));
    }
    tx.prepare_cached(
        "INSERT INTO transaction_delegates (transaction_id, barcode, delegate_id, product_id)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![
        received.transaction,
        ticket.barcode,
        delegate,
        product
    ])?;
    for device in [product, admission.context].into_iter().flatten() {
        join(tx, ctx, delegate, device, admission.bought_at)?;
    }
    Ok(())
}

/// The purchase that sold a ticket, and whose it was, where that delegate was deleted since.
fn sold_before(tx: &Tx<'_>, barcode: &str) -> Result<Option<(String, DelegateId)>> {
    Ok(tx
        .prepare_cached(
            "SELECT t.code, d.id FROM transaction_delegates s JOIN transactions t ON t.id = s.transaction_id
             JOIN delegates d ON d.id = s.delegate_id
             WHERE s.barcode = ?1 AND d.deleted_at IS NOT NULL ORDER BY d.id DESC LIMIT 1",
        )?
        .query_row([barcode], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

fn join(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    device: DeviceId,
    bought_at: Option<Timestamp>,
) -> Result<()> {
    if judge::is_joined_itself(tx, &tx.cache::<DeviceCache>(), delegate, device)? {
        return Ok(());
    }
    let draft = Draft {
        kind: JOIN.name.into(),
        delegates: [Some(DelegateSelector::Id(delegate)), None, None],
        devices: [Some(DeviceSelector::Id(device)), None, None],
        recorded_at: bought_at,
        ..Draft::default()
    };
    match record::record(tx, ctx, &draft)?.outcome {
        record::Outcome::Refused(cause) => Err(cause),
        _ => Ok(()),
    }
}

/// Finishes purchases that an earlier run of the server was cut off in.
pub async fn resume(store: &Store) -> Result<()> {
    let mut after = 0;
    while let Some((received, body, client, user)) = store
        .read(move |connection| next_unfinished(connection, after))
        .await?
    {
        after = received.body;
        let settings = Arc::new(store.look_up(settings::load)?);
        let ctx = Context {
            client,
            user,
            ..Context::of_command("tx", settings)
        };
        let sale = super::read(body.into()).await?;
        all_tickets(store, &ctx, received, &sale).await?;
        tracing::info!(
            transaction = received.transaction,
            "finished an interrupted purchase"
        );
    }
    Ok(())
}

type Unfinished = (Received, Vec<u8>, Option<ClientId>, Option<UserId>);

fn next_unfinished(connection: &Connection, after: i64) -> Result<Option<Unfinished>> {
    let mut statement = connection.prepare(
        "SELECT id, transaction_id, body, client_id, user_id FROM transaction_bodies
         WHERE loaded < tickets AND id > ?1 ORDER BY id LIMIT 1",
    )?;
    let found = statement.query_row([after], |row| {
        let received = Received {
            body: row.get(0)?,
            transaction: row.get(1)?,
        };
        Ok((received, row.get(2)?, row.get(3)?, row.get(4)?))
    });
    Ok(found.optional()?)
}

/// Makes the delegates of all tickets; gates get their turn between slices.
pub async fn all_tickets(
    store: &Store,
    ctx: &Context,
    received: Received,
    sale: &Arc<Sale>,
) -> Result<()> {
    loop {
        let (ctx, sale) = (ctx.clone(), Arc::clone(sale));
        let goes_on = store
            .write_bulk(move |tx| tickets(tx, &ctx, received, &sale))
            .await?;
        if !goes_on {
            return Ok(());
        }
    }
}

/// Returns whether a ticket was of somebody who was deleted for good, and then whether this purchase sold it.
fn was_erased(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<Option<bool>> {
    let Some(key) = Key::find(tx)? else {
        return Ok(None);
    };
    Ok(tx
        .prepare_cached("SELECT max(transaction_id = ?1) FROM erased_tickets WHERE hash = ?2")?
        .query_row(params![transaction, key.hash(barcode.as_bytes())?], |row| {
            row.get(0)
        })?)
}
