//! `/health/live` and `/health/ready` (contract §1), for whoever restarts or balances servers. They
//! need no token and tell nothing about anybody.

use crate::{
    core::standby::Replication, db::migrate, hub::Hub, identity::App, types::error::Result,
};
use poem::{Response, http::StatusCode};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// With less free space on the file's disk the server is not ready: under load the log beside the
/// file alone takes as much.
const DISK_MIN_BYTES: u64 = 128 * 1024 * 1024;
/// A writer that shows no sign of life for so long is stuck.
const SILENT_MAX: Duration = Duration::from_secs(10);
/// The time for which the file's refusal of a write counts, should nothing be written after it.
const REFUSAL_COUNTS: Duration = Duration::from_secs(10);

/// Tells that the process runs: it answers, so it does.
pub fn live() -> Response {
    answer(StatusCode::OK, &json!({"status": "live"}))
}

/// Tells whether check-ins can be taken; where not, answers 503 and why.
pub fn ready(app: &App, hub: Option<&Hub>) -> Response {
    let mut checks = vec![
        ("database", schema(app)),
        ("disk", disk(app)),
        ("writer", writer(app)),
        ("file", file(app)),
    ];
    if let Some(hub) = hub {
        checks.push(("venues", hub.trouble()));
    }
    let ready = checks.iter().all(|(_, trouble)| trouble.is_none());
    let mut checks: Map<String, Value> = checks
        .into_iter()
        .map(|(name, trouble)| {
            (
                name.to_owned(),
                trouble.unwrap_or_else(|| "ok".into()).into(),
            )
        })
        .collect();
    // A second machine that is behind stops nobody here.
    let warning = app.replication.get().and_then(Replication::warning);
    if let Some(warning) = warning {
        checks.insert("replica".into(), format!("warning: {warning}").into());
    }
    let (status, word) = if ready {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready")
    };
    answer(status, &json!({"status": word, "checks": checks}))
}

fn answer(status: StatusCode, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .content_type("application/json")
        .header("cache-control", "no-store")
        .body(body.to_string())
}

/// Returns what is wrong with the file: it does not answer, or another program changed its schema.
fn schema(app: &App) -> Option<String> {
    let version: Result<i64> = app.store.look_up(|connection| {
        Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
    });
    match version {
        Ok(version) if version == migrate::CURRENT => None,
        Ok(version) => Some(format!(
            "the file has schema version {version}, this program's is {}",
            migrate::CURRENT
        )),
        Err(cause) => {
            tracing::error!("not ready: {cause}");
            Some("the database does not answer".into())
        }
    }
}

/// Returns which of the file and its log was lost, if one was. Its path is nobody's business here.
fn file(app: &App) -> Option<String> {
    let lost = app.store.lost()?;
    let what = if lost == app.store.path() {
        "database file"
    } else {
        "database's log"
    };
    Some(format!(
        "the {what} was removed, renamed, replaced, overwritten or cut short; nothing is stored until a restart"
    ))
}

fn disk(app: &App) -> Option<String> {
    let folder = match app.store.path().parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => std::path::Path::new("."),
    };
    // A system that does not tell is not held against the server.
    let free = fs4::available_space(folder).ok()?;
    (free < DISK_MIN_BYTES).then(|| {
        let mebibyte = 1024 * 1024;
        format!(
            "{} MiB are free on the database's disk, {} are needed",
            free / mebibyte,
            DISK_MIN_BYTES / mebibyte
        )
    })
}

fn writer(app: &App) -> Option<String> {
    let stats = app.store.stats();
    if let Some(why) = stats.stopped() {
        return Some(why.to_owned());
    }
    let silent = stats.silent();
    if silent > SILENT_MAX {
        return Some(format!("the writer is stuck since {} s", silent.as_secs()));
    }
    if stats.refuses_for_damage() {
        return Some("the database file is damaged".into());
    }
    let refusing = stats.refusing_since()?;
    (refusing < REFUSAL_COUNTS).then(|| "the database file does not take writes".into())
}
