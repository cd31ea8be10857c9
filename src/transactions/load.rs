//! A purchase becomes rows, delegates and joins. It may come again, changed or not, in any order, and
//! its loading may be cut off anywhere: nothing of it is ever made twice.

use super::sale::{Inconsistency, Sale, Ticket};
use crate::{
    auth::{Context, secret},
    delegates,
    error::{Kind, Result},
    interactions::{draft::Draft, presence, record},
    records::write,
    settings,
    store::{Store, Tx},
    types::{DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp},
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long tickets are made in one go; then gates get their turn.
const SLICE: Duration = Duration::from_millis(15);

/// A body that was taken.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    transaction: i64,
    body: i64,
}

/// Keeps a body, and loads what it says but for its tickets, unless it was there already.
///
/// # Errors
/// When the store cannot take it.
pub fn receive(tx: &Tx<'_>, ctx: &Context, body: &[u8], sale: &Sale) -> Result<Received> {
    let digest = secret::digest(body);
    let known: Option<i64> = tx
        .prepare_cached("SELECT id FROM transactions WHERE code = ?1")?
        .query_row([&sale.code], |row| row.get(0))
        .optional()?;
    if let Some(transaction) = known {
        let same: Option<i64> = tx
            .prepare_cached(
                "SELECT id FROM transaction_bodies WHERE transaction_id = ?1 AND digest = ?2",
            )?
            .query_row(params![transaction, digest], |row| row.get(0))
            .optional()?;
        if let Some(body) = same {
            return Ok(Received { transaction, body });
        }
    }
    let transaction = match known {
        Some(transaction) => transaction,
        None => insert(tx, ctx, sale)?,
    };
    tx.prepare_cached(
        "INSERT INTO transaction_bodies (transaction_id, digest, body, client_id, user_id, received_at, tickets)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        transaction,
        digest,
        body,
        ctx.client,
        ctx.user,
        tx.now(),
        sale.tickets.len(),
    ])?;
    let received = Received {
        transaction,
        body: tx.last_insert_rowid(),
    };
    if known.is_some() {
        tx.prepare_cached("UPDATE transactions SET updated_at = ?2 WHERE id = ?1")?
            .execute(params![transaction, tx.now()])?;
        let message =
            "this purchase was sent before with other content; what came first is in force";
        tell(tx, received, "", message)?;
    }
    for Inconsistency { path, message } in &sale.inconsistencies {
        tell(tx, received, path, message)?;
    }
    for (path, device) in named(sale) {
        if existing(tx, Some(device))?.is_none() {
            tell(tx, received, &path, &format!("there is no device {device}"))?;
        }
    }
    Ok(received)
}

/// The devices that a purchase names, and where.
fn named(sale: &Sale) -> Vec<(String, i64)> {
    let context = sale.context.map(|device| ("context".to_owned(), device));
    let items = sale
        .items
        .iter()
        .enumerate()
        .filter_map(|(line, item)| Some((format!("items[{line}].product"), item.product?)));
    let tickets = sale
        .tickets
        .iter()
        .filter_map(|ticket| Some((format!("{}.product", ticket.path), ticket.product?)));
    context.into_iter().chain(items).chain(tickets).collect()
}

/// The device, if it is there.
fn existing(connection: &Connection, device: Option<i64>) -> Result<Option<DeviceId>> {
    let Some(device) = device else {
        return Ok(None);
    };
    Ok(connection
        .prepare_cached("SELECT id FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([device], |row| row.get(0))
        .optional()?)
}

fn insert(tx: &Tx<'_>, ctx: &Context, sale: &Sale) -> Result<i64> {
    tx.prepare_cached(
        "INSERT INTO transactions (code, context_id, total_amount, notes, recorded_by, bought_at,
             client_id, user_id, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)",
    )?
    .execute(params![
        sale.code,
        existing(tx, sale.context)?,
        sale.total_amount,
        sale.notes,
        sale.recorded_by,
        sale.created_at_s.and_then(Timestamp::from_unix_s),
        ctx.client,
        ctx.user,
        tx.now(),
    ])?;
    let transaction = tx.last_insert_rowid();
    let mut payments = tx.prepare_cached(
        "INSERT INTO transaction_payments (transaction_id, line, method, amount, change, reference)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (line, payment) in sale.payments.iter().enumerate() {
        payments.execute(params![
            transaction,
            line,
            payment.method,
            payment.amount,
            payment.change,
            payment.reference,
        ])?;
    }
    let mut items = tx.prepare_cached(
        "INSERT INTO transaction_items (transaction_id, line, code, product_id, quantity, description,
             unit_amount, total_amount, discount_amount)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (line, item) in sale.items.iter().enumerate() {
        items.execute(params![
            transaction,
            line,
            item.code,
            existing(tx, item.product)?,
            item.quantity,
            item.description,
            item.unit_amount,
            item.total_amount,
            item.discount_amount,
        ])?;
    }
    Ok(transaction)
}

fn tell(tx: &Tx<'_>, received: Received, path: &str, message: &str) -> Result<()> {
    tx.prepare_cached("INSERT INTO inconsistencies (body_id, path, message) VALUES (?1, ?2, ?3)")?
        .execute(params![received.body, path, message])?;
    Ok(())
}

