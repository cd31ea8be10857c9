//! A report that somebody put together without SQL: what it shows, of whom, in which order. Its SQL is made here of the
//! parts of the catalogue alone; what was typed goes along as values.

mod catalogue;

use super::parameters::Fixed;
use crate::{
    domain::interactions,
    types::{
        Zone,
        error::{Error, Result},
        text::{check_text, shortened},
    },
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

pub use catalogue::{Column, ColumnKind, Measure, SOURCES, SPANS, Source};

/// Filters at the most.
pub const FILTERS_MAX: usize = 8;
/// Columns by which rows are grouped at the most.
pub const GROUPS_MAX: usize = 2;
/// The longest value of a filter, in characters.
const VALUE_MAX_CHARS: usize = 200;
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

/// A column of the result.
struct Shown {
    key: String,
    label: String,
    sql: String,
    /// How it is grouped and sorted.
    is_text: bool,
    is_time: bool,
}

/// The parts of the statement, as far as they are known.
struct Statement {
    source: &'static Source,
    needs: Vec<&'static str>,
    conditions: Vec<String>,
    values: Vec<Fixed>,
}

/// The error of an unknown name.
fn unknown(field: &str, name: &str) -> Error {
    Error::field(field, format!("there is no \"{}\"", shortened(name)))
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
        let mut statement = Statement {
            source: self.source()?,
            needs: Vec::new(),
            conditions: Vec::new(),
            values: Vec::new(),
        };
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

    /// The labels of the columns of the result, by their names in it.
    pub fn labels(&self) -> Vec<(String, String)> {
        let Ok(source) = self.source() else {
            return Vec::new();
        };
        let mut statement = Statement {
            source,
            needs: Vec::new(),
            conditions: Vec::new(),
            values: Vec::new(),
        };
        let shown = self.shown(&mut statement).unwrap_or_default();
        shown.into_iter().map(|one| (one.key, one.label)).collect()
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
                label: measure.label.to_owned(),
                sql: measure.sql.to_owned(),
                is_text: false,
                is_time: false,
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
            let folded = if shown[at].is_text {
                " COLLATE NOCASE"
            } else {
                ""
            };
            let way = if is_descending { " DESC" } else { "" };
            format!("{}{folded}{way}", at + 1)
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
            return Err(Error::field(field, format!("{} stands twice", one.label)));
        }
    }
    Ok(shown)
}

impl Statement {
    fn column(&mut self, field: &str, key: &str) -> Result<&'static Column> {
        let column = self.source.column(key).ok_or_else(|| unknown(field, key))?;
        self.needs.extend(column.needs);
        Ok(column)
    }

    /// A column of a list.
    fn listed(&mut self, key: &str) -> Result<Shown> {
        let column = self.column("columns", key)?;
        Ok(Shown {
            key: column.key.to_owned(),
            label: column.label.to_owned(),
            sql: match column.kind {
                ColumnKind::Time => format!("local_time({})", column.sql),
                ColumnKind::Flag => format!("iif({}, 'yes', 'no')", column.sql),
                ColumnKind::Activity => labelled(column.sql),
                ColumnKind::Text | ColumnKind::Number => column.sql.to_owned(),
            },
            is_text: column.kind == ColumnKind::Text,
            is_time: column.kind == ColumnKind::Time,
        })
    }

    /// A column by which rows are grouped.
    fn grouped(&mut self, key: &str) -> Result<Shown> {
        let Some((name, span)) = key.split_once('.') else {
            let shown = self.listed(key).map_err(|cause| cause.at("group"))?;
            let kind = self.source.column(key).map(|column| column.kind);
            return match kind {
                Some(ColumnKind::Time) => Err(Error::field(
                    "group",
                    format!("{key} is a time: group by {key}.hour or {key}.day"),
                )),
                Some(ColumnKind::Number) => Err(Error::field(
                    "group",
                    format!("{} is a number", shown.label),
                )),
                _ => Ok(shown),
            };
        };
        let column = self.column("group", name)?;
        let words = SPANS.iter().find(|(known, _)| *known == span);
        let (Some((span, words)), ColumnKind::Time) = (words, column.kind) else {
            return Err(unknown("group", key));
        };
        // Zones differ from each other by quarters of an hour.
        let sql = match *span {
            "quarter" => format!("local_time(unixepoch({}) / 900 * 900)", column.sql),
            "hour" => format!(
                "substr(local_time(unixepoch({}) / 900 * 900), 1, 13) || ':00:00'",
                column.sql
            ),
            _ => format!("substr(local_time({}), 1, 10)", column.sql),
        };
        Ok(Shown {
            key: format!("{}_{span}", column.key),
            label: if column.key == "time" {
                crate::types::text::capital(words)
            } else {
                format!("{}, {words}", column.label)
            },
            sql,
            is_text: false,
            is_time: true,
        })
    }

    /// The tables of the statement.
    fn from(&self) -> String {
        let joins = self.source.joins.iter();
        let joins = joins.filter(|(name, _)| self.needs.contains(name));
        let joins = joins.map(|(_, sql)| format!("\n{sql}"));
        std::iter::once(self.source.from.to_owned())
            .chain(joins)
            .collect()
    }

    /// Adds a condition; its value becomes a value of the statement.
    fn filter(&mut self, filter: &Filter) -> Result<()> {
        let column = self.column("column", &filter.column)?;
        if filter.value.chars().count() > VALUE_MAX_CHARS {
            return Err(Error::field(
                "value",
                format!("at most {VALUE_MAX_CHARS} characters"),
            ));
        }
        check_text("value", &filter.value)?;
        let (sql, is) = (column.sql, filter.is);
        if !is.takes_value() {
            let compared = if is == Comparison::Empty { "=" } else { "<>" };
            self.conditions
                .push(format!("coalesce({sql}, '') {compared} ''"));
            return Ok(());
        }
        let value = typed_value(column, is, filter.value.trim())?;
        let name = format!("v{}", self.values.len() + 1);
        let condition = match (column.kind, is) {
            (ColumnKind::Time, Comparison::Is | Comparison::IsNot) => {
                let end = format!("{name}_end");
                let not = if is == Comparison::IsNot { "NOT " } else { "" };
                self.values.push(Fixed {
                    name: end.clone(),
                    value: last_moment(&filter.value).into(),
                });
                format!("{not}coalesce({sql} BETWEEN utc_time(:{name}) AND utc_time(:{end}), 0)")
            }
            (ColumnKind::Time, Comparison::From) => format!("{sql} >= utc_time(:{name})"),
            (ColumnKind::Time, _) => format!("{sql} <= utc_time(:{name})"),
            (ColumnKind::Flag, Comparison::Is) => format!("{sql} = :{name}"),
            (ColumnKind::Flag, _) => format!("{sql} <> :{name}"),
            (_, Comparison::Is) => format!("{sql} = :{name} COLLATE NOCASE"),
            (_, Comparison::IsNot) => format!("coalesce({sql}, '') <> :{name} COLLATE NOCASE"),
            (_, Comparison::ContainsNot) => {
                format!("instr(lower(coalesce({sql}, '')), lower(:{name})) = 0")
            }
            (_, Comparison::From) => format!("{sql} >= :{name}"),
            (_, Comparison::To) => format!("{sql} <= :{name}"),
            _ => format!("instr(lower({sql}), lower(:{name})) > 0"),
        };
        self.values.push(Fixed { name, value });
        self.conditions.push(condition);
        Ok(())
    }
}

