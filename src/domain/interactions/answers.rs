//! The answers of recording: outcomes as status and JSON. They are rendered after the commit, so that nobody who
//! waits for the writer waits for them; only what is kept under an idempotency key is rendered inside its transaction.
//! And batches, each item of which is answered as the single call would be (contract §6).

use super::{
    draft::{BatchInput, Draft, InteractionInput},
    record::{Outcome, Recorded, record},
    rows::Interaction,
    shared::SharedValues,
    spelling,
};
use crate::{
    core::{Context, idempotency::Stored},
    db::Tx,
    types::{
        error::{Error, Kind, Result},
        json,
    },
    web::{
        batch::{BATCH_MAX_BYTES, Batch, Item, Part, failed},
        envelope::{REPLAYED, envelope},
    },
};
use serde_json::{Value, json};
use std::{fmt::Write, sync::Arc, time::Duration};

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
fn told(recorded: &Recorded, ctx: &Context) -> Part {
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

/// The most that the `data` of all items may come to, forms reshaped, in bytes: answers stand in it three times, and
/// items may share a form. It is all held in memory.
const EXPANDED_MAX_BYTES: usize = 4 * BATCH_MAX_BYTES;

/// Checks the items of a body, each on its own.
///
/// # Errors
/// As [`Batch::new`]; [`Kind::InteractionContent`] for shared values.
pub fn read_batch(input: BatchInput, ctx: &Context) -> Result<Batch<Draft>> {
    let values = Arc::new(SharedValues::read(input.shared_values)?);
    let mut bytes_left = EXPANDED_MAX_BYTES;
    Batch::new("interactions", input.interactions, |text| {
        if bytes_left == 0 {
            return Err(Error::new(
                Kind::TooLarge,
                format!(
                    "the items before this one expand into {EXPANDED_MAX_BYTES} bytes; send it in another batch"
                ),
            ));
        }
        let mut input: InteractionInput = json::parse(text)?;
        let kind = input
            .interaction_type
            .take()
            .ok_or_else(|| Error::new(Kind::InteractionType, "is missing").at("interactionType"))?;
        let draft = Draft::new(&kind, input, &values, &ctx.settings.zone)?;
        bytes_left = bytes_left.saturating_sub(draft.data.as_ref().map_or(0, String::len));
        Ok(draft)
    })
}

impl Item for Draft {
    type Outcome = Recorded;
    const REPEATABLE: bool = true;
    const SLICE_MAX: Duration = Duration::from_millis(15);

    fn write(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Recorded> {
        record(tx, ctx, self)
    }

    fn answer(recorded: &Recorded, ctx: &Context) -> Part {
        told(recorded, ctx)
    }
}
