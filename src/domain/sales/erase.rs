//! Taking somebody out of purchases for good (contract §8): what tells of them becomes `[erased]`,
//! amounts stay. In the object of their own ticket that is every text that the specification does
//! not know, and in a purchase that was theirs alone such texts everywhere and the note; elsewhere
//! the texts that name them, whoever bought. Bodies are found beside the writer, which takes a while.

use super::{ERASED, Sale, contacts::Contacts, erased, person::Person};
use crate::{
    core::changes,
    db::Tx,
    types::{
        DelegateId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What somebody left in purchases.
#[derive(Debug, Default, Clone)]
pub struct Traces {
    person: Person,
    people: Vec<DelegateId>,
    /// Purchases that tell of them.
    purchases: BTreeSet<i64>,
    /// The newest body that was looked at.
    newest: i64,
}

/// Finds the purchases that tell of one who may have several records.
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
        if traces.person.is_in(&row.get::<_, String>(1)?, false) {
            traces.purchases.insert(row.get(0)?);
        }
    }
    Ok(traces)
}

impl Traces {
    /// How the person is reached, and known to gates.
    #[must_use]
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
            if !self.purchases.contains(&purchase)
                && whose
                    .blanked(row.get_ref(2)?.as_bytes().map_err(Error::defect)?)
                    .is_some()
            {
                self.purchases.insert(purchase);
            }
        }
        Ok(())
    }
}

/// Takes them out; their tickets are not made anew when the purchase is sent once more.
pub fn forget(tx: &Tx<'_>, traces: &Traces) -> Result<()> {
    let mut traces = traces.clone();
    // What came since is not much.
    traces.look(tx, traces.newest)?;
    for purchase in &traces.purchases {
        forget_purchase(tx, *purchase, &traces)?;
    }
    Ok(())
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
        erased::keep(tx, purchase, barcode)?;
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
        alone: match all {
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

/// What was told of a purchase, and what somebody found out about that, here and in the audit.
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
        let told = statement.query_map([purchase], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let told = told.collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
        for (id, text) in told {
            let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
            if whose.blank(&mut value, Place::Told) {
                tx.prepare_cached(&format!("UPDATE audit SET {column} = ?2 WHERE id = ?1"))?
                    .execute(params![id, value.to_string()])?;
            }
        }
    }
    Ok(())
}

/// Whose traces are taken out of one purchase.
struct Whose<'a> {
    person: &'a Person,
    /// Barcodes of their tickets in it.
    tickets: &'a BTreeSet<String>,
    /// They have a ticket in it.
    near: bool,
    /// Nobody else has.
    alone: bool,
}

/// What kind of object of a body is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Purchase,
    Payment,
    Item,
    Ticket,
    /// The person's own.
    OwnTicket,
    /// What the specification does not know, in the person's own ticket and elsewhere.
    Personal,
    Other,
    /// What the server itself wrote about the purchase.
    Told,
}

impl Place {
    /// What the specification calls it; a text of these is not personal by itself.
    fn knows(self, name: &str) -> bool {
        let names: &[&str] = match self {
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
            Self::Ticket | Self::OwnTicket => &["product", "description", "barcode"],
            Self::Personal | Self::Other | Self::Told => &[],
        };
        names.contains(&name)
    }

    /// What a value of it is that the specification does not know.
    fn within(self) -> Self {
        match self {
            Self::OwnTicket | Self::Personal => Self::Personal,
            Self::Told => Self::Told,
            _ => Self::Other,
        }
    }

    /// What a purchase is known and paid by stays whatever it looks like.
    fn keeps(self, name: &str) -> bool {
        matches!(
            (self, name),
            (Self::Purchase | Self::Item, "code") | (Self::Payment, "paymentMethod")
        )
    }
}

impl Whose<'_> {
    /// A body without what tells of the person; none where nothing does.
    fn blanked(&self, body: &[u8]) -> Option<Vec<u8>> {
        match super::sale::value(body) {
            Some(mut value) => {
                let place = if value.is_object() {
                    Place::Purchase
                } else {
                    Place::Other
                };
                self.blank(&mut value, place)
                    .then(|| value.to_string().into_bytes())
            }
            None => self.person.is_in_bytes(body).then(|| ERASED.into()),
        }
    }

    /// Blanks a value in place; whether there was anything to blank.
    fn blank(&self, value: &mut Value, place: Place) -> bool {
        match value {
            Value::Object(object) => self.blank_object(object, place),
            Value::Array(values) => {
                let mut any = false;
                for value in values {
                    any |= self.blank(value, place);
                }
                any
            }
            Value::String(text) => {
                let all = match place {
                    Place::OwnTicket | Place::Personal => true,
                    Place::Told => false,
                    _ => self.alone,
                };
                let blank = text != ERASED
                    && !text.is_empty()
                    && (all || self.person.is_in(text, self.near));
                if blank {
                    ERASED.clone_into(text);
                }
                blank
            }
            Value::Number(number) => {
                let blank = self.person.is_in(&number.to_string(), false);
                if blank {
                    *value = ERASED.into();
                }
                blank
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn blank_object(&self, object: &mut Map<String, Value>, place: Place) -> bool {
        let place = match place {
            Place::Ticket if self.owns(object) => Place::OwnTicket,
            other => other,
        };
        let mut any = self.rename(object);
        for (name, value) in object.iter_mut() {
            any |= match (place, name.as_str(), &*value) {
                (Place::Purchase, "transactions", Value::Array(_)) => {
                    self.blank(value, Place::Payment)
                }
                (Place::Purchase, "items", Value::Array(_)) => self.blank(value, Place::Item),
                (Place::Item, "delegates", Value::Array(_)) => self.blank(value, Place::Ticket),
                (Place::OwnTicket, "barcode", Value::String(_)) => {
                    *value = ERASED.into();
                    true
                }
                (Place::Ticket, "barcode", _) => false,
                (place, name, _) if place.keeps(name) => false,
                (place, name, value_now) if place.knows(name) => {
                    let tells = match value_now {
                        // Staff may have the same first name.
                        Value::String(text) => {
                            self.person.is_in(text, self.near && name != "recordedBy")
                        }
                        Value::Object(_) | Value::Array(_) => {
                            any |= self.blank(value, Place::Other);
                            false
                        }
                        // Amounts, products, times.
                        _ => false,
                    };
                    if tells {
                        *value = ERASED.into();
                    }
                    tells
                }
                _ => self.blank(value, place.within()),
            };
        }
        any
    }

    /// Whether a ticket is the person's.
    fn owns(&self, ticket: &Map<String, Value>) -> bool {
        let barcode = ticket.get("barcode").and_then(Value::as_str);
        barcode.is_some_and(|code| self.tickets.contains(code) || self.person.has_code(code))
    }

    /// Gives names that tell of the person another; whether there were any.
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
