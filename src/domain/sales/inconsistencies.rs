//! Inconsistencies of purchases. People work through them: an inconsistency is settled with a note, and reopened
//! where that was too early. The purchase itself is never changed by it.

use super::find::{AT, Place};
use crate::{
    core::{
        Context,
        audit::{self, Actor, Change},
        texts::say,
    },
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        text::{self, sentence, shortened},
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

/// Purchases on a page of open ones.
const PURCHASES: usize = 20;
/// Inconsistencies of one purchase that are shown there.
const EACH: usize = 50;
/// Lines on a page of settled ones.
const LINES: usize = 50;
/// Something that does not fit.
pub struct Inconsistency {
    pub id: i64,
    pub path: String,
    /// A sentence in the language of the page.
    pub message: String,
    /// The time at which it was settled, by whom, and what they found out.
    pub settled: Option<Settled>,
}

/// The way in which something was settled.
pub struct Settled {
    pub at: Timestamp,
    pub by: String,
    pub note: String,
}

impl Inconsistency {
    /// The place, in words of the page's language: the whole of it has no path.
    pub fn place(&self) -> String {
        if self.path.is_empty() {
            say("as a whole")
        } else {
            self.path.clone()
        }
    }

    fn read(connection: &Connection, row: &Row<'_>) -> Result<Self> {
        let settled_at: Option<Timestamp> = row.get(3)?;
        let settled = match settled_at {
            Some(at) => {
                let by: Option<String> = row.get(4)?;
                Some(Settled {
                    at,
                    by: Actor::of(connection, &by.unwrap_or_default())?.shown(),
                    note: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
                })
            }
            None => None,
        };
        Ok(Self {
            id: row.get(0)?,
            path: row.get(1)?,
            message: sentence(&say(row.get::<_, String>(2)?)),
            settled,
        })
    }
}

/// The inconsistencies of a purchase, the open ones first, at most one more than `most`.
pub fn of_purchase(
    connection: &Connection,
    purchase: i64,
    open_alone: bool,
    most: usize,
) -> Result<Vec<Inconsistency>> {
    let mut statement = connection.prepare_cached(
        "SELECT i.id, i.path, i.message, i.settled_at, i.settled_by, i.note
         FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
         WHERE b.transaction_id = ?1 AND (i.settled_at IS NULL OR NOT ?2)
         ORDER BY i.settled_at IS NOT NULL, i.id LIMIT ?3",
    )?;
    let mut rows = statement.query((purchase, open_alone, most + 1))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Inconsistency::read(connection, row)?);
    }
    Ok(found)
}

/// A purchase with something open.
pub struct Purchase {
    pub id: i64,
    pub code: String,
    pub at: Timestamp,
    pub staff: Option<String>,
    pub total: Option<i64>,
    pub inconsistencies: Vec<Inconsistency>,
    pub more: bool,
}

impl Purchase {
    pub fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

pub fn find_open(connection: &Connection, from: i64) -> Result<(Vec<Purchase>, Option<i64>)> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT t.id, t.code, {AT}, t.recorded_by, t.total_amount FROM transactions t
         WHERE t.id <= ?1 AND t.id IN (
             SELECT b.transaction_id FROM inconsistencies i JOIN transaction_bodies b ON b.id = i.body_id
             WHERE i.settled_at IS NULL)
         ORDER BY t.id DESC LIMIT {}",
        PURCHASES + 1
    ))?;
    let purchases = statement.query_map([from], |row| {
        Ok(Purchase {
            id: row.get(0)?,
            code: row.get(1)?,
            at: row.get(2)?,
            staff: row.get::<_, Option<String>>(3)?.as_deref().map(shortened),
            total: row.get(4)?,
            inconsistencies: Vec::new(),
            more: false,
        })
    })?;
    let mut purchases = purchases.collect::<rusqlite::Result<Vec<_>>>()?;
    let next = purchases.get(PURCHASES).map(|purchase| purchase.id);
    purchases.truncate(PURCHASES);
    for purchase in &mut purchases {
        purchase.inconsistencies = of_purchase(connection, purchase.id, true, EACH)?;
        purchase.more = purchase.inconsistencies.len() > EACH;
        purchase.inconsistencies.truncate(EACH);
    }
    Ok((purchases, next))
}

/// Something that was settled, with its purchase.
pub struct Line {
    pub purchase: i64,
    pub code: String,
    pub inconsistency: Inconsistency,
}

