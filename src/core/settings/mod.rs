//! The settings of the whole instance: its name, time zone, address, default access rules, who may call from a browser,
//! when backups are made, where calls to others may go, whether messages go to delegates, who may have one-time
//! passwords, how tag reads become presence, which part of a scanned text is the code. Kept in the `settings` table,
//! one row a name. The picture that stands for the instance is in `logo`.

pub mod gate_message;
pub mod logo;
pub mod notices;
pub mod values;
mod walk_in;

pub use values::{Communications, OneTimePasswords};
pub use walk_in::{WalkInPrice, WalkInPrices};

use crate::{
    core::{
        Context,
        keyed::{self, Key},
        outgoing::Reach,
        presence::PresenceSettings,
        rules::AccessRules,
    },
    db::{Store, Tx, counters},
    types::{
        Day, TimeOfDay, Timestamp, Zone,
        error::{Error, Faults, Result},
        scanned::ScanPattern,
        text::check_text,
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, RwLock},
};

/// The longest name of an instance, in characters.
const NAME_MAX_CHARS: usize = 200;
/// The longest time between two backups, in minutes: a week.
pub const BACKUP_EVERY_MAX: u32 = 7 * 24 * 60;
/// Backups that are kept at the most.
const BACKUP_KEEP_MAX: u32 = 1_000;
/// For how many days the change feed keeps deletions, unless set.
pub const FEED_KEPT_DAYS: i64 = 30;
/// The longest time that the change feed keeps deletions, in days.
const FEED_KEPT_MAX_DAYS: i64 = 3_650;
/// The longest time after the event at which attendees are made anonymous, in days.
pub const ANONYMOUS_AFTER_MAX_DAYS: i64 = 3_650;
/// The setting of that time.
const RETENTION: &str = "retention";
/// The time at which a day of the event begins, unless set.
pub const DAY_STARTS_AT: TimeOfDay = match TimeOfDay::new(4, 0) {
    Some(time) => time,
    None => unreachable!(),
};
/// The moment at which the doors were opened, in milliseconds. It says how far the event has come,
/// not how it is set up, and so is no part of a configuration.
const DOORS: &str = "doorsOpenedAt";
/// The setting of whether the public address is reachable from outside.
const REACHABLE: &str = "publicUrlReachable";
/// The setting of scanned texts.
const SCANS: &str = "scans";
/// Readers of an earlier version, which the migration noted.
const EARLIER_READERS: &str = "earlierReaders";

/// The settings in force.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `name`: what the instance is called; `Gatepost` unless set.
    pub name: Option<String>,
    /// `timeZone`: an IANA name; `UTC` unless set.
    pub time_zone: Option<String>,
    /// The zone of that name.
    pub zone: Zone,
    /// `dayStartsAt`: when a day of the event begins; [`DAY_STARTS_AT`] unless set.
    pub day_starts_at: Option<TimeOfDay>,
    /// `access`: default access rules, the same keys as a device's `data.Access`.
    pub access: AccessRules,
    /// `corsOrigins`: the origins that browsers may call the API from; any unless set.
    pub cors_origins: Option<Vec<String>>,
    /// `publicUrl`: the address that clients reach the server by, without a trailing slash; that of `--public-url` where
    /// a server runs with it.
    pub public_url: Option<String>,
    /// `publicUrlReachable`: set where that address is reachable from outside; not unless set.
    pub public_url_reachable: bool,
    /// `backups`: when backups are made by themselves; never unless set.
    pub backups: Option<BackupPlan>,
    /// `outgoing`: how far calls to others may go; not to this machine unless set.
    pub reach: Reach,
    /// `communications`: whether messages go to delegates, and by which ways; all unless set.
    pub communications: Communications,
    /// `oneTimePasswords`: who may have one; users unless set.
    pub one_time_passwords: OneTimePasswords,
    /// `changeFeed`: for how many days deletions stay known to whoever keeps a copy; 30 unless set.
    pub feed_kept_days: Option<i64>,
    /// `retention`: how many days after the event attendees are made anonymous; never unless set.
    pub anonymous_after_days: Option<i64>,
    /// `interactionTypes`: whether types that mean nothing to the server are refused; they are stored unless set.
    pub known_types_only: bool,
    /// `presence`: how tag reads become sightings, entries and exits.
    pub presence: PresenceSettings,
    /// Addresses of readers that the file had before addresses of readers were judged, by the readers' ids.
    pub earlier_readers: BTreeMap<i64, String>,
    /// `walkIn`: what walk-ins pay at the desk; nothing unless set.
    pub walk_in: WalkInPrices,
    /// `scans`: which part of a scanned text is the code; all of it unless set.
    pub scans: Option<ScanPattern>,
    /// The time at which the doors were opened; `None` during rehearsal.
    pub doors_opened_at: Option<Timestamp>,
}

