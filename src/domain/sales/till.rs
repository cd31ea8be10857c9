//! The server's own till: a walk-in who pays at the desk is a purchase as any other, and a refund one of negative
//! amounts beside it, so that every sum is right and nothing is deleted.

use super::{Sale, of_delegate, receive, tickets};
use crate::{
    core::{Context, audit, settings::WalkInPrice},
    db::Tx,
    domain::{
        devices::{self, EVENT},
        interactions::judge::DeviceCache,
    },
    types::{
        DelegateId, DeviceId,
        barcode::{Barcode, Base, random_symbols},
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

/// Ways to pay; an invoice is paid later.
pub const METHODS: [&str; 3] = ["cash", "card", "invoice"];
/// Purchase codes of the desk begin so.
const BASE: &str = "D";
/// Symbols of a purchase code that are random, so that no two are the same.
const RANDOM: usize = 9;
/// Follows the purchase code in that of its refund.
pub(super) const REFUND: &str = "-R";

/// The line of one purchase.
struct Line<'a> {
    context: Option<i64>,
    product: Option<i64>,
    name: &'a str,
    method: &'a str,
    cents: i64,
}

/// Sells a walk-in a ticket, and gives the attendee that it makes.
///
/// # Errors
/// [`Kind::Invalid`] for a way to pay that is none, for a product that is gone and for what cannot be a barcode;
/// [`Kind::CodeTaken`].
pub fn sell(
    tx: &Tx<'_>,
    ctx: &Context,
    place: DeviceId,
    price: &WalkInPrice,
    method: &str,
    barcode: Option<&str>,
) -> Result<DelegateId> {
    if !METHODS.contains(&method) {
        if method.is_empty() {
            return Err(Error::invalid(
                "choose how it was paid: cash, card or invoice",
            ));
        }
        let methods = METHODS.join(", ");
        return Err(Error::field("method", format!("must be one of {methods}")));
    }
    let product = devices::find(tx, &price.product).map_err(|cause| match cause.kind {
        Kind::DeviceNotFound => Error::invalid(format!(
            "the product of this type is gone (setting walkIn): {cause}"
        )),
        _ => cause,
    })?;
    let code = format!("{BASE}{}", random_symbols::<RANDOM>()?);
    let barcode = match barcode {
        Some(barcode) => barcode.to_owned(),
        None => Barcode::make(&Base::parse(&code)?, 1)?.to_string(),
    };
    let line = Line {
        context: event_of(tx, place)?.map(|event| event.0),
        product: Some(product.0),
        name: &devices::called(tx, product)?,
        method,
        cents: price.cents,
    };
    record(tx, ctx, &code, &line, Some(&barcode), None)?;
    // What the desk sells is whole or not sold.
    let found = tx
        .prepare_cached(
            "SELECT delegate_id FROM transaction_delegates d JOIN transactions t ON t.id = d.transaction_id
             WHERE t.code = ?1",
        )?
        .query_row([&code], |row| row.get(0));
    found.optional()?.ok_or_else(|| {
        Error::new(
            Kind::CodeTaken,
            format!("{barcode} is another attendee's, or was"),
        )
        .at("barcode")
    })
}

/// The money that was given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub cents: i64,
    /// As it was paid.
    pub method: String,
}

/// Gives back what an attendee paid at the desk; none where that was done already, or nothing was paid.
pub fn refund(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId) -> Result<Option<Refund>> {
    let Some((id, code)) = of_delegate(tx, delegate.0)?.pop() else {
        return Ok(None);
    };
    let refund = format!("{code}{REFUND}");
    let sold = tx
        .prepare_cached(
            "SELECT t.context_id, i.product_id, i.description, p.method, t.total_amount
             FROM transactions t JOIN transaction_payments p ON p.transaction_id = t.id
             JOIN transaction_items i ON i.transaction_id = t.id
             WHERE t.id = ?1 AND t.client_id IS NULL
                 AND NOT EXISTS (SELECT 1 FROM transactions WHERE code = ?2)",
        )?
        .query_row(params![id, refund], |row| {
            let (name, method): (String, String) = (row.get(2)?, row.get(3)?);
            Ok((
                row.get(0)?,
                row.get(1)?,
                name,
                method,
                row.get::<_, i64>(4)?,
            ))
        })
        .optional()?;
    let Some((context, product, name, method, cents)) = sold else {
        return Ok(None);
    };
    let line = Line {
        context,
        product,
        name: &name,
        method: &method,
        cents: -cents,
    };
    record(
        tx,
        ctx,
        &refund,
        &line,
        None,
        Some(&format!("Refund of {code}")),
    )?;
    Ok(Some(Refund { cents, method }))
}

/// Records a purchase as a till would send it.
fn record(
    tx: &Tx<'_>,
    ctx: &Context,
    code: &str,
    line: &Line<'_>,
    barcode: Option<&str>,
    notes: Option<&str>,
) -> Result<()> {
    let Line {
        context,
        product,
        name,
        method,
        cents,
    } = line;
    let ticket = |barcode| json!({"product": product, "description": name, "barcode": barcode});
    let tickets_sold: Vec<Value> = barcode.into_iter().map(ticket).collect();
    let body = json!({
        "context": context, "code": code, "totalAmount": cents, "notes": notes,
        "createdAt": tx.now().0 / 1000, "recordedBy": audit::actor_name(tx, &ctx.actor)?,
        "transactions": [{"paymentMethod": method, "amount": cents}],
        "items": [{
            "code": format!("{code}0000"), "product": product, "quantity": 1, "description": name,
            "unitAmount": cents, "totalAmount": cents, "delegates": tickets_sold,
        }],
    })
    .to_string();
    let mut sale = Sale::read(body.as_bytes());
    // A till knows neither invoices nor refunds.
    sale.inconsistencies.clear();
    let received = receive(tx, ctx, body.as_bytes(), &sale)?;
    while tickets(tx, ctx, received, &sale)? {}
    Ok(())
}

/// The event that a place belongs to.
fn event_of(connection: &Connection, place: DeviceId) -> Result<Option<DeviceId>> {
    let is_event =
        "SELECT 1 FROM devices WHERE id = ?1 AND device_type = ?2 AND deleted_at IS NULL";
    for device in DeviceCache::default().path(connection, place)?.iter() {
        if connection
            .prepare_cached(is_event)?
            .exists(params![device, EVENT])?
        {
            return Ok(Some(*device));
        }
    }
    Ok(None)
}
