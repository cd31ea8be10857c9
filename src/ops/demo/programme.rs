//! The programme: the event, its rooms, sessions and sponsors, and what is for sale. All of them are
//! devices; everything else names one by its place in their list.

use super::{Random, names::COMPANIES};
use crate::types::Timestamp;
use serde_json::{Value, json};

/// How many sponsors there are.
pub const SPONSORS: usize = 12;
const DAYS: i64 = 2;
/// Minutes of a day.
pub const DAY_MIN: i64 = 24 * 60;
/// The event's place in the list of devices.
pub const EVENT: usize = 0;
/// The place of the room in which the sponsors' stands are.
pub const EXPO_HALL: usize = FIRST_ROOM + 7;

const FIRST_ROOM: usize = EVENT + 1;

pub struct Room {
    name: &'static str,
    slug: &'static str,
    /// How many fit in, where somebody counts.
    pub seats: Option<usize>,
    /// Its sessions are entered once.
    pub is_single: bool,
    /// Its sessions are for those who booked them.
    pub needs_ticket: bool,
}

#[rustfmt::skip]
const ROOMS: [Room; 8] = [
    Room { name: "Main Hall", slug: "main-hall", seats: Some(900), is_single: false, needs_ticket: false },
    Room { name: "Forum", slug: "forum", seats: Some(300), is_single: false, needs_ticket: false },
    Room { name: "Studio A", slug: "studio-a", seats: Some(120), is_single: true, needs_ticket: false },
    Room { name: "Studio B", slug: "studio-b", seats: Some(120), is_single: false, needs_ticket: false },
    Room { name: "Lounge", slug: "lounge", seats: None, is_single: false, needs_ticket: false },
    Room { name: "Workshop 1", slug: "workshop-1", seats: Some(40), is_single: true, needs_ticket: true },
    Room { name: "Workshop 2", slug: "workshop-2", seats: Some(40), is_single: true, needs_ticket: true },
    Room { name: "Expo Hall", slug: "expo-hall", seats: None, is_single: false, needs_ticket: false },
];

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

/// Products: name, slug, price in cents. The first is a ticket.
pub const PRODUCTS: [(&str, &str, i64); 5] = [
    ("Full Pass", "full-pass", 24_900),
    ("T-Shirt", "t-shirt", 2_500),
    ("Mug", "mug", 1_200),
    ("Tote Bag", "tote-bag", 900),
    ("Lunch Voucher", "lunch-voucher", 1_450),
];

pub struct Session {
    /// Its place in the list of devices.
    pub device: usize,
    pub room: &'static Room,
    /// The day and the slot of the day, counted from 0.
    pub slot: (i64, usize),
    /// When it begins and ends, in minutes after the begin of the event's first day.
    pub start_min: i64,
    pub end_min: i64,
}

pub struct Device {
    /// The place of the one that it belongs to; none for the event.
    pub parent: Option<usize>,
    /// The body of the request that creates it, but for the parent.
    pub body: Value,
}

pub struct Programme {
    first_day: Timestamp,
    /// The event, rooms, sessions, sponsors and products, in this order.
    pub devices: Vec<Device>,
    pub sessions: Vec<Session>,
}

impl Programme {
    /// The programme; from seed to seed only ids differ.
    pub fn new(random: &mut Random, first_day: Timestamp, year: i16) -> Self {
        let mut programme = Self {
            first_day,
            devices: Vec::new(),
            sessions: Vec::new(),
        };
        programme.add_event(random, year);
        for room in &ROOMS {
            let mut body = json!({"name": room.name, "slug": room.slug, "deviceType": "room"});
            if let Some(seats) = room.seats {
                body["data"] = json!({"Data": {"Seats": seats}});
            }
            programme.add(random, EVENT, body);
        }
        programme.add_sessions(random);
        for name in &COMPANIES[..SPONSORS] {
            let body = json!({
                "name": name,
                "slug": name.to_lowercase().replace(' ', "-"),
                "deviceType": "sponsor",
                "description": format!("{name} shows what it does, in the Expo Hall."),
            });
            programme.add(random, EXPO_HALL, body);
        }
        programme
    }

    /// Adds what is sold, with ids that `random` makes.
    pub fn add_products(&mut self, random: &mut Random) {
        for (name, slug, _) in PRODUCTS {
            let body = json!({"name": name, "slug": slug, "deviceType": "product"});
            self.add(random, EVENT, body);
        }
    }

    /// The place of a sponsor.
    pub fn sponsor(&self, number: usize) -> usize {
        FIRST_ROOM + ROOMS.len() + self.sessions.len() + number
    }

    /// The place of a product.
    pub fn product(&self, number: usize) -> usize {
        self.sponsor(SPONSORS) + number
    }

    /// The Unix seconds of a time in seconds after the begin of the event's first day.
    pub fn unix_s(&self, seconds: i64) -> i64 {
        self.first_day.0 / 1000 + seconds
    }

    fn add(&mut self, random: &mut Random, parent: usize, mut body: Value) {
        body["code"] = random.uuid().into();
        body["publicId"] = random.uuid().into();
        let parent = Some(parent);
        self.devices.push(Device { parent, body });
    }

    fn add_event(&mut self, random: &mut Random, year: i16) {
        let body = json!({
            "eventName": format!("Summit of Gatherings {year}"),
            "eventExternalID": format!("SUM{year}"),
            "eventStartAt": self.unix_s(8 * 3_600),
            "eventEndAt": self.unix_s((DAY_MIN + 18 * 60) * 60),
            "eventManagerEmail": "manager@northgate.example",
            "slug": format!("summit-{year}"),
            "shortName": "Summit",
            "data": {"Access": {"ruleSet": "simple"}},
        });
        self.add(random, EVENT, body);
        self.devices[EVENT].parent = None;
    }

    fn add_sessions(&mut self, random: &mut Random) {
        let mut titles = TITLES.iter();
        for day in 0..DAYS {
            for (slot, (start, end, rooms)) in SLOTS.iter().enumerate() {
                for (at, title) in rooms.iter().zip(&mut titles) {
                    let room = &ROOMS[*at];
                    let [start_min, end_min] = [start, end].map(|time| day * DAY_MIN + time);
                    let mut body = json!({
                        "name": title,
                        "slug": format!("s{:02}", self.sessions.len() + 1),
                        "deviceType": "session",
                        "category": if room.needs_ticket { "workshop" } else { "talk" },
                        "startAt": self.unix_s(start_min * 60),
                        "endAt": self.unix_s(end_min * 60),
                    });
                    if room.needs_ticket {
                        body["data"]["Access"]["ruleSet"] = "simple".into();
                    }
                    if room.is_single {
                        body["data"]["Access"]["entry"] = "single".into();
                    }
                    if let Some(seats) = room.seats {
                        body["data"]["Access"]["capacity"] = seats.into();
                    }
                    self.sessions.push(Session {
                        device: self.devices.len(),
                        room,
                        slot: (day, slot),
                        start_min,
                        end_min,
                    });
                    self.add(random, FIRST_ROOM + at, body);
                }
            }
        }
    }
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
                .any(|other| other.room.slug == one.room.slug && other.end_min > one.start_min);
            assert!(!clash, "session {at}");
        }
    }
}
