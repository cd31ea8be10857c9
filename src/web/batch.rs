//! Many items in one request: in the order of their keys, each failing alone, in slices between which gates get their
//! turn (contract §2, §6).

use super::error::{ErrorDetail, meta, status_code};
use crate::{
    core::{
        Context,
        idempotency::{self, Key, Once, Stored},
    },
    db::{Priority, Store, Tx},
    types::{
        error::{Error, Kind, Result},
        json::{self, Members, RECORD_MAX_BYTES, write_string},
    },
};
use schemars::JsonSchema;
use serde_json::{Map, Value, value::RawValue};
use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// The most items of a batch.
pub const ITEMS_MAX: usize = 10_000;
/// The largest body of a batch, in bytes.
pub const BATCH_MAX_BYTES: usize = 32 * 1024 * 1024;
/// The answers of a batch end with the item that reaches so many bytes: they are held in memory.
const ANSWERS_MAX_BYTES: usize = 5 * BATCH_MAX_BYTES;
/// Batches that are parsed at once.
static PARSED_AT_ONCE: Semaphore = Semaphore::const_new(2);

/// An item of a batch, checked as far as that goes without the store.
pub trait Item: Send + Sync + 'static {
    /// The result, of which the answer is made.
    type Outcome: Send + 'static;

    /// Set where a slice can be written again after it was undone; see [`Store::write_repeatable`].
    const REPEATABLE: bool;

    /// The longest time for which a slice may hold the writer until its last item is written.
    const SLICE_MAX: Duration;

    /// Writes the item.
    fn write(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Self::Outcome>;

    /// The answer that the single call would have given.
    fn answer(outcome: &Self::Outcome, ctx: &Context) -> Part;
}

/// Status, data and meta of an answer, both JSON text.
pub type Part = (u16, String, String);

/// A batch, checked as far as that goes without the store.
pub struct Batch<I>(Vec<Keyed<I>>);

struct Keyed<I> {
    key: String,
    item: Result<I>,
}

impl<I: Item> Batch<I> {
    /// Checks the items of a body, each on its own; `name` is the property that they stand in.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for more than [`ITEMS_MAX`] items.
    pub fn new(
        name: &str,
        items: Members,
        mut read: impl FnMut(&[u8]) -> Result<I>,
    ) -> Result<Self> {
        let Members(items) = items;
        if items.len() > ITEMS_MAX {
            let told = format!("has {} items, at most {ITEMS_MAX} are taken", items.len());
            return Err(Error::field(name, told));
        }
        let mut checked = |text: &str| {
            if text.len() > RECORD_MAX_BYTES {
                let told = format!("an item may have at most {RECORD_MAX_BYTES} bytes");
                return Err(Error::new(Kind::TooLarge, told));
            }
            json::check_limits(text.as_bytes())?;
            read(text.as_bytes())
        };
        let keyed = |(key, text): (String, Box<RawValue>)| Keyed {
            key,
            item: checked(text.get()),
        };
        Ok(Self(items.into_iter().map(keyed).collect()))
    }

    /// Checks items further; those that do not pass fail alone.
    pub fn check(&mut self, check: impl Fn(&I) -> Result<()>) {
        for keyed in &mut self.0 {
            if let Ok(item) = &keyed.item
                && let Err(cause) = check(item)
            {
                keyed.item = Err(cause);
            }
        }
    }
}

/// Prepares a batch on a thread that may take its time over 32 MiB. Only some are prepared at once: a batch may take half
/// a gigabyte for a moment.
pub async fn prepared<T: Send + 'static>(
    prepare: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let turn = PARSED_AT_ONCE.acquire().await.map_err(Error::defect)?;
    let prepared = tokio::task::spawn_blocking(prepare).await;
    drop(turn);
    prepared.map_err(Error::defect)?
}

/// The fingerprint of the body of a batch, an item of which may keep it from being parsed as a whole.
pub fn fingerprint(body: &[u8]) -> [u8; 16] {
    let whole = json::parse(body).unwrap_or_else(|_| String::from_utf8_lossy(body).into());
    json::fingerprint(&whole)
}

/// Writes a batch; the array of its answers as JSON text.
///
/// # Errors
/// [`Kind::KeyReused`] for the batch's idempotency key; [`Kind::Unavailable`] when the store could
/// not take all of it: what is stored by then stays, and the resend with the same key stores the rest.
pub async fn write_all<I: Item>(
    store: &Store,
    ctx: Context,
    batch: Batch<I>,
    key: Option<Key>,
) -> Result<String> {
    let work = Arc::new(Work { batch, ctx, key });
    let mut answers = String::from("[");
    let mut slice = Slice::default();
    // Once even for a batch of nothing: its key may stand for another request.
    while slice.part == 0 || slice.done < work.batch.0.len() {
        slice.is_full = answers.len() > ANSWERS_MAX_BYTES;
        let written = match write_slice(store, &work, slice).await {
            // Undone as a whole: an item failed after it had begun to write.
            Err(cause) if cause.kind != Kind::KeyReused && !cause.kind.is_of_store() => {
                let request_id = &work.ctx.request_id;
                tracing::warn!(request_id, "a slice of a batch is written again: {cause}");
                let isolated = Slice {
                    isolation: Isolation::Savepoints,
                    ..slice
                };
                write_slice(store, &work, isolated).await?
            }
            written => written?,
        };
        let written = written.rendered(|outcomes| work.answers(slice.done, &outcomes));
        if slice.done > 0 {
            answers.push(',');
        }
        answers.push_str(&written.body);
        slice.done += written.done;
        slice.part += 1;
    }
    answers.push(']');
    Ok(answers)
}

