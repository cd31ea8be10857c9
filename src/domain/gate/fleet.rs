//! Every gate, kiosk and other app as the console watches them: what it last said of itself, what it recorded, and
//! what is wrong.

use crate::{
    domain::{
        apps::{Document, Kiosk, OfflinePolicy, Settings, configuration, place_of},
        devices::{NAME, PlaceCodes, called_at_place},
    },
    identity::{App, Role, last_seen},
    types::{
        DeviceId, Timestamp,
        error::{Error, Result},
        fold::fold,
    },
};
use rusqlite::{Connection, Row};
use serde_json::Value;
use std::{cmp::Reverse, collections::HashMap};

/// A gate asks every few seconds. Silent for longer than this, it is offline.
const ONLINE_MS: i64 = 2 * MINUTE_MS;
/// Scans that wait for longer do not get through.
const WAITING_MS: i64 = MINUTE_MS;
/// A list that is older misses changes.
const LIST_MS: i64 = 5 * MINUTE_MS;
const CLOCK_MS: i64 = MINUTE_MS;
/// Gates get new settings within this.
const SETTINGS_MS: i64 = 2 * MINUTE_MS;
const MINUTE_MS: i64 = 60_000;
const LOW_PERCENT: i64 = 20;
const EMPTY_PERCENT: i64 = 10;
/// The newest interactions, among which the last one of each gate is looked for: there is no index by client.
const RECENT: i64 = 20_000;

/// A gate, or another app.
pub struct Gate {
    pub device: DeviceId,
    pub code: String,
    pub name: String,
    /// An app with other roles is none: it has no place, no queue and no list.
    pub is_gate: bool,
    pub is_kiosk: bool,
    /// The place where it works: the one that its app names, otherwise the one that is set. A door is named after its
    /// place.
    pub place: Option<(DeviceId, String)>,
    /// The place that is set for it alone, where it works at another one.
    pub set_place: Option<String>,
    pub seen_at: Option<Timestamp>,
    pub is_online: bool,
    pub report: Report,
    /// The time at which the server recorded something that it sent.
    pub last_scan: Option<Timestamp>,
    /// The problems, the worst first.
    pub problems: Vec<Problem>,
    /// Its own settings, not those of all apps.
    pub own: Settings,
    pub policy: OfflinePolicy,
    /// All settings that hold for it.
    pub settings: Settings,
    /// The place where it works, if that was deleted or is no place any more.
    lost_place: Option<DeviceId>,
}

impl Gate {
    /// Returns whether somebody has to look after a problem now. Other apps may be silent for as long as they like.
    #[must_use]
    pub fn is_bad(&self, problem: Problem) -> bool {
        problem.is_bad() && (self.is_gate || !matches!(problem, Problem::Offline(_)))
    }
}

/// The report that an app sends with each ping.
#[derive(Debug, Default)]
pub struct Report {
    /// Scans that were not uploaded yet, and when the oldest was made.
    pub queue: i64,
    pub oldest_scan: Option<Timestamp>,
    pub failed_uploads: i64,
    /// The time at which the list was up to date last.
    pub list_at: Option<Timestamp>,
    pub battery: Option<i64>,
    /// The lead of the server's clock over the device's.
    pub clock_offset_ms: Option<i64>,
    pub version: Option<String>,
    place: Option<DeviceId>,
    is_hidden: bool,
    config_version: Option<i64>,
}

/// A problem that somebody should look after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    NeverSeen,
    Offline(Timestamp),
    FailedUploads(i64),
    Waiting(i64, Option<Timestamp>),
    NoList,
    OldList(Timestamp),
    NoPlace,
    LostPlace,
    LowBattery(i64),
    OtherPlace,
    Clock(i64),
    Hidden,
    OtherSettings(i64),
    OtherVersion,
}

impl Problem {
    /// Returns whether people at the gate feel it now.
    #[must_use]
    pub fn is_bad(self) -> bool {
        match self {
            Self::Offline(_)
            | Self::FailedUploads(_)
            | Self::Waiting(..)
            | Self::NoList
            | Self::OldList(_)
            | Self::NoPlace
            | Self::LostPlace => true,
            Self::LowBattery(percent) => percent <= EMPTY_PERCENT,
            Self::NeverSeen
            | Self::OtherPlace
            | Self::Clock(_)
            | Self::Hidden
            | Self::OtherSettings(_)
            | Self::OtherVersion => false,
        }
    }
}

impl Report {
    fn read(ping: Option<&str>, skew_ms: Option<i64>, config_version: Option<i64>) -> Self {
        let ping: Value = ping
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let number = |name: &str| ping[name].as_i64();
        let time = |name: &str| number(name).map(Timestamp);
        Self {
            queue: number("queue").unwrap_or_default(),
            oldest_scan: time("oldestScanAt"),
            failed_uploads: number("failedUploads").unwrap_or_default(),
            list_at: time("listAt"),
            battery: number("battery"),
            clock_offset_ms: ping["clockOffsetMs"]
                .as_f64()
                .map(whole)
                .or(skew_ms.map(|skew| -skew)),
            version: ping["appVersion"].as_str().map(ToOwned::to_owned),
            place: number("place").map(DeviceId),
            is_hidden: ping["status"] == "background",
            config_version,
        }
    }
}

