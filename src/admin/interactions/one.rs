//! The page of an interaction.

use crate::admin::prelude::*;
use crate::{
    domain::{
        delegates, devices,
        interactions::{
            history::{self, Sender},
            remove,
            rows::{self, Interaction},
            undo::{self, Caller, may_undo},
        },
    },
    types::text,
};
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
    /// Of an admission against the rules: the reason, and the refusal that it followed.
    reason: Option<String>,
    overridden: Option<String>,
    batch: Option<i64>,
    /// Answers of a form, with their labels.
    answers: Vec<(String, String)>,
    data: Option<String>,
    /// The length of data that is too long to be shown.
    data_bytes: Option<i64>,
    can_undo: bool,
}

struct Participant {
    role: &'static str,
    name: String,
    path: String,
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let caller = request.caller()?;
    let read = move |connection: &Connection, layout| Page::read(connection, layout, caller, id);
    request
        .page(&format!("Interaction {id}"), Area::Interactions, read)
        .await
}

impl Page {
    fn read(connection: &Connection, layout: Layout, caller: Caller, id: i64) -> Result<Self> {
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
            sender: history::sender(connection, id)?,
            conflicts: history::conflicts(connection, id)?
                .iter()
                .map(|message| text::sentence(message))
                .collect(),
            reason: history::reason(&found.kind, found.data.as_deref()),
            overridden: history::overridden(connection, id)?,
            batch: history::batch(connection, id)?,
            answers,
            data_bytes: (length > DATA_MAX).then(|| i64::try_from(length).unwrap_or(i64::MAX)),
            data: text.filter(|_| length <= DATA_MAX),
            can_undo: undo::recorded(connection, id)?.is_some_and(|recorded| {
                may_undo(caller, undo::Page::Activity, &recorded, Timestamp::now())
            }),
            kind: found.kind,
            recorded_at: found.recorded_at,
            created_at: found.created_at,
        })
    }
}

/// The answers of a form as people read them.
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
    let delegates = found.delegates.into_iter().flatten();
    for (id, role) in delegates.zip(["Attendee", "Second attendee", "Third attendee"]) {
        let name = delegates::name_of(connection, id.0)?;
        participants.push(Participant {
            role,
            name: name.unwrap_or_else(|| id.to_string()),
            path: format!("/console/delegates/{id}"),
        });
    }
    let devices = found.devices.into_iter().flatten();
    for (id, role) in devices.zip(["Device", "Second device", "Third device"]) {
        participants.push(Participant {
            role,
            name: devices::called(connection, id)?,
            path: format!("/console/devices/{id}"),
        });
    }
    Ok(participants)
}

pub(super) fn delete(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let id = action.id;
    remove::remove(tx, ctx, id)?;
    Ok(Done::new(
        format!("Interaction {id} is deleted."),
        "/console/interactions",
    ))
}
