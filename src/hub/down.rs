//! What the head office owns, for a venue: records behind a cursor, of its event only; the configuration where it
//! changed; and what the venue lost, where somebody sends it back.
//!
//! Of an event are the places below it and the attendees who are registered for it or a place below. Places below no
//! event, and attendees who are registered for nothing, are of every event; so are blocked codes.

use super::{
    lost,
    store::{Sql, Value},
    venues::{OFFICE, Venue},
};
use crate::{
    core::head_office::Pull,
    types::error::{Error, Kind, Result},
};
use serde_json::value::RawValue;
use std::{
    collections::{HashMap, HashSet},
    str::FromStr,
};

/// Records of an answer.
const RECORDS: usize = 1_000;

/// How far a venue has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cursor {
    /// The generation of the head office, and the event whose records the venue has.
    generation: i64,
    event: i64,
    /// The sequence at which its snapshot began: of what came up to there and is not the venue's it has nothing.
    begun: i64,
    sequence: i64,
    configuration: i64,
    /// The last of what was sent back.
    sent_back: (i64, i64),
}

impl Cursor {
    fn encoded(self) -> String {
        let (generation, id) = self.sent_back;
        format!(
            "{}.{}.{}.{}.{}.{generation}.{id}",
            self.generation, self.event, self.begun, self.sequence, self.configuration
        )
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(
                Kind::CursorGone,
                "not a cursor of this head office; leave it out",
            )
            .at("since")
        };
        let numbers: Result<Vec<i64>, _> = text.split('.').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[generation, event, begun, sequence, configuration, of, id]) => Ok(Self {
                generation,
                event,
                begun,
                sequence,
                configuration,
                sent_back: (of, id),
            }),
            _ => Err(wrong()),
        }
    }
}

/// What a venue is told by now; false where that is nothing, but for the cursor.
pub fn pull(sql: &mut dyn Sql, venue: &Venue, since: Option<&str>) -> Result<(Pull, bool)> {
    let office = match Venue::find(sql, OFFICE) {
        Ok(office) => office,
        Err(cause) if cause.kind == Kind::NoSuchPath => Venue::default(),
        Err(cause) => return Err(cause),
    };
    let since: Option<Cursor> = since.map(str::parse).transpose()?;
    let mut at = since.unwrap_or_default();
    let (generation, event) = (
        office.current.unwrap_or_default(),
        venue.event.unwrap_or_default(),
    );
    let is_reset = office.current.is_some() && (at.generation, at.event) != (generation, event);
    let is_restored = is_reset && at.generation > 0 && at.event == event;
    if is_reset {
        at = Cursor {
            generation,
            event,
            begun: office.sequence,
            sequence: 0,
            ..at
        };
    }
    let mut pull = Pull {
        cursor: String::new(),
        more: false,
        reset: is_reset,
        restored: is_restored,
        items: Vec::new(),
        configuration: None,
        sent_back: None,
    };
    if office.current.is_some() {
        records(sql, venue, &office, &mut at, &mut pull)?;
    }
    if venue.is_configured {
        let newest = sql.query_one(
            "SELECT id, document FROM hub_configuration WHERE id > ?1 ORDER BY id DESC LIMIT 1",
            &[at.configuration.into()],
        )?;
        if let Some(row) = newest {
            at.configuration = row.number(0);
            pull.configuration = Some(RawValue::from_string(row.text(1)).map_err(Error::defect)?);
        }
    }
    if let Some((lines, last)) = lost::lines(sql, venue, at.sent_back)? {
        at.sent_back = last;
        pull.sent_back = Some(lines);
    }
    pull.cursor = at.encoded();
    let is_new = pull.reset
        || pull.more
        || !pull.items.is_empty()
        || pull.configuration.is_some()
        || pull.sent_back.is_some();
    Ok((pull, is_new))
}

/// The position up to which a venue has what it was sent back.
pub fn confirmed(since: &str) -> Option<(i64, i64)> {
    since.parse().ok().map(|cursor: Cursor| cursor.sent_back)
}