/// Makes the delegates of the tickets that were not looked at yet, as many as go into a slice; false
/// when there are no more.
///
/// # Errors
/// When the store cannot take it; what does not fit is told and passed over.
pub fn tickets(tx: &Tx<'_>, ctx: &Context, received: Received, sale: &Sale) -> Result<bool> {
    let begun = Instant::now();
    let mut loaded: usize = tx
        .prepare_cached("SELECT loaded FROM transaction_bodies WHERE id = ?1")?
        .query_row([received.body], |row| row.get(0))?;
    let context = existing(tx, sale.context)?;
    while let Some(next) = sale.tickets.get(loaded) {
        ticket(tx, ctx, received, context, next)?;
        loaded += 1;
        if begun.elapsed() >= SLICE {
            break;
        }
    }
    tx.prepare_cached("UPDATE transaction_bodies SET loaded = ?2 WHERE id = ?1")?
        .execute(params![received.body, loaded])?;
    Ok(loaded < sale.tickets.len())
}

fn ticket(
    tx: &Tx<'_>,
    ctx: &Context,
    received: Received,
    context: Option<DeviceId>,
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
    let product = existing(tx, ticket.product)?;
    match tx.nested(|tx| make(tx, ctx, received, [product, context], ticket)) {
        Err(cause) if matches!(cause.kind, Kind::CodeTaken | Kind::Invalid) => {
            let path = format!("{}.barcode", ticket.path);
            tell(tx, received, &path, &cause.message)
        }
        made => made,
    }
}

/// Makes the delegate of a ticket, joined with its product and with the purchase's context.
fn make(
    tx: &Tx<'_>,
    ctx: &Context,
    received: Received,
    devices: [Option<DeviceId>; 2],
    ticket: &Ticket,
) -> Result<()> {
    let mut body = Map::new();
    body.insert("barcode".into(), ticket.barcode.clone().into());
    if let Some(description) = &ticket.description {
        body.insert("data".into(), json!({"Data": {"ticket": description}}));
    }
    let delegate = DelegateId(write::create(tx, ctx, &delegates::RESOURCE, body)?);
    tx.prepare_cached(
        "INSERT INTO transaction_delegates (transaction_id, barcode, delegate_id, product_id)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![
        received.transaction,
        ticket.barcode,
        delegate,
        devices[0]
    ])?;
    for device in devices.into_iter().flatten() {
        join(tx, ctx, delegate, device)?;
    }
    Ok(())
}

fn join(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId, device: DeviceId) -> Result<()> {
    if presence::load(tx, delegate, device)?.is_some_and(|standing| standing.is_joined()) {
        return Ok(());
    }
    let draft = Draft {
        kind: "join".into(),
        delegates: [Some(DelegateSelector::Id(delegate)), None, None],
        devices: [Some(DeviceSelector::Id(device)), None, None],
        ..Draft::default()
    };
    match record::record(tx, ctx, &draft)?.outcome {
        record::Outcome::Refused(cause) => Err(cause),
        _ => Ok(()),
    }
}

/// `data` of the answer: what it is called, what did not fit in this body, and who was made for the
/// purchase.
///
/// # Errors
/// When it cannot be read.
pub fn answer(connection: &Connection, received: Received) -> Result<String> {
    let code: String = connection
        .prepare_cached("SELECT code FROM transactions WHERE id = ?1")?
        .query_row([received.transaction], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(
        "SELECT path, message FROM inconsistencies WHERE body_id = ?1 ORDER BY id",
    )?;
    let inconsistencies: Vec<Value> = statement
        .query_map([received.body], |row| {
            let (path, message): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(json!({"path": path, "message": message}))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT delegate_id, barcode FROM transaction_delegates WHERE transaction_id = ?1
         ORDER BY delegate_id",
    )?;
    let delegates: Vec<Value> = statement
        .query_map([received.transaction], |row| {
            let (id, barcode): (i64, String) = (row.get(0)?, row.get(1)?);
            Ok(json!({"id": id, "barcode": barcode}))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(json!({
        "id": received.transaction,
        "_type": "transaction",
        "code": code,
        "inconsistencies": inconsistencies,
        "delegates": delegates,
    })
    .to_string())
}

/// Finishes what an earlier run was cut off from.
///
/// # Errors
/// When the store cannot be read or written.
pub async fn resume(store: &Store) -> Result<()> {
    let unfinished = store
        .read(|connection| {
            let mut statement = connection.prepare(
                "SELECT id, transaction_id, body, client_id, user_id FROM transaction_bodies
                 WHERE loaded < tickets ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                let received = Received {
                    body: row.get(0)?,
                    transaction: row.get(1)?,
                };
                Ok((
                    received,
                    row.get::<_, Vec<u8>>(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })
        .await?;
    for (received, body, client, user) in unfinished {
        let settings = Arc::new(store.look_up(settings::load)?);
        let ctx = Context {
            client,
            user,
            ..Context::of_command("tx", settings)
        };
        let sale = Arc::new(Sale::read(&body));
        all_tickets(store, &ctx, received, &sale).await?;
        tracing::info!(
            code = sale.code,
            "a purchase that was cut off is loaded whole"
        );
    }
    Ok(())
}

/// Makes the delegates of all tickets; gates get their turn between slices.
///
/// # Errors
/// As [`tickets`].
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