/// The plan of backups: when they are made, where to, and how many are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupPlan {
    /// Minutes between two.
    pub every_minutes: u32,
    /// The number of backups that are kept; older ones of the plan's own are deleted.
    pub keep: u32,
    /// An absolute path, such as of a USB stick; the folder `backups` beside the file unless set.
    #[serde(default)]
    pub folder: Option<PathBuf>,
}

impl BackupPlan {
    fn parse(value: &Value) -> Result<Self> {
        let plan: Self = serde_json::from_value(value.clone())
            .map_err(|cause| Error::field("backups", cause))?;
        for (name, number, most) in [
            ("everyMinutes", plan.every_minutes, BACKUP_EVERY_MAX),
            ("keep", plan.keep, BACKUP_KEEP_MAX),
        ] {
            if !(1..=most).contains(&number) {
                return Err(Error::field(
                    format!("backups.{name}"),
                    format!("must be from 1 to {most}"),
                ));
            }
        }
        if plan
            .folder
            .as_deref()
            .is_some_and(|path| !path.is_absolute())
        {
            return Err(Error::field(
                "backups.folder",
                "must be a whole path, such as /media/stick",
            ));
        }
        Ok(plan)
    }
}

impl Settings {
    /// Every setting's name.
    pub const NAMES: &'static [&'static str] = &[
        "name",
        "timeZone",
        "dayStartsAt",
        "publicUrl",
        REACHABLE,
        "access",
        "corsOrigins",
        "backups",
        "outgoing",
        "communications",
        "oneTimePasswords",
        "changeFeed",
        RETENTION,
        "interactionTypes",
        "presence",
        "walkIn",
        SCANS,
    ];

    /// The instance's name.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("Gatepost")
    }

    /// The public address, where it is reachable from outside: pages for attendees stand below it.
    pub fn outside_url(&self) -> Option<&str> {
        let url = self.public_url.as_deref();
        url.filter(|_| self.public_url_reachable)
    }

    /// The day of the event that an instant belongs to.
    pub fn day(&self, at: Timestamp) -> Day {
        let starts = self.day_starts_at.unwrap_or(DAY_STARTS_AT);
        self.zone.day_from(starts, at)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        let text = || {
            value
                .as_str()
                .map(ToOwned::to_owned)
                .ok_or_else(|| Error::field(name, "must be a string"))
        };
        match name {
            "name" => self.name = Some(checked_name(text()?)?),
            "timeZone" => {
                let zone = text()?;
                self.zone = Zone::named(&zone)?;
                self.time_zone = Some(zone);
            }
            "dayStartsAt" => {
                let time = TimeOfDay::read(&text()?);
                self.day_starts_at =
                    Some(time.ok_or_else(|| {
                        Error::field("dayStartsAt", "must be a time such as 04:00")
                    })?);
            }
            "access" => self.access = AccessRules::parse_default("access", value)?,
            "corsOrigins" => {
                let origins: Vec<String> = serde_json::from_value(value.clone())
                    .map_err(|_| Error::field("corsOrigins", "must be a list of strings"))?;
                origins
                    .iter()
                    .try_for_each(|origin| values::check_origin(origin))?;
                self.cors_origins = Some(origins);
            }
            "publicUrl" => self.public_url = Some(values::public_url(&text()?)?),
            REACHABLE => {
                let flag = value.as_bool();
                self.public_url_reachable =
                    flag.ok_or_else(|| Error::field(name, "must be true or false"))?;
            }
            "backups" => self.backups = Some(BackupPlan::parse(value)?),
            "outgoing" => self.reach = reach(value)?,
            "communications" => self.communications = Communications::parse(value)?,
            "oneTimePasswords" => self.one_time_passwords = OneTimePasswords::parse(value)?,
            "changeFeed" => self.feed_kept_days = Some(days(name, KEPT, value)?),
            RETENTION => self.anonymous_after_days = Some(days(name, ANONYMOUS, value)?),
            "interactionTypes" => {
                self.known_types_only = flag(name, "knownOnly", value)?;
            }
            "presence" => self.presence = PresenceSettings::parse("presence", value)?,
            "walkIn" => self.walk_in = WalkInPrices::parse(value)?,
            SCANS => self.scans = Some(scans(value)?),
            EARLIER_READERS => {
                self.earlier_readers = serde_json::from_value(value.clone()).unwrap_or_default();
            }
            DOORS => self.doors_opened_at = value.as_i64().map(Timestamp),
            notices::NAME | gate_message::NAME => {}
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

fn checked_name(name: String) -> Result<String> {
    check_text("name", &name)?;
    if name.chars().count() > NAME_MAX_CHARS {
        let message = format!("must have at most {NAME_MAX_CHARS} characters");
        return Err(Error::field("name", message));
    }
    Ok(name)
}

/// The property of a number of days, and the most.
const KEPT: (&str, i64) = ("keepDays", FEED_KEPT_MAX_DAYS);
const ANONYMOUS: (&str, i64) = ("anonymiseAfterDays", ANONYMOUS_AFTER_MAX_DAYS);

/// Reads a number of days: `{"keepDays": 30}`.
fn days(name: &str, (key, most): (&str, i64), value: &Value) -> Result<i64> {
    let only = value.as_object().filter(|object| object.len() == 1);
    let days = only.and_then(|object| object.get(key)?.as_i64());
    days.filter(|days| (1..=most).contains(days))
        .ok_or_else(|| Error::field(format!("{name}.{key}"), format!("must be from 1 to {most}")))
}

/// Reads which part of a scanned text is the code: `{"code": "https://tickets.example/c/(*)"}`.
fn scans(value: &Value) -> Result<ScanPattern> {
    let only = value.as_object().filter(|object| object.len() == 1);
    let Some(pattern) = only.and_then(|object| object.get("code")?.as_str()) else {
        let message = "must be {\"code\": \"https://tickets.example/c/(*)\"}";
        return Err(Error::field(SCANS, message));
    };
    ScanPattern::parse(pattern).map_err(|cause| cause.at("scans.code"))
}

/// The stored part of a scanned text that is the code.
pub fn scan_pattern(connection: &Connection) -> Result<Option<ScanPattern>> {
    let stored: Option<Option<String>> = connection
        .prepare_cached(
            "SELECT value ->> '$.code' FROM settings WHERE name = ?1 AND json_valid(value)",
        )?
        .query_row([SCANS], |row| row.get(0))
        .optional()?;
    Ok(stored
        .flatten()
        .and_then(|text| ScanPattern::parse(&text).ok()))
}

/// Reads the reach of calls to others: `{"allowLocal": true}`.
fn reach(value: &Value) -> Result<Reach> {
    Ok(if flag("outgoing", "allowLocal", value)? {
        Reach::Local
    } else {
        Reach::Network
    })
}

/// Reads a setting of one yes or no, such as `{"allowLocal": true}`.
fn flag(name: &str, key: &str, value: &Value) -> Result<bool> {
    let only = value.as_object().filter(|object| object.len() == 1);
    let flag = only.and_then(|object| object.get(key)?.as_bool());
    flag.ok_or_else(|| Error::field(name, format!("must be {{\"{key}\": true}} or false")))
}

/// The settings as they are stored: name and JSON value.
pub fn stored(connection: &Connection) -> Result<Map<String, Value>> {
    let mut settings = rows(connection)?;
    settings.remove(DOORS);
    settings.remove(EARLIER_READERS);
    settings.remove(notices::NAME);
    settings.remove(gate_message::NAME);
    Ok(settings)
}

fn rows(connection: &Connection) -> Result<Map<String, Value>> {
    let mut statement =
        connection.prepare_cached("SELECT name, value FROM settings ORDER BY name")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    rows.map(|row| {
        let (name, value) = row?;
        Ok((name, serde_json::from_str(&value).unwrap_or(Value::Null)))
    })
    .collect()
}

/// The settings in force. A stored value that this version cannot read is passed over with a
/// warning: a server at the door must start.
pub fn load(connection: &Connection) -> Result<Settings> {
    let mut settings = Settings::default();
    for (name, value) in rows(connection)? {
        if let Err(cause) = settings.set(&name, &value) {
            tracing::warn!("setting passed over: {cause}");
        }
    }
    Ok(settings)
}

/// Returns whether places that say nothing else have daily entry.
pub fn is_daily(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM settings WHERE name = 'access' AND value ->> '$.entry' = 'daily'",
        )?
        .exists([])?)
}

