//! What an administrator sets for the whole instance: its name, time zone, default access rules,
//! who may call from a browser. Kept in the `settings` table, one row a name.

use crate::{
    audit,
    auth::Context,
    error::{Error, Result},
    rules::AccessRules,
    store::{Store, Tx},
    types::Zone,
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::sync::{Arc, RwLock};

/// The settings in force.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `name`: what the instance is called; `Gatepost` unless set.
    pub name: Option<String>,
    /// `timeZone`: an IANA name; `UTC` unless set.
    pub time_zone: Option<String>,
    /// The zone of that name.
    pub zone: Zone,
    /// `access`: default access rules, the same keys as a device's `data.Access`.
    pub access: AccessRules,
    /// `corsOrigins`: the origins that browsers may call the API from; any unless set.
    pub cors_origins: Option<Vec<String>>,
}

impl Settings {
    /// Every setting's name.
    pub const NAMES: &'static [&'static str] = &["name", "timeZone", "access", "corsOrigins"];

    /// The instance's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("Gatepost")
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        let text = || {
            value
                .as_str()
                .map(ToOwned::to_owned)
                .ok_or_else(|| Error::invalid(format!("{name}: must be a string")))
        };
        match name {
            "name" => self.name = Some(text()?),
            "timeZone" => {
                let zone = text()?;
                self.zone = Zone::named(&zone)?;
                self.time_zone = Some(zone);
            }
            "access" => self.access = AccessRules::parse("access", value)?,
            "corsOrigins" => {
                self.cors_origins = Some(
                    serde_json::from_value(value.clone())
                        .map_err(|_| Error::invalid("corsOrigins: must be a list of strings"))?,
                );
            }
            _ => {
                return Err(Error::invalid(format!(
                    "{name}: there is no such setting; there are {}",
                    Self::NAMES.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// The settings as they are stored: name and JSON value.
///
/// # Errors
/// When they cannot be read.
pub fn stored(connection: &Connection) -> Result<Map<String, Value>> {
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
///
/// # Errors
/// When they cannot be read.
pub fn load(connection: &Connection) -> Result<Settings> {
    let mut settings = Settings::default();
    for (name, value) in stored(connection)? {
        if let Err(cause) = settings.set(&name, &value) {
            tracing::warn!("setting passed over: {cause}");
        }
    }
    Ok(settings)
}

/// Checks settings, each alone; `null` is none.
///
/// # Errors
/// [`crate::error::Kind::Invalid`], naming the setting.
pub fn check(changes: &Map<String, Value>) -> Result<()> {
    let mut settings = Settings::default();
    for (name, value) in changes {
        if !value.is_null() || !Settings::NAMES.contains(&name.as_str()) {
            settings.set(name, value)?;
        }
    }
    Ok(())
}

/// Stores settings; `null` puts one back to its default.
///
/// # Errors
/// [`crate::error::Kind::Invalid`], naming the setting; nothing is stored then.
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
        audit::append(
            tx,
            ctx,
            &audit::Change {
                action: "update",
                record_type: "settings",
                record_id: None,
                before: Some(Value::Object(before)),
                after: Some(Value::Object(after)),
            },
        )?;
    }
    Ok(())
}

/// The settings in memory, read anew when they may have changed.
pub struct Cache {
    cached: RwLock<(u64, Arc<Settings>)>,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            cached: RwLock::new((0, Arc::default())),
        }
    }
}

impl Cache {
    /// The settings in force now; the last known ones should they be unreadable.
    pub fn get(&self, store: &Store) -> Arc<Settings> {
        let epoch = store.epoch();
        if let Ok(cached) = self.cached.read()
            && cached.0 == epoch
        {
            return Arc::clone(&cached.1);
        }
        match store.look_up(load) {
            Ok(settings) => {
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
