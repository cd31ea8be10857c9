//! A report that somebody put together without SQL: what it shows, of whom, in which order. Its SQL is made here of the
//! parts of the catalogue alone; what was typed goes along as values.

mod catalogue;
mod statement;

use super::parameters::Fixed;
use crate::types::error::{Error, Result};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use statement::{Shown, Statement, unknown};

pub use catalogue::{Column, ColumnKind, Measure, SOURCES, SPANS, Source};

/// Filters at the most.
pub const FILTERS_MAX: usize = 8;
/// Columns by which rows are grouped at the most.
pub const GROUPS_MAX: usize = 2;
/// Rows that a limit allows at the most.
pub const LIMIT_MAX: i64 = 100_000;

/// The definition of a report without SQL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// What it is about: the key of a [`Source`].
    pub source: String,
    /// The columns of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
    /// The columns by which rows are grouped, a time with its span: `time.hour`. With one, there are numbers in place of
    /// columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// The numbers of each group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<String>,
    /// The column of the result by which it is sorted, `-` before it for descending; empty: as suits it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sort: String,
    /// `line`, `bar` or `none`; empty: as suits it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub chart: String,
    /// Rows at the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// A condition that rows fulfil.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub column: String,
    pub is: Comparison,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// How a filter compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    #[default]
    Is,
    IsNot,
    Contains,
    ContainsNot,
    From,
    To,
    Empty,
    Filled,
}

impl Comparison {
    /// Each with its name in forms, and its words.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Is, "is", "is"),
        (Self::IsNot, "is-not", "is not"),
        (Self::Contains, "contains", "contains"),
        (Self::ContainsNot, "contains-not", "does not contain"),
        (Self::From, "from", "from"),
        (Self::To, "to", "to"),
        (Self::Empty, "empty", "is empty"),
        (Self::Filled, "filled", "is filled in"),
    ];

    /// The comparison of this name in a form.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, known, _)| *known == name);
        found.map(|(comparison, ..)| *comparison)
    }

    /// Its name in a form.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(known, ..)| *known == self);
        found.map_or("is", |(_, name, _)| name)
    }

    fn takes_value(self) -> bool {
        !matches!(self, Self::Empty | Self::Filled)
    }
}

