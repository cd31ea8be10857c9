//! Working through what does not fit: purchase by purchase, each settled with a note.

use super::{amount, filter::AT, list::Place, waiting};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit::Actor,
    domain::sales::settle,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        text::shortened,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, Row};

/// Purchases on a page of open ones.
const PURCHASES: usize = 20;
/// Inconsistencies of one purchase that are shown there.
const EACH: usize = 50;
/// Lines on a page of settled ones.
const LINES: usize = 50;
/// The longest note.
pub const NOTE_MAX_CHARS: usize = settle::NOTE_MAX_CHARS;

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
        super::place(&self.path)
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
            message: answer::sentence(&row.get::<_, String>(2)?),
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

#[derive(Template)]
#[template(path = "sales/open.html")]
struct OpenPage {
    layout: Layout,
    purchases: Vec<Purchase>,
    waiting: i64,
    next: Option<i64>,
    newest: bool,
    failure: Option<String>,
}

/// A purchase with something open.
struct Purchase {
    id: i64,
    code: String,
    at: Timestamp,
    staff: Option<String>,
    total: Option<i64>,
    told: Vec<Told>,
    /// There are more than are shown.
    more: bool,
}

impl Purchase {
    fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

fn find_open(connection: &Connection, from: i64) -> Result<(Vec<Purchase>, Option<i64>)> {
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

pub(super) async fn open(request: RequestContext) -> Result<Response> {
    answer::page(&open_page(&request, None).await?)
}

async fn open_page(request: &RequestContext, failure: Option<String>) -> Result<OpenPage> {
    let from = request.query.number("from").ok().flatten();
    let (purchases, next, waiting) = request
        .console
        .store
        .read(move |connection| {
            let (purchases, next) = find_open(connection, from.unwrap_or(i64::MAX))?;
            Ok((purchases, next, waiting(connection)?))
        })
        .await?;
    Ok(OpenPage {
        layout: request.layout("Inconsistencies", Some(Area::Sales)),
        purchases,
        waiting,
        next,
        newest: from.is_none(),
        failure,
    })
}

#[derive(Template)]
#[template(path = "sales/settled.html")]
struct SettledPage {
    layout: Layout,
    lines: Vec<Line>,
    waiting: i64,
    next: Option<String>,
    newest: bool,
}

/// Something that was settled, with its purchase.
struct Line {
    purchase: i64,
    code: String,
    told: Told,
}

impl Line {
    fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

fn find_settled(connection: &Connection, from: Place) -> Result<(Vec<Line>, Option<Place>)> {
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

pub(super) async fn settled(request: RequestContext) -> Result<Response> {
    let from = super::list::from(request.query.filled("from"));
    let (lines, next, waiting) = request
        .console
        .store
        .read(move |connection| {
            let (lines, next) = find_settled(connection, from.unwrap_or((i64::MAX, i64::MAX)))?;
            Ok((lines, next, waiting(connection)?))
        })
        .await?;
    answer::page(&SettledPage {
        layout: request.layout("Settled inconsistencies", Some(Area::Sales)),
        lines,
        waiting,
        next: next.map(|(at, id)| format!("{at}.{id}")),
        newest: from.is_none(),
    })
}

/// Settles those that are ticked; back to where they were ticked.
pub(super) async fn settle(request: RequestContext) -> Result<Response> {
    let purchase = request.id("id")?;
    let chosen: Vec<i64> = request
        .form
        .all("inconsistency")
        .filter_map(|id| id.parse().ok())
        .collect();
    let (ctx, note) = (request.context(), request.form.text("note").to_owned());
    let done = request
        .console
        .store
        .write(move |tx| settle::settle(tx, &ctx, purchase, &chosen, &note))
        .await;
    let back = match request.form.text("back") {
        "receipt" => format!("/console/sales/{purchase}#inconsistencies"),
        _ => "/console/sales/inconsistencies".to_owned(),
    };
    match done {
        Ok(count) => {
            request.flash(match count {
                1 => "1 inconsistency is settled.".to_owned(),
                count => format!("{count} inconsistencies are settled."),
            });
            Ok(answer::go(&back))
        }
        Err(cause) if cause.kind == Kind::Invalid => again(&request, &cause).await,
        Err(cause) => Err(cause),
    }
}

/// The page of open ones, with why nothing was settled.
async fn again(request: &RequestContext, cause: &Error) -> Result<Response> {
    let failure = answer::sentence(&cause.message);
    answer::form_again(&open_page(request, Some(failure)).await?)
}

/// Takes one up again.
pub(super) async fn reopen(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    let purchase = request
        .console
        .store
        .write(move |tx| settle::reopen(tx, &ctx, id))
        .await?;
    request.flash("It is open again.");
    Ok(answer::go(&format!(
        "/console/sales/{purchase}#inconsistencies"
    )))
}
