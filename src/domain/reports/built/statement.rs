//! The parts of a built report's statement: columns as they are shown and grouped, and conditions with their values.

use super::{
    Comparison, Filter,
    catalogue::{Column, ColumnKind, SPANS, Source},
};
use crate::{
    core::texts::{say, tx},
    domain::{
        interactions::types::{InteractionType, TYPES},
        reports::parameters::Fixed,
    },
    types::{
        Zone,
        error::{Error, Result},
        text::{capital, check_text, shortened},
    },
};

/// The longest value of a filter, in characters.
const VALUE_MAX_CHARS: usize = 200;

/// A column of the result.
pub(super) struct Shown {
    pub(super) key: String,
    pub(super) label: &'static str,
    /// Of a time by which rows are grouped: the words for its span.
    pub(super) span: Option<&'static str>,
    pub(super) sql: String,
    /// How it is grouped and sorted.
    pub(super) is_text: bool,
    pub(super) is_time: bool,
    /// Its values are words of the server.
    pub(super) is_of_words: bool,
}

impl Shown {
    /// The column in English, for what is refused.
    pub(super) fn label(&self) -> String {
        match self.span {
            None => self.label.to_owned(),
            Some(span) if self.label == "Time" => capital(span),
            Some(span) => format!("{}, {span}", self.label),
        }
    }

    /// The heading of the column, in the language of the page.
    pub(super) fn heading(&self) -> String {
        match self.span {
            None => say(self.label),
            // What is grouped by the time of what happened needs no more than the span.
            Some(span) if self.label == "Time" => say(capital(span)),
            Some(span) => tx("reports-column-span")
                .with("column", say(self.label))
                .with("span", say(span))
                .to_string(),
        }
    }
}

/// The parts of the statement, as far as they are known.
pub(super) struct Statement {
    pub(super) source: &'static Source,
    pub(super) needs: Vec<&'static str>,
    pub(super) conditions: Vec<String>,
    pub(super) values: Vec<Fixed>,
}

impl Statement {
    pub(super) fn new(source: &'static Source) -> Self {
        Self {
            source,
            needs: Vec::new(),
            conditions: Vec::new(),
            values: Vec::new(),
        }
    }
}

/// The error of an unknown name.
pub(super) fn unknown(field: &str, name: &str) -> Error {
    Error::field(field, format!("there is no \"{}\"", shortened(name)))
}

impl Statement {
    fn column(&mut self, field: &str, key: &str) -> Result<&'static Column> {
        let column = self.source.column(key).ok_or_else(|| unknown(field, key))?;
        self.needs.extend(column.needs);
        Ok(column)
    }

    /// A column of a list.
    pub(super) fn listed(&mut self, key: &str) -> Result<Shown> {
        let column = self.column("columns", key)?;
        Ok(Shown {
            key: column.key.to_owned(),
            label: column.label,
            span: None,
            sql: match column.kind {
                ColumnKind::Time => format!("local_time({})", column.sql),
                ColumnKind::Flag => format!("iif({}, 'yes', 'no')", column.sql),
                ColumnKind::Activity => labelled(column.sql),
                ColumnKind::Text | ColumnKind::Number | ColumnKind::PlaceType => {
                    column.sql.to_owned()
                }
            },
            is_text: matches!(column.kind, ColumnKind::Text | ColumnKind::PlaceType),
            is_time: column.kind == ColumnKind::Time,
            is_of_words: column.kind.is_of_words(),
        })
    }

    /// A column by which rows are grouped.
    pub(super) fn grouped(&mut self, key: &str) -> Result<Shown> {
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
            label: column.label,
            span: Some(words),
            sql,
            is_text: false,
            is_time: true,
            is_of_words: false,
        })
    }

    /// The tables of the statement.
    pub(super) fn from(&self) -> String {
        let joins = self.source.joins.iter();
        let joins = joins.filter(|(name, _)| self.needs.contains(name));
        let joins = joins.map(|(_, sql)| format!("\n{sql}"));
        std::iter::once(self.source.from.to_owned())
            .chain(joins)
            .collect()
    }

    /// Adds a condition; its value becomes a value of the statement.
    pub(super) fn filter(&mut self, filter: &Filter) -> Result<()> {
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
    check_fits(column, is)?;
    let label = column.label;
    let refused = |message: String| Err(Error::field("value", message));
    match column.kind {
        ColumnKind::Text | ColumnKind::PlaceType if typed.is_empty() => {
            refused(format!("{label} needs a value to compare with"))
        }
        ColumnKind::Text | ColumnKind::PlaceType => Ok(typed.into()),
        ColumnKind::Activity => {
            let named = |one: &&InteractionType| one.label.eq_ignore_ascii_case(typed);
            let known = TYPES.iter().find(named);
            Ok(known.map_or(typed, |known| known.name).into())
        }
        ColumnKind::Flag => match typed.to_ascii_lowercase().as_str() {
            "yes" | "1" | "true" => Ok(1.into()),
            "no" | "0" | "false" => Ok(0.into()),
            _ => refused(format!("{label} is yes or no")),
        },
        ColumnKind::Number => match serde_json::from_str::<serde_json::Number>(typed) {
            Ok(number) => Ok(number.into()),
            Err(_) => refused(format!("{label} is a number, such as 12 or 0.5")),
        },
        ColumnKind::Time => {
            let moment = if is == Comparison::To {
                last_moment(typed)
            } else {
                first_moment(typed)
            };
            if Zone::default().read_text(&moment).is_none() {
                return refused(format!(
                    "{label} is a time, such as 2026-11-21 or 2026-11-21 09:30"
                ));
            }
            Ok(moment.into())
        }
    }
}

/// Checks that a column of its kind can be compared like this.
fn check_fits(column: &Column, is: Comparison) -> Result<()> {
    let fits = match is {
        Comparison::Contains | Comparison::ContainsNot => {
            matches!(
                column.kind,
                ColumnKind::Text | ColumnKind::Activity | ColumnKind::PlaceType
            )
        }
        Comparison::From | Comparison::To => {
            matches!(column.kind, ColumnKind::Number | ColumnKind::Time)
        }
        _ => true,
    };
    if !fits {
        let label = column.label;
        let message = match column.kind {
            ColumnKind::Text | ColumnKind::Activity | ColumnKind::PlaceType => {
                format!("{label} is a text: choose “is” or “contains”")
            }
            ColumnKind::Flag => format!("{label} is yes or no: choose “is”"),
            ColumnKind::Number => format!("{label} is a number: choose “is”, “from” or “to”"),
            ColumnKind::Time => format!("{label} is a time: choose “is”, “from” or “to”"),
        };
        return Err(Error::field("is", message));
    }
    Ok(())
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
    let mut cases = String::new();
    for one in &TYPES {
        let label = one.label.replace('\'', "''");
        cases.extend([" WHEN '", one.name, "' THEN '", &label, "'"]);
    }
    format!("CASE {sql}{cases} ELSE {sql} END")
}
