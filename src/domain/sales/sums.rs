//! Totals of purchases, by day of the instance's zone.

use super::find::AT;
use crate::{
    core::search::Conditions,
    domain::devices,
    types::{
        DeviceId, Timestamp, Zone,
        error::Result,
        text::{shortened, shortened_to},
    },
};
use rusqlite::{Connection, params_from_iter, types::Value};
use std::collections::{BTreeMap, HashMap};

/// Every zone's days consist of quarters of an hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;
/// The longest name that is shown, in characters.
const NAME_MAX_CHARS: usize = 200;
/// Methods of payment that are shown above a list.
const METHODS_MAX: usize = 20;
/// Days with a column of their own; what was before is one column.
const DAYS_MAX: usize = 7;

/// By what is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Method,
    Product,
    CurrentUser,
}

impl By {
    /// Every one, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Method, Self::Product, Self::CurrentUser];

    /// The name in addresses and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Product => "product",
            Self::CurrentUser => "staff",
        }
    }

    /// What is counted.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Method => "payments",
            Self::Product => "units",
            Self::CurrentUser => "purchases",
        }
    }

    /// Key, quarter of an hour, how many and how much, of the purchases that meet a condition.
    fn sql(self, condition: &str) -> String {
        let (key, count, cents, lines) = match self {
            Self::Method => ("p.method", "1", "p.net", "transaction_payments"),
            Self::Product => (
                "p.product_id",
                "p.quantity",
                "p.total_amount",
                "transaction_items",
            ),
            Self::CurrentUser => ("t.recorded_by", "1", "t.total_amount", ""),
        };
        let join = match lines {
            "" => String::new(),
            lines => format!("JOIN {lines} p ON p.transaction_id = t.id"),
        };
        format!(
            "SELECT {key}, {AT} / {QUARTER_MS}, coalesce(sum({count}), 0), coalesce(sum({cents}), 0)
             FROM transactions t {join} WHERE TRUE{condition} GROUP BY 1, 2"
        )
    }

    fn line_name(self, connection: &Connection, key: &Value) -> Result<String> {
        Ok(match (self, key) {
            (Self::Method, Value::Text(name)) => method(Some(name)),
            (Self::Method, _) => method(None),
            (_, Value::Text(name)) => shortened_to(name, NAME_MAX_CHARS),
            (_, Value::Integer(id)) => devices::called(connection, DeviceId(*id))?,
            (Self::Product, _) => "Unknown product".to_owned(),
            (Self::CurrentUser, _) => "Not specified".to_owned(),
        })
    }
}

/// What a method of payment is called.
pub fn method(name: Option<&str>) -> String {
    match name {
        Some("cash") => "Cash".to_owned(),
        Some("card") => "Card".to_owned(),
        Some(other) => shortened(other),
        None => "Not specified".to_owned(),
    }
}

/// How many, and how much in cents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: i64,
    /// In cents.
    pub cents: i64,
}

impl Sum {
    /// Adds another.
    pub fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.cents = self.cents.saturating_add(other.cents);
    }
}

/// A line of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    pub name: String,
    pub id: Option<i64>,
    pub days: BTreeMap<String, Sum>,
    pub all: Sum,
}

impl Row {
    fn add(&mut self, day: &str, sum: Sum) {
        self.days.entry(day.to_owned()).or_default().add(sum);
        self.all.add(sum);
    }
}

/// Totals of one kind, by day.
#[derive(Debug, Clone)]
pub struct Table {
    pub by: By,
    pub days: Vec<String>,
    pub rows: Vec<Row>,
    pub all: Row,
}

