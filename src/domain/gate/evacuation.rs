//! The evacuation list at a gate: names and places of whoever is inside its place or below, with the ticks of all
//! screens. No phone number or e-mail address leaves the server by it.

use super::list::GateList;
use crate::{
    domain::{
        devices,
        interactions::{
            evacuation::{self, Evacuation, Tick},
            inside::{self, Inside},
            judge::DeviceCache,
            presence::History,
        },
    },
    types::{
        DelegateId, DeviceId, InteractionId, Timestamp, Zone,
        error::{Error, Result},
        time::SentTime,
    },
};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, hash_map::Entry};

/// Ticks in one request.
pub const TICKS_MAX: usize = 200;

/// People who were seen outside.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    rename = "GateEvacuationInput",
    example = json!({"place": 5, "ticks": [{"delegate": 17, "recordedAt": 1_795_248_120}]}),
)]
pub struct EvacuationInput {
    /// The id of the place.
    #[schemars(range(min = 1))]
    pub place: i64,
    /// Ticks.
    #[schemars(length(min = 1, max = TICKS_MAX))]
    ticks: Vec<TickInput>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct TickInput {
    /// The attendee.
    #[schemars(range(min = 1))]
    delegate: Option<i64>,
    /// `false` takes the tick back; `true` without it.
    safe: Option<bool>,
    /// The time of the tick; the server's time without it.
    #[schemars(with = "Option<SentTime>")]
    recorded_at: Option<Value>,
}

impl EvacuationInput {
    /// The ticks, the oldest first.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for none and for more than [`TICKS_MAX`], and for an unusable time.
    pub fn ticks(&self, zone: &Zone) -> Result<Vec<Tick>> {
        if self.ticks.is_empty() || self.ticks.len() > TICKS_MAX {
            return Err(Error::field("ticks", format!("must be 1 to {TICKS_MAX}")));
        }
        let read = |tick: &TickInput| {
            let sent = tick.recorded_at.as_ref().filter(|sent| !sent.is_null());
            let at = sent.map(|sent| zone.read("recordedAt", sent)).transpose()?;
            Ok(Tick {
                at: at.unwrap_or_else(Timestamp::now),
                delegate: tick.delegate.map(DelegateId),
                safe: tick.safe.unwrap_or(true),
            })
        };
        let mut ticks: Vec<Tick> = self.ticks.iter().map(read).collect::<Result<_>>()?;
        ticks.sort_by_key(|tick| tick.at);
        Ok(ticks)
    }
}

/// A page of the list, as the API shows it.
pub struct Page {
    pub people: Value,
    pub meta: Value,
}

/// The part of the list that is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// People who came before a check-in, the last ones first, at most so many.
    People(Option<InteractionId>, usize),
    /// The ticks, without names.
    Safe,
}

/// A page of the list of a place, or at a door of its place. Whoever was ticked and has left since stands at its end.
pub fn page(
    connection: &Connection,
    list: &GateList,
    device: DeviceId,
    part: Part,
) -> Result<Page> {
    let device_cache = DeviceCache::default();
    let place = device_cache.place_of(connection, device)?;
    let running = evacuation::running_at(connection, place)?;
    let ticked = match &running {
        Some(running) => Ticked::read(connection, &device_cache, place, running)?,
        None => Ticked::default(),
    };
    let unnamed = inside::unnamed(connection, place)?.len();
    let mut meta = json!({
        "serverTime": Timestamp::now().0, "safe": ticked.safe.len(), "unnamed": unnamed,
    });
    if let Some(running) = &running {
        meta["evacuation"] = json!({"id": running.id, "startedAt": running.started_at.0});
    }
    let people = match part {
        Part::Safe => {
            let ticks = ticked.safe.into_iter();
            let ticks = ticks.map(|(delegate, safe)| json!({"id": delegate, "safe": safe}));
            ticks.collect()
        }
        Part::People(before, limit) => {
            let inside = inside::people(connection, place, before, limit)?;
            let next = inside.last().filter(|_| inside.len() == limit);
            if let Some(last) = next {
                meta["next"] = json!(last.interaction);
            }
            let left: &[_] = if next.is_none() { &ticked.left } else { &[] };
            let mut people = Vec::with_capacity(inside.len());
            let mut names = Names::new(connection, list, &ticked.safe);
            for one in &inside {
                people.extend(names.person(one.delegate, Some(one))?);
            }
            for delegate in left {
                people.extend(names.person(*delegate, None)?);
            }
            people
        }
    };
    Ok(Page {
        people: Value::Array(people),
        meta,
    })
}

/// People who were ticked in an evacuation, and are inside a place or were as it began.
#[derive(Default)]
struct Ticked {
    /// The time and the author of each tick.
    safe: BTreeMap<DelegateId, Value>,
    left: Vec<DelegateId>,
}

impl Ticked {
    fn read(
        connection: &Connection,
        device_cache: &DeviceCache,
        place: DeviceId,
        running: &Evacuation,
    ) -> Result<Self> {
        let (begun, mut ticked) = (running.started_at, Self::default());
        for (delegate, (at, by)) in evacuation::safe(connection, running.id)? {
            match standing(connection, device_cache, place, delegate, begun)? {
                Standing::Elsewhere => continue,
                Standing::Left => ticked.left.push(delegate),
                Standing::Inside => {}
            }
            let tick = json!({"at": at.0, "by": by});
            ticked.safe.insert(delegate, tick);
        }
        Ok(ticked)
    }
}

/// How somebody who was ticked stands to a place.
enum Standing {
    Inside,
    /// The person left the place, or one below it, after the evacuation began.
    Left,
    Elsewhere,
}

fn standing(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    delegate: DelegateId,
    begun: Timestamp,
) -> Result<Standing> {
    let history = History::of(connection, device_cache, delegate)?;
    let inside = history.inside(connection, device_cache)?;
    Ok(if inside.binary_search(&place).is_ok() {
        Standing::Inside
    } else if history.has_left_since(connection, device_cache, place, begun)? {
        Standing::Left
    } else {
        Standing::Elsewhere
    })
}

/// Makes people of ids; each place is named once.
struct Names<'a> {
    connection: &'a Connection,
    list: &'a GateList,
    safe: &'a BTreeMap<DelegateId, Value>,
    places: HashMap<DeviceId, String>,
}

impl<'a> Names<'a> {
    fn new(
        connection: &'a Connection,
        list: &'a GateList,
        safe: &'a BTreeMap<DelegateId, Value>,
    ) -> Self {
        Self {
            connection,
            list,
            safe,
            places: HashMap::new(),
        }
    }

    /// Somebody by name, and where they are; none once they are deleted.
    fn person(&mut self, id: DelegateId, at: Option<&Inside>) -> Result<Option<Value>> {
        let Some((name, company)) = self.list.named(self.connection, id)? else {
            return Ok(None);
        };
        let mut person = json!({"id": id, "name": name});
        if let Some(company) = company.filter(|company| !company.is_empty()) {
            person["company"] = company.into();
        }
        if let Some(at) = at {
            let place = match self.places.entry(at.device) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    unknown.insert(devices::called(self.connection, at.device)?)
                }
            };
            person["place"] = place.as_str().into();
            person["since"] = at.since.0.into();
        }
        if let Some(safe) = self.safe.get(&id) {
            person["safe"] = safe.clone();
        }
        Ok(Some(person))
    }
}
