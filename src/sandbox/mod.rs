//! SQL that an administrator wrote, run where it can do no harm: on a connection of its own that
//! cannot write, and that reads documented views and nothing else (design: Security).

use crate::error::{Error, Result};
use percent_encoding::{AsciiSet, CONTROLS};
use rusqlite::{
    Connection,
    config::DbConfig,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::Value,
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// The views that such SQL may read, and the table of the file that each shows.
const VIEWS: [(&str, &str); 4] = [
    ("delegates", "delegates"),
    ("devices", "devices"),
    ("events", "devices"),
    ("interactions", "interactions"),
];
/// Their definitions.
const DEFINITIONS: &str = include_str!("views.sql");
/// The largest value such SQL may make, in bytes.
const VALUE_MAX_BYTES: i32 = 4 * 1024 * 1024;
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// What means something in a file's address.
const URI_MARKS: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// A view that such SQL may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<String>,
}

/// A connection for such SQL.
#[derive(Debug)]
pub struct Sandbox(Connection);

impl Sandbox {
    /// Opens one on the database file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.busy_timeout(Duration::from_secs(1))?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // Under a name that nobody can guess: a common table expression with the name of a view
        // looks like that view to the authorizer, and must not reach past it.
        let name = format!("file_{:016x}", getrandom::u64().map_err(Error::defect)?);
        connection.execute(&format!("ATTACH ?1 AS {name}"), [address(path)])?;
        connection.pragma_update(Some(name.as_str()), "cache_size", -2048)?;
        connection.execute_batch(&DEFINITIONS.replace("file.", &format!("{name}.")))?;
        connection.pragma_update(None, "query_only", true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000)?;
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            if is_allowed(&asked, &name) {
                Authorization::Allow
            } else {
                Authorization::Deny
            }
        }))?;
        Ok(Self(connection))
    }

    /// The views, with their columns.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn views(&self) -> Result<Vec<View>> {
        VIEWS
            .iter()
            .map(|(name, _)| {
                let statement = self.0.prepare(&format!("SELECT * FROM {name}"))?;
                let columns = statement.column_names();
                Ok(View {
                    name,
                    columns: columns.into_iter().map(ToOwned::to_owned).collect(),
                })
            })
            .collect()
    }

    /// From now on for `most`, statements run; then they are interrupted.
    ///
    /// # Errors
    /// When SQLite refuses it.
    pub fn limit(&self, most: Duration) -> Result<()> {
        let end = Instant::now() + most;
        Ok(self
            .0
            .progress_handler(STEPS, Some(move || Instant::now() > end))?)
    }

    /// Checks a statement that is to give one value for the record `:id`: alone, read-only, one
    /// column, no other parameter.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`], in SQLite's words where they are its own.
    pub fn check_scalar(&self, sql: &str) -> Result<()> {
        let statement = self
            .0
            .prepare(sql)
            .map_err(|cause| Error::invalid(format!("sql: {cause}")))?;
        if !statement.readonly() || statement.column_count() != 1 {
            return Err(Error::invalid("sql: must be a SELECT of one column"));
        }
        for place in 1..=statement.parameter_count() {
            if statement.parameter_name(place) != Some(":id") {
                return Err(Error::invalid(
                    "sql: may have the parameter :id and no other",
                ));
            }
        }
        Ok(())
    }

    /// The value that a statement gives for a record: the first row's, NULL without one.
    ///
    /// # Errors
    /// When it fails or is interrupted.
    pub fn scalar(&self, sql: &str, id: i64) -> rusqlite::Result<Value> {
        let mut statement = self.0.prepare_cached(sql)?;
        if statement.parameter_count() > 0 {
            statement.raw_bind_parameter(1, id)?;
        }
        let mut rows = statement.raw_query();
        match rows.next()? {
            Some(row) => row.get(0),
            None => Ok(Value::Null),
        }
    }
}

