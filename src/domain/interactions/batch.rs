//! Many interactions at once: in order, each failing alone, in slices between which gates get their
//! turn (contract §6).

use super::{
    answers::{ItemOutcome, render_items},
    draft::{BatchInput, Draft, InteractionInput},
    record::record,
    shared::SharedValues,
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key, Once},
    },
    db::{Priority, Store, Tx},
    types::{
        error::{Error, Kind, Result},
        json::{self, RECORD_MAX_BYTES},
    },
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The most items of a batch (contract §6).
pub const ITEMS_MAX: usize = 10_000;
/// The largest body of a batch, in bytes.
pub const BATCH_MAX_BYTES: usize = 32 * 1024 * 1024;
/// The most that the `data` of all items may come to, forms reshaped, in bytes: answers stand in it three times, and
/// items may share a form. It is all held in memory.
const EXPANDED_MAX_BYTES: usize = 4 * BATCH_MAX_BYTES;
/// The longest time for which a slice may hold the writer.
const SLICE_MAX: Duration = Duration::from_millis(15);

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
            return Err(Error::field(
                "interactions",
                format!("has {} items, at most {ITEMS_MAX} are taken", items.len()),
            ));
        }
        let values = Arc::new(SharedValues::read(input.shared_values)?);
        let mut bytes_left = EXPANDED_MAX_BYTES;
        let mut draft = |text: &str| {
            if bytes_left == 0 {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!(
                        "the items before this one expand into {EXPANDED_MAX_BYTES} bytes; send it in another batch"
                    ),
                ));
            }
            if text.len() > RECORD_MAX_BYTES {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!("an item may have at most {RECORD_MAX_BYTES} bytes"),
                ));
            }
            json::check_limits(text.as_bytes())?;
            let mut input: InteractionInput = json::parse(text.as_bytes())?;
            let kind = input.interaction_type.take().ok_or_else(|| {
                Error::new(Kind::InteractionType, "is missing").at("interactionType")
            })?;
            let draft = Draft::new(&kind, input, &values, &ctx.settings.zone)?;
            bytes_left = bytes_left.saturating_sub(draft.data.as_ref().map_or(0, String::len));
            Ok(draft)
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

impl Batch {
    /// Checks items further; those that do not pass fail alone.
    pub fn check(&mut self, check: impl Fn(&Draft) -> Result<()>) {
        for item in &mut self.0 {
            if let Ok(draft) = &item.draft
                && let Err(cause) = check(draft)
            {
                item.draft = Err(cause);
            }
        }
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
) -> Result<String> {
    let work = Arc::new((batch, ctx, key));
    let mut answers = String::from("[");
    let mut done = 0;
    let mut part = 0;
    // Once even for a batch of nothing: its key may stand for another request.
    while part == 0 || done < work.0.0.len() {
        let slice = match record_slice(store, &work, part, done, Isolation::None).await {
            // Undone as a whole: an item failed after it had begun to write.
            Err(cause) if cause.kind != Kind::KeyReused && !cause.kind.is_of_store() => {
                let request_id = &work.1.request_id;
                tracing::warn!(request_id, "a slice of a batch is recorded again: {cause}");
                record_slice(store, &work, part, done, Isolation::Savepoints).await?
            }
            slice => slice?,
        };
        let (batch, ctx, _) = &*work;
        let slice = slice.rendered(|outcomes| render_items(keys(&batch.0[done..]), &outcomes, ctx));
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

/// A batch, who sent it, and its idempotency key.
type Work = (Batch, Context, Option<Key>);

/// Records a slice of a batch: the items from `done` on, as that part of its answer.
async fn record_slice(
    store: &Store,
    work: &Arc<Work>,
    part: usize,
    done: usize,
    isolation: Isolation,
) -> Result<Once<Vec<ItemOutcome>>> {
    let work = Arc::clone(work);
    let slice = move |tx: &Tx<'_>| {
        let (batch, ctx, key) = &*work;
        let items = &batch.0[done..];
        idempotency::part(
            tx,
            key.as_ref(),
            part,
            || record_items(tx, ctx, items, isolation),
            |outcomes| render_items(keys(items), &outcomes, ctx),
        )
    };
    store.write_repeatable(Priority::Background, slice).await
}

/// The isolation of a slice's items from each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Isolation {
    /// Not at all: an item that fails before it wrote anything needs none. Anything worse undoes
    /// the slice, which is then recorded again.
    None,
    /// A savepoint for each item, which costs a copy of every page it touches.
    Savepoints,
}

fn keys(items: &[Item]) -> impl Iterator<Item = &str> {
    items.iter().map(|item| item.key.as_str())
}

/// Records items until they are done or the slice's time is over; at least one.
fn record_items(
    tx: &Tx<'_>,
    ctx: &Context,
    items: &[Item],
    isolation: Isolation,
) -> Result<Vec<ItemOutcome>> {
    let begun = Instant::now();
    let mut outcomes = Vec::with_capacity(items.len().min(512));
    for item in items {
        if !outcomes.is_empty() && begun.elapsed() > SLICE_MAX {
            break;
        }
        outcomes.push(record_item(tx, ctx, item, isolation)?);
    }
    Ok(outcomes)
}

/// Records one item; an error fails the whole slice.
fn record_item(
    tx: &Tx<'_>,
    ctx: &Context,
    item: &Item,
    isolation: Isolation,
) -> Result<ItemOutcome> {
    let changes = tx.total_changes();
    let outcome = match (&item.draft, isolation) {
        (Ok(draft), Isolation::None) => record(tx, ctx, draft),
        (Ok(draft), Isolation::Savepoints) => tx.nested(|tx| record(tx, ctx, draft)),
        (Err(cause), _) => Err(cause.clone()),
    };
    match outcome {
        Err(cause) if cause.kind.is_of_store() => Err(cause),
        Err(cause) if isolation == Isolation::None && tx.total_changes() != changes => Err(cause),
        outcome => Ok(outcome),
    }
}