/// Checks settings, each alone; `null` is none.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the setting.
pub fn check(changes: &Map<String, Value>) -> Result<()> {
    let (mut settings, mut faults) = (Settings::default(), Faults::default());
    for (name, value) in changes {
        if !Settings::NAMES.contains(&name.as_str()) {
            return Err(unknown(name));
        }
        if !value.is_null() {
            faults.take(settings.set(name, value));
        }
    }
    faults.done()
}

fn unknown(name: &str) -> Error {
    Error::invalid(format!(
        "there is no such setting; there are {} and, in a configuration, logo",
        Settings::NAMES.join(", ")
    ))
    .at(name)
}

/// Stores settings; `null` puts one back to its default.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the setting; nothing is stored then.
pub fn save(tx: &Tx<'_>, ctx: &Context, changes: &Map<String, Value>) -> Result<()> {
    check(changes)?;
    let before = stored(tx)?;
    for (name, value) in changes {
        if value.is_null() {
            tx.execute("DELETE FROM settings WHERE name = ?1", [name])?;
        } else {
            tx.execute(
                "INSERT INTO settings (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [name, &value.to_string()],
            )?;
        }
    }
    let after = stored(tx)?;
    if before != after {
        tx.outdate_caches();
    }
    if after.get(REACHABLE) == Some(&Value::Bool(true)) {
        Key::named_or_make(tx, keyed::TICKETS)?;
    }
    let entry = |settings: &Map<String, Value>| settings.get("access")?.get("entry").cloned();
    if entry(&before) != entry(&after) {
        counters::have_people_counted(tx)?;
    }
    ctx.audit_update(tx, "settings", before.into(), after.into())
}