/// The value of a filter as the statement compares it.
fn typed_value(column: &Column, is: Comparison, typed: &str) -> Result<serde_json::Value> {
    let refused = |rest: &str| Err(Error::field("value", format!("{} {rest}", column.label)));
    let fits = match is {
        Comparison::Contains | Comparison::ContainsNot => {
            matches!(column.kind, ColumnKind::Text | ColumnKind::Activity)
        }
        Comparison::From | Comparison::To => {
            matches!(column.kind, ColumnKind::Number | ColumnKind::Time)
        }
        _ => true,
    };
    if !fits {
        let words = match column.kind {
            ColumnKind::Text | ColumnKind::Activity => "is a text: choose “is” or “contains”",
            ColumnKind::Flag => "is yes or no: choose “is”",
            ColumnKind::Number => "is a number: choose “is”, “from” or “to”",
            ColumnKind::Time => "is a time: choose “is”, “from” or “to”",
        };
        return Err(Error::field("is", format!("{} {words}", column.label)));
    }
    match column.kind {
        ColumnKind::Text if typed.is_empty() => refused("needs a value to compare with"),
        ColumnKind::Text => Ok(typed.into()),
        ColumnKind::Activity => {
            let named =
                |one: &&interactions::types::InteractionType| one.label.eq_ignore_ascii_case(typed);
            let known = interactions::types::TYPES.iter().find(named);
            Ok(known.map_or(typed, |known| known.name).into())
        }
        ColumnKind::Flag => match typed.to_ascii_lowercase().as_str() {
            "yes" | "1" | "true" => Ok(1.into()),
            "no" | "0" | "false" => Ok(0.into()),
            _ => refused("is yes or no"),
        },
        ColumnKind::Number => match serde_json::from_str::<serde_json::Number>(typed) {
            Ok(number) => Ok(number.into()),
            Err(_) => refused("is a number, such as 12 or 0.5"),
        },
        ColumnKind::Time => {
            let moment = if is == Comparison::To {
                last_moment(typed)
            } else {
                first_moment(typed)
            };
            if Zone::default().read_text(&moment).is_none() {
                return refused("is a time, such as 2026-11-21 or 2026-11-21 09:30");
            }
            Ok(moment.into())
        }
    }
}

/// A day, a minute or a second, as its first second.
fn first_moment(typed: &str) -> String {
    completed(typed, "00:00:00", ":00")
}

/// A day, a minute or a second, as its last second.
fn last_moment(typed: &str) -> String {
    completed(typed, "23:59:59", ":59")
}

fn completed(typed: &str, of_day: &str, of_minute: &str) -> String {
    let typed = typed.trim().replace('T', " ");
    match typed.len() {
        10 => format!("{typed} {of_day}"),
        16 => format!("{typed}{of_minute}"),
        _ => typed,
    }
}

/// A type of activity by its label.
fn labelled(sql: &str) -> String {
    let types = interactions::types::TYPES.iter();
    let cases: String = types
        .map(|one| {
            format!(
                " WHEN '{}' THEN '{}'",
                one.name,
                one.label.replace('\'', "''")
            )
        })
        .collect();
    format!("CASE {sql}{cases} ELSE {sql} END")
}
