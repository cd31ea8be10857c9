//! The rows of reports in the file, and who may see which.

use super::Report;
use crate::{
    core::{Context, audit},
    db::{Tx, error::unique_violation, migrate},
    types::{
        error::{Error, Kind, Result},
        text::shortened,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::json;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub number: i64,
    pub report: Report,
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        number: row.get(0)?,
        report: Report {
            dashboard: row.get(1)?,
            id: row.get(2)?,
            label: row.get(3)?,
            query: row.get(4)?,
            parameters: list(row, 5)?,
            fixed: list(row, 6)?,
            api_clients: list(row, 7)?,
            built: match row.get::<_, Option<String>>(8)? {
                Some(_) => Some(list(row, 8)?),
                None => None,
            },
        },
    })
}

fn list<T: serde::de::DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(at)?).map_err(|cause| {
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, cause.into())
    })
}

fn select(connection: &Connection, rest: &str, parameters: impl Params) -> Result<Vec<Stored>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, dashboard, id, label, query, parameters, fixed, api_clients, built FROM reports {rest}"
    ))?;
    let rows = statement.query_map(parameters, stored)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Every report, by dashboard and label.
pub fn all(connection: &Connection) -> Result<Vec<Stored>> {
    select(connection, "ORDER BY dashboard, label, id", [])
}

/// Every report, in its dashboard.
pub fn dashboards(connection: &Connection) -> Result<Vec<(String, Vec<Report>)>> {
    let mut dashboards: Vec<(String, Vec<Report>)> = Vec::new();
    for Stored { report, .. } in all(connection)? {
        match dashboards.last_mut() {
            Some((name, reports)) if *name == report.dashboard => reports.push(report),
            _ => dashboards.push((report.dashboard.clone(), vec![report])),
        }
    }
    Ok(dashboards)
}

/// The report of a dashboard and an id.
///
/// # Errors
/// [`Kind::ReportNotFound`].
pub fn find(connection: &Connection, dashboard: &str, id: &str) -> Result<Stored> {
    let rest = "WHERE dashboard = ?1 AND id = ?2";
    let found = select(connection, rest, [dashboard, id])?.pop();
    found.ok_or_else(|| {
        let (dashboard, id) = (shortened(dashboard), shortened(id));
        let message = format!("there is no report {id} in the dashboard {dashboard}");
        Error::new(Kind::ReportNotFound, message)
    })
}

/// The label of a report by its number.
pub fn label_of(connection: &Connection, number: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT label FROM reports WHERE number = ?1")?
        .query_row([number], |row| row.get(0))
        .optional()?)
}

/// A report for a client that may see it (spec: Report endpoints, rules 2 and 3).
///
/// # Errors
/// [`Kind::ReportNotFound`], [`Kind::ReportNotExposed`].
pub fn of_client(
    connection: &Connection,
    dashboard: &str,
    id: &str,
    client: &str,
) -> Result<Report> {
    let Stored { report, .. } = find(connection, dashboard, id)?;
    if report.is_exposed_to(client) {
        return Ok(report);
    }
    Err(Error::new(
        Kind::ReportNotExposed,
        format!("the report {id} does not name the client {client} in its api_clients"),
    ))
}

/// The reports of a dashboard that are exposed to a client.
///
/// # Errors
/// [`Kind::ReportNotFound`] when the dashboard has no report at all.
pub fn exposed(connection: &Connection, dashboard: &str, client: &str) -> Result<Vec<Report>> {
    let rest = "WHERE dashboard = ?1 ORDER BY label, id";
    let mut reports = select(connection, rest, [dashboard])?;
    if reports.is_empty() {
        let message = format!("there is no dashboard {}", shortened(dashboard));
        return Err(Error::new(Kind::ReportNotFound, message));
    }
    reports.retain(|stored| stored.report.is_exposed_to(client));
    Ok(reports.into_iter().map(|stored| stored.report).collect())
}

