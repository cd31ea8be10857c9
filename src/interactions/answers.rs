//! What recording answers: outcomes as status and JSON. It is rendered after the commit, so that
//! nobody waits for it who waits for the writer; only what is kept under an idempotency key is
//! rendered inside its transaction.

use super::{record::Outcome, rows::Interaction};
use crate::{
    auth::Context,
    error::{Error, Result},
    idempotency::Stored,
    types::json::write_string,
    web::{
        envelope::{REPLAYED, envelope},
        error::{meta, status_code},
    },
};
use std::fmt::Write;

/// What became of one item of a batch.
pub type ItemOutcome = Result<Outcome>;

/// The answer to a single interaction.
#[must_use]
pub fn render_one(outcome: &Outcome, ctx: &Context) -> Stored {
    let (status, data, meta) = told(outcome, ctx);
    Stored {
        status,
        body: envelope(&data, &meta),
        done: 1,
    }
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
fn told(outcome: &Outcome, ctx: &Context) -> (u16, String, String) {
    let json = |made: &Interaction| made.to_json(&ctx.settings.zone);
    match outcome {
        Outcome::Created(made) => (201, json(made), "{}".to_owned()),
        Outcome::Replayed(made) => (
            200,
            made.as_ref().map_or_else(|| "{}".to_owned(), json),
            REPLAYED.to_owned(),
        ),
        Outcome::Refused(cause) => failed(cause, ctx),
    }
}

fn failed(cause: &Error, ctx: &Context) -> (u16, String, String) {
    let meta = meta(cause, ctx.request_id.as_deref().unwrap_or_default()).to_string();
    (status_code(cause.kind), "{}".to_owned(), meta)
}
