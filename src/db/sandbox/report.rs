//! Statements of many rows, as reports are made of.

use super::Sandbox;
use crate::types::error::{Error, Result};
use rusqlite::{
    Statement,
    types::{Value, ValueRef},
};
use std::ops::ControlFlow;

/// What a statement gives and asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its columns.
    pub columns: Vec<String>,
    /// The names of its parameters, each once, without the colon.
    pub parameters: Vec<String>,
}

impl Sandbox {
    /// Checks a statement that is to give rows: alone, read-only, its columns told apart by name, its
    /// parameters all of the form `:name`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], in SQLite's words where they are its own, with the line.
    pub fn shape(&self, sql: &str) -> Result<Shape> {
        shape(&self.prepare(sql)?)
    }

    /// Runs a statement: `begin` gets its columns, `each` every row, until it breaks off.
    ///
    /// # Errors
    /// As [`Sandbox::shape`]; [`crate::types::error::Kind::Invalid`] when it fails on the way; what `begin`
    /// and `each` fail with. When it was stopped, the limits tell why.
    pub fn rows(
        &self,
        sql: &str,
        value: impl Fn(&str) -> Value,
        begin: impl FnOnce(&[String]) -> Result<()>,
        mut each: impl FnMut(&[ValueRef<'_>]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut statement = self.prepare(sql)?;
        let shape = shape(&statement)?;
        for place in 1..=statement.parameter_count() {
            let name = statement.parameter_name(place).unwrap_or_default();
            let bound = value(name.trim_start_matches(':'));
            statement.raw_bind_parameter(place, bound)?;
        }
        begin(&shape.columns)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|cause| self.failure(cause))? {
            let values: rusqlite::Result<Vec<ValueRef<'_>>> =
                (0..shape.columns.len()).map(|at| row.get_ref(at)).collect();
            if each(&values?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        let statement = self.compiled("query", sql)?;
        if statement.readonly() && statement.column_count() > 0 && statement.is_explain() == 0 {
            self.bound_values(&statement)?;
            Ok(statement)
        } else {
            Err(Error::invalid("query: must be one SELECT"))
        }
    }

    /// What is wrong with a statement, in SQLite's words and with the place, but without the name that
    /// the file goes by here.
    pub(super) fn told(&self, cause: &rusqlite::Error) -> String {
        let text = match cause {
            rusqlite::Error::SqlInputError {
                msg, sql, offset, ..
            } => {
                let place = usize::try_from(*offset).ok().and_then(|at| sql.get(..at));
                match place {
                    Some(before) => {
                        let line = before.matches('\n').count() + 1;
                        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
                        format!("{msg} (line {line}, column {column})")
                    }
                    None => msg.clone(),
                }
            }
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            rusqlite::Error::MultipleStatement => "must be one statement alone".to_owned(),
            other => other.to_string(),
        };
        let text = text.replace(&format!("{}.", self.name), "");
        if text.contains("prohibited") || text.contains("not authorized") {
            format!(
                "{text}; a statement reads the documented views and nothing else, and never writes"
            )
        } else {
            text
        }
    }

    /// A failure on the way: the file's, or the statement's own, such as a number that is too large.
    fn failure(&self, cause: rusqlite::Error) -> Error {
        use rusqlite::ErrorCode::{
            ApiMisuse, CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull,
            NotADatabase, OperationInterrupted, OutOfMemory, SystemIoFailure,
        };
        match cause.sqlite_error_code() {
            Some(
                ApiMisuse | CannotOpen | DatabaseBusy | DatabaseCorrupt | DatabaseLocked | DiskFull
                | NotADatabase | OperationInterrupted | OutOfMemory | SystemIoFailure,
            ) => cause.into(),
            _ => Error::invalid(format!("the report fails: {}", self.told(&cause))),
        }
    }
}

fn shape(statement: &Statement<'_>) -> Result<Shape> {
    let mut columns: Vec<String> = Vec::new();
    for name in statement.column_names() {
        if columns.iter().any(|known| known == name) {
            return Err(Error::invalid(format!(
                "query: two columns are called {name}; name them apart with AS"
            )));
        }
        columns.push(name.to_owned());
    }
    let mut parameters: Vec<String> = Vec::new();
    for place in 1..=statement.parameter_count() {
        let name = statement.parameter_name(place).unwrap_or("?");
        let Some(name) = name.strip_prefix(':') else {
            return Err(Error::invalid(format!(
                "query: {name}: parameters are written as :name"
            )));
        };
        if !parameters.iter().any(|known| known == name) {
            parameters.push(name.to_owned());
        }
    }
    Ok(Shape {
        columns,
        parameters,
    })
}