fn records(
    sql: &mut dyn Sql,
    venue: &Venue,
    office: &Venue,
    at: &mut Cursor,
    pull: &mut Pull,
) -> Result<()> {
    let mut found = sql.query(
        &format!(
            "SELECT type, id, sequence, deleted, kind, data FROM hub_records
         WHERE venue = 0 AND generation = ?1 AND sequence > ?2 AND type IN ('device', 'delegate', 'blocked-code')
         ORDER BY sequence, type, id LIMIT {}",
            RECORDS + 1
        ),
        &[at.generation.into(), at.sequence.into()],
    )?;
    pull.more = found.len() > RECORDS;
    if pull.more {
        // Several attendees may have one sequence: a page ends between two.
        let next = found.pop().map_or(0, |row| row.number(2));
        let is_before = |row: &super::store::Row| row.number(2) < next;
        if found.iter().any(is_before) {
            found.retain(is_before);
        }
    }
    let to = found.last().map_or(office.sequence, |row| row.number(2));
    let own = match venue.event {
        Some(event) => Some(Own::find(sql, event, at.generation, at.sequence, to)?),
        None => None,
    };
    for row in &found {
        let (record_type, id) = (row.text(0), row.number(1));
        let is_own = own.as_ref().is_none_or(|own| own.has(&record_type, id));
        let is_gone = row.is(3) || !is_own;
        // Of what was never sent nothing is taken back.
        if is_gone && row.number(2) <= at.begun {
            continue;
        }
        let kind = if row.is(3) || is_own {
            row.text(4)
        } else {
            "deleted".to_owned()
        };
        let item = if is_gone {
            format!(
                "{{\"action\":\"delete\",\"kind\":\"{kind}\",\"type\":\"{record_type}\",\"id\":{id}}}"
            )
        } else {
            format!(
                "{{\"action\":\"upsert\",\"kind\":\"{kind}\",\"type\":\"{record_type}\",\"id\":{id},\"data\":{}}}",
                row.text(5)
            )
        };
        pull.items
            .push(RawValue::from_string(item).map_err(Error::defect)?);
    }
    at.sequence = if pull.more { to } else { office.sequence };
    Ok(())
}

/// The records of an event.
struct Own {
    /// Places below the event, and places below none.
    places: HashSet<i64>,
    /// Attendees who are registered, and whether for this event.
    registered: HashMap<i64, bool>,
}

impl Own {
    /// `from` and `to` bound the sequences of the attendees.
    fn find(sql: &mut dyn Sql, event: i64, generation: i64, from: i64, to: i64) -> Result<Self> {
        let values: [Value; 3] = [generation.into(), from.into(), to.into()];
        let devices = sql.query(
            "SELECT id, place, subtype FROM hub_records WHERE venue = 0 AND generation = ?1 AND type = 'device' AND NOT deleted",
            &values[..1],
        )?;
        let parents: HashMap<i64, (Option<i64>, bool)> = devices
            .iter()
            .map(|row| (row.number(0), (row.maybe_number(1), row.text(2) == "event")))
            .collect();
        let is_own = |id: i64| {
            let mut at = Some(id);
            for _ in 0..32 {
                let Some((parent, is_event)) = at.and_then(|at| parents.get(&at)) else {
                    break;
                };
                if *is_event {
                    return at == Some(event);
                }
                at = *parent;
            }
            true
        };
        let places: HashSet<i64> = parents.keys().copied().filter(|id| is_own(*id)).collect();
        let passages = sql.query(
            "SELECT i.who, i.place, i.subtype FROM hub_records d JOIN hub_records i
                 ON i.venue = 0 AND i.generation = d.generation AND i.type = 'interaction' AND NOT i.deleted AND i.who = d.id
             WHERE d.venue = 0 AND d.generation = ?1 AND d.type = 'delegate' AND d.sequence > ?2 AND d.sequence <= ?3
                 AND i.subtype IN ('join', 'booking', 'cancel-booking', 'uninvite') ORDER BY i.at, i.id",
            &values,
        )?;
        let mut joined: HashSet<(i64, i64)> = HashSet::new();
        for row in &passages {
            let (who, place) = (row.number(0), row.number(1));
            if ["join", "booking"].contains(&&*row.text(2)) {
                joined.insert((who, place));
            } else {
                joined.remove(&(who, place));
            }
        }
        let mut registered = HashMap::new();
        for (who, place) in joined {
            *registered.entry(who).or_insert(false) |= places.contains(&place);
        }
        Ok(Self { places, registered })
    }

    fn has(&self, record_type: &str, id: i64) -> bool {
        match record_type {
            "device" => self.places.contains(&id),
            "delegate" => self.registered.get(&id).copied().unwrap_or(true),
            _ => true,
        }
    }
}