/// Opens the doors, which ends the rehearsal, or closes them.
pub fn open_doors(tx: &Tx<'_>, ctx: &Context, open: bool) -> Result<()> {
    let before = load(tx)?.doors_opened_at;
    if before.is_some() == open {
        return Ok(());
    }
    if open {
        tx.execute(
            "INSERT INTO settings (name, value) VALUES (?1, ?2)",
            [DOORS, &tx.now().0.to_string()],
        )?;
    } else {
        tx.execute("DELETE FROM settings WHERE name = ?1", [DOORS])?;
    }
    tx.outdate_caches();
    let shown = |open: bool| serde_json::json!({ "open": open });
    ctx.audit_update(tx, "doors", shown(!open), shown(open))
}

/// The settings in memory, read anew when they may have changed.
#[derive(Default)]
pub struct Cache {
    cached: RwLock<(u64, Arc<Settings>)>,
    /// `--public-url`, which counts before the setting.
    public_url: Option<String>,
}

impl Cache {
    /// Settings of a server that runs with this `--public-url`.
    pub fn new(public_url: Option<String>) -> Self {
        Self {
            public_url,
            ..Self::default()
        }
    }

    /// The settings in force now; the last known ones should they be unreadable.
    pub fn get(&self, store: &Store) -> Arc<Settings> {
        let epoch = store.epoch();
        if let Ok(cached) = self.cached.read()
            && cached.0 == epoch
        {
            return Arc::clone(&cached.1);
        }
        match store.look_up(load) {
            Ok(mut settings) => {
                if self.public_url.is_some() {
                    settings.public_url.clone_from(&self.public_url);
                }
                let settings = Arc::new(settings);
                if let Ok(mut cached) = self.cached.write() {
                    *cached = (epoch, Arc::clone(&settings));
                }
                settings
            }
            Err(cause) => {
                tracing::error!("settings: {cause}");
                self.cached
                    .read()
                    .map_or_else(|_| Arc::default(), |cached| Arc::clone(&cached.1))
            }
        }
    }
}
