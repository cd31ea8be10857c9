//! What one machine alone has (contract §14): its changes since a mark as lines of JSON, and taking them over on another
//! machine with the same file. Whatever was taken over before, or came from a gate again, changes nothing.
//!
//! Ids up to the mark mean the same on both machines. Attendees and places made later are known by their `publicId`.
//!
//! - `export`: the changes of one machine; `known`: those that somebody else kept; `import`: taking them over on another

mod export;
mod import;
mod known;

pub use export::export;
pub use import::{Taken, import};
pub use known::{Known, of_known};

use crate::{
    core::changes::{self, Position},
    types::error::Result,
};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The actor of what was taken over, in the audit.
pub const ACTOR: &str = "import:standby";

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
enum Line {
    /// The first: which file, and from where to where.
    Changes {
        file: i64,
        epoch: i64,
        from: i64,
        /// Changes that are no part of it, by type.
        left_out: BTreeMap<String, u64>,
    },
    Recorded(Scan),
    /// An interaction of before the mark was deleted.
    Deleted {
        id: i64,
    },
    Delegate(Record),
    Device(Record),
}

/// An interaction, or an admitted scan of a code that nobody has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scan {
    id: i64,
    kind: String,
    delegates: [Option<String>; 3],
    devices: [Option<String>; 3],
    data: Option<String>,
    recorded_at: i64,
    client: Option<i64>,
    user: Option<i64>,
    nonce: Option<String>,
    fingerprint: Option<[u8; 16]>,
}

/// The state of a record: its properties, or that it is gone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: i64,
    public_id: Option<String>,
    /// None of a record that is deleted.
    properties: Option<Map<String, Value>>,
    is_erased: bool,
}

/// A position that is not after a mark, and close to it: the mark is the sum of both numbers.
fn position(connection: &Connection, mark: i64) -> Result<Position> {
    let newest = changes::newest(connection)?;
    if mark >= newest.mark() {
        return Ok(newest);
    }
    // Each change of a record stores the newest interaction of its time.
    let rows = "SELECT id, coalesce(interaction_id, 0) AS at FROM audit UNION ALL SELECT id, coalesce(interaction_id, 0) FROM changes";
    let before: Option<(i64, i64)> = connection
        .query_row(
            &format!("SELECT id, at FROM ({rows}) WHERE id + at <= ?1 ORDER BY id DESC LIMIT 1"),
            [mark],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let (change, interaction) = before.unwrap_or_default();
    let next: Option<i64> = connection.query_row(
        &format!("SELECT min(id) FROM ({rows}) WHERE id > ?1"),
        [change],
        |row| row.get(0),
    )?;
    // Numbers without a row may lie between.
    let last = next.map_or(newest.change, |next| next - 1);
    Ok(Position {
        change,
        interaction: interaction.max(mark - last),
    })
}
