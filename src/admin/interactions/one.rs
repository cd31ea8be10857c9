//! One interaction: everything that is kept of it.

use super::lines::WHO;
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::interactions::{
        remove,
        rows::{self, Interaction},
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// The longest data that is shown in full, in bytes.
const DATA_MAX: usize = 64 * 1024;
/// The longest answer that is shown in full, in characters.
const ANSWER_MAX: usize = 2_000;

#[derive(Template)]
#[template(path = "interactions/one.html")]
struct Page {
    layout: Layout,
    id: i64,
    kind: String,
    recorded_at: Timestamp,
    created_at: Timestamp,
    participants: Vec<Participant>,
    sender: Sender,
    conflicts: Vec<String>,
    batch: Option<i64>,
    /// Of a form: labels and answers.
    answers: Vec<(String, String)>,
    data: Option<String>,
    /// How long the data is, where it is too long to be shown.
    data_bytes: Option<i64>,
}

struct Participant {
    role: &'static str,
    name: String,
    path: String,
}

struct Sender {
    client: Option<String>,
    user: Option<String>,
    admitted: bool,
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let layout = request.layout(&format!("Interaction {id}"), Some(Area::Interactions));
    let page = request
        .console
        .store
        .read(move |connection| Page::read(connection, layout, id))
        .await?;
    answer::page(&page)
}

impl Page {
    fn read(connection: &Connection, layout: Layout, id: i64) -> Result<Self> {
        let found = rows::find(connection, id)?.ok_or_else(|| {
            Error::new(
                Kind::InteractionNotFound,
                format!("there is no interaction {id}; it may have been deleted"),
            )
        })?;
        let data: Option<Value> = found
            .data
            .as_deref()
            .and_then(|data| serde_json::from_str(data).ok());
        let answers = data.as_ref().map(answers).unwrap_or_default();
        let text = data
            .as_ref()
            .and_then(|data| serde_json::to_string_pretty(data).ok())
            .or_else(|| found.data.clone());
        let length = text.as_ref().map_or(0, String::len);
        Ok(Self {
            layout,
            id,
            participants: participants(connection, &found)?,
            sender: sender(connection, id)?,
            conflicts: conflicts(connection, id)?,
            batch: batch(connection, id)?,
            answers,
            data_bytes: (length > DATA_MAX).then(|| i64::try_from(length).unwrap_or(i64::MAX)),
            data: text.filter(|_| length <= DATA_MAX),
            kind: found.kind,
            recorded_at: found.recorded_at,
            created_at: found.created_at,
        })
    }
}

/// What a form was answered, as people read it.
fn answers(data: &Value) -> Vec<(String, String)> {
    let report = data.get("reportData").and_then(Value::as_object);
    let said = |value: &Value| -> String {
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(true) => "yes".into(),
            Value::Bool(false) => "no".into(),
            Value::Array(values) if values.iter().all(Value::is_string) => values
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(", "),
            other => other.to_string(),
        };
        if text.chars().nth(ANSWER_MAX).is_none() {
            return text;
        }
        text.chars().take(ANSWER_MAX).chain(['…']).collect()
    };
    report
        .into_iter()
        .flatten()
        .map(|(label, value)| (label.clone(), said(value)))
        .collect()
}

fn participants(connection: &Connection, found: &Interaction) -> Result<Vec<Participant>> {
    let mut participants = Vec::new();
    let delegate = format!("SELECT {WHO} FROM delegates p WHERE p.id = ?1");
    let device = "SELECT coalesce(name, code) FROM devices WHERE id = ?1".to_owned();
    let delegates = found.delegates.iter().flatten().map(|id| id.0);
    let devices = found.devices.iter().flatten().map(|id| id.0);
    let all = delegates
        .zip(["Attendee", "Second attendee", "Third attendee"])
        .map(|(id, role)| (id, role, "delegates", &delegate))
        .chain(
            devices
                .zip(["Device", "Second device", "Third device"])
                .map(|(id, role)| (id, role, "devices", &device)),
        );
    for (id, role, folder, sql) in all {
        let name: Option<Option<String>> = connection
            .prepare_cached(sql)?
            .query_row([id], |row| row.get(0))
            .optional()?;
        participants.push(Participant {
            role,
            name: name.flatten().unwrap_or_else(|| id.to_string()),
            path: format!("/console/{folder}/{id}"),
        });
    }
    Ok(participants)
}

fn sender(connection: &Connection, id: i64) -> Result<Sender> {
    // Whoever sent it may be gone by now; then the number is what is left.
    Ok(connection
        .prepare_cached(
            "SELECT iif(i.client_id IS NULL, NULL, coalesce(c.name, 'client ' || i.client_id || ', which is gone')),
                 iif(i.user_id IS NULL, NULL, coalesce(u.email, 'user ' || i.user_id || ', who is gone')),
                 i.admitted
             FROM interactions i LEFT JOIN clients c ON c.id = i.client_id
             LEFT JOIN users u ON u.id = i.user_id WHERE i.id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Sender {
                client: row.get(0)?,
                user: row.get(1)?,
                admitted: row.get(2)?,
            })
        })?)
}

fn conflicts(connection: &Connection, id: i64) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT message FROM conflicts WHERE interaction_id = ?1 ORDER BY id")?;
    let messages = statement.query_map([id], |row| row.get::<_, String>(0))?;
    let messages = messages.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(messages
        .iter()
        .map(|message| answer::sentence(message))
        .collect())
}

/// The import that brought it.
fn batch(connection: &Connection, id: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT b.id FROM batch_rows r JOIN batches b ON b.id = r.batch_id
             WHERE r.record_id = ?1 AND b.kind = 'interactions' LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?)
}

pub(super) async fn delete(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let ctx = request.context();
    request
        .console
        .store
        .write(move |tx| remove::remove(tx, &ctx, id))
        .await?;
    request.flash(format!("Interaction {id} is deleted."));
    Ok(answer::go("/console/interactions"))
}
