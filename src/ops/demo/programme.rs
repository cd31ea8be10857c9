//! The programme: the event, its rooms, sessions and sponsors, and what is for sale. All of them are
//! devices; everything else names one by its place in their list.

use super::{
    Random,
    texts::{Room, TEXTS},
};
use crate::types::Timestamp;
use serde_json::{Value, json};

pub const SPONSORS: usize = 12;
const DAYS: i64 = 2;
/// Minutes of a day.
pub const DAY_MIN: i64 = 24 * 60;
/// The event's place in the list of devices.
pub const EVENT: usize = 0;
/// The place of the room in which the sponsors' stands are.
pub const EXPO_HALL: usize = FIRST_ROOM + 7;
/// The place of the room in which speakers wait.
pub const LOUNGE: usize = FIRST_ROOM + 4;

const FIRST_ROOM: usize = EVENT + 1;
const EXPO_HALL_CAPACITY: usize = 600;

pub struct Session {
    /// Its place in the list of devices.
    pub device: usize,
    pub room: &'static Room,
    /// The day and the slot of the day, counted from 0.
    pub slot: (i64, usize),
    /// The begin and the end, in minutes after the begin of the event's first day.
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
        for room in &TEXTS.rooms {
            let mut body = json!({"name": room.name, "slug": room.slug, "deviceType": "room"});
            if let Some(seats) = room.seats {
                body["data"] = json!({"Data": {"Seats": seats}});
            }
            if room.slug == "expo-hall" {
                body["data"] = json!({"Access": {"capacity": EXPO_HALL_CAPACITY}});
            }
            programme.add(random, EVENT, body);
        }
        programme.add_sessions(random);
        for name in &TEXTS.companies[..SPONSORS] {
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
        for product in &TEXTS.products {
            let body = json!({"name": product.name, "slug": product.slug, "deviceType": "product"});
            self.add(random, EVENT, body);
        }
    }

    /// The place of a sponsor.
    pub fn sponsor(&self, number: usize) -> usize {
        FIRST_ROOM + TEXTS.rooms.len() + self.sessions.len() + number
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
        let event = &TEXTS.event;
        let body = json!({
            "eventName": format!("{} {year}", event.name),
            "eventExternalID": format!("SUM{year}"),
            "eventStartAt": self.unix_s(8 * 3_600),
            "eventEndAt": self.unix_s((DAY_MIN + 18 * 60) * 60),
            "eventManagerEmail": event.manager_email,
            "slug": format!("summit-{year}"),
            "shortName": event.short_name,
            "data": {"Access": {"ruleSet": "simple"}},
        });
        self.add(random, EVENT, body);
        self.devices[EVENT].parent = None;
    }

    fn add_sessions(&mut self, random: &mut Random) {
        let mut titles = TEXTS.sessions.iter();
        for day in 0..DAYS {
            for (slot, about) in TEXTS.slots.iter().enumerate() {
                for (at, title) in about.rooms.iter().zip(&mut titles) {
                    let room = &TEXTS.rooms[*at];
                    let [start_min, end_min] =
                        [about.start, about.end].map(|time| day * DAY_MIN + time);
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
