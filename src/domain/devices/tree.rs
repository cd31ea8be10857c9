//! Devices as a tree by parent, level by level, and what a search among them finds.

use super::{NAME, record::time_frame};
use crate::{
    core::{
        rules::{AccessRules, Entry},
        texts,
    },
    identity::App,
    types::{DeviceId, Timestamp, Zone, error::Result, text},
};
use rusqlite::{Connection, Row, named_params};
use std::collections::BTreeSet;

/// Devices of one parent on a page.
pub const PAGE: i64 = 100;
/// Rooms whose rules are looked at.
const ROOMS_MAX: i64 = 1_000;
/// The most devices that a search shows on a page.
pub const FOUND: i64 = 50;

/// A device as a line.
#[derive(Debug)]
pub struct Node {
    /// The device.
    pub id: i64,
    /// The name to display.
    pub name: String,
    /// Its type; empty where it has none.
    pub kind: String,
    pub code: String,
    /// The time frame, in words.
    pub when: String,
    /// The same as short as a column has room for.
    pub when_short: String,
    /// The rules that it sets; `None` where they cannot be read.
    pub rules: Option<AccessRules>,
    /// Set where the device is in use.
    pub available: bool,
    /// People inside.
    pub inside: i64,
    /// The time at which its app was last heard of.
    pub seen_at: Option<Timestamp>,
    /// Set where its app is there.
    pub online: bool,
    /// The device that it belongs to: id and name.
    pub parent: Option<(i64, String)>,
    pub deleted_at: Option<Timestamp>,
    /// The number of places that belong to it.
    pub children: i64,
}

impl Node {
    pub fn capacity(&self) -> Option<i64> {
        Some(self.rules.as_ref()?.capacity?.into())
    }

    /// The node with what is known of its app now.
    fn heard_of(mut self, app: &App) -> Self {
        (self.seen_at, self.online) = app.last_seen.heard_of(DeviceId(self.id), self.seen_at);
        self
    }
}

/// A page of devices, and how many there are in all.
#[derive(Debug)]
pub struct Level {
    /// The devices.
    pub nodes: Vec<Node>,
    /// The number of devices on all pages.
    pub total: i64,
}

/// Returns whether rooms or sessions belong to a device, and people may come and go at all of them as often as they
/// like.
pub fn has_open_rooms(connection: &Connection, device: i64, defaults: &AccessRules) -> bool {
    let rules = || -> Result<Vec<Option<AccessRules>>> {
        let mut statement = connection.prepare_cached(
            "SELECT data FROM devices
             WHERE parent_id = ?1 AND deleted_at IS NULL AND device_type IN ('room', 'session') LIMIT ?2",
        )?;
        let rules = statement.query_map((device, ROOMS_MAX), |row| {
            Ok(AccessRules::of_stored(row.get_ref(0)?.as_str_or_null()?))
        })?;
        Ok(rules.collect::<rusqlite::Result<_>>()?)
    };
    let is_open = |own: &Option<AccessRules>| {
        let rules = own.clone().map(|own| own.or(defaults));
        rules.is_some_and(|rules| {
            matches!(rules.entry, None | Some(Entry::Multiple)) && rules.max_check_ins.is_none()
        })
    };
    rules().is_ok_and(|rules| !rules.is_empty() && rules.iter().all(is_open))
}

/// The types in use.
pub fn types(connection: &Connection) -> Result<BTreeSet<String>> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT device_type FROM devices WHERE device_type IS NOT NULL")?;
    let used = statement.query_map([], |row| row.get(0))?;
    Ok(used.collect::<rusqlite::Result<_>>()?)
}

/// The columns that every line shows.
const COLUMNS: &str =
    "d.id, coalesce(d.device_type, ''), d.code, d.start_at, d.end_at, d.available, d.deleted_at,
     (SELECT o.inside FROM occupancy o WHERE o.device_id = d.id),
     d.data, (SELECT s.seen_at FROM device_states s WHERE s.device_id = d.id)";

/// The condition of a device `c` that people go to, rather than carry about or hang up.
const IS_PLACE: &str = "coalesce(c.device_type, '') NOT IN ('regoapp', 'mobileapp', 'rfidreader')";
/// The capacity of a device `d`, where it sets one.
const CAPACITY: &str = "iif(json_valid(d.data), json_extract(d.data, '$.Access.capacity'), NULL)";
/// The condition of a place `d` that is full, or nearly so.
const IS_FILLING: &str = "(SELECT o.inside FROM occupancy o WHERE o.device_id = d.id) * 10 >= 9 * ";

fn node(row: &Row<'_>, zone: &Zone) -> rusqlite::Result<Node> {
    let parent: Option<i64> = row.get("parent_id")?;
    let parent_name: Option<String> = row.get("parent_name")?;
    let (start, end) = (row.get(3)?, row.get(4)?);
    let data = row.get_ref(8)?.as_str_or_null();
    Ok(Node {
        when_short: short_frame(start, end, zone),
        rules: data.ok().and_then(AccessRules::of_stored),
        id: row.get(0)?,
        kind: row.get(1)?,
        code: row.get(2)?,
        when: time_frame(start, end, zone),
        available: row.get(5)?,
        deleted_at: row.get(6)?,
        inside: row.get::<_, Option<i64>>(7)?.unwrap_or_default(),
        online: false,
        seen_at: row.get("seen_at")?,
        name: row.get("called")?,
        parent: parent.zip(parent_name),
        children: row.get("children")?,
    })
}