/// Milliseconds may come with a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "of a float, it ends at the largest number"
)]
fn whole(ms: f64) -> i64 {
    ms as i64
}

/// The condition for a device `d` whose app is a gate; `?1` is the role of gates.
const IS_GATE: &str = "EXISTS (
    SELECT 1 FROM clients c, json_each(c.roles) role
    WHERE c.device_id = d.id AND c.revoked_at IS NULL AND role.value = ?1)";

/// The number of gates, and of those that are heard of.
#[derive(Debug, Default)]
pub struct Contact {
    pub all: i64,
    pub online: i64,
    /// Gates that were heard of before, and are not now.
    pub silent: i64,
}

/// Counts gates by whether they have contact: [`gates`] without all else.
pub fn contact(connection: &Connection, app: &App, now: Timestamp) -> Result<Contact> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, s.seen_at FROM devices d LEFT JOIN device_states s ON s.device_id = d.id
         WHERE d.deleted_at IS NULL AND {IS_GATE}"
    ))?;
    let mut rows = statement.query([Role::Gate.name()])?;
    let mut contact = Contact::default();
    while let Some(row) = rows.next()? {
        let seen_at = app.last_seen.last(DeviceId(row.get(0)?)).or(row.get(1)?);
        contact.all += 1;
        match seen_at {
            Some(at) if is_online(at, now) => contact.online += 1,
            Some(_) => contact.silent += 1,
            None => {}
        }
    }
    Ok(contact)
}

fn is_online(seen_at: Timestamp, now: Timestamp) -> bool {
    (now.0 - seen_at.0).abs() <= ONLINE_MS
}

/// A gate at its place.
#[derive(Debug, Clone)]
pub struct AtPlace {
    pub device: DeviceId,
    pub name: String,
    pub seen_at: Option<Timestamp>,
    pub is_online: bool,
}

impl AtPlace {
    /// Returns whether it was heard of before, and is not now.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.seen_at.is_some() && !self.is_online
    }
}

/// The gates of each place.
pub fn at_places(
    connection: &Connection,
    app: &App,
    now: Timestamp,
) -> Result<HashMap<DeviceId, Vec<AtPlace>>> {
    let mut at: HashMap<_, Vec<AtPlace>> = HashMap::new();
    for gate in known(connection, app, &configuration::published(connection)?, now)? {
        if let (true, Some((place, _))) = (gate.is_gate, gate.place) {
            at.entry(place).or_default().push(AtPlace {
                device: gate.device,
                name: gate.name,
                seen_at: gate.seen_at,
                is_online: gate.is_online,
            });
        }
    }
    Ok(at)
}

/// Every device whose client is not revoked, readers excepted: those in need first, of these the ones that hold scans
/// back, then by name.
pub fn gates(connection: &Connection, app: &App, now: Timestamp) -> Result<Vec<Gate>> {
    let scans = last_scans(connection)?;
    let mut gates = watched(connection, app, now)?;
    for gate in &mut gates {
        gate.last_scan = scans.get(&gate.device).copied();
    }
    Ok(gates)
}

/// As [`gates`], without their last scans, which have to be looked for.
pub fn watched(connection: &Connection, app: &App, now: Timestamp) -> Result<Vec<Gate>> {
    let published = configuration::published(connection)?;
    let mut gates = known(connection, app, &published, now)?;
    for gate in &mut gates {
        gate.problems = problems(gate, &published, now);
    }
    gates.sort_by_cached_key(|gate| {
        let worst = gate.problems.first().map(|problem| gate.is_bad(*problem));
        (
            Reverse(worst),
            Reverse(worst == Some(true) && gate.report.queue > 0),
            fold(&gate.name),
            gate.device.0,
        )
    });
    Ok(gates)
}

/// As [`watched`], in no order and without what is wrong.
fn known(
    connection: &Connection,
    app: &App,
    published: &configuration::Published,
    now: Timestamp,
) -> Result<Vec<Gate>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, d.code, {NAME}, d.device_type, s.seen_at, s.ping, s.clock_skew_ms, s.config_version, {IS_GATE}
         FROM devices d LEFT JOIN device_states s ON s.device_id = d.id
         WHERE d.deleted_at IS NULL AND d.device_type IS NOT 'rfidreader'
             AND EXISTS (SELECT 1 FROM clients c WHERE c.device_id = d.id AND c.revoked_at IS NULL)"
    ))?;
    let mut rows = statement.query([Role::Gate.name()])?;
    let mut gates = Vec::new();
    while let Some(row) = rows.next()? {
        gates.push(read(connection, app, row, &published.document, now)?);
    }
    Ok(gates)
}

