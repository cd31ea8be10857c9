//! The attendees as a gate keeps them: by the change feed, for one place.

use super::attendee::Attendee;
use crate::{
    core::{
        changes::{What, action},
        records::Kind,
        rules::AccessRules,
        settings::Settings,
    },
    domain::{
        delegates::{RESOURCE, blocked},
        feed::{ChangeEffect, FeedView, RecordType, fingerprint_of, kind},
        interactions::{judge::DeviceCache, presence::History},
    },
    types::{DelegateId, DeviceId, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    fmt::Write,
    sync::{Arc, LazyLock},
};

const TYPES: [RecordType; 2] = [RecordType::Delegate, RecordType::BlockedCode];

/// The name by which a steward calls a delegate `p`: without a first or last name what the ticket shows, never an e-mail
/// address or a number of another system.
const NAME: &str =
    "coalesce(nullif(trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')), ''),
    p.barcode, nullif(p.company, ''), 'No. ' || p.id)";

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

/// A delegate as [`PERSON`] finds them.
pub(super) struct Person {
    pub name: String,
    pub category: Option<String>,
    pub parent: Option<i64>,
    pub company: Option<String>,
    pub photo: Option<String>,
    /// The barcode first; none where one is not set.
    pub codes: Vec<Option<String>>,
}

impl Person {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let codes = (5..row.as_ref().column_count()).map(|at| row.get(at));
        Ok(Self {
            name: row.get(0)?,
            category: row.get(1)?,
            parent: row.get(2)?,
            company: row.get(3)?,
            photo: row.get(4)?,
            codes: codes.collect::<rusqlite::Result<_>>()?,
        })
    }
}

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
            .query_row([id], Person::read)
            .optional()?;
        let Some(mut person) = found else {
            return Ok(None);
        };
        let device_cache = DeviceCache::default();
        if !self.shows("delegateType") && !self.asks_for_type(connection, &device_cache)? {
            person.category = None;
        }
        let delegate = DelegateId(id);
        let shown = Attendee {
            connection,
            settings: &self.settings,
            delegate,
            place: device_cache.place_of(connection, self.place)?,
            history: History::of(connection, &device_cache, delegate)?,
            device_cache,
            shown: json!({"id": id}),
        };
        shown.with(person).map(Some)
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
