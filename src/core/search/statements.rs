//! Statements: values per delegate or device that an administrator names and defines in SQL, for
//! searches (`st`; contract §5). They run in the sandbox, on a connection of their own, and a
//! search sees them as one function.

use super::expression::Expr;
use crate::{
    core::Context,
    db::{
        Tx,
        sandbox::{Sandbox, View},
    },
    types::{
        error::{Error, Kind, Result},
        text::{check_text, shortened, shortened_to},
    },
};
use rusqlite::{Connection, OptionalExtension, functions::FunctionFlags, types::Value as Sql};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::HashMap,
    fmt::Display,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A statement's SQL to begin with.
pub const EXAMPLE: &str = "SELECT count(*) FROM interactions
WHERE first_delegate_id = :id AND interaction_type = 'check-in'";

/// The longest time of one value when a statement is tried.
const TRY_MAX: Duration = Duration::from_secs(1);
/// The prefix with which the failure of a statement comes out of a search.
const FAILED: &str = "st: the statement";
/// The message with which a statement that took too long comes out of a search.
const INTERRUPTED: &str = "statement interrupted";

/// A statement, as the configuration document has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The name of the statement in searches.
    pub name: String,
    /// `delegate` or `device`.
    #[serde(rename = "type")]
    pub record_type: String,
    /// The name by which people know the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A read-only SELECT of one value over `:id`.
    pub sql: String,
}

/// The names of the statements that an expression uses.
pub fn named(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => parts.iter().flat_map(named).collect(),
        Expr::Not(negated) => named(negated),
        Expr::Statement { name, .. } => vec![name],
        _ => Vec::new(),
    }
}

/// Offers statements to the searches of a connection, as `statement_value(name, kind, id)`.
///
/// # Errors
/// [`Kind::InvalidSearch`] for a name that no statement over this record has.
pub fn offer(
    connection: &Connection,
    record_type: &str,
    names: &[&str],
    most: Duration,
) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut statements = HashMap::new();
    for name in names {
        statements.insert((*name).to_owned(), sql_of(connection, record_type, name)?);
    }
    let path = connection.path().unwrap_or_default();
    let sandbox = Sandbox::open(Path::new(path))?;
    sandbox.limit(most)?;
    for sql in statements.values() {
        sandbox.check_scalar(sql)?;
    }
    let sandbox = Mutex::new(sandbox);
    connection.create_scalar_function(
        "statement_value",
        3,
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY,
        move |call| {
            let (name, kind, id): (String, String, i64) =
                (call.get(0)?, call.get(1)?, call.get(2)?);
            let Some(sql) = statements.get(&name) else {
                return Ok(Sql::Null);
            };
            let sandbox = sandbox.lock().unwrap_or_else(PoisonError::into_inner);
            let value = sandbox
                .scalar(sql, id)
                .map_err(|cause| failure(&name, id, &cause))?;
            Ok(match (kind.as_str(), value) {
                ("text", value @ Sql::Text(_)) => value,
                ("number", value @ (Sql::Integer(_) | Sql::Real(_))) => value,
                ("any", value) => value,
                _ => Sql::Null,
            })
        },
    )?;
    Ok(())
}

/// The SQL of a statement over a type of records.
fn sql_of(connection: &Connection, record_type: &str, name: &str) -> Result<String> {
    let sql = connection
        .prepare_cached("SELECT sql FROM statements WHERE name = ?1 AND record_type = ?2")?
        .query_row([name, record_type], |row| row.get(0))
        .optional()?;
    sql.ok_or_else(|| {
        let name = shortened(name);
        let message = format!("there is no statement \"{name}\" for a {record_type}");
        Error::new(Kind::InvalidSearch, message).at("st")
    })
}

/// The failure of a statement, as a search fails for it: all that comes through SQLite of this is its text.
fn failure(name: &str, id: i64, cause: &rusqlite::Error) -> rusqlite::Error {
    let told = match cause.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => INTERRUPTED.to_owned(),
        _ => format!("{FAILED} \"{name}\" fails for record {id}: {cause}"),
    };
    rusqlite::Error::UserFunctionError(told.into())
}

