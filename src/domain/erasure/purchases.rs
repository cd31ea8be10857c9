//! Taking somebody out of purchases for good (contract §8): what mentions them becomes `[erased]`,
//! amounts stay. In the object of their own ticket that is every text that the specification does
//! not know, and in a purchase that was theirs alone such texts everywhere and the note; elsewhere
//! the texts that name them, whoever bought. Bodies are found beside the writer, which takes a while.

use super::{contacts::Contacts, person::Person};
use crate::{
    core::{changes, keyed::Key},
    db::Tx,
    domain::sales::{self, ERASED, Sale, sale},
    types::{
        DelegateId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Purchases that are kept for review.
const REVIEW_MAX: usize = 500;

/// Traces of somebody in purchases.
#[derive(Debug, Default, Clone)]
pub struct Traces {
    person: Person,
    people: Vec<DelegateId>,
    purchases: BTreeSet<i64>,
    /// Purchases with a telephone number like the person's.
    alike: BTreeSet<i64>,
    newest: i64,
    /// Everybody's, not only those of `people`.
    everybody: bool,
}

/// Finds the purchases that mention a person, who may have several records.
pub fn traces(connection: &Connection, people: &[DelegateId]) -> Result<Traces> {
    let mut traces = Traces {
        person: Person::of(connection, people)?,
        people: people.to_vec(),
        ..Traces::default()
    };
    for person in people {
        let mut statement = connection
            .prepare("SELECT transaction_id FROM transaction_delegates WHERE delegate_id = ?1")?;
        for purchase in statement.query_map([person], |row| row.get(0))? {
            traces.purchases.insert(purchase?);
        }
    }
    traces.look(connection, 0)?;
    let mut notes = connection.prepare(
        "SELECT b.transaction_id, i.note FROM inconsistencies i
         JOIN transaction_bodies b ON b.id = i.body_id WHERE i.note IS NOT NULL",
    )?;
    let mut rows = notes.query([])?;
    while let Some(row) = rows.next()? {
        let (purchase, note): (i64, String) = (row.get(0)?, row.get(1)?);
        if traces.person.is_in(&note, false) {
            traces.purchases.insert(purchase);
        }
        if traces.person.contacts.are_like(&note) {
            traces.alike.insert(purchase);
        }
    }
    Ok(traces)
}

impl Traces {
    /// The ways in which the person is reached, and known to gates.
    pub fn contacts(&self) -> &Contacts {
        &self.person.contacts
    }

    /// Looks at bodies that came after one.
    fn look(&mut self, connection: &Connection, after: i64) -> Result<()> {
        self.newest = after;
        let mut statement = connection.prepare(
            "SELECT id, transaction_id, body FROM transaction_bodies WHERE id > ?1 ORDER BY id",
        )?;
        let mut rows = statement.query([after])?;
        while let Some(row) = rows.next()? {
            self.newest = row.get(0)?;
            let purchase = row.get(1)?;
            let whose = Whose {
                person: &self.person,
                tickets: &BTreeSet::new(),
                near: false,
                alone: false,
            };
            let body = row.get_ref(2)?.as_bytes().map_err(Error::defect)?;
            if self.person.is_like_in(body) {
                self.alike.insert(purchase);
            }
            if !self.purchases.contains(&purchase) && whose.blanked(body).is_some() {
                self.purchases.insert(purchase);
            }
        }
        Ok(())
    }
}

/// Takes them out; their tickets are not made anew when the purchase is sent once more. Gives the purchases in
/// which a telephone number like theirs is left.
pub fn forget(tx: &Tx<'_>, traces: &Traces) -> Result<Vec<String>> {
    let mut traces = traces.clone();
    // What came since is not much.
    traces.look(tx, traces.newest)?;
    for purchase in &traces.purchases {
        forget_purchase(tx, *purchase, &traces)?;
    }
    let mut left = Vec::new();
    for purchase in traces.alike.iter().take(REVIEW_MAX) {
        if is_alike(tx, *purchase, &traces.person)? {
            let code = sales::code_of(tx, *purchase)?.unwrap_or_default();
            left.push(format!("purchase {code}"));
        }
    }
    Ok(left)
}

/// Returns whether a telephone number like the person's stands in a purchase, or in a note about it.
fn is_alike(tx: &Tx<'_>, purchase: i64, person: &Person) -> Result<bool> {
    let mut statement = tx.prepare(
        "SELECT message || ' ' || coalesce(note, '') FROM inconsistencies
         WHERE body_id IN (SELECT id FROM transaction_bodies WHERE transaction_id = ?1)",
    )?;
    let notes = statement.query_map([purchase], |row| row.get::<_, String>(0))?;
    let notes: Vec<String> = notes.collect::<rusqlite::Result<_>>()?;
    let in_body = |(_, body): &(i64, Vec<u8>)| person.is_like_in(body);
    Ok(bodies(tx, purchase)?.iter().any(in_body)
        || notes.iter().any(|note| person.contacts.are_like(note)))
}

/// Takes everybody out of a purchase.
pub fn forget_everybody(tx: &Tx<'_>, purchase: i64) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT DISTINCT delegate_id FROM transaction_delegates WHERE transaction_id = ?1",
    )?;
    let people = statement.query_map([purchase], |row| row.get(0))?;
    let people: Vec<DelegateId> = people.collect::<rusqlite::Result<_>>()?;
    let traces = Traces {
        person: Person::of(tx, &people)?,
        people,
        everybody: true,
        ..Traces::default()
    };
    forget_purchase(tx, purchase, &traces)
}

fn forget_purchase(tx: &Tx<'_>, purchase: i64, traces: &Traces) -> Result<()> {
    let mut tickets: BTreeMap<String, DelegateId> = BTreeMap::new();
    let mut statement = tx.prepare_cached(
        "SELECT barcode, delegate_id FROM transaction_delegates WHERE transaction_id = ?1",
    )?;
    let mut rows = statement.query([purchase])?;
    while let Some(row) = rows.next()? {
        tickets.insert(row.get(0)?, row.get(1)?);
    }
    let all = tickets.len();
    tickets.retain(|_, delegate| traces.people.contains(delegate));
    let tickets: BTreeSet<String> = tickets.into_keys().collect();
    for barcode in &tickets {
        remember_ticket(tx, purchase, barcode)?;
    }
    let bodies = bodies(tx, purchase)?;
    // A ticket whose code was taken made nobody, and is the person's all the same.
    let sold: BTreeSet<String> = bodies
        .iter()
        .flat_map(|(_, body)| Sale::read(body).tickets)
        .map(|ticket| ticket.barcode)
        .collect();
    let clashed = |code: &&String| traces.person.has_code(code);
    let own = sold.iter().filter(clashed).count();
    let whose = Whose {
        person: &traces.person,
        near: !tickets.is_empty() || own > 0,
        alone: traces.everybody
            || match all {
                0 => own > 0 && own == sold.len(),
                all => tickets.len() == all,
            },
        tickets: &tickets,
    };
    for (at, (id, body)) in bodies.iter().enumerate() {
        let Some(blanked) = whose.blanked(body) else {
            continue;
        };
        tx.prepare_cached("UPDATE transaction_bodies SET body = ?2 WHERE id = ?1")?
            .execute(params![id, blanked])?;
        // What came first is in force: the rows are of it.
        if at == 0 {
            rewrite_rows(tx, purchase, &Sale::read(&blanked))?;
        }
    }
    forget_words(tx, purchase, &whose)?;
    tx.prepare_cached("UPDATE transactions SET erased_at = ?2 WHERE id = ?1")?
        .execute(params![purchase, tx.now()])?;
    changes::note(tx, changes::action::REFRESH, "transaction", purchase).map(drop)
}

/// Remembers, as a keyed hash, that a ticket was of somebody who is being deleted for good: a purchase
/// that comes once more does not make it anew.
fn remember_ticket(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<()> {
    let hash = Key::find_or_make(tx)?.hash(barcode.as_bytes())?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO erased_tickets (transaction_id, hash) VALUES (?1, ?2)",
    )?
    .execute(params![transaction, hash])?;
    Ok(())
}

fn bodies(tx: &Tx<'_>, purchase: i64) -> Result<Vec<(i64, Vec<u8>)>> {
    let mut statement = tx.prepare_cached(
        "SELECT id, body FROM transaction_bodies WHERE transaction_id = ?1 ORDER BY id",
    )?;
    let bodies = statement.query_map([purchase], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(bodies.collect::<rusqlite::Result<_>>()?)
}

/// The texts of a purchase's rows, as its body has them now.
fn rewrite_rows(tx: &Tx<'_>, purchase: i64, sale: &Sale) -> Result<()> {
    tx.prepare_cached("UPDATE transactions SET notes = ?2, recorded_by = ?3 WHERE id = ?1")?
        .execute(params![purchase, sale.notes, sale.recorded_by])?;
    for (line, payment) in sale.payments.iter().enumerate() {
        tx.prepare_cached(
            "UPDATE transaction_payments SET method = ?3, reference = ?4
             WHERE transaction_id = ?1 AND line = ?2",
        )?
        .execute(params![purchase, line, payment.method, payment.reference])?;
    }
    for (line, item) in sale.items.iter().enumerate() {
        tx.prepare_cached(
            "UPDATE transaction_items SET description = ?3 WHERE transaction_id = ?1 AND line = ?2",
        )?
        .execute(params![purchase, line, item.description])?;
    }
    Ok(())
}

/// Blanks inconsistencies of a purchase and the notes about them, here and in the audit.
fn forget_words(tx: &Tx<'_>, purchase: i64, whose: &Whose<'_>) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT i.id, i.message, i.note FROM inconsistencies i
         JOIN transaction_bodies b ON b.id = i.body_id WHERE b.transaction_id = ?1",
    )?;
    let mut rows = statement.query([purchase])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let texts: [Option<String>; 2] = [row.get(1)?, row.get(2)?];
        let blanked = texts.clone().map(|text| {
            text.map(|text| {
                if whose.person.is_in(&text, whose.near) {
                    ERASED.to_owned()
                } else {
                    text
                }
            })
        });
        if blanked != texts {
            changed.push((row.get::<_, i64>(0)?, blanked));
        }
    }
    for (id, [message, note]) in changed {
        tx.prepare_cached("UPDATE inconsistencies SET message = ?2, note = ?3 WHERE id = ?1")?
            .execute(params![id, message, note])?;
    }
    for column in ["before", "after"] {
        let mut statement = tx.prepare_cached(&format!(
            "SELECT id, {column} FROM audit WHERE record_type = 'transaction' AND record_id = ?1
             AND {column} IS NOT NULL"
        ))?;
        let rows = statement.query_map([purchase], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
        for (id, text) in rows {
            let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
            if whose.blank(&mut value, Part::Other, false) {
                tx.prepare_cached(&format!("UPDATE audit SET {column} = ?2 WHERE id = ?1"))?
                    .execute(params![id, value.to_string()])?;
            }
        }
    }
    Ok(())
}

