//! Checks of a file: first whether it is one, then its pages, then their content.
//! Each check is a function of a read-only connection.

use super::{Finding, Report, Step, index};
use crate::{
    core::settings,
    db::{Found, integrity, migrate, open, salvage, tables::TABLES, usage},
    domain::interactions::{presence::ANYWHERE, recount, types},
    ops::backup::ledger,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, functions::FunctionFlags, types::ValueRef};
use std::path::Path;

/// Lines of SQLite's own check that are shown.
const LINES_MAX: usize = 20;

const RESTORE: &str = "stop the server, and put the last backup in the file's place with `gatepost restore`, which sets the file aside; see \"Backup and restore\" in the handbook, page \"Operate\"";
const OTHER: &str = "nothing is wrong with the file itself: look whether --db names the right one, or use the version of the program that it belongs to";
const PATH: &str =
    "nothing is wrong with the file itself: check it by the path that the server uses (its --db)";
const REINDEX: &str = "no record is lost: stop the server, make a backup copy of the file with its -wal, and run REINDEX on it with the sqlite3 tool";
const ROWS: &str = "the index knows rows that are not in the table: they may be lost. Stop the server, keep a copy of the file with its -wal, and restore the last backup, or compare the last check-ins with what the gates know; then run REINDEX on the file with the sqlite3 tool";
const TELL: &str = "no command mends this by itself; keep a copy of the file, and look at the rows named here, or restore the last backup";
pub(super) const REPAIR: &str = "run `gatepost check --repair`, also while the server runs: it follows from the rest, which is sound";
pub(super) const REPAIR_INDEX: &str =
    "searches may miss people: stop the server and run `gatepost check --repair`";
const REPAIR_LATER: &str = "`gatepost check --repair` mends this once nothing worse is named here: it follows from the rest";
const SALVAGE: &str = "check the disk; `gatepost serve` keeps the damaged log under another name and goes on with what is sound";
const LOST: &str = "compare the last check-ins with what the gates know, or put the file back that has them; the next `gatepost serve` shows this on the dashboard until an administrator acknowledges it";
const ACKNOWLEDGE: &str =
    "nothing, if you know of it: an administrator acknowledges it on the dashboard";
const MIGRATE: &str = "run `gatepost migrate` with this version of the program";

/// Looks a file over. While `serve` writes to it, its log grows for as long as the look at its pages
/// takes: some 15 seconds a gigabyte.
///
/// `on_step` is called before each step.
pub fn look(path: &Path, on_step: &mut dyn FnMut(Step)) -> Result<Report> {
    let log = open::beside(path, "-wal");
    loop {
        let in_use = log.exists();
        let report = look_once(path, on_step)?;
        // A server began to write to the file, which was read without a lock.
        if in_use || !log.exists() {
            return Ok(report);
        }
    }
}

fn look_once(path: &Path, on_step: &mut dyn FnMut(Step)) -> Result<Report> {
    let mut report = Report::default();
    // SQLite would make the log's index anew of what is before the damage, and nobody could tell any more what of the
    // rest is in the file.
    let (damage, advice) = match salvage::examine(path) {
        Ok(None) => (None, SALVAGE),
        Ok(Some(damage)) => (Some(damage.foretold()), SALVAGE),
        Err(cause) => (Some(cause.to_string()), advice_on(&cause)),
    };
    if let Some(damage) = damage {
        report.add(damage, advice);
        return Ok(report);
    }
    for loss in usage::losses(path, None) {
        report.add(loss, LOST);
    }
    let first = open::look(path);
    if let Ok(Found::Nothing) = first {
        return Err(Error::invalid(format!("{} does not exist", path.display())));
    }
    if let Err(cause) = &first {
        report.add(cause.to_string(), advice_on(cause));
        // Its log is elsewhere, too.
        if cause.kind == Kind::ServedElsewhere {
            return Ok(report);
        }
    }
    // A file that is damaged is read on as far as it goes.
    let before = report.findings.len();
    let outcome = open::unchanged(path)
        .map_err(Error::from)
        .and_then(|connection| look_inside(&connection, &mut report, first.is_ok(), on_step));
    if let Err(cause) = outcome
        && report.findings.len() == before
    {
        report.add(format!("it cannot be read: {cause}"), RESTORE);
    }
    if !report.is_repairable() {
        for finding in report.findings.iter_mut().filter(|one| one.is_repairable()) {
            finding.advice = REPAIR_LATER;
        }
    }
    Ok(report)
}

/// The advice on a file that is refused.
fn advice_on(cause: &Error) -> &'static str {
    match cause.kind {
        Kind::ServedElsewhere => PATH,
        Kind::ForeignFile => OTHER,
        _ => RESTORE,
    }
}

impl Report {
    fn add(&mut self, what: String, advice: &'static str) {
        self.findings.push(Finding { what, advice });
    }
}

type Check = fn(&Connection, &mut Report) -> Result<()>;

