//! Pings of apps (spec: Device endpoints, rules 4 and 5; contract §7): checked, and stored as the
//! device's state and in its history.

use super::configuration::{self, missing};
use crate::{
    db::Tx,
    types::{
        DeviceId, Timestamp,
        error::{Error, Result},
        text,
    },
};
use rusqlite::params;
use serde_json::{Map, Value};

/// Fields that hold a whole number, however it is written.
const WHOLE: [&str; 5] = [
    "localTime",
    "battery",
    "pingInterval",
    "failedUploads",
    "configVersion",
];
/// The largest number below which a binary fraction holds every whole one, 2⁵³.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A ping that was checked.
#[derive(Debug, Clone)]
pub struct Ping {
    local_time: Timestamp,
    config_version: i64,
    sent: Map<String, Value>,
}

impl Ping {
    /// The version of the configuration that the app says it has; 0 for none.
    pub fn config_version(&self) -> i64 {
        self.config_version
    }

    /// Checks a ping's body: `localTime` and `configVersion` must be there, the rest fits when it
    /// is sent; `null` is as not sent, since not every device knows where it is.
    pub fn read(mut sent: Map<String, Value>) -> Result<Self> {
        sent.retain(|_, value| !value.is_null());
        for name in WHOLE {
            if let Some(value) = sent.get_mut(name) {
                *value = without_fraction(value.take());
            }
        }
        let whole = |name: &str, most: i64| -> Result<Option<i64>> {
            let Some(value) = sent.get(name) else {
                return Ok(None);
            };
            let number = value.as_i64().filter(|number| (0..=most).contains(number));
            let right = || match most {
                i64::MAX => "must be a whole number of 0 or more".to_owned(),
                most => format!("must be a whole number from 0 to {most}"),
            };
            number.map(Some).ok_or_else(|| Error::field(name, right()))
        };
        let degrees = |name: &str, most: f64| match sent.get(name) {
            Some(value) if !value.as_f64().is_some_and(|degrees| degrees.abs() <= most) => Err(
                Error::field(name, format!("must be a number from -{most} to {most}")),
            ),
            _ => Ok(()),
        };
        degrees("lat", 90.0)?;
        degrees("lon", 180.0)?;
        whole("battery", 100)?;
        whole("pingInterval", i64::MAX)?;
        whole("failedUploads", i64::MAX)?;
        match sent.get("network") {
            Some(Value::String(network)) => text::check_text("network", network)?,
            Some(_) => return Err(Error::field("network", "must be a string")),
            None => {}
        }
        if !matches!(
            sent.get("status").map(Value::as_str),
            None | Some(Some("foreground" | "background"))
        ) {
            return Err(Error::field("status", "must be foreground or background"));
        }
        let config_version = whole("configVersion", i64::MAX)?.ok_or_else(|| {
            Error::field(
                "configVersion",
                "is missing; 0 for an app without a configuration",
            )
        })?;
        let local_time = match sent.get("localTime") {
            None => return Err(Error::field("localTime", "is missing; Unix seconds")),
            Some(value) => value.as_i64().and_then(Timestamp::from_unix_s),
        };
        Ok(Self {
            local_time: local_time
                .ok_or_else(|| Error::field("localTime", "must be Unix seconds"))?,
            config_version,
            sent,
        })
    }
}

/// A whole number that is written as a fraction, such as `55.0`, as what it is: languages that know
/// one kind of number write every number so.
fn without_fraction(value: Value) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "looked at before")]
    match &value {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT_MAX => (whole as i64).into(),
            _ => value,
        },
        _ => value,
    }
}