impl Built {
    /// The source that it names.
    pub fn source(&self) -> Result<&'static Source> {
        Source::find(&self.source).ok_or_else(|| unknown("source", &self.source))
    }

    /// Makes its SQL and the values that belong to it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the property.
    pub fn compile(&self) -> Result<(String, Vec<Fixed>)> {
        let mut statement = Statement::new(self.source()?);
        let shown = self.shown(&mut statement)?;
        if self.filters.len() > FILTERS_MAX {
            return Err(Error::field("filters", format!("at most {FILTERS_MAX}")));
        }
        for (at, filter) in self.filters.iter().enumerate() {
            let filtered = statement.filter(filter);
            filtered.map_err(|cause| cause.at(format!("filters[{at}]")))?;
        }
        let order = self.order(&shown)?;
        if !["", "line", "bar", "none"].contains(&self.chart.as_str()) {
            return Err(unknown("chart", &self.chart));
        }
        let limit = match self.limit {
            None => String::new(),
            Some(limit) if (1..=LIMIT_MAX).contains(&limit) => format!("\nLIMIT {limit}"),
            Some(_) => {
                return Err(Error::field(
                    "limit",
                    format!("must be from 1 to {LIMIT_MAX}"),
                ));
            }
        };
        let columns = shown
            .iter()
            .map(|one| format!("{} AS {}", one.sql, one.key));
        let columns = columns.collect::<Vec<_>>().join(",\n       ");
        let groups = (1..=self.group.len()).map(|at| {
            let folded = if shown[at - 1].is_text {
                " COLLATE NOCASE"
            } else {
                ""
            };
            format!("{at}{folded}")
        });
        let group = match groups.collect::<Vec<_>>().join(", ") {
            groups if groups.is_empty() => groups,
            groups => format!("\nGROUP BY {groups}"),
        };
        let Statement { source, .. } = statement;
        let from = statement.from();
        let only = Some(source.only).filter(|only| !only.is_empty());
        let conditions = only
            .into_iter()
            .chain(statement.conditions.iter().map(String::as_str));
        let conditions = match conditions.collect::<Vec<_>>().join("\n  AND ") {
            conditions if conditions.is_empty() => conditions,
            conditions => format!("\nWHERE {conditions}"),
        };
        let sql =
            format!("SELECT {columns}\nFROM {from}{conditions}{group}\nORDER BY {order}{limit}");
        Ok((sql, statement.values))
    }

    /// The columns of the result by their names in it: each with its heading in the language of the page, and whether
    /// its values are words of the server.
    pub fn headings(&self) -> Vec<(String, String, bool)> {
        let Ok(source) = self.source() else {
            return Vec::new();
        };
        let mut statement = Statement::new(source);
        let shown = self.shown(&mut statement).unwrap_or_default();
        let headed = |one: Shown| {
            let heading = one.heading();
            (one.key, heading, one.is_of_words)
        };
        shown.into_iter().map(headed).collect()
    }

    fn shown(&self, statement: &mut Statement) -> Result<Vec<Shown>> {
        if self.group.is_empty() {
            if self.columns.is_empty() {
                return Err(Error::field("columns", "choose one at least"));
            }
            let columns = self.columns.iter().map(|key| statement.listed(key));
            return distinct("columns", columns.collect::<Result<_>>()?);
        }
        if self.group.len() > GROUPS_MAX {
            return Err(Error::field("group", format!("at most {GROUPS_MAX}")));
        }
        if self.numbers.is_empty() {
            return Err(Error::field("numbers", "choose one at least"));
        }
        let groups = self.group.iter().map(|key| statement.grouped(key));
        let groups = distinct("group", groups.collect::<Result<_>>()?)?;
        let numbers = self.numbers.iter().map(|key| {
            let measure = statement.source.measure(key);
            let measure = measure.ok_or_else(|| unknown("numbers", key))?;
            statement.needs.extend(measure.needs);
            Ok(Shown {
                key: measure.key.to_owned(),
                label: measure.label,
                span: None,
                sql: measure.sql.to_owned(),
                is_text: false,
                is_time: false,
                is_of_words: false,
            })
        });
        let numbers = numbers.collect::<Result<_>>()?;
        let mut shown = groups;
        // A group and a number may have one name, as `arrived` of attendees.
        for mut number in distinct("numbers", numbers)? {
            if shown.iter().any(|known| known.key == number.key) {
                number.key.insert_str(0, "number_");
            }
            shown.push(number);
        }
        Ok(shown)
    }

    fn order(&self, shown: &[Shown]) -> Result<String> {
        let (key, is_descending) = match self.sort.strip_prefix('-') {
            Some(key) => (key, true),
            None => (&*self.sort, false),
        };
        let is_counted = !self.group.is_empty() && !shown[0].is_time;
        let (at, is_descending) = match key {
            // The highest number first, but times in their order.
            "" if is_counted => (self.group.len(), true),
            "" => (0, false),
            key => {
                let at = shown.iter().position(|one| one.key == key);
                (at.ok_or_else(|| unknown("sort", key))?, is_descending)
            }
        };
        let part = |at: usize, is_descending: bool| {
            let way = if is_descending { " DESC" } else { "" };
            match &shown[at] {
                text if text.is_text => format!("text_folded({}){way}", text.sql),
                _ => format!("{}{way}", at + 1),
            }
        };
        let others = (0..shown.len().min(GROUPS_MAX)).filter(|other| *other != at);
        let others = others.map(|other| part(other, false));
        let all: Vec<String> = std::iter::once(part(at, is_descending))
            .chain(others)
            .collect();
        Ok(all.join(", "))
    }

    /// Estimates how many rows it goes through.
    pub fn rows(&self, connection: &Connection) -> Result<i64> {
        let largest = |table: &str| -> Result<i64> {
            let sql = format!("SELECT coalesce(max(rowid), 0) FROM {table}");
            Ok(connection
                .prepare_cached(&sql)?
                .query_row([], |row| row.get(0))?)
        };
        let source = self.source()?;
        let keys = self.columns.iter().chain(&self.group).chain(&self.numbers);
        let keys = keys.chain(self.filters.iter().map(|filter| &filter.column));
        // What people did is gone through to tell who arrived.
        let looks_at_activity = keys.into_iter().any(|key| {
            let key = key.split('.').next().unwrap_or_default();
            let column = source.column(key);
            let needs = column.map(|column| (column.needs, column.key));
            needs.is_some_and(|(needs, key)| needs.contains(&"visits") || key == "arrived")
                || source
                    .measure(key)
                    .is_some_and(|measure| !measure.needs.is_empty())
        });
        let own = largest(source.size)?;
        Ok(if looks_at_activity {
            own.max(largest("interactions")?)
        } else {
            own
        })
    }
}

/// Refuses columns that stand twice.
fn distinct(field: &str, shown: Vec<Shown>) -> Result<Vec<Shown>> {
    for (at, one) in shown.iter().enumerate() {
        if shown[..at].iter().any(|known| known.key == one.key) {
            return Err(Error::field(field, format!("{} stands twice", one.label())));
        }
    }
    Ok(shown)
}
