//! The purchases, the newest first, and what those that are asked for come to.

use super::{
    amount,
    filter::{AT, Choices, Filter},
    method, money,
    sums::Whole,
    waiting,
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    types::{Timestamp, error::Result, text::shortened},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, params_from_iter};

/// Lines on a page.
const LINES: usize = 50;

#[derive(Template)]
#[template(path = "sales/list.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    choices: Choices,
    lines: Vec<Line>,
    whole: Whole,
    waiting: i64,
    next: Option<String>,
    newest: bool,
    /// There is no purchase at all.
    nothing: bool,
}

/// A purchase as a line.
struct Line {
    id: i64,
    at: Timestamp,
    code: String,
    staff: Option<String>,
    total: Option<i64>,
    methods: String,
    what: String,
    tickets: i64,
    told: i64,
    open: i64,
}

impl Line {
    /// The code, cut where nobody could read it.
    fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

/// Where a page begins: time and id of its first line.
pub(super) type Place = (i64, i64);

/// Where a page is asked to begin.
pub(super) fn from(text: Option<&str>) -> Option<Place> {
    let (at, id) = text?.split_once('.')?;
    Some((at.parse().ok()?, id.parse().ok()?))
}

fn find(
    connection: &Connection,
    filter: &Filter,
    from: Option<Place>,
) -> Result<(Vec<Line>, Option<Place>)> {
    let mut condition = filter.condition();
    if let Some((at, id)) = from {
        let (at, id) = (condition.bind(at), condition.bind(id));
        condition.and(&format!("{AT} <= {at} AND ({AT}, t.id) <= ({at}, {id})"));
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT t.id, {AT}, t.code, t.recorded_by, t.total_amount,
             (SELECT group_concat(method, ',') FROM (
                 SELECT DISTINCT coalesce(method, '') AS method FROM transaction_payments
                 WHERE transaction_id = t.id ORDER BY line LIMIT 5)),
             (SELECT coalesce(i.description, d.name, d.code) FROM transaction_items i
                 LEFT JOIN devices d ON d.id = i.product_id WHERE i.transaction_id = t.id ORDER BY line LIMIT 1),
             (SELECT count(*) FROM transaction_items WHERE transaction_id = t.id),
             (SELECT count(*) FROM transaction_delegates WHERE transaction_id = t.id),
             (SELECT count(*) FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
                 WHERE b.transaction_id = t.id),
             (SELECT count(*) FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
                 WHERE b.transaction_id = t.id AND i.settled_at IS NULL)
         FROM transactions t WHERE TRUE{} ORDER BY {AT} DESC, t.id DESC LIMIT {}",
        condition.sql,
        LINES + 1
    ))?;
    let lines = statement.query_map(params_from_iter(condition.parameters), |row| {
        let methods: Option<String> = row.get(5)?;
        let (first, items): (Option<String>, i64) = (row.get(6)?, row.get(7)?);
        Ok(Line {
            id: row.get(0)?,
            at: row.get(1)?,
            code: row.get(2)?,
            staff: row.get::<_, Option<String>>(3)?.as_deref().map(shortened),
            total: row.get(4)?,
            methods: methods.as_deref().map(named).unwrap_or_default(),
            what: what(first.as_deref(), items),
            tickets: row.get(8)?,
            told: row.get(9)?,
            open: row.get(10)?,
        })
    })?;
    let mut lines = lines.collect::<rusqlite::Result<Vec<_>>>()?;
    let next = lines.get(LINES).map(|line| (line.at.0, line.id));
    lines.truncate(LINES);
    Ok((lines, next))
}

fn named(methods: &str) -> String {
    let named: Vec<String> = methods
        .split(',')
        .map(|name| method(Some(name).filter(|name| !name.is_empty())))
        .collect();
    named.join(", ")
}

fn what(first: Option<&str>, items: i64) -> String {
    let first = first.map(shortened);
    match (first, items) {
        (_, 0) => String::new(),
        (None, 1) => "1 line".to_owned(),
        (None, items) => format!("{items} lines"),
        (Some(first), 1) => first,
        (Some(first), items) => format!("{first} and {} more", items - 1),
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    let from = from(request.query.filled("from"));
    let asked = filter.clone();
    let (found, choices, whole, waiting, nothing) = request
        .console
        .store
        .read(move |connection| {
            let nothing = !connection
                .prepare_cached("SELECT 1 FROM transactions")?
                .exists([])?;
            Ok((
                find(connection, &asked, from)?,
                Choices::read(connection)?,
                Whole::read(connection, &asked.condition())?,
                waiting(connection)?,
                nothing,
            ))
        })
        .await?;
    let (lines, next) = found;
    let page = Page {
        layout: request.layout("Sales", Some(Area::Sales)),
        next: next.map(|(at, id)| filter.with("from", &format!("{at}.{id}"))),
        newest: from.is_none(),
        filter,
        failure,
        choices,
        lines,
        whole,
        waiting,
        nothing,
    };
    if page.failure.is_some() {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}