/// Keeps a ping; one that names the version in force confirms it.
///
/// # Errors
/// [`crate::types::error::Kind::DeviceNotFound`] for a device that is deleted.
pub fn record(tx: &Tx<'_>, device: DeviceId, ping: &Ping) -> Result<()> {
    if !configuration::is_alive(tx, device)? {
        return Err(missing(device));
    }
    let confirmed = ping.config_version == configuration::version(tx)?;
    let text = Value::Object(ping.sent.clone()).to_string();
    // How far the device's clock is ahead of ours.
    let skew_ms = ping.local_time.0 - tx.now().0;
    tx.prepare_cached(
        "INSERT INTO device_states
             (device_id, seen_at, pinged_at, ping, clock_skew_ms, config_version, confirmed_at)
         VALUES (?1, ?2, ?2, ?3, ?4, ?5, iif(?6, ?2, NULL))
         ON CONFLICT (device_id) DO UPDATE SET seen_at = excluded.seen_at,
             pinged_at = excluded.pinged_at, ping = excluded.ping,
             clock_skew_ms = excluded.clock_skew_ms,
             -- The first ping with this version confirmed it, not the last.
             confirmed_at = iif(device_states.config_version = excluded.config_version,
                 coalesce(device_states.confirmed_at, excluded.confirmed_at), excluded.confirmed_at),
             config_version = excluded.config_version",
    )?
    .execute(params![
        device,
        tx.now(),
        text,
        skew_ms,
        ping.config_version,
        confirmed
    ])?;
    tx.prepare_cached(
        "INSERT INTO device_pings (device_id, at, ping, clock_skew_ms) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (device_id, at) DO UPDATE SET ping = excluded.ping, clock_skew_ms = excluded.clock_skew_ms",
    )?
    .execute(params![device, tx.now(), text, skew_ms])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(ping: &Value) -> Result<Ping> {
        Ping::read(ping.as_object().unwrap().clone())
    }

    #[test]
    fn a_ping_needs_its_time_and_version_and_keeps_what_is_unknown() {
        let least = json!({"localTime": 1_795_248_120, "configVersion": 0});
        assert_eq!(
            read(&least).unwrap().local_time,
            Timestamp(1_795_248_120_000)
        );
        let whole = json!({
            "localTime": 1, "configVersion": 3, "lat": 53, "lon": -9.99, "battery": 0,
            "pingInterval": 10, "failedUploads": 2, "network": "LAN(10.0.0.7)",
            "status": "background", "model": {"name": "T1"},
        });
        assert_eq!(Value::Object(read(&whole).unwrap().sent), whole);
        let nowhere = json!({"localTime": 1, "configVersion": 3, "lat": null, "lon": null});
        assert_eq!(read(&nowhere).unwrap().sent.len(), 2);
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_fraction() {
        let sent = json!({
            "localTime": 1_795_248_120.0, "configVersion": 3.0, "battery": 55.0, "failedUploads": -0.0,
            "lat": 53.0, "temperature": 21.0,
        });
        let ping = read(&sent).unwrap();
        assert_eq!(ping.config_version, 3);
        assert_eq!(ping.local_time, Timestamp(1_795_248_120_000));
        // Others are kept as they were sent.
        let kept = r#"{"localTime":1795248120,"configVersion":3,"battery":55,"failedUploads":0,"lat":53.0,"temperature":21.0}"#;
        assert_eq!(Value::Object(ping.sent).to_string(), kept);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (name, wrong) in [
            ("localTime", json!("now")),
            ("localTime", json!(1_795_248_120_000_000_i64)),
            ("localTime", json!(null)),
            ("configVersion", json!(-1)),
            ("configVersion", json!(1.5)),
            ("configVersion", json!(null)),
            ("lat", json!(90.5)),
            ("lon", json!("9")),
            ("battery", json!(101)),
            ("battery", json!(55.5)),
            ("battery", json!(1e300)),
            ("battery", json!(true)),
            ("pingInterval", json!(-1)),
            ("failedUploads", json!("2")),
            ("network", json!(1)),
            ("status", json!("asleep")),
            ("status", json!(1)),
        ] {
            let mut ping = json!({"localTime": 1, "configVersion": 0});
            ping[name] = wrong.clone();
            let message = read(&ping).unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("{name}: ")),
                "{wrong}: {message}"
            );
        }
    }
}
