//! Totals of purchases, by day of the instance's zone.

use super::{
    adding::{Adding, Key},
    find::AT,
};
use crate::{
    core::{search::Conditions, texts::say},
    domain::devices,
    types::{
        DeviceId, Zone,
        error::Result,
        text::{shortened, shortened_to},
    },
};
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeMap;

/// The longest name that is shown, in characters.
const NAME_MAX_CHARS: usize = 200;
/// Methods of payment that are shown above a list.
const METHODS_MAX: usize = 20;
/// Days with a column of their own; what was before is one column.
const DAYS_MAX: usize = 7;

/// The key of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The method of payment.
    Method,
    /// The product.
    Product,
    /// The seller.
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

    /// The word for what is counted.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Method => "payments",
            Self::Product => "units",
            Self::CurrentUser => "purchases",
        }
    }

    /// Time, key, how many and how much, line by line, of the purchases that meet a condition.
    fn sql(self, at: &str, condition: &str) -> String {
        let (columns, lines) = match self {
            Self::Method => ("p.method, 1, p.net", "transaction_payments p"),
            Self::Product => (
                "p.product_id, p.quantity, p.total_amount",
                "transaction_items p",
            ),
            Self::CurrentUser => {
                return format!(
                    "SELECT {at}, t.recorded_by, 1, t.total_amount FROM transactions t WHERE TRUE{condition}"
                );
            }
        };
        format!(
            "SELECT {at}, {columns} FROM transactions t JOIN {lines} ON p.transaction_id = t.id
             WHERE TRUE{condition}"
        )
    }

    fn line_name(self, connection: &Connection, key: &Key) -> Result<String> {
        Ok(match (self, key) {
            (Self::Method, Key::Text(name)) => method(Some(name)),
            (Self::Method, _) => method(None),
            (_, Key::Text(name)) => shortened_to(name, NAME_MAX_CHARS),
            (_, Key::Device(id)) => devices::called(connection, DeviceId(*id))?,
            (Self::Product, Key::Nothing) => say("Unknown product"),
            (Self::CurrentUser, Key::Nothing) => say("Not specified"),
        })
    }
}

/// The name of a method of payment, in the language of the page.
pub fn method(name: Option<&str>) -> String {
    match name {
        Some("cash") => say("Cash"),
        Some("card") => say("Card"),
        Some(other) => shortened(other),
        None => say("Not specified"),
    }
}

/// The number of purchases or items, and their amount in cents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: i64,
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
    /// The name of what was summed.
    pub name: String,
    /// Its device, of a product.
    pub id: Option<i64>,
    /// By day.
    pub days: BTreeMap<String, Sum>,
    /// On all days.
    pub all: Sum,
}

impl Row {
    fn add(&mut self, day: &str, sum: Sum) {
        match self.days.get_mut(day) {
            Some(of_day) => of_day.add(sum),
            None => {
                self.days.insert(day.to_owned(), sum);
            }
        }
        self.all.add(sum);
    }
}

/// Totals of one kind, by day.
#[derive(Debug, Clone)]
pub struct Table {
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
    pub fn read(
        connection: &Connection,
        by: By,
        condition: &Conditions,
        zone: &Zone,
    ) -> Result<Self> {
        let adding = Adding::read(connection, &by.sql(AT, &condition.sql), condition)?;
        let mut rows = Vec::with_capacity(adding.keys.len());
        for key in &adding.keys {
            rows.push(Row {
                name: by.line_name(connection, key)?,
                id: match key {
                    Key::Device(id) => Some(*id),
                    _ => None,
                },
                ..Row::default()
            });
        }
        let mut all = Row {
            name: "All".to_owned(),
            ..Row::default()
        };
        let days = adding.days(zone);
        for ((place, quarter), sum) in adding.sums {
            for line in [&mut rows[place], &mut all] {
                line.add(&days[&quarter], sum);
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
    /// The number of purchases, and their total amounts.
    pub purchases: Sum,
    /// The number of tickets that were made.
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
        let by = By::Method;
        let adding = if sql.is_empty() {
            // Whoever asks for all need not look each purchase up.
            let sql = "SELECT 0, method, 1, net FROM transaction_payments";
            Adding::read(connection, sql, condition)?
        } else {
            Adding::read(connection, &by.sql("0", sql), condition)?
        };
        let mut methods = Vec::with_capacity(adding.keys.len());
        for key in &adding.keys {
            methods.push((by.line_name(connection, key)?, Sum::default()));
        }
        for ((place, _), sum) in adding.sums {
            methods[place].1.add(sum);
        }
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

/// The statement that counts the purchases that meet a condition, and sums their amounts.
fn purchases_sql(condition: &str) -> String {
    format!(
        "SELECT count(*), CAST(total(t.total_amount) AS INTEGER) FROM transactions t WHERE TRUE{condition}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sorted_and_no_purchase_is_read_whole_to_be_added_up() {
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
            for sql in [By::CurrentUser.sql(AT, condition), purchases_sql(condition)] {
                let plan = plan(&sql);
                assert!(
                    plan.contains("COVERING INDEX transactions_bought"),
                    "{sql}: {plan}"
                );
            }
            for by in By::ALL {
                let plan = plan(&by.sql(AT, condition));
                assert!(!plan.contains("TEMP B-TREE"), "{by:?}: {plan}");
            }
        }
    }
}