/// The checks that follow once the pages are sound.
const CHECKS: [(&str, Check); 9] = [
    ("Checking the schema", look_at_schema),
    ("Checking texts", look_at_texts),
    ("Checking references", look_at_references),
    ("Checking JSON", look_at_documents),
    ("Checking nonces and idempotency keys", look_at_answers_kept),
    ("Checking effects on presence", look_at_effects),
    ("Counting people inside", look_at_occupancy),
    ("Checking the search index", look_at_search_index),
    ("Reading notices", look_at_notices),
];

fn look_inside(
    connection: &Connection,
    report: &mut Report,
    ours: bool,
    on_step: &mut dyn FnMut(Step),
) -> Result<()> {
    let before = report.findings.len();
    let of = CHECKS.len() + 1;
    on_step(Step {
        number: 1,
        of,
        what: "Checking pages",
    });
    look_at_pages(connection, report)?;
    if !ours || report.findings.len() > before {
        return Ok(());
    }
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != migrate::CURRENT {
        let current = migrate::CURRENT;
        report.add(
            format!("schema version {version}; this program's is {current}"),
            MIGRATE,
        );
        return Ok(());
    }
    for (number, (what, check)) in (2..).zip(CHECKS) {
        on_step(Step { number, of, what });
        check(connection, report)?;
    }
    report.last_backup = last_backup(connection)?;
    Ok(())
}

/// SQLite's own check of pages and indexes, a full-text index included.
fn look_at_pages(connection: &Connection, report: &mut Report) -> Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({LINES_MAX})"))?;
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(row.get::<_, String>(0)?);
    }
    // On damaged pages no rows can be counted, and worse is told already.
    lines.extend(integrity::all_partial_indexes(connection).unwrap_or_default());
    let lacking: Vec<String> = (lines.iter())
        .filter_map(|line| line.split_once("missing from index "))
        .map(|(_, index)| format!("entries in index {index}"))
        .collect();
    for line in lines {
        let lacks_entries = lacking.iter().any(|index| line.contains(index));
        let of_index = line.contains("missing from index") || lacks_entries;
        let of_value = line.contains("value in");
        match line.as_str() {
            "ok" => {}
            _ if open::is_of_search_index(&line) => {
                report.index = true;
                report.add(line, REPAIR_INDEX);
            }
            _ if of_index => report.add(line, REINDEX),
            _ if line.contains("entries in index") => report.add(line, ROWS),
            _ if of_value => report.add(line, TELL),
            _ => report.add(line, RESTORE),
        }
    }
    Ok(())
}

fn look_at_schema(connection: &Connection, report: &mut Report) -> Result<()> {
    let fresh = Connection::open_in_memory()?;
    migrate::create(&fresh)?;
    let (wanted, found) = (migrate::schema_of(&fresh)?, migrate::schema_of(connection)?);
    for part in &wanted {
        if !found.contains(part) {
            let (kind, name, _) = part;
            report.add(
                format!("{kind} {name} is missing, or not as it should be"),
                TELL,
            );
        }
    }
    // SQLite's own tables come and go, and Litestream adds two.
    let is_known = |name: &str| name.starts_with("sqlite_") || name.starts_with("_litestream_");
    for (kind, name, _) in found.iter().filter(|part| !is_known(&part.1)) {
        if !wanted.iter().any(|part| (&part.0, &part.1) == (kind, name)) {
            report.add(format!("{kind} {name} is none of ours"), TELL);
        }
    }
    Ok(())
}

/// Texts that are not UTF-8: SQLite takes and keeps any bytes, and who reads such a row fails.
fn look_at_texts(connection: &Connection, report: &mut Report) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("are_texts", -1, flags, |call| {
        let is_text = |at| match call.get_raw(at) {
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).is_ok(),
            _ => true,
        };
        Ok((0..call.len()).all(is_text))
    })?;
    let mut statement = connection.prepare(
        "SELECT t.name, json_group_array(c.name)
         FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
         WHERE t.schema = 'main' AND t.type = 'table' AND c.type IN ('TEXT', 'ANY') GROUP BY t.name",
    )?;
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for table in tables {
        let (table, columns): (String, String) = table?;
        let columns: Vec<String> = serde_json::from_str(&columns).map_err(Error::defect)?;
        let bad = |columns: &str| format!("FROM \"{table}\" WHERE NOT are_texts({columns})");
        let all = format!(
            "SELECT 1 {}",
            bad(&format!("\"{}\"", columns.join("\", \"")))
        );
        if !connection.prepare(&all)?.exists([])? {
            continue;
        }
        let row = row_number(connection, &table)?;
        for column in columns {
            let what = format!("rows of {table} whose {column} is not UTF-8 text");
            let sql = format!(
                "SELECT count(*), min({row}) {}",
                bad(&format!("\"{column}\""))
            );
            count(connection, report, &[(&what, &sql, TELL)])?;
        }
    }
    Ok(())
}

/// The expression that names a row of a table; NULL where rows have no number.
fn row_number(connection: &Connection, table: &str) -> Result<String> {
    let sql = "SELECT iif(wr, 'NULL', 'rowid') FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
    Ok(connection.query_row(sql, [table], |row| row.get(0))?)
}

