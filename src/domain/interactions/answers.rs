//! The answers of recording: outcomes as status and JSON. They are rendered after the commit, so that nobody who
//! waits for the writer waits for them; only what is kept under an idempotency key is rendered inside its transaction.

use super::{
    record::{Outcome, Recorded},
    rows::Interaction,
    spelling,
};
use crate::{
    core::{Context, idempotency::Stored},
    web::{
        batch::{Part, failed},
        envelope::{REPLAYED, envelope},
    },
};
use serde_json::{Value, json};
use std::fmt::Write;

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

/// Status, data and meta.
pub fn told(recorded: &Recorded, ctx: &Context) -> Part {
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
