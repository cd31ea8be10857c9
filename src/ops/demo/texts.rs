//! What invented people, companies, rooms and sessions are called: `texts.json`.

use serde::Deserialize;
use std::sync::LazyLock;

pub static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    serde_json::from_str(include_str!("texts.json")).unwrap_or_else(|cause| unreachable!("{cause}"))
});

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Texts {
    /// The regions that delegates come from.
    pub regions: Vec<Region>,
    /// Companies; the first ones are the event's sponsors.
    pub companies: Vec<String>,
    pub job_titles: Vec<String>,
    pub rooms: Vec<Room>,
    pub slots: Vec<Slot>,
    /// The titles of the sessions, in their order.
    pub sessions: Vec<String>,
    /// What is sold. The first is a ticket.
    pub products: Vec<Product>,
}

/// Names that go together, and how a telephone number begins where they do.
#[derive(Deserialize)]
pub struct Region {
    pub phone: String,
    pub first: Vec<String>,
    pub last: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Room {
    pub name: String,
    pub slug: String,
    /// How many fit in, where somebody counts.
    pub seats: Option<usize>,
    /// Its sessions are entered once.
    pub is_single: bool,
    /// Its sessions are for those who booked them.
    pub needs_ticket: bool,
}

/// A slot of a day: begin and end in minutes after midnight, and the rooms in use.
#[derive(Deserialize)]
pub struct Slot {
    pub start: i64,
    pub end: i64,
    pub rooms: Vec<usize>,
}

#[derive(Deserialize)]
pub struct Product {
    pub name: String,
    pub slug: String,
    pub cents: i64,
}