impl Line {
    pub fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

pub fn find_settled(connection: &Connection, from: Place) -> Result<(Vec<Line>, Option<Place>)> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT i.id, i.path, i.message, i.settled_at, i.settled_by, i.note, t.id, t.code
         FROM inconsistencies i JOIN transaction_bodies b ON b.id = i.body_id
         JOIN transactions t ON t.id = b.transaction_id
         WHERE i.settled_at IS NOT NULL AND (i.settled_at, i.id) <= (?1, ?2)
         ORDER BY i.settled_at DESC, i.id DESC LIMIT {}",
        LINES + 1
    ))?;
    let mut rows = statement.query([from.0, from.1])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(Line {
            inconsistency: Inconsistency::read(connection, row)?,
            purchase: row.get(6)?,
            code: row.get(7)?,
        });
    }
    let next = lines.get(LINES).and_then(|line| {
        let settled = line.inconsistency.settled.as_ref()?;
        Some((settled.at.0, line.inconsistency.id))
    });
    lines.truncate(LINES);
    Ok((lines, next))
}

/// The longest note, in characters.
pub const NOTE_MAX_CHARS: usize = 1_000;

/// Settles inconsistencies of a purchase: how many were open.
pub fn settle(
    tx: &Tx<'_>,
    ctx: &Context,
    purchase: i64,
    chosen: &[i64],
    note: &str,
) -> Result<usize> {
    let note = note.trim();
    if note.is_empty() || note.chars().count() > NOTE_MAX_CHARS {
        return Err(Error::invalid(format!(
            "must have 1 to {NOTE_MAX_CHARS} characters: what you found out, or did about it"
        ))
        .at("note"));
    }
    text::check_text("note", note)?;
    if chosen.is_empty() {
        return Err(Error::invalid("choose at least one to settle"));
    }
    let mut settled = Vec::new();
    for id in chosen {
        let words: Option<String> = tx
            .prepare_cached(
                "UPDATE inconsistencies SET settled_at = ?3, settled_by = ?4, note = ?5
                 WHERE id = ?1 AND settled_at IS NULL
                 AND body_id IN (SELECT id FROM transaction_bodies WHERE transaction_id = ?2)
                 RETURNING path, message",
            )?
            .query_row(params![id, purchase, tx.now(), ctx.actor, note], |row| {
                Ok(in_words(
                    &row.get::<_, String>(0)?,
                    &row.get::<_, String>(1)?,
                ))
            })
            .optional()?;
        settled.extend(words);
    }
    if settled.is_empty() {
        return Err(Error::invalid("already settled, perhaps by somebody else"));
    }
    append(tx, ctx, "settle", purchase, Some(note), &settled)?;
    Ok(settled.len())
}

/// Takes an inconsistency up again: the purchase it is of.
///
/// # Errors
/// [`Kind::NoSuchPath`] where it is not settled.
pub fn reopen(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<i64> {
    let found: Option<(i64, String, String, Option<String>)> = tx
        .prepare_cached(
            "SELECT b.transaction_id, i.path, i.message, i.note FROM inconsistencies i
             JOIN transaction_bodies b ON b.id = i.body_id WHERE i.id = ?1 AND i.settled_at IS NOT NULL",
        )?
        .query_row([id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((purchase, path, message, note)) = found else {
        return Err(Error::new(
            Kind::NoSuchPath,
            format!("there is no settled inconsistency {id}"),
        ));
    };
    tx.prepare_cached(
        "UPDATE inconsistencies SET settled_at = NULL, settled_by = NULL, note = NULL WHERE id = ?1",
    )?
    .execute([id])?;
    let reopened = [in_words(&path, &message)];
    append(tx, ctx, "reopen", purchase, note.as_deref(), &reopened)?;
    Ok(purchase)
}

fn in_words(path: &str, message: &str) -> String {
    if path.is_empty() {
        message.to_owned()
    } else {
        format!("{path}: {message}")
    }
}

fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    purchase: i64,
    note: Option<&str>,
    inconsistencies: &[String],
) -> Result<()> {
    let change = Change {
        action,
        record_type: "transaction",
        record_id: Some(purchase),
        before: None,
        after: Some(json!({"note": note, "inconsistencies": inconsistencies})),
    };
    audit::append(tx, ctx, &change)
}

/// Counts the purchases that have something not settled.
pub fn waiting(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(DISTINCT b.transaction_id) FROM inconsistencies i
             JOIN transaction_bodies b ON b.id = i.body_id WHERE i.settled_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?)
}