impl Table {
    /// Sums the purchases that meet a condition.
    pub fn read(
        connection: &Connection,
        by: By,
        condition: &Conditions,
        zone: &Zone,
    ) -> Result<Self> {
        let mut statement = connection.prepare_cached(&by.sql(&condition.sql))?;
        let mut lines = statement.query(params_from_iter(&condition.parameters))?;
        let mut rows: Vec<Row> = Vec::new();
        let mut all = Row {
            name: "All".to_owned(),
            ..Row::default()
        };
        let (mut last, mut days) = (None, HashMap::new());
        while let Some(line) = lines.next()? {
            let (key, quarter): (Value, i64) = (line.get(0)?, line.get(1)?);
            let sum = Sum {
                count: line.get(2)?,
                cents: line.get(3)?,
            };
            if last.as_ref() != Some(&key) {
                rows.push(Row {
                    name: by.line_name(connection, &key)?,
                    id: match key {
                        Value::Integer(id) => Some(id),
                        _ => None,
                    },
                    ..Row::default()
                });
                last = Some(key);
            }
            let day = days
                .entry(quarter)
                .or_insert_with(|| zone.day(Timestamp(quarter * QUARTER_MS)).0);
            for row in rows.last_mut().into_iter().chain([&mut all]) {
                row.add(day, sum);
            }
        }
        rows.sort_by(|one, other| {
            let largest = other.all.cents.cmp(&one.all.cents);
            largest.then_with(|| (&one.name, one.id).cmp(&(&other.name, other.id)))
        });
        Ok(Self {
            by,
            days: all.days.keys().cloned().collect(),
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

#[derive(Debug, Clone, Default)]
pub struct Whole {
    pub purchases: Sum,
    pub tickets: i64,
    /// By method: its name, and what stayed in the till.
    pub methods: Vec<(String, Sum)>,
}

impl Whole {
    /// Sums the purchases that meet a condition.
    pub fn read(connection: &Connection, condition: &Conditions) -> Result<Self> {
        let sql = &condition.sql;
        let purchases = connection.prepare_cached(&purchases_sql(sql))?.query_row(
            params_from_iter(&condition.parameters),
            |row| {
                Ok(Sum {
                    count: row.get(0)?,
                    cents: row.get(1)?,
                })
            },
        )?;
        let (from, condition_sql) = match sql.as_str() {
            // Whoever asks for all need not look each purchase up.
            "" => ("transaction_payments p", ""),
            sql => (
                "transactions t JOIN transaction_payments p ON p.transaction_id = t.id",
                sql,
            ),
        };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT p.method, count(*), coalesce(sum(p.net), 0) FROM {from} WHERE TRUE{condition_sql} GROUP BY 1"
        ))?;
        let methods = statement.query_map(params_from_iter(&condition.parameters), |row| {
            let sum = Sum {
                count: row.get(1)?,
                cents: row.get(2)?,
            };
            Ok((method(row.get::<_, Option<String>>(0)?.as_deref()), sum))
        })?;
        let mut methods = methods.collect::<rusqlite::Result<Vec<_>>>()?;
        let sql = match condition.sql.as_str() {
            "" => "SELECT count(*) FROM transaction_delegates".to_owned(),
            sql => format!(
                "SELECT count(*) FROM transactions t
                 JOIN transaction_delegates d ON d.transaction_id = t.id WHERE TRUE{sql}"
            ),
        };
        let tickets = connection
            .prepare_cached(&sql)?
            .query_row(params_from_iter(&condition.parameters), |row| row.get(0))?;
        methods.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.cents));
        methods.truncate(METHODS_MAX);
        Ok(Self {
            purchases,
            tickets,
            methods,
        })
    }
}

/// How many purchases meet a condition, and their total amounts.
fn purchases_sql(condition: &str) -> String {
    format!(
        "SELECT count(*), CAST(total(t.total_amount) AS INTEGER) FROM transactions t WHERE TRUE{condition}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_an_index_alone() {
        let connection = Connection::open_in_memory().unwrap();
        crate::db::migrate::create(&connection).unwrap();
        let plan = |sql: &str| -> String {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = connection.prepare(&sql).unwrap();
            let steps = statement.query_map([], |row| row.get(3)).unwrap();
            steps
                .collect::<rusqlite::Result<Vec<String>>>()
                .unwrap()
                .join("; ")
        };
        let since = format!(" AND {AT} >= 0");
        for condition in ["", since.as_str()] {
            for sql in [By::CurrentUser.sql(condition), purchases_sql(condition)] {
                let plan = plan(&sql);
                assert!(
                    plan.contains("COVERING INDEX transactions_bought"),
                    "{sql}: {plan}"
                );
            }
        }
    }
}
