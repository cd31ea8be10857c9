//! SQL that an administrator wrote, for single values and for reports, run where it can do no harm: on a
//! connection of its own that cannot write, and that reads documented views and nothing else (design: Security).

use crate::types::{
    Zone,
    error::{Error, Result},
};
use percent_encoding::{AsciiSet, CONTROLS};
use rusqlite::{
    Connection, OptionalExtension, Statement, StatementStatus,
    config::DbConfig,
    hooks::AuthContext,
    limits::Limit,
    types::{Value, ValueRef},
};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

mod allowed;
mod days;
mod query_limits;
mod stays;

pub use query_limits::{QueryLimits, ReportPermit, ReportSemaphore, Stopped};

/// The views' definitions.
const DEFINITIONS: &str = include_str!("views.sql");
/// Those over what venues pushed to a hub; in PostgreSQL, too.
pub const HUB_VIEWS: &str = include_str!("hub_views.sql");
/// Tables whose views are made of their columns; see [`record_view`].
const RECORDS: [&str; 2] = ["delegates", "devices"];
/// The largest value such SQL may make, in bytes; a record's `data` has 1 MiB at the most.
const VALUE_MAX_BYTES: i32 = 2 * 1024 * 1024;
/// Other limits of such SQL: so much of each that one step of SQLite's machine, which nothing can
/// interrupt, takes neither a second nor a gigabyte.
const LIMITS: [(Limit, i32); 8] = [
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_BYTES),
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    // About twelve subqueries within each other: an expression that each of them uses twice doubles
    // that often, while the statement is compiled and nothing can interrupt it.
    (Limit::SQLITE_LIMIT_PARSER_DEPTH, 80),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 64),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
];
/// The longest statement, in bytes.
const SQL_MAX_BYTES: i32 = 20_000;
/// The most that the values of a statement take at once, in bytes. One without a loop cannot be
/// interrupted, and may hold ten thousand: the more places for values it has, the less goes into each.
const HELD_MAX_BYTES: usize = 1 << 30;
/// The least that a place for a value takes of a prepared statement, in bytes.
const PLACE_BYTES: usize = 40;
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 500;

/// Letters that mean something in a file's address.
const URI_MARKS: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// The view of a table of records: its own columns, those that are internal or an event's left out.
fn record_view(connection: &Connection, file: &str, table: &str) -> Result<String> {
    const HIDDEN: [&str; 4] = ["sources", "deleted_at", "manager_email", "manager_phone"];
    let mut statement = connection.prepare(&format!("PRAGMA {file}.table_info({table})"))?;
    let names = statement.query_map([], |row| row.get::<_, String>("name"))?;
    let mut columns = Vec::new();
    for name in names {
        let name = name?;
        if name.ends_with("_at") && !HIDDEN.contains(&name.as_str()) {
            columns.push(format!("datetime({name} / 1000, 'unixepoch') AS {name}"));
        } else if !HIDDEN.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    Ok(format!(
        "CREATE TEMP VIEW {table} AS SELECT {} FROM {file}.{table} WHERE deleted_at IS NULL",
        columns.join(", ")
    ))
}

/// A view that such SQL may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub name: &'static str,
    /// A sentence about it.
    pub about: &'static str,
    pub columns: Vec<String>,
}

/// A connection for such SQL.
#[derive(Debug)]
pub struct Sandbox {
    connection: Connection,
    path: PathBuf,
    /// Under which name the file is attached.
    name: String,
}