/// A batch, who sent it, and its idempotency key.
struct Work<I> {
    batch: Batch<I>,
    ctx: Context,
    key: Option<Key>,
}

/// A slice of a batch.
#[derive(Clone, Copy, Default)]
struct Slice {
    /// Its number.
    part: usize,
    /// Items before it.
    done: usize,
    /// Set where the answers may have no more.
    is_full: bool,
    isolation: Isolation,
}

/// The isolation of a slice's items from each other.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Isolation {
    /// Not at all: an item that fails before it wrote anything needs none. Anything worse undoes
    /// the slice, which is then written again.
    #[default]
    None,
    /// A savepoint for each item, which costs a copy of every page it touches.
    Savepoints,
}

/// Writes the items from `done` on, as that part of the answer.
async fn write_slice<I: Item>(
    store: &Store,
    work: &Arc<Work<I>>,
    slice: Slice,
) -> Result<Once<Vec<Result<I::Outcome>>>> {
    let work = Arc::clone(work);
    let write = move |tx: &Tx<'_>| {
        idempotency::part(
            tx,
            work.key.as_ref(),
            slice.part,
            || work.write(tx, slice),
            |outcomes| work.answers(slice.done, &outcomes),
        )
    };
    if I::REPEATABLE {
        store.write_repeatable(Priority::Background, write).await
    } else {
        store.write_bulk(write).await
    }
}

impl<I: Item> Work<I> {
    /// Writes items until they are done or the slice's time is over; at least one.
    fn write(&self, tx: &Tx<'_>, slice: Slice) -> Result<Vec<Result<I::Outcome>>> {
        let begun = Instant::now();
        let items = &self.batch.0[slice.done..];
        let mut outcomes = Vec::with_capacity(items.len().min(512));
        for keyed in items {
            if !outcomes.is_empty() && begun.elapsed() > I::SLICE_MAX {
                break;
            }
            outcomes.push(if slice.is_full {
                let told = "the answers to the items before this one are too large; send it in another batch";
                Err(Error::new(Kind::TooLarge, told))
            } else {
                self.write_item(tx, keyed, slice.isolation)?
            });
        }
        Ok(outcomes)
    }

    /// Writes one item; an error fails the whole slice.
    fn write_item(
        &self,
        tx: &Tx<'_>,
        keyed: &Keyed<I>,
        isolation: Isolation,
    ) -> Result<Result<I::Outcome>> {
        let changes = tx.total_changes();
        let outcome = match (&keyed.item, isolation) {
            (Ok(item), Isolation::None) => item.write(tx, &self.ctx),
            (Ok(item), Isolation::Savepoints) => tx.nested(|tx| item.write(tx, &self.ctx)),
            (Err(cause), _) => Err(cause.clone()),
        };
        match outcome {
            Err(cause) if cause.kind.is_of_store() => Err(cause),
            Err(cause) if isolation == Isolation::None && tx.total_changes() != changes => {
                Err(cause)
            }
            outcome => Ok(outcome),
        }
    }

    /// The answers to the items from `done` on, separated by commas, each with its key.
    fn answers(&self, done: usize, outcomes: &[Result<I::Outcome>]) -> Stored {
        let mut body = String::with_capacity(outcomes.len() * 320);
        for (Keyed { key, .. }, outcome) in self.batch.0[done..].iter().zip(outcomes) {
            if !body.is_empty() {
                body.push(',');
            }
            let (status, data, meta) = match outcome {
                Ok(outcome) => I::answer(outcome, &self.ctx),
                Err(cause) => failed(cause, &self.ctx),
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
}

/// The answer to an item that failed.
pub fn failed(cause: &Error, ctx: &Context) -> Part {
    let meta = meta(cause, ctx.request_id.as_deref().unwrap_or_default()).to_string();
    (status_code(cause.kind), "{}".to_owned(), meta)
}

/// The answer that the single call would have given.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct ItemAnswer<T, M> {
    /// The item's key.
    pub key: String,
    /// The HTTP status it would have had.
    pub status: i64,
    /// The record, or `{}`.
    pub data: ItemData<T>,
    pub meta: M,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum ItemData<T> {
    Done(Box<T>),
    /// Of an item that failed.
    Failed(#[schemars(with = "Nothing")] Map<String, Value>),
}

#[derive(JsonSchema)]
#[schemars(inline, extend("maxProperties" = 0))]
pub struct Nothing {}

/// `{}`, or the error of an item.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct ItemMeta {
    pub error: Option<ErrorDetail>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}