/// What a search that failed in a statement failed for: the statement takes too long, or the SQL that
/// an administrator wrote is at fault. `None` where it was something else.
pub fn fault_of(cause: &rusqlite::Error) -> Option<Kind> {
    let rusqlite::Error::SqliteFailure(_, Some(told)) = cause else {
        return None;
    };
    match told.as_str() {
        INTERRUPTED => Some(Kind::Unavailable),
        told if told.starts_with(FAILED) => Some(Kind::InvalidSearch),
        _ => None,
    }
}

/// Takes back what [`offer`] offered, so that nothing of it stays with a pooled connection.
pub fn withdraw(connection: &Connection, names: &[&str]) {
    if !names.is_empty() {
        let _ = connection.remove_function("statement_value", 3);
    }
}

/// Every statement, by name.
pub fn all(connection: &Connection) -> Result<Vec<Statement>> {
    let mut statement = connection
        .prepare_cached("SELECT name, record_type, label, sql FROM statements ORDER BY name")?;
    let rows = statement.query_map([], |row| {
        Ok(Statement {
            name: row.get(0)?,
            record_type: row.get(1)?,
            label: row.get(2)?,
            sql: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Checks a statement, alone, in the sandbox: nothing is stored that a search could not run.
///
/// # Errors
/// [`Kind::Invalid`], naming the statement and what is wrong.
pub fn check(database: &Path, statement: &Statement) -> Result<()> {
    let within = |cause: Error| cause.at(format!("statements: {}", statement.name));
    let fault = |field: &str, what: &dyn Display| within(Error::field(field, what));
    if statement.name.is_empty() || statement.name.len() > 64 {
        return Err(fault("name", &"must have 1 to 64 characters"));
    }
    check_text("name", &statement.name)?;
    if !matches!(statement.record_type.as_str(), "delegate" | "device") {
        return Err(fault("type", &"must be delegate or device"));
    }
    let sandbox = Sandbox::open(database)?;
    sandbox.limit(TRY_MAX)?;
    sandbox.check_scalar(&statement.sql).map_err(within)?;
    sandbox
        .scalar(&statement.sql, 0)
        .map(drop)
        .map_err(|cause| match cause.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => fault(
                "sql",
                &format!("takes longer than {} s for one record", TRY_MAX.as_secs()),
            ),
            _ => fault("sql", &cause),
        })
}

/// The views that statements may read.
pub fn views(database: &Path) -> Result<Vec<View>> {
    Sandbox::open(database)?.views()
}

/// The value that a checked statement gives for a record, as text to be shown.
///
/// # Errors
/// [`Kind::Invalid`] when it fails or takes too long.
pub fn try_out(database: &Path, statement: &Statement, id: i64) -> Result<String> {
    let sandbox = Sandbox::open(database)?;
    sandbox.limit(TRY_MAX)?;
    let value = sandbox
        .scalar(&statement.sql, id)
        .map_err(|cause| Error::field("sql", cause))?;
    Ok(match value {
        Sql::Null => "nothing".into(),
        Sql::Integer(number) => number.to_string(),
        Sql::Real(number) => number.to_string(),
        Sql::Text(text) => format!("“{}”", shortened_to(&text, 500)),
        Sql::Blob(bytes) => format!("{} bytes", bytes.len()),
    })
}

/// Stores checked statements, each in the place of the one with its name; with `prune` the others
/// go.
pub fn save(tx: &Tx<'_>, ctx: &Context, statements: &[Statement], prune: bool) -> Result<()> {
    let before = json!(all(tx)?);
    if prune {
        tx.execute("DELETE FROM statements", [])?;
    }
    for statement in statements {
        tx.execute(
            "INSERT INTO statements (name, record_type, label, sql) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (name) DO UPDATE SET record_type = excluded.record_type,
                                              label = excluded.label, sql = excluded.sql",
            rusqlite::params![
                statement.name,
                statement.record_type,
                statement.label,
                statement.sql
            ],
        )?;
    }
    ctx.audit_update(tx, "statements", before, json!(all(tx)?))
}
