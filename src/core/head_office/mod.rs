//! What a venue and its head office say to each other: JSON over HTTPS, gzip both ways (contract §14).
//!
//! The hub keeps the cursor of each venue's change feed. A venue asks for it by a push without items, and pushes on from
//! it: a page of its feed at a time, exactly as `GET /changes` gives it. Every push names the cursor it begins at; the
//! hub refuses one that is not the cursor it has (409) and tells the right one, so that a batch which comes twice changes
//! nothing. What the head office owns comes the other way, with a cursor of its own that the venue keeps in its file.

pub mod venue;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// Where a venue hands in its pairing code.
pub const PAIR: &str = "/hub/pair";
/// Where it pushes what changed.
pub const PUSH: &str = "/hub/changes";
/// Where it fetches what the head office owns; with `since` and `wait`, as `GET /changes`.
pub const PULL: &str = "/hub/down";
/// The header by which two servers with copies of one file are told apart: the mark of the running server, and those of
/// the runs of its file before, the newest first.
pub const RUN: &str = "Gatepost-Run";
/// Marks that a server sends, its own included: a hub that was restored still knows one of them.
pub const RUNS_MAX: usize = 20;

/// A pairing code, handed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairRequest {
    pub code: String,
    /// The venue's file, and the epoch of the machine that has it (0 without a standby).
    pub file: String,
    pub epoch: i64,
    /// The version of Gatepost there.
    pub version: String,
}

/// The answer: who the venue is from now on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paired {
    pub venue: i64,
    pub name: String,
    /// The bearer of every later request; shown once, hashed at the hub.
    pub secret: String,
    /// The addresses of the hubs, in the order in which to try them.
    pub hubs: Vec<String>,
    /// The number of the head office's file: a venue that comes back knows by it what it had from there.
    #[serde(default)]
    pub office: Option<String>,
}

/// What changed at a venue, and how it is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Push<'a> {
    /// The venue that the bearer belongs to: another one is refused (403).
    pub venue: i64,
    pub file: String,
    pub epoch: i64,
    pub version: String,
    /// The clock of the venue, in Unix milliseconds.
    pub clock: i64,
    /// The cursor at which the items begin; none where a snapshot begins, into a new generation.
    pub from: Option<String>,
    /// The cursor behind the items; none in a push that only asks.
    pub to: Option<String>,
    /// The items are the last of a snapshot or later: the generation is complete.
    pub complete: bool,
    /// Changes of the venue that the hub lacks after this push, and how long the oldest has waited.
    pub behind: i64,
    pub behind_ms: i64,
    /// Items of the feed as `GET /changes` shows them, in order.
    #[serde(borrow)]
    pub items: Vec<&'a RawValue>,
    /// All values that the venue keeps against the head office's, where they changed or the hub was just connected to: in
    /// place of those that the hub has of this venue.
    pub kept: Option<Vec<Kept>>,
}

/// A property that was changed at both ends: the venue kept its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The type and id of the record at the head office.
    #[serde(rename = "type")]
    pub record_type: String,
    pub id: i64,
    pub property: String,
    pub office: Value,
    pub venue: Value,
}

/// The answer to a push, also with 409.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pushed {
    /// The cursor from which the venue goes on; none: it begins a snapshot.
    pub cursor: Option<String>,
    pub hubs: Vec<String>,
}

/// What the head office owns, from a cursor on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pull {
    /// The cursor to go on from.
    pub cursor: String,
    pub more: bool,
    /// Set at the beginning of a snapshot: what the venue has of the head office and the snapshot lacks is gone there.
    pub reset: bool,
    /// Set where the head office itself went back to an earlier state: what its snapshot lacks is not gone, it was made
    /// or changed after its backup.
    #[serde(default)]
    pub restored: bool,
    /// Attendees, places and events, and blocked codes, as items of the feed; only those of the venue's event.
    pub items: Vec<Box<RawValue>>,
    /// The configuration document, where it changed since the cursor.
    pub configuration: Option<Box<RawValue>>,
    /// Interactions that the venue lost and that somebody at the head office sends back: lines of `import changes`.
    pub sent_back: Option<String>,
}
