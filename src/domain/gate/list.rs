//! The attendees as a gate keeps them: by the change feed, for one place.

use super::place;
use crate::{
    core::{
        changes::{What, action},
        records::Kind,
        rules::{AccessRules, Per, Position, PresenceState},
        settings::Settings,
    },
    domain::{
        delegates::{NAME, RESOURCE, blocked, note},
        feed::{ChangeEffect, FeedView, RecordType, fingerprint_of, kind},
        interactions::{
            judge::{self, DeviceCache},
            presence::{self, History, REPEAT_MAX},
        },
    },
    types::{DelegateId, DeviceId, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    fmt::Write,
    sync::{Arc, LazyLock},
};

const TYPES: [RecordType; 2] = [RecordType::Delegate, RecordType::BlockedCode];
/// The largest picture (or its address) that a gate is sent, in bytes.
const PHOTO_MAX_BYTES: usize = 100_000;

/// The columns of a delegate that do not depend on the place.
static PERSON: LazyLock<String> = LazyLock::new(|| {
    let codes: Vec<_> = RESOURCE
        .codes()
        .map(|(column, _)| format!("p.{column}"))
        .collect();
    format!(
        "SELECT {NAME}, p.delegate_type, p.parent_id, p.company, iif(json_valid(p.data), coalesce(p.data ->> '$.Data.photo', p.data ->> '$.Photo.url'), NULL),
             {} FROM delegates p WHERE p.id = ?1 AND p.deleted_at IS NULL",
        codes.join(", ")
    )
});

/// As [`PERSON`], of the properties that a client sees; the name is made of them alone. The type is read all the same:
/// a place may ask for it ([`GateList::asks_for_type`]).
fn person(visible: Option<&[String]>) -> Cow<'static, str> {
    let Some(visible) = visible else {
        return Cow::Borrowed(&PERSON);
    };
    let mut columns = String::from("id, deleted_at");
    for field in RESOURCE.fields {
        if !matches!(field.kind, Kind::Id | Kind::Type | Kind::Attached) {
            let is_read =
                field.name == "delegateType" || visible.iter().any(|name| name == field.name);
            let hidden = if is_read { "" } else { "NULL AS " };
            let _ = write!(columns, ", {hidden}{}", field.column);
        }
    }
    let seen = format!("FROM (SELECT {columns} FROM delegates) p");
    Cow::Owned(PERSON.replace("FROM delegates p", &seen))
}

/// The list of a place.
pub struct GateList {
    place: DeviceId,
    settings: Arc<Settings>,
    /// The properties of delegates that the client sees; without it, all.
    visible: Option<Arc<[String]>>,
    person: Cow<'static, str>,
}

impl GateList {
    pub fn at(place: DeviceId, settings: Arc<Settings>, visible: Option<Arc<[String]>>) -> Self {
        let person = person(visible.as_deref());
        Self {
            place,
            settings,
            visible,
            person,
        }
    }

    fn shows(&self, property: &str) -> bool {
        let visible = self.visible.as_deref();
        visible.is_none_or(|names| names.iter().any(|name| name == property))
    }

    /// Returns whether the type of an attendee decides at the place: who may enter, when, and who stays as everybody
    /// leaves.
    fn asks_for_type(&self, connection: &Connection, device_cache: &DeviceCache) -> Result<bool> {
        let asks =
            |rules: &AccessRules| rules.states_types() || rules.everybody_out_except.is_some();
        for device in device_cache.path(connection, self.place)?.iter() {
            let known = device_cache.get(connection, *device)?;
            if known.alive && known.rules.as_ref().is_some_and(asks) {
                return Ok(true);
            }
        }
        Ok(asks(&self.settings.access))
    }

    /// The name and the company of a delegate; none once they are deleted.
    pub fn named(
        &self,
        connection: &Connection,
        id: DelegateId,
    ) -> Result<Option<(String, Option<String>)>> {
        Ok(connection
            .prepare_cached(&self.person)?
            .query_row([id], |row| Ok((row.get(0)?, row.get(3)?)))
            .optional()?)
    }

