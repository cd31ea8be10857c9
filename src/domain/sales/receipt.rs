//! One purchase in the console: items, payments, tickets, and the bodies that the till sent.

use super::{find::AT, sums::method, till::REFUND};
use crate::{
    domain::{delegates::NAME as WHO, devices::NAME},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        text::shortened_to,
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The longest body that is shown on the page, in bytes.
const BODY_MAX: i64 = 64 * 1024;
/// The most that is shown of all bodies together, in bytes.
const BODIES_MAX: i64 = 512 * 1024;
/// The most of a note that is shown, in characters; the body has all of it.
const NOTES_MAX_CHARS: usize = 2_000;
/// The most of any other text that is shown, in characters.
const TEXT_MAX_CHARS: usize = 200;
/// Lines and tickets that are shown; a file has them all.
pub const PARTS_MAX: usize = 500;

pub struct Sale {
    pub id: i64,
    pub code: String,
    pub context: Option<(i64, String)>,
    pub total: Option<i64>,
    pub notes: Option<String>,
    pub notes_cut: bool,
    pub staff: Option<String>,
    pub at: Timestamp,
    /// The till sent no usable time.
    pub timeless: bool,
    pub received_at: Timestamp,
    pub sender: Option<String>,
    pub erased_at: Option<Timestamp>,
    /// The purchase that gave the money back.
    pub refund: Option<i64>,
}

pub struct Item {
    pub code: Option<String>,
    pub product: Option<(i64, String)>,
    pub description: Option<String>,
    pub quantity: Option<i64>,
    pub unit: Option<i64>,
    pub total: Option<i64>,
    pub discount: Option<i64>,
}

impl Item {
    /// The words of the till for it, where they say more than the product's name.
    pub fn own_words(&self) -> Option<&str> {
        let name = self.product.as_ref().map(|(_, name)| name.as_str());
        self.description.as_deref().filter(|own| Some(*own) != name)
    }
}

pub struct Payment {
    pub method: String,
    pub amount: Option<i64>,
    pub change: Option<i64>,
    pub net: Option<i64>,
    pub reference: Option<String>,
}

pub struct Ticket {
    pub barcode: String,
    pub delegate: i64,
    pub name: String,
    pub product: Option<(i64, String)>,
    pub deleted: bool,
}

pub struct Body {
    pub id: i64,
    pub received_at: Timestamp,
    pub sender: Option<String>,
    pub bytes: i64,
    pub text: Option<String>,
    /// Its tickets are not all made yet.
    pub unfinished: bool,
}

/// A client `c` or a user `u`; one of them may be gone.
const SENDER: &str = "coalesce(u.email, c.name)";

fn missing(id: i64) -> Error {
    Error::new(Kind::NoSuchPath, format!("there is no purchase {id}"))
}

pub fn sale(connection: &Connection, id: i64) -> Result<Sale> {
    connection
        .prepare_cached(&format!(
            "SELECT t.id, t.code, d.id, {NAME}, t.total_amount, t.notes, t.recorded_by,
                 {AT}, t.bought_at IS NULL, t.created_at, {SENDER}, t.erased_at,
                 (SELECT id FROM transactions WHERE code = t.code || '{REFUND}')
             FROM transactions t LEFT JOIN devices d ON d.id = t.context_id
             LEFT JOIN clients c ON c.id = t.client_id LEFT JOIN users u ON u.id = t.user_id
             WHERE t.id = ?1"
        ))?
        .query_row([id], |row| {
            let notes: Option<String> = row.get(5)?;
            let shown = notes
                .as_deref()
                .map(|notes| shortened_to(notes, NOTES_MAX_CHARS));
            Ok(Sale {
                id: row.get(0)?,
                code: row.get(1)?,
                context: named(row.get(2)?, row.get(3)?),
                total: row.get(4)?,
                notes_cut: shown != notes,
                notes: shown,
                staff: brief(row.get(6)?),
                at: row.get(7)?,
                timeless: row.get(8)?,
                received_at: row.get(9)?,
                sender: row.get(10)?,
                erased_at: row.get(11)?,
                refund: row.get(12)?,
            })
        })
        .optional()?
        .ok_or_else(|| missing(id))
}

/// A text as the page shows it.
fn brief(text: Option<String>) -> Option<String> {
    text.map(|text| shortened_to(&text, TEXT_MAX_CHARS))
}

fn named(id: Option<i64>, name: Option<String>) -> Option<(i64, String)> {
    id.map(|id| (id, name.unwrap_or_else(|| format!("device {id}"))))
}

pub fn items(connection: &Connection, id: i64) -> Result<Vec<Item>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT i.code, d.id, {NAME}, i.description, i.quantity, i.unit_amount,
             i.total_amount, i.discount_amount
         FROM transaction_items i LEFT JOIN devices d ON d.id = i.product_id
         WHERE i.transaction_id = ?1 ORDER BY i.line LIMIT {}",
        PARTS_MAX + 1
    ))?;
    let items = statement.query_map([id], |row| {
        Ok(Item {
            code: brief(row.get(0)?),
            product: named(row.get(1)?, row.get(2)?),
            description: brief(row.get(3)?),
            quantity: row.get(4)?,
            unit: row.get(5)?,
            total: row.get(6)?,
            discount: row.get(7)?,
        })
    })?;
    Ok(items.collect::<rusqlite::Result<_>>()?)
}