fn look_at_references(connection: &Connection, report: &mut Report) -> Result<()> {
    for missing in integrity::missing(connection)? {
        let first = missing
            .first
            .map_or_else(String::new, |row| format!(", the first in row {row}"));
        let what = format!(
            "{}: {} references to {} that do not exist{first}",
            missing.table, missing.count, missing.of
        );
        report.add(what, TELL);
    }
    Ok(())
}

/// Counts rows that should not be; each statement gives their number and the id of the first.
fn count(
    connection: &Connection,
    report: &mut Report,
    checks: &[(&str, &str, &'static str)],
) -> Result<()> {
    for (what, sql, advice) in checks {
        let (count, first): (i64, Option<i64>) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if count > 0 {
            let first = first.map_or_else(String::new, |id| format!(", the first with id {id}"));
            report.add(format!("{count} {what}{first}"), advice);
        }
    }
    Ok(())
}

/// Columns of JSON. SQLite checks some of them when they are written, but none through a connection that only reads.
fn look_at_documents(connection: &Connection, report: &mut Report) -> Result<()> {
    for table in TABLES {
        for column in table.json() {
            let (name, row) = (table.name, row_number(connection, table.name)?);
            let what = format!("rows of {name} whose {column} is not JSON");
            let sql =
                format!("SELECT count(*), min({row}) FROM {name} WHERE NOT json_valid({column})");
            count(connection, report, &[(&what, &sql, TELL)])?;
        }
    }
    count(connection, report, &[
        (
            "devices whose data is not a JSON object",
            "SELECT count(*), min(id) FROM devices WHERE data IS NOT NULL AND NOT (json_valid(data) AND json_type(data) = 'object')",
            "these gates refuse everybody (743): write the device's data anew with PATCH /device/id:…",
        ),
        (
            "interactions that name a shared value that does not exist",
            "SELECT count(*), min(interactions.id) FROM interactions, json_each(interactions.shared) AS place
             WHERE shared IS NOT NULL AND json_valid(shared)
               AND (place.value ->> 1) NOT IN (SELECT id FROM shared_values)",
            TELL,
        ),
    ])
}

/// Looks at what makes a resend safe.
fn look_at_answers_kept(connection: &Connection, report: &mut Report) -> Result<()> {
    count(
        connection,
        report,
        &[
            (
                "nonces of interactions that never were",
                "SELECT count(*), NULL FROM nonces WHERE interaction_id >
             coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'interactions'), 0)",
                TELL,
            ),
            (
                "idempotency keys without an answer",
                "SELECT count(*), min(id) FROM idempotency_keys
             WHERE id NOT IN (SELECT key_id FROM idempotency_parts)",
                "they go by themselves after 7 days; a resend under one of them is taken as new",
            ),
        ],
    )
}

fn look_at_effects(connection: &Connection, report: &mut Report) -> Result<()> {
    let what = "interactions whose effect on presence is not that of their type";
    let wrong = types::effect_sql();
    let sql = format!("SELECT count(*), min(id) FROM interactions WHERE effect IS NOT ({wrong})");
    count(connection, report, &[(what, &sql, REPAIR)])
}

fn look_at_occupancy(connection: &Connection, report: &mut Report) -> Result<()> {
    connection.execute_batch("BEGIN")?;
    // The server recounts after devices were moved.
    let drift = recount::is_due(connection).and_then(|due| {
        if due {
            Ok(Vec::new())
        } else {
            recount::drift(connection)
        }
    });
    connection.execute_batch("COMMIT")?;
    // The whole venue comes last.
    for (device, off) in drift?.into_iter().rev() {
        let place = if device == ANYWHERE {
            "the venue".to_owned()
        } else {
            format!("device {device}")
        };
        report.add(
            format!("{place} counts {off:+} inside against its check-ins and check-outs"),
            REPAIR,
        );
    }
    Ok(())
}

fn look_at_search_index(connection: &Connection, report: &mut Report) -> Result<()> {
    connection.execute_batch("BEGIN")?;
    let wrong = index::first_wrong(connection);
    connection.execute_batch("COMMIT")?;
    if let Some(id) = wrong? {
        report.index = true;
        report.add(
            format!("the search index differs from the texts of delegate {id}"),
            REPAIR_INDEX,
        );
    }
    Ok(())
}

/// Looks at what happened to the file, until somebody acknowledges it.
fn look_at_notices(connection: &Connection, report: &mut Report) -> Result<()> {
    let zone = settings::load(connection)?.zone;
    for notice in settings::notices::list(connection)? {
        let at = zone.iso(Timestamp(notice.at));
        report.add(format!("{at}: {}", notice.what), ACKNOWLEDGE);
    }
    Ok(())
}

fn last_backup(connection: &Connection) -> Result<Option<String>> {
    let at = ledger::last_made(connection)?;
    let zone = settings::load(connection)?.zone;
    Ok(at.map(|at| zone.iso(at)))
}