    /// A delegate as a gate shows and judges them; none once they are deleted.
    pub fn delegate(&self, connection: &Connection, id: i64) -> Result<Option<Value>> {
        let found = connection
            .prepare_cached(&self.person)?
            .query_row([id], |row| {
                let codes = (5..row.as_ref().column_count()).map(|at| row.get(at));
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, Option<String>>(1)?,
                    row.get::<_, Option<i64>>(2)?,
                    row.get::<_, Option<String>>(3)?,
                    row.get::<_, Option<String>>(4)?,
                    codes.collect::<rusqlite::Result<Vec<Option<String>>>>()?,
                ))
            })
            .optional()?;
        let Some((name, category, parent, company, photo, codes)) = found else {
            return Ok(None);
        };
        // The barcode is declared first.
        let has_ticket = codes.first().is_some_and(Option::is_some);
        let codes: Vec<_> = codes.into_iter().flatten().collect();
        let device_cache = DeviceCache::default();
        let is_type_told =
            self.shows("delegateType") || self.asks_for_type(connection, &device_cache)?;
        let mut shown = json!({"id": id, "name": name, "codes": codes});
        let mut put = |name: &str, value: Value| {
            let is_empty = [Value::Null, json!(false), json!(0), json!([])].contains(&value);
            if !is_empty {
                shown[name] = value;
            }
        };
        put("noTicket", json!(!has_ticket && !codes.is_empty()));
        put("category", json!(category.filter(|_| is_type_told)));
        put(
            "company",
            json!(company.filter(|company| !company.is_empty())),
        );
        put("parent", json!(parent));
        put(
            "photo",
            json!(photo.filter(|photo| photo.len() <= PHOTO_MAX_BYTES)),
        );
        let delegate = DelegateId(id);
        put(
            "note",
            json!(note::of(connection, delegate)?.map(|note| note.to_json())),
        );
        let doors = device_cache.doors(connection)?;
        let place = doors.place_of(self.place);
        let history = History::of(connection, &device_cache, delegate)?;
        let joined = judge::is_joined(connection, &device_cache, &history, delegate, place)?;
        put("joined", json!(joined));
        let state = history.state(connection, &device_cache, place)?;
        if let Some(last) = state.last_in {
            Self::put_last(connection, &device_cache, (last, &state), place, &mut put)?;
            let entries =
                presence::entries(connection, &doors, &history, delegate, place, REPEAT_MAX)?;
            put("entries", json!(entries));
        }
        let default = &self.settings.access;
        let rules = || place::rules(connection, &device_cache, place, default);
        if let Some(last_in) = state.last_in
            && rules()?.is_some_and(|rules| rules.per == Some(Per::Day))
        {
            let day = self.settings.day(history.happened_at(connection, last_in)?);
            let of_day = presence::entries_on(
                connection, &doors, &history, delegate, place, day, REPEAT_MAX,
            )?;
            put("dayEntries", json!(of_day.1));
        }
        let inside = history.inside(connection, &device_cache)?;
        let is_inside = inside.binary_search(&place).is_ok();
        put("inside", json!(is_inside));
        let stay = (place, is_inside);
        Self::put_stay(connection, &device_cache, &history, stay, &mut put)?;
        if !inside.is_empty() {
            let rules = rules()?;
            let rooms = place::rooms(connection, &device_cache, place, rules.as_ref())?;
            let mut rooms: Vec<_> = rooms.into_iter().map(|(room, _)| room).collect();
            rooms.retain(|room| inside.binary_search(room).is_ok());
            put("rooms", json!(rooms));
            if !rooms.is_empty() {
                let elsewhere = Self::elsewhere(connection, &device_cache, &history, place)?;
                rooms.retain(|room| elsewhere.contains(room));
                put("elsewhere", json!(rooms));
            }
        }
        Ok(Some(shown))
    }

    /// Puts when and by which door a delegate came last, and when they left.
    fn put_last(
        connection: &Connection,
        device_cache: &DeviceCache,
        (last, state): (Position, &PresenceState),
        place: DeviceId,
        put: &mut impl FnMut(&str, Value),
    ) -> Result<()> {
        let (last_in, device) = presence::recorded_where(connection, last)?;
        put("lastIn", json!(last_in.0));
        if device != place {
            let door = device_cache.get(connection, device)?;
            put("lastDoor", json!(door.place.name));
        }
        // Once a clock was corrected, the times may contradict the order of events.
        if !state.is_inside() {
            let last_out = state
                .last_out
                .map(|last| presence::recorded_at(connection, last));
            let last_out = last_out
                .transpose()?
                .map_or(last_in, |out| last_in.max(out));
            put("lastOut", json!(last_out.0));
        }
        Ok(())
    }

    /// Every device that a delegate stays inside of when they leave a place: where a check-in elsewhere holds them.
    fn elsewhere(
        connection: &Connection,
        device_cache: &DeviceCache,
        history: &History,
        place: DeviceId,
    ) -> Result<Vec<DeviceId>> {
        let mut elsewhere = Vec::new();
        for (at, _) in history.entered(connection, device_cache)? {
            let path = device_cache.path(connection, at)?;
            if !path.contains(&place) {
                elsewhere.extend_from_slice(&path);
            }
        }
        Ok(elsewhere)
    }

    /// Puts since when a delegate is inside, and at which place below; and for whoever a gate may check out all the same
    /// why they are not: a day began since, or they are in another room.
    fn put_stay(
        connection: &Connection,
        device_cache: &DeviceCache,
        history: &History,
        (place, is_inside): (DeviceId, bool),
        put: &mut impl FnMut(&str, Value),
    ) -> Result<()> {
        if is_inside {
            let mut last = None;
            let entered = history.entered(connection, device_cache)?;
            for (at, entered) in device_cache.within(connection, entered, place)? {
                last = last.max(Some((history.happened_at(connection, entered)?, at)));
            }
            if let Some((since, at)) = last {
                put("since", json!(since.0));
                if at != place {
                    put("at", json!(device_cache.get(connection, at)?.place.name));
                }
            }
            return Ok(());
        }
        let not_left = history.not_left(connection, device_cache)?;
        let mut why = None;
        for (at, entered) in device_cache.within(connection, not_left, place)? {
            let happened = || history.happened_at(connection, entered);
            if !device_cache.is_over(connection, at, entered, happened)? {
                why = Some("movedOn");
            } else if why.is_none() {
                why = Some("insideBefore");
            }
        }
        if let Some(why) = why {
            put(why, json!(true));
        }
        Ok(())
    }

    /// Returns whether a change of a device may change who is registered, or inside: the place or one above it moved,
    /// was deleted or restored, or has other rules, a device became a door or is none any more, or people are in one
    /// room at a time from then on, or no more.
    fn may_change_all(
        &self,
        connection: &Connection,
        device: i64,
        change: i64,
        what: &str,
    ) -> Result<bool> {
        let path = DeviceCache::default().path(connection, self.place)?;
        if what == "update" {
            let rules = connection
                .prepare_cached(
                    "SELECT 1 FROM audit WHERE id = ?1
                     AND (json_type(after, '$.data.Access') IS NOT NULL OR json_type(before, '$.data.Access') IS NOT NULL)",
                )?
                .exists([change])?;
            if rules && path.contains(&DeviceId(device)) {
                return Ok(true);
            }
            let moved = connection
                .prepare_cached(
                    "SELECT 1 FROM audit WHERE id = ?1
                     AND (json_type(after, '$.parent') IS NOT NULL OR json_type(before, '$.parent') IS NOT NULL
                          OR json_type(after, '$.deviceType') IS NOT NULL OR json_type(before, '$.deviceType') IS NOT NULL
                          OR before ->> '$.data.Access.oneAtATime' IS NOT after ->> '$.data.Access.oneAtATime')",
                )?
                .exists([change])?;
            return Ok(moved);
        }
        Ok(what != "create" && path.contains(&DeviceId(device)))
    }
}