/// The first free id that begins like this, in a dashboard.
pub fn free_id(connection: &Connection, dashboard: &str, begin: &str) -> Result<String> {
    let mut id = begin.to_owned();
    for number in 2.. {
        match find(connection, dashboard, &id) {
            Ok(_) => id = format!("{begin}-{number}"),
            Err(cause) if cause.kind == Kind::ReportNotFound => break,
            Err(cause) => return Err(cause),
        }
    }
    Ok(id)
}

/// Stores a new report that was checked.
pub fn create(tx: &Tx<'_>, ctx: &Context, report: &Report) -> Result<()> {
    write(
        tx,
        "INSERT INTO reports (dashboard, id, label, query, parameters, fixed, api_clients, built)
         VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        0,
        report,
    )?;
    let number = tx.last_insert_rowid();
    let after = Some(json!(report));
    audit::append_between(tx, ctx, "report", Some(number), None, after)
}

/// Puts a report that was checked in another's place.
pub fn change(tx: &Tx<'_>, ctx: &Context, was: &Stored, report: &Report) -> Result<()> {
    write(
        tx,
        "UPDATE reports SET dashboard = ?2, id = ?3, label = ?4, query = ?5, parameters = ?6,
                            fixed = ?7, api_clients = ?8, built = ?9
         WHERE number = ?1",
        was.number,
        report,
    )?;
    let (before, after) = (Some(json!(was.report)), Some(json!(report)));
    audit::append_between(tx, ctx, "report", Some(was.number), before, after)
}

fn write(tx: &Tx<'_>, sql: &str, number: i64, report: &Report) -> Result<()> {
    let values = params![
        number,
        report.dashboard,
        report.id,
        report.label,
        report.query,
        json!(report.parameters).to_string(),
        json!(report.fixed).to_string(),
        json!(report.api_clients).to_string(),
        report.built.as_ref().map(|built| json!(built).to_string()),
    ];
    let written = tx.prepare_cached(sql)?.execute(values);
    written.map(drop).map_err(|cause| {
        if unique_violation(&cause).is_none() {
            return cause.into();
        }
        let Report { id, dashboard, .. } = report;
        Error::field(
            "id",
            format!("there is a report {id} in the dashboard {dashboard} already"),
        )
    })
}

/// Removes a report.
pub fn remove(tx: &Tx<'_>, ctx: &Context, was: &Stored) -> Result<()> {
    tx.execute("DELETE FROM reports WHERE number = ?1", [was.number])?;
    let before = Some(json!(was.report));
    audit::append_between(tx, ctx, "report", Some(was.number), before, None)
}

/// Stores reports that were checked, each in the place of the one with its dashboard and id; with
/// `prune` the others go.
pub fn put(tx: &Tx<'_>, ctx: &Context, reports: &[Report], prune: bool) -> Result<()> {
    let before = all(tx)?;
    let same =
        |one: &Report, other: &Report| (&one.dashboard, &one.id) == (&other.dashboard, &other.id);
    if prune {
        for was in &before {
            if !reports.iter().any(|report| same(report, &was.report)) {
                remove(tx, ctx, was)?;
            }
        }
    }
    for report in reports {
        match before.iter().find(|was| same(report, &was.report)) {
            Some(was) if was.report == *report => {}
            Some(was) => change(tx, ctx, was, report)?,
            None => create(tx, ctx, report)?,
        }
    }
    Ok(())
}

/// The report that every file begins with at the address of this one.
pub(super) fn shipped_as(report: &Report) -> Option<&'static Report> {
    static SHIPPED: LazyLock<Vec<Report>> = LazyLock::new(|| shipped().unwrap_or_default());
    let mut shipped = SHIPPED.iter();
    shipped.find(|shipped| (&shipped.dashboard, &shipped.id) == (&report.dashboard, &report.id))
}

/// The reports that every file begins with.
pub fn shipped() -> Result<Vec<Report>> {
    let fresh = Connection::open_in_memory()?;
    migrate::create(&fresh)?;
    Ok(all(&fresh)?
        .into_iter()
        .map(|stored| stored.report)
        .collect())
}
