//! An attendee as a gate shows and judges them: who they are, and their presence at the gate's place.

use super::{list::Person, place};
use crate::{
    core::{
        rules::{AccessRules, Per, Position, PresenceState},
        settings::Settings,
    },
    domain::{
        delegates::note,
        interactions::{
            judge::{self, DeviceCache},
            presence::{self, History, REPEAT_MAX},
        },
    },
    types::{DelegateId, DeviceId, error::Result},
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The largest picture (or its address) that a gate is sent, in bytes.
const PHOTO_MAX_BYTES: usize = 100_000;

/// An attendee at a place, being made for a gate.
pub(super) struct Attendee<'a> {
    pub connection: &'a Connection,
    pub settings: &'a Settings,
    pub device_cache: DeviceCache,
    pub delegate: DelegateId,
    /// The place of the gate; at a door, the place of the door.
    pub place: DeviceId,
    pub history: History,
    /// The properties so far.
    pub shown: Value,
}

impl Attendee<'_> {
    /// Adds who they are and all of their presence.
    pub fn with(mut self, person: Person) -> Result<Value> {
        self.put_person(person);
        let note = note::of(self.connection, self.delegate)?;
        self.put("note", json!(note.map(|note| note.to_json())));
        let joined = judge::is_joined(
            self.connection,
            &self.device_cache,
            &self.history,
            self.delegate,
            self.place,
        )?;
        self.put("joined", json!(joined));
        self.put_entries()?;
        let inside = self.history.inside(self.connection, &self.device_cache)?;
        self.put_stay(inside.binary_search(&self.place).is_ok())?;
        self.put_rooms(&inside)?;
        Ok(self.shown)
    }

    /// Puts a property, unless it is empty.
    fn put(&mut self, name: &str, value: Value) {
        let is_empty = [Value::Null, json!(false), json!(0), json!([])].contains(&value);
        if !is_empty {
            self.shown[name] = value;
        }
    }

    fn put_person(&mut self, person: Person) {
        // The barcode is declared first.
        let has_ticket = person.codes.first().is_some_and(Option::is_some);
        let codes: Vec<_> = person.codes.into_iter().flatten().collect();
        let company = person.company.filter(|company| !company.is_empty());
        let photo = person.photo.filter(|it| it.len() <= PHOTO_MAX_BYTES);
        self.shown["name"] = person.name.into();
        self.shown["codes"] = json!(codes);
        self.put("noTicket", json!(!has_ticket && !codes.is_empty()));
        self.put("category", json!(person.category));
        self.put("company", json!(company));
        self.put("parent", json!(person.parent));
        self.put("photo", json!(photo));
    }

    /// Puts when they came and left last, and how often they came, as far as rules may ask for that.
    fn put_entries(&mut self) -> Result<()> {
        let (connection, delegate, place) = (self.connection, self.delegate, self.place);
        let state = self.history.state(connection, &self.device_cache, place)?;
        let Some(last_in) = state.last_in else {
            return Ok(());
        };
        self.put_last(last_in, &state)?;
        let doors = self.device_cache.doors(connection)?;
        let history = &self.history;
        let entries = presence::entries(connection, &doors, history, delegate, place, REPEAT_MAX)?;
        self.put("entries", json!(entries));
        if self.rules()?.and_then(|rules| rules.per) == Some(Per::Day) {
            let happened = self.history.happened_at(connection, last_in)?;
            let day = self.settings.day(happened);
            let history = &self.history;
            let (_, of_day) = presence::entries_on(
                connection, &doors, history, delegate, place, day, REPEAT_MAX,
            )?;
            self.put("dayEntries", json!(of_day));
        }
        Ok(())
    }

    /// Puts when and by which door they came last, and when they left.
    fn put_last(&mut self, last_in: Position, state: &PresenceState) -> Result<()> {
        let (came, device) = presence::recorded_where(self.connection, last_in)?;
        self.put("lastIn", json!(came.0));
        if device != self.place {
            let door = self.device_cache.get(self.connection, device)?;
            self.put("lastDoor", json!(door.place.name));
        }
        // Once a clock was corrected, the times may contradict the order of events.
        if !state.is_inside() {
            let left = state
                .last_out
                .map(|last_out| presence::recorded_at(self.connection, last_out));
            let left = left.transpose()?.map_or(came, |left| came.max(left));
            self.put("lastOut", json!(left.0));
        }
        Ok(())
    }

    /// Puts whether they are inside, since when, and at which place below; and for whoever a gate may check out all the
    /// same why they are not: a day began since, or they are in another room.
    fn put_stay(&mut self, is_inside: bool) -> Result<()> {
        self.put("inside", json!(is_inside));
        if is_inside {
            return self.put_since();
        }
        let (connection, device_cache) = (self.connection, &self.device_cache);
        let not_left = self.history.not_left(connection, device_cache)?;
        let mut why = None;
        for (at, entered) in device_cache.within(connection, not_left, self.place)? {
            let happened = || self.history.happened_at(connection, entered);
            if !device_cache.is_over(connection, at, entered, happened)? {
                why = Some("movedOn");
            } else if why.is_none() {
                why = Some("insideBefore");
            }
        }
        if let Some(why) = why {
            self.put(why, json!(true));
        }
        Ok(())
    }

    fn put_since(&mut self) -> Result<()> {
        let (connection, device_cache) = (self.connection, &self.device_cache);
        let mut last = None;
        let entered = self.history.entered(connection, device_cache)?;
        for (at, entered) in device_cache.within(connection, entered, self.place)? {
            let happened = self.history.happened_at(connection, entered)?;
            last = last.max(Some((happened, at)));
        }
        let Some((since, at)) = last else {
            return Ok(());
        };
        let below = device_cache.get(connection, at)?;
        self.put("since", json!(since.0));
        if at != self.place {
            self.put("at", json!(below.place.name));
        }
        Ok(())
    }

    /// Puts where a capacity counts them, and where of that they stay when they leave the place.
    fn put_rooms(&mut self, inside: &[DeviceId]) -> Result<()> {
        if inside.is_empty() {
            return Ok(());
        }
        let rules = self.rules()?;
        let rooms = place::rooms(
            self.connection,
            &self.device_cache,
            self.place,
            rules.as_ref(),
        )?;
        let mut rooms: Vec<_> = rooms.into_iter().map(|(room, _)| room).collect();
        rooms.retain(|room| inside.binary_search(room).is_ok());
        self.put("rooms", json!(rooms));
        if !rooms.is_empty() {
            let elsewhere = self.elsewhere()?;
            rooms.retain(|room| elsewhere.contains(room));
            self.put("elsewhere", json!(rooms));
        }
        Ok(())
    }

    /// The devices that they stay inside of when they leave the place: a check-in elsewhere holds them there.
    fn elsewhere(&self) -> Result<Vec<DeviceId>> {
        let mut elsewhere = Vec::new();
        for (at, _) in self.history.entered(self.connection, &self.device_cache)? {
            let path = self.device_cache.path(self.connection, at)?;
            if !path.contains(&self.place) {
                elsewhere.extend_from_slice(&path);
            }
        }
        Ok(elsewhere)
    }

    /// The rules in force for entering the place.
    fn rules(&self) -> Result<Option<AccessRules>> {
        let default = &self.settings.access;
        place::rules(self.connection, &self.device_cache, self.place, default)
    }
}
