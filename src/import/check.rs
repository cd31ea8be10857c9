//! Which rows cannot become delegates, and why: all of them are told before any row is written.

use super::{
    columns::{Column, Columns},
    table::{Row, Table},
    target::Target,
};
use crate::{
    delegates,
    error::{Kind as ErrorKind, Result},
    records::{Kind, input},
    store::Store,
    types::{
        DelegateSelector,
        selector::DelegateCode,
        text::{check_code, check_text},
    },
};
use rusqlite::Connection;
use std::{collections::HashMap, fmt};

/// Bad rows that are told one by one; more are counted.
pub const TOLD_MAX: usize = 100;

/// Rows that are looked up in one go.
const SLICE_ROWS: usize = 1_000;

/// A row that cannot become a delegate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The line it starts at.
    pub line: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The header of the column at fault, where it is one.
    pub column: Option<String>,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem.column {
            Some(column) => write!(f, "line {}, column \"{column}\": ", self.line)?,
            None => write!(f, "line {}: ", self.line)?,
        }
        f.write_str(&self.problem.reason)
    }
}

/// Bad rows: the first of them with their reasons, of all of them the lines.
#[derive(Debug, Default)]
pub struct BadRows {
    told: Vec<BadRow>,
    lines: Vec<u64>,
}

impl BadRows {
    /// Adds one; rows come in the order of their lines.
    pub fn push(&mut self, row: BadRow) {
        self.lines.push(row.line);
        if self.told.len() < TOLD_MAX {
            self.told.push(row);
        }
    }

    /// The first [`TOLD_MAX`].
    #[must_use]
    pub fn told(&self) -> &[BadRow] {
        &self.told
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Whether the row that starts at a line is one.
    #[must_use]
    pub fn contains(&self, line: u64) -> bool {
        self.lines.binary_search(&line).is_ok()
    }
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Rows below the header.
    pub rows: usize,
    /// Those that cannot become delegates.
    pub bad: BadRows,
}

/// Checks every row of a table: by itself, against the rows before it, and against the delegates in
/// the file, where there is one.
///
/// # Errors
/// When the file cannot be read.
pub fn check(table: &Table, columns: &Columns, store: Option<&Store>) -> Result<Checked> {
    let mut check = Check {
        columns,
        codes: HashMap::new(),
        checked: Checked::default(),
    };
    let mut rows = table.rows();
    loop {
        let slice: Vec<Row> = rows.by_ref().take(SLICE_ROWS).collect::<Result<_>>()?;
        if slice.is_empty() {
            return Ok(check.checked);
        }
        match store {
            Some(store) => store.look_up(|connection| check.slice(&slice, Some(connection)))?,
            None => check.slice(&slice, None)?,
        }
    }
}

struct Check<'a> {
    columns: &'a Columns,
    /// The line at which a code stands; of good rows only.
    codes: HashMap<(DelegateCode, String), u64>,
    checked: Checked,
}

impl Check<'_> {
    fn slice(&mut self, rows: &[Row], connection: Option<&Connection>) -> Result<()> {
        for row in rows {
            self.checked.rows += 1;
            let mut problem = problem_of(self.columns, row).or_else(|| self.stands_before(row));
            if let (None, Some(connection)) = (&problem, connection) {
                problem = taken(connection, self.columns, row)?;
            }
            match problem {
                Some(problem) => self.checked.bad.push(BadRow {
                    line: row.line,
                    problem,
                }),
                None => self.remember_codes(row),
            }
        }
        Ok(())
    }

    fn stands_before(&self, row: &Row) -> Option<Problem> {
        codes(self.columns, row).find_map(|(column, code, value)| {
            let line = self.codes.get(&(code, value.to_owned()))?;
            Some(column_problem(
                column,
                format!("{}: stands in line {line} already", code.name()),
            ))
        })
    }

    fn remember_codes(&mut self, row: &Row) {
        for (_, code, value) in codes(self.columns, row) {
            self.codes.insert((code, value.to_owned()), row.line);
        }
    }
}

/// The unique codes of a row.
fn codes<'a>(
    columns: &'a Columns,
    row: &'a Row,
) -> impl Iterator<Item = (&'a Column, DelegateCode, &'a str)> {
    let cells = columns.iter().enumerate();
    cells.filter_map(|(at, column)| {
        let value = row.value(at);
        let code = column.target.code()?;
        (!value.is_empty()).then_some((column, code, value))
    })
}

