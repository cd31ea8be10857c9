//! Which purchases are asked for, and how they are found.

use crate::{
    console::{Fields, answer},
    error::Result,
    types::{Timestamp, Zone, text::fold},
};
use rusqlite::{Connection, types::Value};

/// The time of a purchase `t`: what the till says, otherwise when it came in.
pub const AT: &str = "coalesce(t.bought_at, t.created_at)";

/// What is chosen of those with or without inconsistencies.
const FITS: [(&str, &str); 4] = [
    ("", "all"),
    ("open", "with open inconsistencies"),
    ("told", "with inconsistencies, settled too"),
    ("none", "without any"),
];
/// How it was paid.
const METHODS: [(&str, &str); 4] = [
    ("", "any"),
    ("cash", "Cash"),
    ("card", "Card"),
    ("other", "Something else"),
];

/// What is asked for, as the page's form says it.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Purchases from this time on.
    pub since: Option<Timestamp>,
    /// Purchases up to this time.
    pub until: Option<Timestamp>,
    /// Who sold.
    pub staff: String,
    /// A product's device.
    pub product: Option<i64>,
    /// One of [`METHODS`].
    pub method: String,
    /// One of [`FITS`].
    pub fits: String,
    /// A part of the code or note, or a ticket's barcode.
    pub q: String,
    /// `since` and `until` as they were typed.
    pub times: [String; 2],
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl Filter {
    /// Reads the query string; what cannot be read of it is told, and left out.
    pub fn read(query: &Fields, zone: &Zone) -> (Self, Option<String>) {
        let mut failure = None;
        let product = query.number("product").unwrap_or_else(|cause| {
            failure = Some(cause.message);
            None
        });
        let mut time = |name: &str| {
            let text = query.filled(name)?;
            // A browser's field has a T between day and time.
            let value = serde_json::Value::from(text.replace('T', " "));
            zone.read(name, &value)
                .map_err(|cause| failure = Some(cause.message))
                .ok()
        };
        let (since, until) = (time("since"), time("until"));
        let filter = Self {
            since,
            // The field knows minutes, and the last one is meant as a whole.
            until: until.map(|until| Timestamp(until.0.saturating_add(60_000))),
            staff: query.text("staff").to_owned(),
            product,
            method: query.text("method").to_owned(),
            fits: query.text("fits").to_owned(),
            q: query.text("q").to_owned(),
            times: ["since", "until"].map(|name| query.text(name).to_owned()),
        };
        (filter, failure.map(|failure| answer::sentence(&failure)))
    }

    /// What can be chosen of those that fit or do not: value, name, and whether it is chosen.
    pub fn fits_offered(&self) -> Vec<(&'static str, &'static str, bool)> {
        offered(&FITS, &self.fits)
    }

    /// The methods that can be chosen, likewise.
    pub fn methods_offered(&self) -> Vec<(&'static str, &'static str, bool)> {
        offered(&METHODS, &self.method)
    }

    /// Whether nothing is left out.
    pub fn is_any(&self) -> bool {
        self.query().is_empty()
    }

    /// Whether it is about this product.
    pub fn is_product(&self, id: &i64) -> bool {
        self.product == Some(*id)
    }

    /// The filter as a query string.
    pub fn query(&self) -> String {
        let product = self.product.map(|id| id.to_string()).unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("since", &self.times[0]),
            ("until", &self.times[1]),
            ("staff", &self.staff),
            ("product", &product),
            ("method", &self.method),
            ("fits", &self.fits),
            ("q", &self.q),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }

    /// The filter as a query string with one parameter more.
    pub fn with(&self, name: &str, value: &str) -> String {
        let query = self.query();
        let more = form_urlencoded::Serializer::new(String::new())
            .append_pair(name, value)
            .finish();
        if query.is_empty() {
            more
        } else {
            format!("{query}&{more}")
        }
    }

    /// As a condition on purchases `t`.
    pub fn condition(&self) -> Condition {
        let mut condition = Condition {
            sql: "TRUE".to_owned(),
            parameters: Vec::new(),
        };
        for (test, at) in [(">=", self.since), ("<", self.until)] {
            if let Some(at) = at {
                condition.and(|place| format!("{AT} {test} {place}"), at.0);
            }
        }
        if !self.staff.is_empty() {
            condition.and(
                |place| format!("t.recorded_by = {place}"),
                self.staff.clone(),
            );
        }
        if let Some(product) = self.product {
            condition.and(
                |place| {
                    format!(
                        "t.id IN (SELECT transaction_id FROM transaction_items WHERE product_id = {place}
                         UNION SELECT transaction_id FROM transaction_delegates WHERE product_id = {place})"
                    )
                },
                product,
            );
        }
        let paid = "EXISTS (SELECT 1 FROM transaction_payments p WHERE p.transaction_id = t.id AND p.method";
        match self.method.as_str() {
            "" => {}
            "other" => {
                condition.plain(&format!("{paid} IS NOT 'cash' AND p.method IS NOT 'card')"));
            }
            method => condition.and(|place| format!("{paid} = {place})"), method.to_owned()),
        }
        let told = |open: &str| {
            format!(
                "EXISTS (SELECT 1 FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
                 WHERE b.transaction_id = t.id{open})"
            )
        };
        match self.fits.as_str() {
            "open" => condition.plain(&told(" AND i.settled_at IS NULL")),
            "told" => condition.plain(&told("")),
            "none" => condition.plain(&format!("NOT {}", told(""))),
            _ => {}
        }
        if !self.q.is_empty() {
            condition.and(
                |place| {
                    format!(
                        "(text_contains(t.code, {place}) OR text_contains(coalesce(t.notes, ''), {place})
                         OR EXISTS (SELECT 1 FROM transaction_delegates d WHERE d.transaction_id = t.id
                             AND text_contains(d.barcode, {place})))"
                    )
                },
                fold(&self.q),
            );
        }
        condition
    }
}

