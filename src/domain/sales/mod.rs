//! Purchases at a till (spec: Transaction endpoint; contract §8): always accepted, kept word for
//! word, loaded as far as possible; what does not fit is told, and a person works through it.
//!
//! - `sale`: a body, read as far as it can be; pure
//! - `load`: it becomes rows; `tickets`: and delegates, in slices
//! - `settle`: what did not fit, and what a person found out about it
//! - `find`, `receipt`, `inconsistencies`: purchases as people look for them and read them; `sums`,
//!   `adding`: what they come to
//! - `erase`: somebody is taken out of purchases for good; `person`, `contacts`: what tells of them; `letters`,
//!   `telephone`: how that is found in a text; `erased`: which tickets were theirs

mod adding;
pub mod api;
mod contacts;
pub mod erase;
mod erased;
pub(crate) mod find;
pub(crate) mod inconsistencies;
mod letters;
mod load;
mod person;
pub(crate) mod receipt;
mod sale;
pub mod settle;
pub mod stored;
pub(crate) mod sums;
mod telephone;
mod tickets;

pub use contacts::Contacts;
pub use load::{Received, receive};
pub use sale::{Inconsistency, Sale};
pub use tickets::{resume, tickets};

use crate::types::error::{Error, Result};
use rusqlite::{Connection, OptionalExtension};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What stands in the place of somebody who was deleted for good.
pub const ERASED: &str = "[erased]";

/// A body from this length on takes a while to read, and memory.
const LARGE_BYTES: usize = 128 * 1024;
/// Large bodies are read a few at a time.
static READING: Semaphore = Semaphore::const_new(2);

/// Reads a body; a large one beside other requests.
async fn read(body: Arc<[u8]>) -> Result<Arc<Sale>> {
    if body.len() < LARGE_BYTES {
        return Ok(Arc::new(Sale::read(&body)));
    }
    let _turn = READING.acquire().await.map_err(Error::defect)?;
    tokio::task::spawn_blocking(move || Arc::new(Sale::read(&body)))
        .await
        .map_err(Error::defect)
}

/// The purchases that made a ticket of a delegate: id and code, the newest first.
pub fn of_delegate(connection: &Connection, delegate: i64) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.id, t.code FROM transaction_delegates d JOIN transactions t ON t.id = d.transaction_id
         WHERE d.delegate_id = ?1 ORDER BY t.id DESC LIMIT 10",
    )?;
    let purchases = statement.query_map([delegate], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(purchases.collect::<rusqlite::Result<_>>()?)
}

/// The code of a purchase.
pub fn code_of(connection: &Connection, id: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT code FROM transactions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