/// What is wrong with a row because a delegate in the file has its code.
///
/// # Errors
/// When the file cannot be read.
pub fn taken(connection: &Connection, columns: &Columns, row: &Row) -> Result<Option<Problem>> {
    for (column, code, value) in codes(columns, row) {
        let selector = DelegateSelector::Code(code, value.to_owned());
        match delegates::find(connection, &selector) {
            Ok(id) => {
                let reason = format!("{}: already used by the delegate with id {id}", code.name());
                return Ok(Some(column_problem(column, reason)));
            }
            Err(cause) if cause.kind == ErrorKind::DelegateNotFound => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(None)
}

fn column_problem(column: &Column, reason: String) -> Problem {
    Problem {
        column: Some(column.header.clone()),
        reason,
    }
}

fn row_problem(reason: impl Into<String>) -> Problem {
    Problem {
        column: None,
        reason: reason.into(),
    }
}

/// What is wrong with a row by itself.
fn problem_of(columns: &Columns, row: &Row) -> Option<Problem> {
    if row.open_quote {
        return Some(row_problem(
            "a quotation mark is not closed; what follows was read as part of this row",
        ));
    }
    if row.width() != columns.width() {
        return Some(row_problem(format!(
            "has {} columns, the header has {}",
            row.width(),
            columns.width()
        )));
    }
    if row.values().all(str::is_empty) {
        return Some(row_problem("has no values"));
    }
    let mut cells = columns.iter().enumerate();
    let cell_problem = cells.find_map(|(at, column)| match row.value(at) {
        "" => None,
        _ if matches!(column.target, Target::Nameless) => Some(row_problem(format!(
            "has a value in column {}, which has no header",
            at + 1
        ))),
        value => Some(column_problem(
            column,
            value_problem(&column.target, value)?,
        )),
    });
    cell_problem.or_else(|| body_problem(columns, row))
}

fn value_problem(target: &Target, value: &str) -> Option<String> {
    match target {
        Target::Property(property) => {
            let check = if property.kind == Kind::Code {
                check_code
            } else {
                check_text
            };
            check(property.name, value).err().map(|cause| cause.message)
        }
        Target::Data { .. } => value
            .contains('\0')
            .then(|| "must not contain a NUL character".to_owned()),
        Target::Skipped | Target::Nameless => None,
    }
}

/// What holds for all of a row: it says something, and its free-form part is not too long.
fn body_problem(columns: &Columns, row: &Row) -> Option<Problem> {
    let mut body = columns.body(row);
    if body.is_empty() {
        return Some(row_problem("has no values but in columns that are skipped"));
    }
    let data = body.remove("data")?;
    let refused = input::merged_data(None, data).err()?;
    Some(row_problem(refused.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Mapping;

    fn told(text: &str) -> Vec<String> {
        let table = Table::parse(text.as_bytes().to_vec()).unwrap();
        let skip = Mapping::parse("Skip=").unwrap();
        let skips = table.header().iter().any(|header| header == "Skip");
        let mappings = if skips { vec![skip] } else { vec![] };
        let columns = Columns::new(table.header(), &mappings).unwrap();
        let checked = check(&table, &columns, None).unwrap();
        checked.bad.told().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bad_row_is_told_with_line_column_and_reason() {
        let long = "x".repeat(256);
        for (rows, expected) in [
            ("A,B\nC,D", ""),
            ("A,\nB,", ""),
            (",a@x\n,a@x", ""),
            (" , ", "line 2: has no values"),
            ("A", "line 2: has 1 columns, the header has 2"),
            ("A,B,C", "line 2: has 3 columns, the header has 2"),
            (
                "A,x\nB,\nA,y",
                "line 4, column \"Ticket code\": barcode: stands in line 2 already",
            ),
            ("A,x\n'A,", ""),
            (
                "=A,x\n'=A,",
                "line 3, column \"Ticket code\": barcode: stands in line 2 already",
            ),
            (
                "A\0,x",
                "line 2, column \"Ticket code\": barcode: must not contain a NUL character",
            ),
            (
                "A,\0",
                "line 2, column \"E-mail\": email: must not contain a NUL character",
            ),
            (
                "A,\"x\nB,y\nC,z",
                "line 2: a quotation mark is not closed; what follows was read as part of this row",
            ),
            (
                &format!("{long},x"),
                "line 2, column \"Ticket code\": barcode: must have at most 255 characters",
            ),
        ] {
            let found = told(&format!("Ticket code,E-mail\n{rows}\n")).join("|");
            assert_eq!(found, expected, "{rows}");
        }
    }

    #[test]
    fn a_code_of_a_bad_row_is_free_for_a_good_one() {
        let found = told("code,email\nA,\0\nA,a@x\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("line 2,"));
    }

    #[test]
    fn columns_that_are_not_imported_do_not_count_as_values() {
        assert_eq!(
            told("code,Skip,\n,x,\nA,,y\nB,,\n"),
            [
                "line 2: has no values but in columns that are skipped",
                "line 3: has a value in column 3, which has no header",
            ]
        );
    }

    #[test]
    fn of_many_bad_rows_the_first_are_told() {
        let table =
            Table::parse(("code,slug\n".to_owned() + &",\n".repeat(250)).into_bytes()).unwrap();
        let columns = Columns::new(table.header(), &[]).unwrap();
        let checked = check(&table, &columns, None).unwrap();
        assert_eq!((checked.rows, checked.bad.count()), (250, 250));
        assert_eq!(checked.bad.told().len(), TOLD_MAX);
        assert!(checked.bad.contains(251) && !checked.bad.contains(252));
    }
}
