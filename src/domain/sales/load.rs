//! A purchase becomes rows: its body word for word, and what could be read of it. It may come again,
//! changed or not, in any order; its tickets are made afterwards.

use super::{
    sale::{Inconsistency, Sale},
    stored::hidden,
};
use crate::{
    core::{
        Context,
        changes::{self, action},
    },
    db::Tx,
    types::{DeviceId, error::Result, secret},
};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashSet;

/// The most unknown devices of a body that are listed.
const INCONSISTENCIES_MAX: usize = 1_000;

/// A body that was taken.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    pub transaction: i64,
    pub body: i64,
}

/// Keeps a body, and loads what it says but for its tickets, unless one that says the same was there
/// already.
pub fn receive(tx: &Tx<'_>, ctx: &Context, body: &[u8], sale: &Sale) -> Result<Received> {
    let known: Option<i64> = tx
        .prepare_cached("SELECT id FROM transactions WHERE code = ?1")?
        .query_row([&sale.code], |row| row.get(0))
        .optional()?;
    let Some(transaction) = known else {
        let transaction = insert(tx, ctx, sale)?;
        let received = keep_body(tx, ctx, transaction, body, sale)?;
        add_inconsistencies(tx, received, sale)?;
        return Ok(received);
    };
    if let Some(body) = same_body(tx, transaction, body, sale)? {
        return Ok(Received { transaction, body });
    }
    let received = keep_body(tx, ctx, transaction, body, sale)?;
    changes::note(tx, action::REFRESH, "transaction", transaction)?;
    tx.prepare_cached("UPDATE transactions SET updated_at = ?2 WHERE id = ?1")?
        .execute(params![transaction, tx.now()])?;
    let message = "this purchase was sent before with other content; what came first is in force";
    add_inconsistency(tx, received, "", message)?;
    add_inconsistencies(tx, received, sale)?;
    Ok(received)
}

/// The body of a purchase that says the same as this one.
fn same_body(tx: &Tx<'_>, transaction: i64, body: &[u8], sale: &Sale) -> Result<Option<i64>> {
    Ok(tx
        .prepare_cached(
            "SELECT id FROM transaction_bodies WHERE transaction_id = ?1 AND digest IN (?2, ?3)",
        )?
        .query_row(
            // Files of before know bodies by their bytes.
            params![transaction, sale.fingerprint, secret::digest(body)],
            |row| row.get(0),
        )
        .optional()?)
}

fn keep_body(
    tx: &Tx<'_>,
    ctx: &Context,
    transaction: i64,
    body: &[u8],
    sale: &Sale,
) -> Result<Received> {
    tx.prepare_cached(
        "INSERT INTO transaction_bodies (transaction_id, digest, body, client_id, user_id, received_at, tickets)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        transaction,
        sale.fingerprint,
        body,
        ctx.client,
        ctx.user,
        tx.now(),
        sale.tickets.len(),
    ])?;
    Ok(Received {
        transaction,
        body: tx.last_insert_rowid(),
    })
}

/// Keeps what is inconsistent in a purchase, and which devices it names that are not there.
fn add_inconsistencies(tx: &Tx<'_>, received: Received, sale: &Sale) -> Result<()> {
    for Inconsistency { path, message } in &sale.inconsistencies {
        add_inconsistency(tx, received, path, message)?;
    }
    let mut known = HashSet::new();
    let mut unknown = 0;
    for (path, device) in named(sale) {
        if unknown == INCONSISTENCIES_MAX {
            break;
        } else if known.contains(&device) || existing(tx, Some(device))?.is_some() {
            known.insert(device);
        } else {
            unknown += 1;
            add_inconsistency(tx, received, &path, &format!("there is no device {device}"))?;
        }
    }
    Ok(())
}

/// The devices that a purchase names, and where.
fn named(sale: &Sale) -> impl Iterator<Item = (String, i64)> {
    let context = sale.context.map(|device| ("context".to_owned(), device));
    let items = sale.items.iter().enumerate();
    let items =
        items.filter_map(|(line, item)| Some((format!("items[{line}].product"), item.product?)));
    let tickets = sale.tickets.iter();
    let tickets =
        tickets.filter_map(|ticket| Some((format!("{}.product", ticket.path), ticket.product?)));
    context.into_iter().chain(items).chain(tickets)
}

/// The device, if it is there.
pub(super) fn existing(connection: &Connection, device: Option<i64>) -> Result<Option<DeviceId>> {
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
        sale.bought_at(),
        ctx.client,
        ctx.user,
        tx.now(),
    ])?;
    let transaction = tx.last_insert_rowid();
    changes::note(tx, action::CREATE, "transaction", transaction)?;
    let mut payments = tx.prepare_cached(
        "INSERT INTO transaction_payments (transaction_id, line, method, amount, change, reference, net)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (line, payment) in sale.payments.iter().enumerate() {
        payments.execute(params![
            transaction,
            line,
            payment.method,
            payment.amount,
            payment.change,
            payment.reference,
            payment.net,
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

/// Keeps an inconsistency.
pub(super) fn add_inconsistency(
    tx: &Tx<'_>,
    received: Received,
    path: &str,
    message: &str,
) -> Result<()> {
    tx.prepare_cached("INSERT INTO inconsistencies (body_id, path, message) VALUES (?1, ?2, ?3)")?
        .execute(params![received.body, path, message])?;
    Ok(())
}

/// `data` of the answer, as JSON.
pub fn answer(
    connection: &Connection,
    received: Received,
    visible: Option<&[String]>,
) -> Result<String> {
    Ok(connection
        .prepare_cached(
            "SELECT json_object('id', id, '_type', 'transaction', 'code', code,
                 'inconsistencies', (SELECT json_group_array(json_object('path', path, 'message', message) ORDER BY id)
                     FROM inconsistencies WHERE body_id = ?2),
                 'delegates', (SELECT json_group_array(
                         json_patch(json_object('id', delegate_id, 'barcode', barcode), ?3) ORDER BY delegate_id)
                     FROM transaction_delegates WHERE transaction_id = ?1))
             FROM transactions WHERE id = ?1",
        )?
        .query_row(
            (received.transaction, received.body, hidden(visible)),
            |row| row.get(0),
        )?)
}
