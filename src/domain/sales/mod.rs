//! Purchases at a till (spec: Transaction endpoint; contract §8): always accepted, stored word for
//! word, loaded as far as possible. Inconsistencies are listed, and a person works through them.
//!
//! - `sale`: reads a body, as far as possible; pure
//! - `load`: stores its rows; `tickets`: makes its delegates, in slices
//! - `inconsistencies`: lists, settles and reopens them; `find`, `receipt`: purchases in the console;
//!   `till`: purchases at the desk of the console; `sums`, `adding`: totals; `stored`: a purchase for the change feed

mod adding;
pub mod api;
pub(crate) mod find;
pub(crate) mod inconsistencies;
mod load;
pub(crate) mod receipt;
pub(crate) mod sale;
pub mod stored;
pub(crate) mod sums;
mod tickets;
pub mod till;

pub use load::{Received, receive};
pub use sale::{Inconsistency, Sale};
pub use tickets::{resume, tickets};

use crate::types::error::{Error, Result};
use rusqlite::{Connection, OptionalExtension};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Replaces mentions of a person who was deleted permanently.
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