/// The person whose traces are taken out of one purchase.
struct Whose<'a> {
    person: &'a Person,
    tickets: &'a BTreeSet<String>,
    near: bool,
    alone: bool,
}

/// The kinds of objects in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Purchase,
    Payment,
    Item,
    Ticket,
    /// Unknown to the specification.
    Other,
}

impl Part {
    /// The names in the specification; a text of these is not personal by itself.
    fn known(self) -> &'static [&'static str] {
        match self {
            Self::Purchase => &["context", "code", "totalAmount", "createdAt", "recordedBy"],
            Self::Payment => &["paymentMethod", "amount", "change", "transactionId"],
            Self::Item => &[
                "code",
                "product",
                "quantity",
                "description",
                "unitAmount",
                "totalAmount",
                "discountAmount",
            ],
            Self::Ticket => &["product", "description", "barcode"],
            Self::Other => &[],
        }
    }

    /// Returns whether a text stays: what a purchase is known and paid by stays whatever it looks like.
    fn keeps(self, name: &str) -> bool {
        matches!(
            (self, name),
            (Self::Purchase | Self::Item, "code") | (Self::Payment, "paymentMethod")
        )
    }
}

impl Whose<'_> {
    /// A body without mentions of the person; none where there are none.
    fn blanked(&self, body: &[u8]) -> Option<Vec<u8>> {
        let Some(mut value) = sale::value(body) else {
            return self.person.is_in_bytes(body).then(|| ERASED.into());
        };
        let part = if value.is_object() {
            Part::Purchase
        } else {
            Part::Other
        };
        let any = self.blank(&mut value, part, self.alone);
        any.then(|| value.to_string().into_bytes())
    }

    /// Blanks a value in place: with `all` every text, otherwise those that name the person. Whether
    /// there was anything to blank.
    fn blank(&self, value: &mut Value, part: Part, all: bool) -> bool {
        let blank = match value {
            Value::Object(object) => return self.blank_object(object, part, all),
            Value::Array(values) => {
                let values = values.iter_mut();
                return values.fold(false, |any, value| self.blank(value, part, all) | any);
            }
            Value::String(text) => {
                text != ERASED && !text.is_empty() && (all || self.person.is_in(text, self.near))
            }
            Value::Number(number) => self.person.is_in(&number.to_string(), false),
            Value::Null | Value::Bool(_) => false,
        };
        if blank {
            *value = ERASED.into();
        }
        blank
    }

    fn blank_object(&self, object: &mut Map<String, Value>, part: Part, all: bool) -> bool {
        let own_ticket = part == Part::Ticket && self.owns(object);
        let all = all || own_ticket;
        let mut any = self.rename(object);
        for (name, value) in object.iter_mut() {
            any |= match (part, name.as_str(), &*value) {
                (Part::Purchase, "transactions", Value::Array(_)) => {
                    self.blank(value, Part::Payment, all)
                }
                (Part::Purchase, "items", Value::Array(_)) => self.blank(value, Part::Item, all),
                (Part::Item, "delegates", Value::Array(_)) => self.blank(value, Part::Ticket, all),
                (Part::Ticket, "barcode", Value::String(_)) if own_ticket => {
                    *value = ERASED.into();
                    true
                }
                (Part::Ticket, "barcode", _) if !own_ticket => false,
                (part, name, _) if part.keeps(name) => false,
                (part, name, Value::String(text)) if part.known().contains(&name) => {
                    // Staff may have the same first name.
                    let named = self.person.is_in(text, self.near && name != "recordedBy");
                    if named {
                        *value = ERASED.into();
                    }
                    named
                }
                (part, name, Value::Object(_) | Value::Array(_))
                    if part.known().contains(&name) =>
                {
                    self.blank(value, Part::Other, self.alone)
                }
                // Amounts, products, times.
                (part, name, _) if part.known().contains(&name) => false,
                _ => self.blank(value, Part::Other, all),
            };
        }
        any
    }

    /// Returns whether a ticket is the person's.
    fn owns(&self, ticket: &Map<String, Value>) -> bool {
        let barcode = ticket.get("barcode").and_then(Value::as_str);
        barcode.is_some_and(|code| self.tickets.contains(code) || self.person.has_code(code))
    }

    /// Renames properties that name the person; whether there were any.
    fn rename(&self, object: &mut Map<String, Value>) -> bool {
        if !object.keys().any(|name| self.person.is_in(name, false)) {
            return false;
        }
        let taken = std::mem::take(object);
        for (count, (name, value)) in taken.into_iter().enumerate() {
            let name = if self.person.is_in(&name, false) {
                format!("{ERASED} {count}")
            } else {
                name
            };
            object.insert(name, value);
        }
        true
    }
}

#[cfg(test)]
mod tests;
