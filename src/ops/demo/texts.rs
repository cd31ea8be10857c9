//! The names of invented people, companies, rooms and sessions, and their texts: `assets/demo/texts.json`.

use serde::Deserialize;
use std::sync::LazyLock;

pub static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    let texts = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/demo/texts.json"
    ));
    serde_json::from_str(texts).unwrap_or_else(|cause| unreachable!("{cause}"))
});

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Texts {
    pub event: Event,
    /// The regions that delegates come from.
    pub regions: Vec<Region>,
    /// Companies; the first ones are the event's sponsors.
    pub companies: Vec<String>,
    pub job_titles: Vec<String>,
    pub crew: Crew,
    /// Special requests for food.
    pub diets: Vec<String>,
    pub rooms: Vec<Room>,
    pub slots: Vec<Slot>,
    /// The titles of the sessions, in their order.
    pub sessions: Vec<String>,
    /// Products for sale. The first is a ticket.
    pub products: Vec<Product>,
    /// The people who sell there.
    pub box_office_staff: Vec<String>,
    pub shop_staff: Vec<String>,
    pub lead: Lead,
}

/// The event; its year follows its name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub name: String,
    pub short_name: String,
    pub manager_email: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Crew {
    pub company: String,
    pub job_titles: Vec<String>,
}

/// Answers in the form of a lead.
#[derive(Deserialize)]
pub struct Lead {
    pub interests: Vec<String>,
    pub plans: Vec<String>,
    pub note: String,
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
    /// The number of seats, where somebody counts.
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
