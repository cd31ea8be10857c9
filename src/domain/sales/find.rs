//! Purchases as people look for them.

use super::sums::method;
use crate::{
    core::{search::Conditions, texts::tx},
    domain::devices::NAME,
    types::{
        Timestamp,
        error::Result,
        text::{fold, shortened},
    },
};
use rusqlite::{Connection, params_from_iter};

/// The time of a purchase `t`: what the till says, otherwise when it came in.
pub const AT: &str = "coalesce(t.bought_at, t.created_at)";
/// Lines on a page.
const LINES: usize = 50;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PurchaseFilter {
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The seller; empty for anybody.
    pub staff: String,
    pub product: Option<i64>,
    /// `cash`, `card`, `other`, or nothing for any.
    pub method: String,
    /// `open`, `told`, `none`, or nothing for any inconsistencies.
    pub fits: &'static str,
    /// A part of the code or note, or a ticket's barcode.
    pub q: String,
}

impl PurchaseFilter {
    /// As a condition on purchases `t`.
    pub fn conditions(&self) -> Conditions {
        let mut condition = Conditions::default();
        for (test, at) in [(">=", self.since), ("<", self.until)] {
            if let Some(at) = at {
                let at = condition.bind(at.0);
                condition.and(&format!("{AT} {test} {at}"));
            }
        }
        if !self.staff.is_empty() {
            let staff = condition.bind(self.staff.clone());
            condition.and(&format!("t.recorded_by = {staff}"));
        }
        if let Some(product) = self.product {
            let product = condition.bind(product);
            condition.and(&format!(
                "t.id IN (SELECT transaction_id FROM transaction_items WHERE product_id = {product}
                 UNION SELECT transaction_id FROM transaction_delegates WHERE product_id = {product})"
            ));
        }
        let paid = "EXISTS (SELECT 1 FROM transaction_payments p WHERE p.transaction_id = t.id AND p.method";
        match self.method.as_str() {
            "" => {}
            "other" => {
                condition.and(&format!("{paid} IS NOT 'cash' AND p.method IS NOT 'card')"));
            }
            method => {
                let method = condition.bind(method.to_owned());
                condition.and(&format!("{paid} = {method})"));
            }
        }
        let inconsistent = |open: &str| {
            format!(
                "EXISTS (SELECT 1 FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
                 WHERE b.transaction_id = t.id{open})"
            )
        };
        match self.fits {
            "open" => condition.and(&inconsistent(" AND i.settled_at IS NULL")),
            "told" => condition.and(&inconsistent("")),
            "none" => condition.and(&format!("NOT {}", inconsistent(""))),
            _ => {}
        }
        if !self.q.is_empty() {
            let q = condition.bind(fold(&self.q));
            condition.and(&format!(
                "(text_contains(t.code, {q}) OR text_contains(coalesce(t.notes, ''), {q})
                 OR EXISTS (SELECT 1 FROM transaction_delegates d WHERE d.transaction_id = t.id
                     AND text_contains(d.barcode, {q})))"
            ));
        }
        condition
    }
}

/// A purchase as a line.
pub struct Line {
    pub id: i64,
    pub at: Timestamp,
    pub code: String,
    pub staff: Option<String>,
    pub total: Option<i64>,
    pub methods: String,
    pub what: String,
    pub tickets: i64,
    pub inconsistencies: i64,
    pub open: i64,
}

impl Line {
    /// The code, cut where nobody could read it.
    pub fn short_code(&self) -> String {
        shortened(&self.code)
    }
}

/// The time and id of a page's first line.
pub type Place = (i64, i64);

/// A page of purchases, the newest first, and where the next one begins.
pub fn find(
    connection: &Connection,
    filter: &PurchaseFilter,
    from: Option<Place>,
) -> Result<(Vec<Line>, Option<Place>)> {
    let mut condition = filter.conditions();
    if let Some((at, id)) = from {
        let (at, id) = (condition.bind(at), condition.bind(id));
        condition.and(&format!("{AT} <= {at} AND ({AT}, t.id) <= ({at}, {id})"));
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT t.id, {AT}, t.code, t.recorded_by, t.total_amount,
             (SELECT group_concat(method, ',') FROM (
                 SELECT DISTINCT coalesce(method, '') AS method FROM transaction_payments
                 WHERE transaction_id = t.id ORDER BY line LIMIT 5)),
             (SELECT coalesce(i.description, {NAME}) FROM transaction_items i
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
            inconsistencies: row.get(9)?,
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
        (None, items) => tx("sales-lines").with("count", items).to_string(),
        (Some(first), 1) => first,
        (Some(first), items) => tx("sales-first-and-more")
            .with("first", first)
            .with("count", items - 1)
            .to_string(),
    }
}

pub fn ids(connection: &Connection, filter: &PurchaseFilter) -> Result<Vec<i64>> {
    let conditions = filter.conditions();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT t.id FROM transactions t WHERE TRUE{} ORDER BY t.id",
        conditions.sql
    ))?;
    let ids = statement.query_map(params_from_iter(conditions.parameters), |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Returns whether there is any purchase.
pub fn is_any(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM transactions")?
        .exists([])?)
}

/// The choices of the page.
#[derive(Default)]
pub struct Choices {
    /// The people who ever sold something, and how each is shown.
    pub staff: Vec<(String, String)>,
    pub products: Vec<(i64, String)>,
}

impl Choices {
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut staff = connection.prepare_cached(
            "SELECT DISTINCT recorded_by FROM transactions WHERE length(recorded_by) <= 200
             ORDER BY recorded_by LIMIT 500",
        )?;
        let staff = staff.query_map([], |row| {
            let name: String = row.get(0)?;
            let shown = shortened(&name);
            Ok((name, shown))
        })?;
        let mut products = connection.prepare_cached(&format!(
            "SELECT d.id, {NAME} AS name FROM devices d WHERE d.id IN (SELECT product_id FROM transaction_items)
             ORDER BY text_folded(name) LIMIT 1000"
        ))?;
        let products = products.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            staff: staff.collect::<rusqlite::Result<_>>()?,
            products: products.collect::<rusqlite::Result<_>>()?,
        })
    }
}