/// Allows reading the views, and what the views themselves read of the file.
fn is_allowed(asked: &AuthContext<'_>, file: &str) -> bool {
    match asked.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => {
            !matches!(function_name, "load_extension" | "fts5" | "fts3_tokenizer")
        }
        AuthAction::Read {
            table_name,
            column_name,
        } => match asked.database_name {
            // Where nothing but the row's id is read, SQLite names neither a column nor the view.
            Some(database) if database == file => VIEWS.iter().any(|view| {
                view.1 == table_name && (asked.accessor == Some(view.0) || column_name.is_empty())
            }),
            Some("temp") => VIEWS.iter().any(|view| view.0 == table_name),
            // A common table expression or a subquery is in no database.
            None => true,
            Some(_) => false,
        },
        _ => false,
    }
}

/// The file as SQLite is to open it: for reading.
fn address(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let root = if path.chars().nth(1) == Some(':') {
        "/"
    } else {
        ""
    };
    let path = percent_encoding::utf8_percent_encode(&path, URI_MARKS);
    format!("file:{root}{path}?mode=ro")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::migrate;

    fn sandbox() -> (tempfile::TempDir, Sandbox) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let connection = Connection::open(&path).unwrap();
        migrate::create(&connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO delegates (id, public_id, first_name, sources, created_at, updated_at)
                 VALUES (7, 'p', 'Ada', '[]', 0, 0);
                 INSERT INTO users (email, roles, created_at, updated_at) VALUES ('a@b', '[]', 0, 0);",
            )
            .unwrap();
        let sandbox = Sandbox::open(&path).unwrap();
        (folder, sandbox)
    }

    #[test]
    fn a_scalar_over_a_record_is_taken() {
        let (_folder, sandbox) = sandbox();
        for (sql, value) in [
            (
                "SELECT first_name FROM delegates WHERE id = :id",
                Value::Text("Ada".into()),
            ),
            (
                "SELECT count(*) FROM interactions WHERE first_delegate_id = :id",
                Value::Integer(0),
            ),
            (
                "WITH x(n) AS (SELECT 3) SELECT n + :id FROM x",
                Value::Integer(10),
            ),
            (
                "SELECT first_name FROM delegates WHERE id = -:id",
                Value::Null,
            ),
            ("SELECT 4", Value::Integer(4)),
        ] {
            sandbox.check_scalar(sql).unwrap();
            assert_eq!(sandbox.scalar(sql, 7).unwrap(), value, "{sql}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let (_folder, sandbox) = sandbox();
        for sql in [
            "",
            "SELECT 1; SELECT 2",
            "SELECT 1, 2",
            "SELECT :other",
            "SELECT ?",
            "SELECT email FROM users",
            "SELECT first_name FROM main.delegates",
            "SELECT email FROM users AS delegates",
            "SELECT (SELECT password_hash FROM users) FROM delegates",
            "WITH delegates AS (SELECT email FROM users) SELECT email FROM delegates",
            "WITH delegates AS (SELECT * FROM main.delegates) SELECT id FROM delegates",
            "SELECT sql FROM sqlite_schema",
            "SELECT name FROM pragma_database_list",
            "SELECT sql FROM temp.sqlite_schema",
            "SELECT name FROM pragma_table_info('users')",
            "SELECT c FROM delegates_search",
            "SELECT value FROM settings",
            "PRAGMA user_version",
            "DELETE FROM delegates",
            "UPDATE delegates SET first_name = 'x'",
            "INSERT INTO delegates (id) VALUES (1) RETURNING id",
            "CREATE TABLE x (a)",
            "CREATE TEMP VIEW events AS SELECT email FROM main.users",
            "DROP VIEW delegates",
            "ATTACH ':memory:' AS x",
            "VACUUM INTO '/tmp/x'",
            "BEGIN",
            "SELECT load_extension('x')",
            "EXPLAIN SELECT 1",
        ] {
            assert!(sandbox.check_scalar(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn what_never_ends_is_interrupted() {
        let (_folder, sandbox) = sandbox();
        sandbox.limit(Duration::from_millis(30)).unwrap();
        let sql =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
        sandbox.check_scalar(sql).unwrap();
        assert!(sandbox.scalar(sql, 7).is_err());
        assert!(sandbox.scalar("SELECT zeroblob(1000000000)", 7).is_err());
    }
}
