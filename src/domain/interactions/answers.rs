//! The answers of recording: outcomes as status and JSON. They are rendered after the commit, so that nobody who
//! waits for the writer waits for them; only what is kept under an idempotency key is rendered inside its transaction.

use super::{
    record::{Outcome, Recorded},
    rows::Interaction,
    spelling,
};
use crate::{
    core::{Context, idempotency::Stored},
    types::{
        error::{Error, Result},
        json::write_string,
    },
    web::{
        envelope::{REPLAYED, envelope},
        error::{meta, status_code},
    },
};
use serde_json::{Value, json};
use std::fmt::Write;

/// The outcome of one item of a batch.
pub type ItemOutcome = Result<Recorded>;

/// The answer to a single interaction.
pub fn render_one(recorded: &Recorded, ctx: &Context) -> Stored {
    let (status, data, meta) = told(recorded, ctx);
    Stored {
        status,
        body: envelope(&data, &meta),
        done: 1,
    }
}

/// The answer to an interaction that was only tried: nothing is created.
pub fn render_tried(recorded: &Recorded, ctx: &Context) -> Stored {
    let mut stored = render_one(recorded, ctx);
    if matches!(recorded.outcome, Outcome::Created(_) | Outcome::Waiting(_)) {
        stored.status = 200;
    }
    stored
}

/// The answers to the first items of a batch, separated by commas, each with its key: what the
/// single call would have answered.
pub fn render_items<'a>(
    keys: impl Iterator<Item = &'a str>,
    outcomes: &[ItemOutcome],
    ctx: &Context,
) -> Stored {
    let mut body = String::with_capacity(outcomes.len() * 320);
    for (key, outcome) in keys.zip(outcomes) {
        if !body.is_empty() {
            body.push(',');
        }
        let (status, data, meta) = match outcome {
            Ok(outcome) => told(outcome, ctx),
            Err(cause) => failed(cause, ctx),
        };
        body.push_str("{\"key\":");
        write_string(key, &mut body);
        let _ = write!(
            body,
            ",\"status\":{status},\"data\":{data},\"meta\":{meta}}}"
        );
    }
    Stored {
        status: 200,
        body,
        done: outcomes.len(),
    }
}

/// Status, data and meta.
fn told(recorded: &Recorded, ctx: &Context) -> (u16, String, String) {
    let json = |made: &Interaction| made.to_json(&ctx.settings.zone);
    let (status, data, mut meta) = match &recorded.outcome {
        Outcome::Created(made) => (201, json(made), "{}".to_owned()),
        Outcome::Waiting(scan) => (201, json(scan), r#"{"unknown":true}"#.to_owned()),
        Outcome::Replayed(made) => (
            200,
            made.as_ref().map_or_else(|| "{}".to_owned(), json),
            REPLAYED.to_owned(),
        ),
        Outcome::Refused(cause) => failed(cause, ctx),
    };
    if let Outcome::Created(made) = &recorded.outcome
        && let Some(warning) = spelling::warning(&made.kind)
    {
        add(&mut meta, "warning", &warning.into());
    }
    if let Some(repeat) = &recorded.repeat {
        let first_at = ctx.settings.zone.iso(repeat.first_at);
        let told = json!({"count": repeat.count, "firstAt": first_at});
        add(&mut meta, "repeat", &told);
    }
    if let Some(note) = &recorded.note {
        add(&mut meta, "note", &note.to_json());
    }
    (status, data, meta)
}

/// Adds a member to an object in JSON text.
fn add(object: &mut String, name: &str, value: &Value) {
    object.pop();
    let comma = if object.len() > 1 { "," } else { "" };
    let _ = write!(object, "{comma}\"{name}\":{value}}}");
}

fn failed(cause: &Error, ctx: &Context) -> (u16, String, String) {
    let meta = meta(cause, ctx.request_id.as_deref().unwrap_or_default()).to_string();
    (status_code(cause.kind), "{}".to_owned(), meta)
}
