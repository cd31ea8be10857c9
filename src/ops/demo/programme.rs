//! The event, its rooms, sessions and sponsors.

use super::{names::COMPANIES, random::Random};
use crate::types::Timestamp;
use serde_json::{Map, Value, json};

/// How many sponsors there are.
pub const SPONSORS: usize = 12;
/// How many days the event has.
pub const DAYS: i64 = 2;
/// Minutes of a day.
pub const DAY_MIN: i64 = 24 * 60;

/// A room: what it is called, its slug, and how many fit in where somebody counts.
struct Room {
    name: &'static str,
    slug: &'static str,
    seats: Option<usize>,
    /// Sessions there: entered once, and with a ticket for them alone.
    single: bool,
    ticket: bool,
}

#[rustfmt::skip]
const ROOMS: [Room; 8] = [
    Room { name: "Main Hall", slug: "main-hall", seats: Some(900), single: false, ticket: false },
    Room { name: "Forum", slug: "forum", seats: Some(300), single: false, ticket: false },
    Room { name: "Studio A", slug: "studio-a", seats: Some(120), single: true, ticket: false },
    Room { name: "Studio B", slug: "studio-b", seats: Some(120), single: false, ticket: false },
    Room { name: "Lounge", slug: "lounge", seats: None, single: false, ticket: false },
    Room { name: "Workshop 1", slug: "workshop-1", seats: Some(40), single: true, ticket: true },
    Room { name: "Workshop 2", slug: "workshop-2", seats: Some(40), single: true, ticket: true },
    Room { name: "Expo Hall", slug: "expo-hall", seats: None, single: false, ticket: false },
];

/// The room in which the sponsors' stands are.
pub const EXPO_HALL: usize = 7;

/// A slot of a day: begin and end in minutes after midnight, and the rooms in use.
#[rustfmt::skip]
const SLOTS: [(i64, i64, &[usize]); 6] = [
    (9 * 60 + 30, 10 * 60 + 15, &[0]),
    (10 * 60 + 45, 11 * 60 + 30, &[1, 2, 3, 4, 5]),
    (11 * 60 + 45, 12 * 60 + 30, &[1, 2, 3, 4, 6]),
    (14 * 60, 14 * 60 + 45, &[1, 2, 3, 4, 5]),
    (15 * 60 + 15, 16 * 60, &[1, 2, 6]),
    (16 * 60 + 30, 17 * 60 + 15, &[0]),
];

/// What the sessions are called, in their order.
#[rustfmt::skip]
const TITLES: [&str; 40] = [
    "Opening: The Room Is the Medium",
    "Queues, Measured", "Badges That Work in the Rain", "Designing a Floor Plan for Strangers", "Coffee with the Founders", "Hands-on: Your First Access Rule",
    "Offline First at the Gate", "A Stage for Two Thousand", "Sound, Light and the Fire Marshal", "Meet the Programme Committee", "Hands-on: Reading a Radio Tag",
    "What Guests Remember", "Tickets, Fraud and Trust", "Interpreting in Nine Languages", "Volunteers' Round Table", "Hands-on: Lead Capture That Sells",
    "Sustainable by the Numbers", "Small Venues, Big Nights", "Hands-on: Evacuation Drills",
    "Day One in Review",
    "Keynote: Twenty Years of Turnstiles",
    "Crowds Are Not Fluids", "Accessible from the Car Park On", "The Hybrid Hangover", "Breakfast of Producers", "Hands-on: Mapping Your Attendee Data",
    "Privacy at the Door", "Catering for Every Table", "Live Captions, Live Mistakes", "Sponsors Speak Freely", "Hands-on: Signage in a Day",
    "The Economics of No-shows", "Weather Plans That Hold", "Teaching Stewards to Say No", "Careers Corner", "Hands-on: A Control Room on a Laptop",
    "After the Last Guest", "Festivals without Mud", "Hands-on: Debriefs That Change Something",
    "Closing and Prizes",
];

/// A session.
pub struct Session {
    /// The day, counted from 0.
    pub day: i64,
    /// The slot of the day, counted from 0.
    pub slot: usize,
    /// When it begins, in minutes after the begin of the event's first day.
    pub start_min: i64,
    /// When it ends.
    pub end_min: i64,
    /// How many fit in.
    pub seats: Option<usize>,
    /// Entered once.
    pub single: bool,
    /// For those who booked it.
    pub ticket: bool,
    /// The room.
    pub room: usize,
    /// The record but for its parent, as the API takes it.
    pub body: Map<String, Value>,
}

/// All that takes place.
pub struct Programme {
    /// When the event's first day begins.
    pub first_day: Timestamp,
    /// The event, as the API takes it, and what only devices have.
    pub event: (Map<String, Value>, Map<String, Value>),
    /// The rooms but for their parent.
    pub rooms: Vec<Map<String, Value>>,
    /// The sessions, in the order of their begin.
    pub sessions: Vec<Session>,
    /// The sponsors but for their parent.
    pub sponsors: Vec<Map<String, Value>>,
}

