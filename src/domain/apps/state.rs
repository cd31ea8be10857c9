//! The state of the app on a device: whether it is online, its last ping, and which configuration it has.

use super::configuration;
use crate::{
    domain::devices::{APP_TYPES, NAME},
    identity::{App, last_seen},
    types::{DeviceId, Timestamp, error::Result, json::pretty},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;
use std::collections::BTreeSet;

/// Pings in the table.
const PINGS: i64 = 10;
/// The span of the chart, and the span of one of its bars.
const CHART_MS: i64 = 24 * 3600 * 1000;
const BAR_MS: i64 = 15 * 60 * 1000;

/// The state of a device's app.
pub struct State {
    pub seen_at: Timestamp,
    pub online: bool,
    pub pinged_at: Option<Timestamp>,
    pub ping: Telemetry,
    pub skew: Option<String>,
    /// A clock so wrong that scans made offline get wrong times.
    pub skewed: bool,
    pub local_settings: Option<String>,
    /// The version of the configuration that it has, as of its last ping.
    pub version: Option<i64>,
    pub confirmed_at: Option<Timestamp>,
    pub published: i64,
    pub pings: Vec<Ping>,
    pub battery: Vec<Bar>,
}

/// A ping's telemetry in words; empty where it said nothing.
pub struct Telemetry {
    pub battery: Option<i64>,
    pub network: String,
    pub status: String,
    pub failed_uploads: Option<i64>,
    pub position: String,
    pub interval_s: Option<i64>,
}

/// A ping of the past.
pub struct Ping {
    pub at: Timestamp,
    pub telemetry: Telemetry,
    pub skew: String,
}

/// A bar of the battery's chart, in its units.
pub struct Bar {
    pub x: i64,
    pub y: i64,
    pub percent: i64,
}

/// Units of the chart: bars are this far apart.
pub const BAR_WIDTH: i64 = 10;

impl State {
    /// Returns whether its configuration is the one in force.
    pub fn confirmed(&self) -> bool {
        self.confirmed_at.is_some() && self.version == Some(self.published)
    }
}

impl Telemetry {
    fn read(ping: Option<&str>) -> Self {
        let ping: Value = ping
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let text = |name: &str| ping[name].as_str().unwrap_or_default().to_owned();
        let position = match (ping["lat"].as_f64(), ping["lon"].as_f64()) {
            (Some(lat), Some(lon)) => format!("{lat:.5}, {lon:.5}"),
            _ => String::new(),
        };
        Self {
            battery: ping["battery"].as_i64(),
            network: text("network"),
            status: text("status"),
            failed_uploads: ping["failedUploads"].as_i64(),
            position,
            interval_s: ping["pingInterval"].as_i64(),
        }
    }

    /// Returns whether the battery needs a charger.
    pub fn low(&self) -> bool {
        self.battery.is_some_and(|battery| battery <= 20)
    }
}

/// The difference between a device's clock and ours, in words.
pub fn skew(ms: i64) -> String {
    let side = if ms > 0 { "ahead" } else { "behind" };
    match ms.abs() {
        ..2_000 => "right".to_owned(),
        ms @ 2_000..120_000 => format!("{} s {side}", ms / 1000),
        ms @ 120_000..7_200_000 => format!("{} min {side}", ms / 60_000),
        ms => format!("{} h {side}", ms / 3_600_000),
    }
}

/// Reads the state of a device's app; `None` where none was ever seen.
pub fn state(connection: &Connection, app: &App, device: DeviceId) -> Result<Option<State>> {
    let published = configuration::version(connection)?;
    let state = connection
        .prepare_cached(
            "SELECT seen_at, pinged_at, ping, clock_skew_ms, config_version, confirmed_at, local_settings
             FROM device_states WHERE device_id = ?1",
        )?
        .query_row([device], |row| {
            let stored: Timestamp = row.get(0)?;
            let (seen_at, online) = app.last_seen.heard_of(device, Some(stored));
            let skew_ms: Option<i64> = row.get(3)?;
            let local: Option<String> = row.get(6)?;
            Ok(State {
                seen_at: seen_at.unwrap_or(stored),
                online,
                pinged_at: row.get(1)?,
                ping: Telemetry::read(row.get::<_, Option<String>>(2)?.as_deref()),
                skewed: skew_ms.is_some_and(|ms| ms.abs() >= 60_000),
                skew: skew_ms.map(skew),
                version: row.get(4)?,
                confirmed_at: row.get(5)?,
                local_settings: local.as_deref().map(pretty),
                published,
                pings: Vec::new(),
                battery: Vec::new(),
            })
        })
        .optional()?;
    let Some(mut state) = state else {
        return Ok(None);
    };
    state.pings = pings(connection, device)?;
    state.battery = battery(connection, device)?;
    Ok(Some(state))
}

fn pings(connection: &Connection, device: DeviceId) -> Result<Vec<Ping>> {
    let mut statement = connection.prepare_cached(
        "SELECT at, ping, clock_skew_ms FROM device_pings WHERE device_id = ?1 ORDER BY at DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(rusqlite::params![device, PINGS], |row| {
        Ok(Ping {
            at: row.get(0)?,
            telemetry: Telemetry::read(Some(&row.get::<_, String>(1)?)),
            skew: skew(row.get(2)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The lowest charge in each quarter of an hour of the last day; nothing for those without a ping.
fn battery(connection: &Connection, device: DeviceId) -> Result<Vec<Bar>> {
    let since = Timestamp::now().0 - CHART_MS;
    let mut statement = connection.prepare_cached(
        "SELECT (at - ?2) / ?3, min(json_extract(ping, '$.battery')) FROM device_pings
         WHERE device_id = ?1 AND at > ?2 GROUP BY 1 HAVING min(json_extract(ping, '$.battery')) IS NOT NULL",
    )?;
    let rows = statement.query_map(rusqlite::params![device, since, BAR_MS], |row| {
        // Apps send whole percents, and nobody checks what an app of old sent.
        let percent = row.get::<_, i64>(1).unwrap_or_default().clamp(0, 100);
        Ok(Bar {
            x: row.get::<_, i64>(0)? * BAR_WIDTH,
            y: 100 - percent,
            percent,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A device that runs an app.
pub struct Running {
    pub id: i64,
    pub name: String,
    pub online: bool,
    pub battery: Option<i64>,
}

impl Running {
    /// Returns whether the battery needs a charger.
    pub fn low(&self) -> bool {
        self.battery.is_some_and(|battery| battery <= 20)
    }
}

/// Devices that run an app, those in need first.
pub fn running(connection: &Connection, now: Timestamp) -> Result<Vec<Running>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME}, s.seen_at, json_extract(s.ping, '$.battery')
         FROM device_states s JOIN devices d ON d.id = s.device_id WHERE d.deleted_at IS NULL
         ORDER BY s.seen_at > ?1, coalesce(json_extract(s.ping, '$.battery'), 101), d.id"
    ))?;
    let rows = statement.query_map([now.0 - last_seen::ONLINE_MS], |row| {
        let seen_at: Timestamp = row.get(2)?;
        Ok(Running {
            id: row.get(0)?,
            name: row.get(1)?,
            online: last_seen::is_online(Some(seen_at), now),
            battery: row.get(3).unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns whether any app was ever heard of.
pub fn is_any_app(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM device_states")?
        .exists([])?)
}

/// Types of devices that run apps.
pub fn types(connection: &Connection) -> Result<BTreeSet<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT d.device_type FROM devices d WHERE d.device_type IS NOT NULL AND d.deleted_at IS NULL
         AND (EXISTS (SELECT 1 FROM device_states s WHERE s.device_id = d.id)
              OR EXISTS (SELECT 1 FROM clients c WHERE c.device_id = d.id))",
    )?;
    let used = statement.query_map([], |row| row.get(0))?;
    let mut types = used.collect::<rusqlite::Result<BTreeSet<String>>>()?;
    types.extend(APP_TYPES.map(ToOwned::to_owned));
    Ok(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_clock_is_told_in_words() {
        for (ms, told) in [
            (0, "right"),
            (-1_999, "right"),
            (2_000, "2 s ahead"),
            (-119_000, "119 s behind"),
            (180_000, "3 min ahead"),
            (-7_200_000, "2 h behind"),
        ] {
            assert_eq!(skew(ms), told);
        }
    }
}
