//! What does not fit in purchases, as people work through it.

use super::find::{AT, Place};
use crate::{
    core::audit::Actor,
    types::{
        Timestamp,
        error::Result,
        text::{sentence, shortened},
    },
};
use rusqlite::{Connection, Row};

/// Purchases on a page of open ones.
const PURCHASES: usize = 20;
/// Inconsistencies of one purchase that are shown there.
const EACH: usize = 50;
/// Lines on a page of settled ones.
const LINES: usize = 50;
/// Something that does not fit.
pub struct Told {
    /// Its id.
    pub id: i64,
    /// Where in the body.
    pub path: String,
    /// What, as a sentence.
    pub message: String,
    /// When it was settled, by whom, and what they found out.
    pub settled: Option<Settled>,
}

/// How something was settled.
pub struct Settled {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// What they found out.
    pub note: String,
}

impl Told {
    /// Where, in words.
    pub fn place(&self) -> &str {
        place(&self.path)
    }

    fn read(connection: &Connection, row: &Row<'_>) -> Result<Self> {
        let settled_at: Option<Timestamp> = row.get(3)?;
        let settled = match settled_at {
            Some(at) => {
                let by: Option<String> = row.get(4)?;
                Some(Settled {
                    at,
                    by: Actor::of(connection, &by.unwrap_or_default())?.name(),
                    note: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
                })
            }
            None => None,
        };
        Ok(Self {
            id: row.get(0)?,
            path: row.get(1)?,
            message: sentence(&row.get::<_, String>(2)?),
            settled,
        })
    }
}

/// What does not fit in a purchase, the open ones first, as many as are wanted and one more.
pub fn of_purchase(
    connection: &Connection,
    purchase: i64,
    open_alone: bool,
    most: usize,
) -> Result<Vec<Told>> {
    let mut statement = connection.prepare_cached(
        "SELECT i.id, i.path, i.message, i.settled_at, i.settled_by, i.note
         FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
         WHERE b.transaction_id = ?1 AND (i.settled_at IS NULL OR NOT ?2)
         ORDER BY i.settled_at IS NOT NULL, i.id LIMIT ?3",
    )?;
    let mut rows = statement.query((purchase, open_alone, most + 1))?;
    let mut told = Vec::new();
    while let Some(row) = rows.next()? {
        told.push(Told::read(connection, row)?);
    }
    Ok(told)
}

/// What a place in a body is called: the whole of it has no path.
fn place(path: &str) -> &str {
    if path.is_empty() { "as a whole" } else { path }
}

/// A purchase with something open.
pub struct Purchase {
    pub id: i64,
    pub code: String,
    pub at: Timestamp,
    pub staff: Option<String>,
    pub total: Option<i64>,
    pub told: Vec<Told>,
    /// There are more than are shown.
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
            told: Vec::new(),
            more: false,
        })
    })?;
    let mut purchases = purchases.collect::<rusqlite::Result<Vec<_>>>()?;
    let next = purchases.get(PURCHASES).map(|purchase| purchase.id);
    purchases.truncate(PURCHASES);
    for purchase in &mut purchases {
        purchase.told = of_purchase(connection, purchase.id, true, EACH)?;
        purchase.more = purchase.told.len() > EACH;
        purchase.told.truncate(EACH);
    }
    Ok((purchases, next))
}

/// Something that was settled, with its purchase.
pub struct Line {
    pub purchase: i64,
    pub code: String,
    pub told: Told,
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
            told: Told::read(connection, row)?,
            purchase: row.get(6)?,
            code: row.get(7)?,
        });
    }
    let next = lines.get(LINES).and_then(|line| {
        let settled = line.told.settled.as_ref()?;
        Some((settled.at.0, line.told.id))
    });
    lines.truncate(LINES);
    Ok((lines, next))
}