impl Programme {
    /// Makes it; from seed to seed only ids differ.
    pub fn new(random: &mut Random, first_day: Timestamp, year: i16) -> Self {
        Self {
            first_day,
            event: event(random, first_day, year),
            rooms: ROOMS.iter().map(|room| room_body(random, room)).collect(),
            sessions: sessions(random, first_day),
            sponsors: COMPANIES[..SPONSORS]
                .iter()
                .map(|name| sponsor_body(random, name))
                .collect(),
        }
    }

    /// The Unix seconds of a time in seconds after the begin of the event's first day.
    pub fn unix_s(&self, seconds: i64) -> i64 {
        self.first_day.0 / 1000 + seconds
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn unix_s(first_day: Timestamp, minutes: i64) -> i64 {
    first_day.0 / 1000 + minutes * 60
}

fn event(
    random: &mut Random,
    first_day: Timestamp,
    year: i16,
) -> (Map<String, Value>, Map<String, Value>) {
    let event = json!({
        "eventName": format!("Summit of Gatherings {year}"),
        "eventExternalID": format!("SUM{year}"),
        "eventStartAt": unix_s(first_day, 8 * 60),
        "eventEndAt": unix_s(first_day, DAY_MIN + 18 * 60),
        "eventManagerEmail": "manager@northgate.example",
    });
    let device = json!({
        "code": random.uuid(),
        "publicId": random.uuid(),
        "slug": format!("summit-{year}"),
        "shortName": "Summit",
        "data": {"Access": {"ruleSet": "simple"}},
    });
    (object(event), object(device))
}

fn room_body(random: &mut Random, room: &Room) -> Map<String, Value> {
    let mut body = json!({
        "name": room.name,
        "slug": room.slug,
        "deviceType": "room",
        "code": random.uuid(),
        "publicId": random.uuid(),
    });
    if let Some(seats) = room.seats {
        body["data"] = json!({"Data": {"Seats": seats}});
    }
    object(body)
}

fn sponsor_body(random: &mut Random, name: &str) -> Map<String, Value> {
    object(json!({
        "name": name,
        "slug": name.to_lowercase().replace(' ', "-"),
        "deviceType": "sponsor",
        "description": format!("{name} shows what it does, in the Expo Hall."),
        "code": random.uuid(),
        "publicId": random.uuid(),
    }))
}

fn sessions(random: &mut Random, first_day: Timestamp) -> Vec<Session> {
    let mut titles = TITLES.iter();
    let mut sessions = Vec::new();
    for day in 0..DAYS {
        let midnight = day * DAY_MIN;
        for (slot, (start, end, rooms)) in SLOTS.iter().enumerate() {
            for (room, title) in rooms.iter().zip(&mut titles) {
                let number = sessions.len() + 1;
                let (start_min, end_min) = (midnight + start, midnight + end);
                let times = [start_min, end_min].map(|minutes| unix_s(first_day, minutes));
                sessions.push(Session {
                    day,
                    slot,
                    start_min,
                    end_min,
                    seats: ROOMS[*room].seats,
                    single: ROOMS[*room].single,
                    ticket: ROOMS[*room].ticket,
                    room: *room,
                    body: session_body(random, number, title, &ROOMS[*room], times),
                });
            }
        }
    }
    sessions
}

fn session_body(
    random: &mut Random,
    number: usize,
    title: &str,
    room: &Room,
    [start_s, end_s]: [i64; 2],
) -> Map<String, Value> {
    let mut body = json!({
        "name": title,
        "slug": format!("s{number:02}"),
        "deviceType": "session",
        "category": if room.ticket { "workshop" } else { "talk" },
        "startAt": start_s,
        "endAt": end_s,
        "code": random.uuid(),
        "publicId": random.uuid(),
    });
    let access = access(room);
    if !access.is_empty() {
        body["data"] = json!({"Access": access});
    }
    object(body)
}

fn access(room: &Room) -> Map<String, Value> {
    let mut access = Map::new();
    if room.ticket {
        access.insert("ruleSet".into(), "simple".into());
    }
    if room.single {
        access.insert("entry".into(), "single".into());
    }
    if let Some(seats) = room.seats {
        access.insert("capacity".into(), seats.into());
    }
    access
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_sessions_never_share_a_room_at_one_time() {
        let programme = Programme::new(&mut Random::new(1), Timestamp(0), 2026);
        assert_eq!(programme.sessions.len(), 40);
        for (at, one) in programme.sessions.iter().enumerate() {
            assert!(one.start_min < one.end_min);
            let clash = programme.sessions[..at]
                .iter()
                .any(|other| other.room == one.room && other.end_min > one.start_min);
            assert!(!clash, "session {at}");
        }
    }
}