/// `09:30–10:15` today, otherwise with the day (`11-22 09:30–10:15`), or the days alone where they differ.
fn short_frame(start: Option<Timestamp>, end: Option<Timestamp>, zone: &Zone) -> String {
    let minute = |at| texts::short_minute(zone, at, Timestamp::now());
    match (start, end) {
        (None, None) => String::new(),
        (Some(start), None) => format!("from {}", minute(start)),
        (None, Some(end)) => format!("until {}", minute(end)),
        (Some(start), Some(end)) => {
            let ((first, _), (last, time)) = (texts::short(zone, start), texts::short(zone, end));
            if first == last {
                format!("{}–{time}", minute(start))
            } else {
                format!("{first}–{last}")
            }
        }
    }
}

/// The condition of the devices of `:parent`.
const OF_PARENT: &str = "d.parent_id = :parent AND d.deleted_at IS NULL";
/// The condition of the devices on top.
const ON_TOP: &str = "d.deleted_at IS NULL AND :parent IS NULL AND (d.parent_id IS NULL
     OR EXISTS (SELECT 1 FROM devices p WHERE p.id = d.parent_id AND p.deleted_at IS NOT NULL))";

/// Living places of a parent, or those on top, a page of them; `with_devices` those that are no places, too.
pub fn level(
    connection: &Connection,
    parent: Option<i64>,
    page: i64,
    with_devices: bool,
    app: &App,
) -> Result<Level> {
    let zone = app.settings().zone.clone();
    let wanted = if parent.is_some() { OF_PARENT } else { ON_TOP };
    let is_place = if with_devices { "TRUE" } else { IS_PLACE };
    let wanted = format!("{wanted} AND {}", is_place.replace("c.", "d."));
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, NULL AS parent_id, NULL AS parent_name,
                (SELECT count(*) FROM devices c
                 WHERE c.parent_id = d.id AND c.deleted_at IS NULL AND {is_place}) AS children
         FROM devices d WHERE {wanted}
         ORDER BY d.device_type IS NOT 'event', coalesce(d.start_at, 0), text_folded(called), d.id
         LIMIT :limit OFFSET :offset"
    );
    let nodes = connection
        .prepare_cached(&sql)?
        .query_map(
            named_params! {":parent": parent, ":limit": PAGE, ":offset": (page - 1) * PAGE},
            |row| Ok(node(row, &zone)?.heard_of(app)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let total = connection
        .prepare_cached(&format!("SELECT count(*) FROM devices d WHERE {wanted}"))?
        .query_row(named_params! {":parent": parent}, |row| row.get(0))?;
    Ok(Level { nodes, total })
}

/// A place and those that it is in.
pub fn with_above(connection: &Connection, place: i64) -> Result<BTreeSet<i64>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE above (id) AS (
             SELECT ?1 UNION SELECT d.parent_id FROM above JOIN devices d ON d.id = above.id
             WHERE d.parent_id IS NOT NULL LIMIT 64)
         SELECT id FROM above",
    )?;
    let ids = statement.query_map([place], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Counts the places, and those of them that are full or nearly so.
pub fn count(connection: &Connection) -> Result<(i64, i64)> {
    let places = format!(
        "SELECT count(*) FROM devices d WHERE d.deleted_at IS NULL AND {}",
        IS_PLACE.replace("c.", "d.")
    );
    let filling = format!(
        "SELECT count(*) FROM occupancy x JOIN devices d ON d.id = x.device_id
         WHERE x.inside > 0 AND d.deleted_at IS NULL AND {IS_FILLING}{CAPACITY}"
    );
    let count = |sql: &str| {
        connection
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))
    };
    Ok((count(&places)?, count(&filling)?))
}

/// Columns that a search looks into.
const SEARCHED: [&str; 7] = [
    "name",
    "short_name",
    "code",
    "external_id",
    "rfid",
    "slug",
    "public_id",
];

/// The devices that a search asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A part of a name or code, or an id.
    pub text: String,
    /// The type; empty for any.
    pub kind: String,
    /// `deleted`, `filling` (full or nearly so), `now` (in its times), or empty for all that are not deleted.
    pub show: String,
    /// The page, from 1.
    pub page: i64,
}

/// A page of the devices that a search finds.
pub fn search(connection: &Connection, asked: &Wanted, app: &App) -> Result<Level> {
    let found: Vec<_> = SEARCHED
        .iter()
        .map(|column| format!("text_contains(d.{column}, :text)"))
        .collect();
    let wanted = format!(
        "(d.deleted_at IS NOT NULL) = (:show = 'deleted') AND (:kind = '' OR d.device_type = :kind)
         AND (:show <> 'filling' OR {IS_FILLING}{CAPACITY})
         AND (:show <> 'now' OR (d.start_at <= :now AND d.end_at > :now))
         AND (:text = '' OR {} OR CAST(d.id AS TEXT) = :text)",
        found.join(" OR ")
    );
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, p.id AS parent_id,
                coalesce(p.name, p.short_name, p.code) AS parent_name, 0 AS children
         FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
         WHERE {wanted} ORDER BY coalesce(d.start_at, 0), text_folded(called), d.id
         LIMIT :limit OFFSET :offset"
    );
    let zone = app.settings().zone.clone();
    let (folded, now) = (text::fold(&asked.text), Timestamp::now());
    let nodes = connection
        .prepare_cached(&sql)?
        .query_map(
            named_params! {
                ":show": asked.show, ":kind": asked.kind, ":text": folded, ":now": now,
                ":limit": FOUND, ":offset": (asked.page - 1) * FOUND,
            },
            |row| Ok(node(row, &zone)?.heard_of(app)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM devices d WHERE {wanted}"))?
        .query_row(
            named_params! {":show": asked.show, ":kind": asked.kind, ":text": folded, ":now": now},
            |row| row.get(0),
        )?;
    Ok(Level { nodes, total })
}