impl FeedView for GateList {
    fn types(&self) -> &[RecordType] {
        &TYPES
    }

    fn fingerprint(&self) -> [u8; 4] {
        let seen = self.visible.as_ref();
        let seen = seen.map_or_else(String::new, |names| format!(" {names:?}"));
        fingerprint_of(&format!("gate 4 {}{seen}", self.place))
    }

    fn record(
        &self,
        connection: &Connection,
        record_type: RecordType,
        id: i64,
    ) -> Result<Option<String>> {
        let shown = match record_type {
            RecordType::Delegate => self.delegate(connection, id)?,
            RecordType::BlockedCode => {
                let code = blocked::with_id(connection, id)?;
                let shown = code.filter(|code| self.shows(&code.kind));
                shown.map(|code| json!({"code": code.value, "reason": code.reason}))
            }
            _ => None,
        };
        Ok(shown.map(|shown| shown.to_string()))
    }

    fn effect_of(&self, connection: &Connection, change: &What) -> Result<ChangeEffect> {
        let changed = match change {
            What::Recorded(recorded) => {
                return Ok(match recorded.first_delegate {
                    Some(delegate) => {
                        ChangeEffect::Record(RecordType::Delegate, delegate.0, "updated")
                    }
                    None => ChangeEffect::Nothing,
                });
            }
            What::Changed(changed) => changed,
        };
        let what = changed.action.as_str();
        Ok(match (changed.record_type.as_str(), changed.record) {
            ("delegate", Some(id)) => ChangeEffect::Record(RecordType::Delegate, id, kind(what)),
            ("blocked-code", Some(id)) => {
                ChangeEffect::Record(RecordType::BlockedCode, id, kind(what))
            }
            // One that was deleted says whose it was; those that went with an import do not.
            ("interaction", _) if what == "delete" => {
                match first_delegate_of(connection, changed.id)? {
                    Some(id) => ChangeEffect::Record(RecordType::Delegate, id, "updated"),
                    None => ChangeEffect::Nothing,
                }
            }
            ("interaction", _) if what == action::UNDO => ChangeEffect::All,
            ("device" | "event", Some(id))
                if self.may_change_all(connection, id, changed.id, what)? =>
            {
                ChangeEffect::All
            }
            ("settings", _) => ChangeEffect::All,
            _ => ChangeEffect::Nothing,
        })
    }
}

/// The first delegate of an interaction that was deleted.
fn first_delegate_of(connection: &Connection, change: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT before ->> '$.firstDelegate.id' FROM audit WHERE id = ?1")?
        .query_row([change], |row| row.get(0))
        .optional()?
        .flatten())
}
