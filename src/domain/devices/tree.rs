//! Devices as a tree by parent, level by level, and what a search among them finds.

use super::{NAME, record::time_frame};
use crate::{
    core::rules::{AccessRules, Entry},
    domain::apps::state::heard_of,
    identity::App,
    types::{DeviceId, Timestamp, Zone, error::Result, text},
};
use rusqlite::{Connection, Row, named_params};
use std::collections::BTreeSet;

/// Devices of one parent on a page.
pub const PAGE: i64 = 100;
/// Rooms whose rules are looked at.
const ROOMS_MAX: i64 = 1_000;
/// What a search shows on a page.
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
    /// When it is, in words.
    pub when: String,
    /// Whether it is in use.
    pub available: bool,
    /// People inside.
    pub inside: i64,
    /// When its app was last heard of.
    pub seen_at: Option<Timestamp>,
    /// Whether its app is there.
    pub online: bool,
    /// What it belongs to: id and name.
    pub parent: Option<(i64, String)>,
    pub deleted_at: Option<Timestamp>,
    /// How many devices belong to it.
    pub children: i64,
    /// Its children, where they are shown at once.
    pub open: Option<Vec<Node>>,
}

impl Node {
    /// The node with what is known of its app now.
    fn heard_of(mut self, app: &App) -> Self {
        (self.seen_at, self.online) = heard_of(app, DeviceId(self.id), self.seen_at);
        self
    }
}

/// A page of devices, and how many there are in all.
#[derive(Debug)]
pub struct Level {
    /// The devices.
    pub nodes: Vec<Node>,
    /// How many there are on all pages.
    pub total: i64,
}

/// Whether rooms or sessions belong to a device, and people may come and go at all of them as often as they like.
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

/// What every line shows.
const COLUMNS: &str =
    "d.id, coalesce(d.device_type, ''), d.code, d.start_at, d.end_at, d.available, d.deleted_at,
     (SELECT o.inside FROM occupancy o WHERE o.device_id = d.id),
     (SELECT s.seen_at FROM device_states s WHERE s.device_id = d.id)";

fn node(row: &Row<'_>, zone: &Zone) -> rusqlite::Result<Node> {
    let parent: Option<i64> = row.get("parent_id")?;
    let parent_name: Option<String> = row.get("parent_name")?;
    Ok(Node {
        id: row.get(0)?,
        kind: row.get(1)?,
        code: row.get(2)?,
        when: time_frame(row.get(3)?, row.get(4)?, zone),
        available: row.get(5)?,
        deleted_at: row.get(6)?,
        inside: row.get::<_, Option<i64>>(7)?.unwrap_or_default(),
        online: false,
        seen_at: row.get("seen_at")?,
        name: row.get("called")?,
        parent: parent.zip(parent_name),
        children: row.get("children")?,
        open: None,
    })
}

/// What is true of the devices of `:parent`.
const OF_PARENT: &str = "d.parent_id = :parent AND d.deleted_at IS NULL";
/// What is true of the devices on top.
const ON_TOP: &str = "d.deleted_at IS NULL AND :parent IS NULL AND (d.parent_id IS NULL
     OR EXISTS (SELECT 1 FROM devices p WHERE p.id = d.parent_id AND p.deleted_at IS NOT NULL))";

/// Living devices of a parent, or those on top, a page of them.
pub fn level(connection: &Connection, parent: Option<i64>, page: i64, app: &App) -> Result<Level> {
    let zone = app.settings().zone.clone();
    let wanted = if parent.is_some() { OF_PARENT } else { ON_TOP };
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, NULL AS parent_id, NULL AS parent_name,
                (SELECT count(*) FROM devices c WHERE c.parent_id = d.id AND c.deleted_at IS NULL) AS children
         FROM devices d WHERE {wanted}
         ORDER BY d.device_type IS NOT 'event', coalesce(d.start_at, 0), called COLLATE NOCASE, d.id
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

/// What a search of devices asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A part of a name or code, or an id.
    pub text: String,
    /// The type; empty for any.
    pub kind: String,
    /// Those that were deleted.
    pub deleted: bool,
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
        "(d.deleted_at IS NOT NULL) = :deleted AND (:kind = '' OR d.device_type = :kind)
         AND (:text = '' OR {} OR CAST(d.id AS TEXT) = :text)",
        found.join(" OR ")
    );
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, p.id AS parent_id,
                coalesce(p.name, p.short_name, p.code) AS parent_name, 0 AS children
         FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
         WHERE {wanted} ORDER BY coalesce(d.start_at, 0), called COLLATE NOCASE, d.id
         LIMIT :limit OFFSET :offset"
    );
    let zone = app.settings().zone.clone();
    let folded = text::fold(&asked.text);
    let nodes = connection
        .prepare_cached(&sql)?
        .query_map(
            named_params! {
                ":deleted": asked.deleted, ":kind": asked.kind, ":text": folded,
                ":limit": FOUND, ":offset": (asked.page - 1) * FOUND,
            },
            |row| Ok(node(row, &zone)?.heard_of(app)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM devices d WHERE {wanted}"))?
        .query_row(
            named_params! {":deleted": asked.deleted, ":kind": asked.kind, ":text": folded},
            |row| row.get(0),
        )?;
    Ok(Level { nodes, total })
}
