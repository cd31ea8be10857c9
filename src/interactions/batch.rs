//! Many interactions at once: in order, each failing alone, in slices between which gates get their
//! turn (contract §6).

use super::{
    draft::{BatchInput, Draft, InteractionInput},
    places::Places,
    record::{Outcome, record, record_among},
    shared::SharedValues,
};
use crate::{
    auth::Context,
    error::{Error, Kind, Result},
    idempotency::{self, Key, Stored},
    store::{Store, Tx},
    types::json::{self, RECORD_MAX_BYTES, write_string},
    web::{
        RequestId,
        envelope::{REPLAYED, envelope},
        error::{meta, status_code},
    },
};
use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};

/// The most items of a batch (contract §6).
pub const ITEMS_MAX: usize = 10_000;
/// The largest body of a batch, in bytes.
pub const BATCH_MAX_BYTES: usize = 32 * 1024 * 1024;
/// How long a slice may hold the writer.
const SLICE_MAX: Duration = Duration::from_millis(10);

/// A batch, checked as far as that goes without the store.
pub struct Batch(Vec<Item>);

struct Item {
    key: String,
    draft: Result<Draft>,
}

impl Batch {
    /// Checks the items of a body, each on its own.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for more than [`ITEMS_MAX`] items.
    pub fn new(input: BatchInput, ctx: &Context) -> Result<Self> {
        let items = input.interactions.0;
        if items.len() > ITEMS_MAX {
            return Err(Error::invalid(format!(
                "interactions: has {} items, at most {ITEMS_MAX} are taken",
                items.len()
            )));
        }
        let values = Arc::new(SharedValues::new(input.shared_values));
        let draft = |text: &str| {
            if text.len() > RECORD_MAX_BYTES {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!("an item may have at most {RECORD_MAX_BYTES} bytes"),
                ));
            }
            let mut input: InteractionInput = json::parse(text.as_bytes())?;
            let kind = input
                .interaction_type
                .take()
                .ok_or_else(|| Error::new(Kind::InteractionType, "interactionType: is missing"))?;
            Draft::new(&kind, input, &values, &ctx.settings.zone)
        };
        Ok(Self(
            items
                .into_iter()
                .map(|(key, text)| Item {
                    key,
                    draft: draft(text.get()),
                })
                .collect(),
        ))
    }
}

/// Records a batch; the array of its answers as JSON text.
///
/// # Errors
/// [`Kind::KeyReused`] for the batch's idempotency key; [`Kind::Unavailable`] when the store could
/// not take all of it: what is stored by then stays, and the resend with the same key or nonces
/// stores the rest.
pub async fn record_all(
    store: &Store,
    ctx: Context,
    batch: Batch,
    key: Option<Key>,
    request_id: RequestId,
) -> Result<String> {
    let work = Arc::new((batch, ctx, key, request_id));
    let mut answers = String::from("[");
    let mut done = 0;
    let mut part = 0;
    // Once even for a batch of nothing: its key may stand for another request.
    while part == 0 || done < work.0.0.len() {
        let of_slice = Arc::clone(&work);
        let slice = store
            .write_bulk(move |tx| {
                let (batch, ctx, key, request_id) = &*of_slice;
                idempotency::part(tx, key.as_ref(), part, || {
                    record_slice(tx, ctx, &batch.0[done..], request_id)
                })
            })
            .await?;
        if done > 0 {
            answers.push(',');
        }
        answers.push_str(&slice.body);
        done += slice.done;
        part += 1;
    }
    answers.push(']');
    Ok(answers)
}

/// How a slice guards its items against each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Not at all: an item that fails before it wrote anything needs none. Anything worse fails
    /// the slice, which is then recorded again.
    None,
    /// A savepoint for each item, which costs a copy of every page it touches.
    Savepoints,
}

fn record_slice(
    tx: &Tx<'_>,
    ctx: &Context,
    items: &[Item],
    request_id: &RequestId,
) -> Result<Stored> {
    let unguarded = tx.nested(|tx| record_items(tx, ctx, items, request_id, Guard::None));
    match unguarded {
        Err(cause) if cause.kind != Kind::Unavailable => {
            tracing::warn!(%request_id, "a slice of a batch is recorded again: {cause}");
            record_items(tx, ctx, items, request_id, Guard::Savepoints)
        }
        done => done,
    }
}

/// Records items until they are done or the slice's time is over; at least one.
fn record_items(
    tx: &Tx<'_>,
    ctx: &Context,
    items: &[Item],
    request_id: &RequestId,
    guard: Guard,
) -> Result<Stored> {
    let begun = Instant::now();
    let places = Places::default();
    let mut body = String::with_capacity(items.len().min(512) * 320);
    let mut done = 0;
    for item in items {
        if done > 0 {
            if begun.elapsed() > SLICE_MAX {
                break;
            }
            body.push(',');
        }
        record_item(tx, ctx, &places, item, request_id, guard, &mut body)?;
        done += 1;
    }
    Ok(Stored {
        status: 200,
        body,
        done,
    })
}

fn record_item(
    tx: &Tx<'_>,
    ctx: &Context,
    places: &Places,
    item: &Item,
    request_id: &RequestId,
    guard: Guard,
    out: &mut String,
) -> Result<()> {
    let changes = tx.total_changes();
    let outcome = match (&item.draft, guard) {
        (Ok(draft), Guard::None) => record_among(tx, ctx, places, draft),
        (Ok(draft), Guard::Savepoints) => tx.nested(|tx| record_among(tx, ctx, places, draft)),
        (Err(cause), _) => Err(Error::new(cause.kind, cause.message.clone())),
    };
    let (status, data, meta) = match outcome {
        Ok(Outcome::Created(made)) => (201, made.to_json(&ctx.settings.zone), "{}".to_owned()),
        Ok(Outcome::Replayed(made)) => (200, replayed(made, ctx), REPLAYED.to_owned()),
        Ok(Outcome::Refused(cause)) => failed(&cause, request_id),
        Err(cause) if cause.kind == Kind::Unavailable => return Err(cause),
        Err(cause) if guard == Guard::None && tx.total_changes() != changes => return Err(cause),
        Err(cause) => failed(&cause, request_id),
    };
    out.push_str("{\"key\":");
    write_string(&item.key, out);
    let _ = write!(
        out,
        ",\"status\":{status},\"data\":{data},\"meta\":{meta}}}"
    );
    Ok(())
}

fn failed(cause: &Error, request_id: &RequestId) -> (u16, String, String) {
    let meta = meta(cause, request_id).to_string();
    (status_code(cause.kind), "{}".to_owned(), meta)
}

fn replayed(made: Option<super::rows::Interaction>, ctx: &Context) -> String {
    made.map_or_else(|| "{}".to_owned(), |made| made.to_json(&ctx.settings.zone))
}

/// What a single create answers, as it is stored under an idempotency key.
///
/// # Errors
/// As [`record`].
pub fn record_one(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    request_id: &RequestId,
) -> Result<Stored> {
    let (status, body) = match record(tx, ctx, draft)? {
        Outcome::Created(made) => (201, envelope(&made.to_json(&ctx.settings.zone), "{}")),
        Outcome::Replayed(made) => (200, envelope(&replayed(made, ctx), REPLAYED)),
        Outcome::Refused(cause) => {
            let (status, data, meta) = failed(&cause, request_id);
            (status, envelope(&data, &meta))
        }
    };
    Ok(Stored {
        status,
        body,
        done: 1,
    })
}
