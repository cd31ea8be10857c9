//! Which purchases are asked for, and how they are found.

use crate::{
    admin::{
        Fields,
        filter::{Asked, Condition, Times, query},
    },
    types::{
        Zone,
        error::Result,
        text::{fold, shortened},
    },
};
use rusqlite::Connection;

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
    /// Purchases of these times.
    pub times: Times,
    /// Who sold.
    pub staff: String,
    /// A product's device.
    pub product: Option<i64>,
    /// One of [`METHODS`].
    pub method: String,
    /// One of [`FITS`].
    pub fits: &'static str,
    /// A part of the code or note, or a ticket's barcode.
    pub q: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl Filter {
    /// Reads the query string; what cannot be read of it is told, and left out.
    pub fn read(query: &Fields, zone: &Zone) -> (Self, Option<String>) {
        let mut asked = Asked::of(query, zone);
        let filter = Self {
            times: asked.times(),
            staff: asked.text("staff"),
            product: asked.number("product"),
            method: asked.text("method"),
            fits: asked.choice("fits", &FITS),
            q: asked.text("q"),
        };
        (filter, asked.failure())
    }

    /// What can be chosen of those that fit or do not: value, name, and whether it is chosen.
    pub fn fits_offered(&self) -> Vec<(&'static str, &'static str, bool)> {
        offered(&FITS, self.fits)
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
        query(&[
            ("since", &self.times.typed[0]),
            ("until", &self.times.typed[1]),
            ("staff", &self.staff),
            ("product", &product),
            ("method", &self.method),
            ("fits", self.fits),
            ("q", &self.q),
        ])
    }

    /// The filter as a query string with one parameter more.
    pub fn with(&self, name: &str, value: &str) -> String {
        let (asked, more) = (self.query(), query(&[(name, value)]));
        let between = if asked.is_empty() { "" } else { "&" };
        format!("{asked}{between}{more}")
    }

    /// As a condition on purchases `t`.
    pub fn condition(&self) -> Condition {
        let mut condition = Condition::default();
        for (test, at) in [(">=", self.times.since), ("<", self.times.until)] {
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
        let told = |open: &str| {
            format!(
                "EXISTS (SELECT 1 FROM transaction_bodies b JOIN inconsistencies i ON i.body_id = b.id
                 WHERE b.transaction_id = t.id{open})"
            )
        };
        match self.fits {
            "open" => condition.and(&told(" AND i.settled_at IS NULL")),
            "told" => condition.and(&told("")),
            "none" => condition.and(&format!("NOT {}", told(""))),
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

fn offered(
    offers: &[(&'static str, &'static str)],
    chosen: &str,
) -> Vec<(&'static str, &'static str, bool)> {
    let offers = offers.iter();
    offers
        .map(|(value, name)| (*value, *name, *value == chosen))
        .collect()
}

/// What can be chosen from.
#[derive(Default)]
pub struct Choices {
    /// Who ever sold something, and how that is shown.
    pub staff: Vec<(String, String)>,
    /// What was ever sold.
    pub products: Vec<(i64, String)>,
}

impl Choices {
    /// Reads them; each is found by a step in an index.
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut staff = connection.prepare_cached(
            "WITH RECURSIVE clerks (name) AS (
                 SELECT min(recorded_by) FROM transactions
                 UNION ALL SELECT (SELECT min(recorded_by) FROM transactions WHERE recorded_by > name)
                 FROM clerks WHERE name IS NOT NULL)
             SELECT name FROM clerks WHERE length(name) <= 200 LIMIT 500",
        )?;
        let staff = staff.query_map([], |row| {
            let name: String = row.get(0)?;
            let shown = shortened(&name);
            Ok((name, shown))
        })?;
        let mut products = connection.prepare_cached(
            "WITH RECURSIVE products (id) AS (
                 SELECT min(product_id) FROM transaction_items WHERE product_id IS NOT NULL
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
