//! What purchases come to, by day of the instance's zone. Sums are made in quarters of an hour, which
//! every zone's days consist of.

use super::{
    filter::{AT, Condition},
    method,
};
use crate::{
    error::Result,
    types::{Timestamp, Zone},
};
use rusqlite::{Connection, params_from_iter};
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds of a quarter of an hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;
/// Days with a column of their own; what was before is one column.
const DAYS_MAX: usize = 7;

/// By what is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// How it was paid.
    Method,
    /// What was sold.
    Product,
    /// Who sold it.
    Staff,
}

impl By {
    /// Every one, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Method, Self::Product, Self::Staff];

    /// The name in addresses and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Product => "product",
            Self::Staff => "staff",
        }
    }

    /// What is counted.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Method => "payments",
            Self::Product => "units",
            Self::Staff => "purchases",
        }
    }

    /// Quarter, key, name, id, how many and how much, of the purchases that meet a condition.
    fn sql(self, condition: &str) -> String {
        let quarter = format!("{AT} / {QUARTER_MS}");
        match self {
            Self::Method => format!(
                "SELECT {quarter}, p.method, NULL, count(*), CAST(total(p.net) AS INTEGER)
                 FROM transactions t JOIN transaction_payments p ON p.transaction_id = t.id
                 WHERE {condition} GROUP BY 1, 2"
            ),
            Self::Product => format!(
                "SELECT {quarter}, coalesce(d.name, d.code), i.product_id,
                     CAST(total(i.quantity) AS INTEGER), CAST(total(i.total_amount) AS INTEGER)
                 FROM transactions t JOIN transaction_items i ON i.transaction_id = t.id
                 LEFT JOIN devices d ON d.id = i.product_id
                 WHERE {condition} GROUP BY 1, i.product_id"
            ),
            Self::Staff => format!(
                "SELECT {quarter}, t.recorded_by, NULL, count(*), CAST(total(t.total_amount) AS INTEGER)
                 FROM transactions t WHERE {condition} GROUP BY 1, 2"
            ),
        }
    }

    fn called(self, name: Option<&str>) -> String {
        match (self, name) {
            (Self::Method, name) => method(name),
            (_, Some(name)) => name.to_owned(),
            (Self::Product, None) => "An unknown product".to_owned(),
            (Self::Staff, None) => "Not said".to_owned(),
        }
    }
}

/// How many, and how much in cents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub count: i64,
    /// In cents.
    pub cents: i64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.cents = self.cents.saturating_add(other.cents);
    }
}

/// A line of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Of what.
    pub name: String,
    /// Its device, of a product.
    pub id: Option<i64>,
    /// By day.
    pub days: BTreeMap<String, Sum>,
    /// On all days.
    pub all: Sum,
}

/// What purchases come to, by something and by day.
#[derive(Debug, Clone)]
pub struct Table {
    /// By what.
    pub by: By,
    /// The days, in order.
    pub days: Vec<String>,
    /// A line each, the largest amount first.
    pub rows: Vec<Row>,
    /// All of them.
    pub all: Row,
}

impl Table {
    /// Sums the purchases that meet a condition.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(
        connection: &Connection,
        by: By,
        condition: &Condition,
        zone: &Zone,
    ) -> Result<Self> {
        let mut statement = connection.prepare_cached(&by.sql(&condition.sql))?;
        let mut rows = statement.query(params_from_iter(&condition.parameters))?;
        let mut found: BTreeMap<(Option<i64>, Option<String>), Row> = BTreeMap::new();
        let mut all = Row::default();
        let mut days = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let quarter: i64 = row.get(0)?;
            let (name, id): (Option<String>, Option<i64>) = (row.get(1)?, row.get(2)?);
            let sum = Sum {
                count: row.get(3)?,
                cents: row.get(4)?,
            };
            let day = day(zone, quarter);
            let line = found
                .entry((id, name))
                .or_insert_with_key(|(id, name)| Row {
                    name: by.called(name.as_deref()),
                    id: *id,
                    ..Row::default()
                });
            for line in [line, &mut all] {
                line.days.entry(day.clone()).or_default().add(sum);
                line.all.add(sum);
            }
            days.insert(day);
        }
        let mut rows: Vec<Row> = found.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.all.cents));
        "All".clone_into(&mut all.name);
        Ok(Self {
            by,
            days: days.into_iter().collect(),
            rows,
            all,
        })
    }

    /// The days that have a column, and whether there were more before.
    pub fn columns(&self) -> (&[String], bool) {
        let earlier = self.days.len().saturating_sub(DAYS_MAX);
        (&self.days[earlier..], earlier > 0)
    }

    /// A line's sums, column by column: before the days shown where there is more, then each day.
    pub fn cells(&self, row: &Row) -> Vec<Option<Sum>> {
        let (days, more) = self.columns();
        let mut cells = Vec::with_capacity(days.len() + 1);
        if more {
            let mut before = Sum::default();
            for (day, sum) in &row.days {
                if days.first().is_some_and(|first| day < first) {
                    before.add(*sum);
                }
            }
            cells.push(Some(before).filter(|before| before.count != 0 || before.cents != 0));
        }
        cells.extend(days.iter().map(|day| row.days.get(day).copied()));
        cells
    }
}

fn day(zone: &Zone, quarter: i64) -> String {
    let text = zone.plain(Timestamp(quarter * QUARTER_MS));
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// What purchases come to altogether.
#[derive(Debug, Clone, Default)]
pub struct Whole {
    /// How many purchases, and their total amounts.
    pub purchases: Sum,
    /// How many tickets were made.
    pub tickets: i64,
    /// By method: its name, and what stayed in the till.
    pub methods: Vec<(String, Sum)>,
}

impl Whole {
    /// Sums the purchases that meet a condition.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(connection: &Connection, condition: &Condition) -> Result<Self> {
        let sql = &condition.sql;
        let parameters = || params_from_iter(&condition.parameters);
        let purchases = connection
            .prepare_cached(&format!(
                "SELECT count(*), CAST(total(t.total_amount) AS INTEGER) FROM transactions t WHERE {sql}"
            ))?
            .query_row(parameters(), |row| {
                Ok(Sum {
                    count: row.get(0)?,
                    cents: row.get(1)?,
                })
            })?;
        let tickets = connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM transactions t
                 JOIN transaction_delegates d ON d.transaction_id = t.id WHERE {sql}"
            ))?
            .query_row(parameters(), |row| row.get(0))?;
        let mut statement = connection.prepare_cached(&format!(
            "SELECT p.method, count(*), CAST(total(p.net) AS INTEGER) FROM transactions t
             JOIN transaction_payments p ON p.transaction_id = t.id WHERE {sql}
             GROUP BY 1 ORDER BY 3 DESC LIMIT 20"
        ))?;
        let methods = statement.query_map(parameters(), |row| {
            let name: Option<String> = row.get(0)?;
            Ok((
                method(name.as_deref()),
                Sum {
                    count: row.get(1)?,
                    cents: row.get(2)?,
                },
            ))
        })?;
        Ok(Self {
            purchases,
            tickets,
            methods: methods.collect::<rusqlite::Result<_>>()?,
        })
    }
}