impl Sandbox {
    /// Opens one on the database file.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.busy_timeout(Duration::from_secs(1))?;
        // What is sorted goes to disk, where [`QueryLimits`] sees to it: a million rows are not to be held.
        connection.pragma_update(None, "temp_store", "FILE")?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // Under a name that nobody can guess: a common table expression with the name of a view
        // looks like that view to the authorizer, and must not reach past it.
        let name = format!("file_{:016x}", getrandom::u64().map_err(Error::defect)?);
        connection.execute(&format!("ATTACH ?1 AS {name}"), [address(path)])?;
        connection.pragma_update(Some(name.as_str()), "cache_size", -2048)?;
        for table in RECORDS {
            connection.execute_batch(&record_view(&connection, &name, table)?)?;
        }
        let own = format!("{name}.");
        connection.execute_batch(&DEFINITIONS.replace("file.", &own))?;
        let of_venues = HUB_VIEWS.replace("CREATE VIEW", "CREATE TEMP VIEW");
        connection.execute_batch(&of_venues.replace("file.", &own))?;
        allowed::offer(&connection, zone(&connection, &name)?)?;
        days::offer(&connection, &name)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        for (limit, most) in LIMITS {
            connection.set_limit(limit, most)?;
        }
        let behind = allowed::Behind::of(&connection, &name)?;
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            allowed::judge(&asked, &behind)
        }))?;
        Ok(Self {
            connection,
            path: path.to_owned(),
            name,
        })
    }

    /// The views, with their columns.
    pub fn views(&self) -> Result<Vec<View>> {
        allowed::VIEWS
            .iter()
            .map(|view| {
                let statement = self
                    .connection
                    .prepare(&format!("SELECT * FROM {}", view.name))?;
                let columns = statement.column_names();
                Ok(View {
                    name: view.name,
                    about: view.about,
                    columns: columns.into_iter().map(ToOwned::to_owned).collect(),
                })
            })
            .collect()
    }

    /// From now on for `most`, statements run; then they are interrupted.
    pub fn limit(&self, most: Duration) -> Result<()> {
        self.hold(most, &QueryLimits::default())
    }

    /// As [`Sandbox::limit`]; the limits tell why a statement was stopped.
    pub fn hold(&self, most: Duration, query_limits: &QueryLimits) -> Result<()> {
        let stop = query_limits.hold(most, &self.path);
        Ok(self.connection.progress_handler(STEPS, Some(stop))?)
    }

    /// Checks a statement that is to give one value for the record `:id`: alone, read-only, one
    /// column, no other parameter.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], in SQLite's words where they are its own.
    pub fn check_scalar(&self, sql: &str) -> Result<()> {
        let statement = self.compiled("sql", sql)?;
        if !statement.readonly() || statement.column_count() != 1 {
            return Err(Error::field("sql", "must be a SELECT of one column"));
        }
        for place in 1..=statement.parameter_count() {
            if statement.parameter_name(place) != Some(":id") {
                return Err(Error::field(
                    "sql",
                    "may have the parameter :id and no other",
                ));
            }
        }
        Ok(())
    }

    /// Compiles a statement; errors name the property `name`.
    fn compiled(&self, name: &str, sql: &str) -> Result<Statement<'_>> {
        self.connection
            .prepare(sql)
            .map_err(|cause| Error::field(name, self.told(&cause)))
    }

    /// Says how large a value may be while a statement runs: all that it can hold at once stays within
    /// bounds, and of a statement of ordinary size each may be as large as any.
    fn bound_values(&self, statement: &Statement<'_>) -> rusqlite::Result<()> {
        let bytes = statement.get_status(StatementStatus::MemUsed);
        let places = (usize::try_from(bytes).unwrap_or(usize::MAX) / PLACE_BYTES).max(1);
        let most = i32::try_from(HELD_MAX_BYTES / places).unwrap_or(VALUE_MAX_BYTES);
        let most = most.min(VALUE_MAX_BYTES);
        self.connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, most)
            .map(drop)
    }

    /// The value that a checked statement gives for a record: the first row's, NULL without one.
    pub fn scalar(&self, sql: &str, id: i64) -> rusqlite::Result<Value> {
        let mut statement = self.connection.prepare_cached(sql)?;
        self.bound_values(&statement)?;
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

/// The instance's time zone as its settings say; UTC where they do not.
fn zone(connection: &Connection, name: &str) -> Result<Zone> {
    let sql = format!("SELECT value ->> '$' FROM {name}.settings WHERE name = 'timeZone'");
    let named: Option<Option<String>> = connection
        .query_row(&sql, [], |row| row.get(0))
        .optional()?;
    let zone = named.flatten().map(|named| Zone::named(&named));
    Ok(zone.and_then(Result::ok).unwrap_or_default())
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

/// The columns and parameters of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
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
            Err(Error::field("query", "must be one SELECT"))
        }
    }

    /// Tells what is wrong with a statement, in SQLite's words and with the place, but without the name that
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
            return Err(Error::field(
                "query",
                format!("two columns are called {name}; name them apart with AS"),
            ));
        }
        columns.push(name.to_owned());
    }
    let mut parameters: Vec<String> = Vec::new();
    for place in 1..=statement.parameter_count() {
        let name = statement.parameter_name(place).unwrap_or("?");
        let Some(name) = name.strip_prefix(':') else {
            return Err(Error::field(
                "query",
                format!("{name}: parameters are written as :name"),
            ));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{connection, migrate, tables};

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
            ("SELECT count(*) FROM delegates", Value::Integer(1)),
            (
                "WITH mine AS (SELECT 1 UNION SELECT 2) SELECT count(*) FROM mine",
                Value::Integer(2),
            ),
            (
                "SELECT count(*) FROM (SELECT first_name FROM delegates) AS them",
                Value::Integer(1),
            ),
        ] {
            sandbox.check_scalar(sql).unwrap();
            assert_eq!(sandbox.scalar(sql, 7).unwrap(), value, "{sql}");
        }
    }

    /// Reports of others are written over these.
    #[test]
    fn columns_of_views_stay() {
        let (_folder, sandbox) = sandbox();
        let columns = |view: &View| format!("{}: {}", view.name, view.columns.join(" "));
        let views: Vec<String> = sandbox.views().unwrap().iter().map(columns).collect();
        insta::assert_snapshot!(views.join("\n"), @r"
        delegates: id parent_id previous_id owner_id barcode rfid external_id public_id code uhf_id slug first_name last_name email phone job_title company delegate_type raw_flags data created_at updated_at
        devices: id parent_id code public_id external_id rfid slug name short_name description device_type device_tags category start_at end_at available data created_at updated_at
        events: id name external_id manager_email manager_phone start_at end_at data
        doors: id place_id
        interactions: id interaction_type first_delegate_id second_delegate_id third_delegate_id first_device_id second_device_id third_device_id data admitted recorded_at created_at place_id
        presence: delegate_id device_id check_ins inside joined last_in_at last_out_at place_id
        stays: delegate_id device_id noticed_by begins_at ends_at place_id
        refusals: id interaction_type delegate delegate_id device device_id code message recorded_at refused_at
        conflicts: id interaction_id code message found_at
        device_states: device_id seen_at pinged_at battery network status failed_uploads lat lon clock_skew_s config_version confirmed_at
        device_pings: device_id pinged_at battery network status failed_uploads lat lon clock_skew_s
        transactions: id code context_id total_amount notes recorded_by bought_at created_at updated_at
        transaction_payments: transaction_id line method amount change net reference
        transaction_items: transaction_id line code product_id quantity description unit_amount total_amount discount_amount
        transaction_delegates: transaction_id barcode delegate_id product_id
        hub_venue_list: venue name event version seen_at revoked_at expected arrived inside conflicts
        hub_attendees: venue venue_name id name code email delegate_type data
        hub_places: venue venue_name id name device_type parent data
        hub_interactions: venue venue_name id interaction_type who at place
        hub_sales: venue venue_name id code amount at data
        hub_lost: venue venue_name type id name code subtype who place at data
        ");
    }

    #[test]
    fn a_table_is_seen_where_the_catalogue_says_so() {
        let (_folder, sandbox) = sandbox();
        for table in tables::TABLES {
            let sql = format!("SELECT count(*) FROM {}", table.name);
            let is_taken = sandbox.check_scalar(&sql).is_ok();
            assert_eq!(is_taken, table.views.contains(&table.name), "{sql}");
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
            "SELECT count(*) FROM users",
            "SELECT 1 FROM Users",
            "SELECT count(*) FROM sqlite_schema",
            "SELECT count(*) FROM pragma_table_info('users')",
            "SELECT count(*) FROM dbstat",
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

    /// One delegate at very many devices, and very often at one.
    #[test]
    fn presence_costs_as_much_as_there_are_interactions() {
        let costs = [100, 400].map(|count| {
            let (folder, sandbox) = sandbox();
            let file = Connection::open(folder.path().join("x.db")).unwrap();
            file.execute(
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1),
                      kind(effect, device) AS (VALUES (0, 1), (1, 1), (2, 1), (3, 1), (2, NULL))
                 INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id,
                     recorded_at, created_at, effect)
                 SELECT 'x', 7, coalesce(device, i + 1), 5, 5, effect FROM n, kind",
                [count],
            )
            .unwrap();
            connection::steps_of(&sandbox.connection, || {
                let sql = "SELECT sum(joined) + sum(inside) * 1000000 FROM presence";
                assert_eq!(sandbox.scalar(sql, 7).unwrap(), Value::Integer(count));
            })
        });
        assert!(costs[1] < costs[0] * 5, "{costs:?}");
    }

    /// A thousand people, inside and joined, at a place below another; with a door where that is asked for.
    #[test]
    fn presence_of_everybody_takes_few_steps_each_and_of_one_delegate_few_in_all() {
        const PEOPLE: u64 = 1_000;
        for with_door in [false, true] {
            let (folder, sandbox) = sandbox();
            let file = Connection::open(folder.path().join("x.db")).unwrap();
            file.execute_batch(&format!(
                "INSERT INTO devices (id, parent_id, device_type, code, public_id, name, sources, created_at, updated_at)
                 VALUES (1, NULL, 'room', 1, 1, 'Hall', '[]', 0, 0), (2, 1, 'room', 2, 2, 'Room', '[]', 0, 0);
                 INSERT INTO devices (id, parent_id, device_type, code, public_id, name, sources, created_at, updated_at)
                 SELECT 3, 2, 'door', 3, 3, 'Door', '[]', 0, 0 WHERE {with_door};
                 WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PEOPLE}), done(effect) AS (VALUES (2), (0))
                 INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id, recorded_at, created_at, effect)
                 SELECT 'x', i, iif({with_door} AND i % 2 AND effect = 0, 3, 2), 5, 5, effect FROM n, done"
            ))
            .unwrap();
            let steps = |sql: &str, found: i64| {
                connection::steps_of(&sandbox.connection, || {
                    assert_eq!(
                        sandbox.scalar(sql, 7).unwrap(),
                        Value::Integer(found),
                        "{sql}"
                    );
                })
            };
            let people = i64::try_from(PEOPLE).unwrap();
            let all = steps(
                "SELECT sum(joined) + sum(inside) + sum(check_ins) FROM presence",
                3 * people,
            );
            assert!(all / PEOPLE < 250, "{all}");
            let one = "SELECT joined + inside + check_ins FROM presence WHERE delegate_id = :id";
            let one = steps(one, 3);
            assert!(one < 2_000, "{one}");
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