fn read(
    connection: &Connection,
    app: &App,
    row: &Row<'_>,
    document: &Document,
    now: Timestamp,
) -> Result<Gate> {
    let (device, code) = (DeviceId(row.get(0)?), row.get::<_, String>(1)?);
    let kind: Option<String> = row.get(3)?;
    let is_gate: bool = row.get(8)?;
    let settings = document.effective(kind.as_deref(), &code);
    let own = document.by_device.get(&code).cloned().unwrap_or_default();
    let ping: Option<String> = row.get(5)?;
    let report = Report::read(ping.as_deref(), row.get(6)?, row.get(7)?);
    let set = place_of(connection, &settings)?.filter(|_| is_gate);
    let place = report.place.or(set);
    let name = |place| called_at_place(connection, place);
    let is_own = own.get("place").is_some_and(|place| !place.is_null());
    let set_place = set.filter(|set| is_own && report.place.is_some_and(|at| at != *set));
    let seen_at = app.last_seen.last(device).or(row.get(4)?);
    Ok(Gate {
        device,
        name: row.get(2)?,
        is_gate,
        is_kiosk: is_gate && Kiosk::of(&settings).is_some(),
        lost_place: match report.place.filter(|_| is_gate) {
            Some(place) if PlaceCodes::find(connection, place)?.is_none() => Some(place),
            _ => None,
        },
        place: place
            .map(|at| Ok::<_, Error>((at, name(at)?)))
            .transpose()?,
        set_place: set_place.map(name).transpose()?,
        seen_at,
        is_online: match seen_at {
            Some(at) if is_gate => is_online(at, now),
            seen_at => last_seen::is_online(seen_at, now),
        },
        report,
        last_scan: None,
        problems: Vec::new(),
        own,
        policy: OfflinePolicy::of(&settings),
        settings,
        code,
    })
}

fn problems(gate: &Gate, published: &configuration::Published, now: Timestamp) -> Vec<Problem> {
    let Some(seen_at) = gate.seen_at else {
        return vec![Problem::NeverSeen];
    };
    let report = &gate.report;
    // What it said is true of when it said it.
    let said_at = if gate.is_online { now } else { seen_at };
    let is_due = published
        .published_at
        .is_none_or(|at| is_older(at, said_at, SETTINGS_MS));
    let failed = report.failed_uploads;
    let low = report.battery.filter(|percent| *percent <= LOW_PERCENT);
    let offset = report.clock_offset_ms;
    let offset = offset.filter(|offset| offset.abs() >= CLOCK_MS);
    let version = report.config_version;
    let has_other = version.is_some_and(|version| version != published.version);
    let of_any = [
        (!gate.is_online).then_some(Problem::Offline(seen_at)),
        (failed > 0).then_some(Problem::FailedUploads(failed)),
    ];
    let of_gate = if gate.is_gate {
        gate_problems(gate, said_at, is_due)
    } else {
        Vec::new()
    };
    let of_device = [
        low.map(Problem::LowBattery),
        offset.map(Problem::Clock),
        (gate.is_online && is_due && has_other)
            .then_some(Problem::OtherSettings(published.version)),
    ];
    let mut problems: Vec<_> = of_any
        .into_iter()
        .chain(of_gate)
        .chain(of_device)
        .flatten()
        .collect();
    problems.sort_by_key(|problem| !gate.is_bad(*problem));
    problems
}

/// Problems that other apps cannot have; `is_due`: by now it has the settings that were published last.
fn gate_problems(gate: &Gate, said_at: Timestamp, is_due: bool) -> Vec<Option<Problem>> {
    let report = &gate.report;
    let is_stuck = report
        .oldest_scan
        .is_none_or(|at| is_older(at, said_at, WAITING_MS));
    let is_waiting = report.queue > 0 && (is_stuck || !gate.is_online);
    let list = match report.list_at {
        Some(at) => is_older(at, said_at, LIST_MS).then_some(Problem::OldList(at)),
        None => (gate.is_online && gate.place.is_some()).then_some(Problem::NoList),
    };
    let version = report.version.as_deref();
    let has_other_version = version.is_some_and(|version| version != *super::files::VERSION);
    vec![
        is_waiting.then_some(Problem::Waiting(report.queue, report.oldest_scan)),
        list,
        gate.place.is_none().then_some(Problem::NoPlace),
        gate.lost_place.is_some().then_some(Problem::LostPlace),
        (gate.is_online && is_due && gate.set_place.is_some()).then_some(Problem::OtherPlace),
        (gate.is_online && report.is_hidden).then_some(Problem::Hidden),
        has_other_version.then_some(Problem::OtherVersion),
    ]
}

/// Compares two moments: the first was more than so long before the other.
fn is_older(at: Timestamp, than: Timestamp, by_ms: i64) -> bool {
    than.0 - at.0 > by_ms
}

/// When the clients of devices recorded something last.
fn last_scans(connection: &Connection) -> Result<HashMap<DeviceId, Timestamp>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.device_id, max(i.recorded_at)
         FROM (SELECT client_id, recorded_at FROM interactions ORDER BY id DESC LIMIT ?1) i
         JOIN clients c ON c.id = i.client_id WHERE c.device_id IS NOT NULL GROUP BY c.device_id",
    )?;
    let scans = statement.query_map([RECENT], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(scans.collect::<rusqlite::Result<_>>()?)
}