fn offered(
    offers: &[(&'static str, &'static str)],
    chosen: &str,
) -> Vec<(&'static str, &'static str, bool)> {
    let offers = offers.iter();
    offers
        .map(|(value, name)| (*value, *name, *value == chosen))
        .collect()
}

/// A condition with its parameters, numbered from 1.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The condition.
    pub sql: String,
    /// What it is about.
    pub parameters: Vec<Value>,
}

impl Condition {
    fn plain(&mut self, sql: &str) {
        self.sql += " AND ";
        self.sql += sql;
    }

    /// Adds a condition on a value; it is given the value's place.
    pub fn and(&mut self, sql: impl Fn(&str) -> String, value: impl Into<Value>) {
        self.parameters.push(value.into());
        let place = format!("?{}", self.parameters.len());
        self.plain(&sql(&place));
    }
}

/// What can be chosen from.
#[derive(Default)]
pub struct Choices {
    /// Who ever sold something.
    pub staff: Vec<String>,
    /// What was ever sold.
    pub products: Vec<(i64, String)>,
}

impl Choices {
    /// Reads them; each is found by a step in an index.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut staff = connection.prepare_cached(
            "WITH RECURSIVE staff (name) AS (
                 SELECT min(recorded_by) FROM transactions
                 UNION ALL SELECT (SELECT min(recorded_by) FROM transactions WHERE recorded_by > name)
                 FROM staff WHERE name IS NOT NULL)
             SELECT name FROM staff WHERE name IS NOT NULL LIMIT 500",
        )?;
        let staff = staff.query_map([], |row| row.get(0))?;
        let mut products = connection.prepare_cached(
            "WITH RECURSIVE products (id) AS (
                 SELECT min(product_id) FROM transaction_items
                 UNION ALL SELECT (SELECT min(product_id) FROM transaction_items WHERE product_id > id)
                 FROM products WHERE id IS NOT NULL)
             SELECT d.id, coalesce(d.name, d.code) FROM products p JOIN devices d ON d.id = p.id
             ORDER BY 2 COLLATE NOCASE LIMIT 1000",
        )?;
        let products = products.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            staff: staff.collect::<rusqlite::Result<_>>()?,
            products: products.collect::<rusqlite::Result<_>>()?,
        })
    }
}