pub fn payments(connection: &Connection, id: i64) -> Result<Vec<Payment>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT method, amount, change, net, reference FROM transaction_payments
         WHERE transaction_id = ?1 ORDER BY line LIMIT {}",
        PARTS_MAX + 1
    ))?;
    let payments = statement.query_map([id], |row| {
        Ok(Payment {
            method: method(row.get::<_, Option<String>>(0)?.as_deref()),
            amount: row.get(1)?,
            change: row.get(2)?,
            net: row.get(3)?,
            reference: brief(row.get(4)?),
        })
    })?;
    Ok(payments.collect::<rusqlite::Result<_>>()?)
}

pub fn tickets(connection: &Connection, id: i64) -> Result<Vec<Ticket>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT s.barcode, p.id,
             {WHO},
             d.id, {NAME}, p.deleted_at IS NOT NULL
         FROM transaction_delegates s JOIN delegates p ON p.id = s.delegate_id
         LEFT JOIN devices d ON d.id = s.product_id
         WHERE s.transaction_id = ?1 ORDER BY p.id LIMIT {}",
        PARTS_MAX + 1
    ))?;
    let tickets = statement.query_map([id], |row| {
        Ok(Ticket {
            barcode: row.get(0)?,
            delegate: row.get(1)?,
            name: row.get(2)?,
            product: named(row.get(3)?, row.get(4)?),
            deleted: row.get(5)?,
        })
    })?;
    Ok(tickets.collect::<rusqlite::Result<_>>()?)
}

pub fn bodies(connection: &Connection, id: i64) -> Result<Vec<Body>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT b.id, b.received_at, {SENDER}, length(b.body),
             iif(length(b.body) <= {BODY_MAX}, b.body, NULL), b.loaded < b.tickets
         FROM transaction_bodies b
         LEFT JOIN clients c ON c.id = b.client_id LEFT JOIN users u ON u.id = b.user_id
         WHERE b.transaction_id = ?1 ORDER BY b.id LIMIT 100"
    ))?;
    let mut room = BODIES_MAX;
    let bodies = statement.query_map([id], |row| {
        let (bytes, body): (i64, Option<Vec<u8>>) = (row.get(3)?, row.get(4)?);
        let body = body.filter(|_| bytes <= room);
        if body.is_some() {
            room -= bytes;
        }
        Ok(Body {
            id: row.get(0)?,
            received_at: row.get(1)?,
            sender: row.get(2)?,
            bytes,
            text: body.map(|body| String::from_utf8_lossy(&body).into_owned()),
            unfinished: row.get(5)?,
        })
    })?;
    Ok(bodies.collect::<rusqlite::Result<_>>()?)
}

/// A body that a till sent, as it came.
pub fn body(connection: &Connection, id: i64, body: i64) -> Result<Vec<u8>> {
    connection
        .prepare_cached(
            "SELECT body FROM transaction_bodies WHERE id = ?2 AND transaction_id = ?1",
        )?
        .query_row([id, body], |row| row.get(0))
        .optional()?
        .ok_or_else(|| missing(id))
}
