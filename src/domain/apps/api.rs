//! `/device/ping`, `/device/{idType}:{id}/pong` and `/device-config` (spec: Device endpoints).

use super::{
    configuration, local, parameters,
    ping::{self, Ping},
    presence,
    values::Choices,
};
use crate::{
    core::settings::logo,
    domain::devices::find_readable,
    identity::{
        App, Granted,
        roles::{DeviceToken, ReadDevice},
    },
    types::{DeviceId, DeviceSelector, Timestamp, error::Result},
    web::{Address, Answer, Body, Outcome, RequestId},
};
use poem_openapi::{OpenApi, param::Path};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// A ping of an app. Other properties are kept as well.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = json!({
    "localTime": 1_795_248_120, "lat": 53.5511, "lon": 9.9937, "battery": 87, "pingInterval": 60,
    "failedUploads": 0, "network": "venue-crew", "status": "foreground", "configVersion": 0
}))]
pub struct DevicePing(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    #[schemars(with = "PingShape")]
    pub Map<String, Value>,
);

/// A ping, as [`Ping::read`] checks it.
#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct PingShape {
    /// The device's time, Unix seconds.
    pub local_time: i64,
    /// Latitude.
    #[schemars(range(min = -90, max = 90))]
    pub lat: Option<f64>,
    /// Longitude.
    #[schemars(range(min = -180, max = 180))]
    pub lon: Option<f64>,
    /// Percent; 100 for a device always on power.
    #[schemars(range(min = 0, max = 100))]
    pub battery: Option<i64>,
    /// Seconds between two pings, as set in the app.
    #[schemars(range(min = 0))]
    pub ping_interval: Option<i64>,
    /// Uploads that failed.
    #[schemars(range(min = 0))]
    pub failed_uploads: Option<i64>,
    /// The network's name, or `LAN(<address>)`.
    pub network: Option<String>,
    /// `foreground` while the app is in sight.
    #[schemars(extend("enum" = ["foreground", "background", null]))]
    pub status: Option<String>,
    /// The version of the settings that the app has; 0 for none.
    #[schemars(range(min = 0))]
    pub config_version: i64,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The instance's name and picture, and the settings that the app does not have.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({
    "name": "Summit 2026",
    "settings": parameters::spelled_out(super::Document::built_in().default),
    "configConfirmed": false, "configVersion": 1
}))]
pub struct DeviceConfig {
    /// The instance's name.
    name: String,
    /// Address of the instance's picture, which needs no token; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    logo: Option<String>,
    /// Only when the app's version differs: all settings of this device. Others than these are an app's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Settings>")]
    settings: Option<Value>,
    /// The app named the version in force.
    config_confirmed: bool,
    /// The version in force.
    config_version: i64,
}

// As the spec has it (Response envelope).
/// Always `[]`.
#[derive(JsonSchema)]
#[schemars(inline, example = json!([]))]
pub struct ConfigMeta(#[schemars(length(max = 0))] pub Vec<Value>);

/// All settings of a device, from the table of parameters.
#[derive(JsonSchema)]
#[schemars(inline, transform = add_parameters)]
struct Settings {}

fn add_parameters(schema: &mut Schema) {
    let mut properties = Map::new();
    // No app is sent the PIN.
    let sent = parameters::PARAMETERS.iter();
    for known in sent.filter(|known| known.kind != parameters::Kind::Pin) {
        for name in [Some(known.name), known.also].into_iter().flatten() {
            properties.insert(name.to_owned(), parameter(known));
        }
    }
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("additionalProperties".to_owned(), true.into());
}

fn parameter(known: &parameters::Parameter) -> Value {
    use parameters::Kind;
    let mut shape = match known.kind {
        Kind::Time => json!({"type": "string", "format": "date-time", "nullable": true}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Text | Kind::Place | Kind::Pin => json!({"type": "string", "nullable": true}),
        Kind::Places => json!({"type": "array", "items": {"type": "string"}, "nullable": true}),
        Kind::OneOf(choices) => {
            let names: Vec<_> = enum_of(choices).chain([Value::Null]).collect();
            json!({"type": "string", "enum": names, "nullable": true})
        }
        Kind::AnyOf(choices) => {
            let names: Vec<_> = enum_of(choices).collect();
            json!({"type": "array", "items": {"type": "string", "enum": names}, "nullable": true})
        }
        Kind::Number(least, most) => json!({
            "type": "integer", "format": "int64", "minimum": least, "maximum": most, "nullable": true,
        }),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Ranks => {
            json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}})
        }
    };
    shape["description"] = known.meaning.into();
    shape
}

fn enum_of(choices: Choices) -> impl Iterator<Item = Value> {
    choices.iter().map(|(name, _)| json!(name))
}

/// Settings made in an app.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example_of_local_settings())]
pub struct LocalSettingsInput {
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    #[schemars(with = "LocalValue")]
    value: Map<String, Value>,
}

/// Settings made in an app, as the server keeps them.
#[derive(serde::Serialize, JsonSchema)]
#[schemars(example = example_of_local_settings())]
pub struct LocalSettings {
    #[schemars(with = "LocalValue")]
    value: Map<String, Value>,
}

fn example_of_local_settings() -> Value {
    json!({"value": {"mode": "check-in", "ownDevice": 12, "uiMode": "dark"}})
}

/// `mode`, `ownDevice` and whatever the app lets its user set; `null` takes a setting away.
#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct LocalValue {
    /// The purpose of the app for now.
    #[schemars(extend("nullable" = true))]
    pub mode: Option<String>,
    /// The device at which the app works, such as a room.
    #[schemars(extend("nullable" = true))]
    pub own_device: Option<i64>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The presence of a device.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({"online": true, "lastSeen": "2026-11-21 09:02:00"}))]
pub struct Pong {
    /// Seen within the last 15 minutes.
    online: bool,
    /// `yyyy-mm-dd hh:mm:ss` in the instance's zone; `null` for never.
    #[schemars(required, extend("nullable" = true))]
    last_seen: Option<String>,
}

pub struct AppsApi {
    pub app: App,
}

impl AppsApi {
    /// The answer to an app that has this version of the configuration.
    fn config(&self, device: DeviceId, app_version: i64, base: &str) -> Result<DeviceConfig> {
        self.app.store.look_up(|connection| {
            // Settings and version of one look: a version that is published meanwhile is for the
            // next ping.
            let version = configuration::version(connection)?;
            let confirmed = version == app_version;
            let settings = if confirmed {
                None
            } else {
                let (_, settings) = configuration::effective(connection, device)?;
                Some(parameters::spelled_out(settings).into())
            };
            Ok(DeviceConfig {
                name: self.app.settings().name().to_owned(),
                // Another address for another picture.
                logo: logo::since(connection)?.map(|since| format!("{base}/logo?v={}", since.0)),
                settings,
                config_confirmed: confirmed,
                config_version: version,
            })
        })
    }
}

#[OpenApi(tag = "crate::web::Tag::Devices")]
impl AppsApi {
    /// Send a ping, and get the device's settings
    ///
    /// Acts on the device that the token's client is bound to. `localTime` and `configVersion` must
    /// be sent; the rest is checked when it is sent, and keys that are not known are kept. The answer
    /// has `settings` and their version as long as `configVersion` names another one; the ping that
    /// names the version in force confirms it.
    ///
    /// Needs the token of a client that is bound to a device.
    #[oai(path = "/device/ping", method = "post", operation_id = "pingDevice")]
    async fn ping(
        &self,
        caller: Granted<DeviceToken>,
        address: Address,
        body: Body<DevicePing>,
    ) -> Outcome<Answer<DeviceConfig, 200, ConfigMeta>> {
        let device = caller.own_device()?;
        let DevicePing(sent) = body.parse()?;
        let ping = Ping::read(sent)?;
        let said = ping.config_version();
        self.app
            .store
            .write(move |tx| ping::record(tx, device, &ping))
            .await?;
        let config = self.config(device, said, address.base())?;
        Ok(Answer::with_meta(&json!(config).to_string(), "[]"))
    }

    /// Check whether a device is online
    ///
    /// A device is online when its client made a request within the last 15 minutes; otherwise the
    /// status is 404 and `online` is `false`. Needs `ROLE_OAUTH2_DEVICE_READ`, or
    /// `ROLE_OAUTH2_OWN_READ` for a device that one's delegate owns through an `own` interaction.
    #[oai(
        path = "/device/:selector/pong",
        method = "get",
        operation_id = "pongDevice"
    )]
    async fn pong(
        &self,
        caller: Granted<ReadDevice>,
        selector: Path<String>,
    ) -> Outcome<Answer<Pong>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let last_seen = self.app.store.look_up(|connection| {
            let device = find_readable(connection, &selector, &caller)?;
            presence::last_seen(connection, &self.app.last_seen, device)
        })?;
        let online = presence::is_online(last_seen, Timestamp::now());
        let zone = &self.app.settings().zone;
        let last_seen = last_seen.map(|at| zone.plain(at));
        Ok(Answer::json(&Pong { online, last_seen }).with_status(if online { 200 } else { 404 }))
    }

    /// Send what was set in the app
    ///
    /// Acts on the device that the token's client is bound to. `value` holds `mode`, `ownDevice` and
    /// the settings that the app lets its user change, those that changed; they are kept beside what
    /// was sent before. Refused by name: a setting that `forced` lists, and `enableAt`, `disableAt`,
    /// `deviceHierarchy` and `forced`, which are the server's to set.
    ///
    /// Needs the token of a client that is bound to a device.
    #[oai(
        path = "/device-config",
        method = "put",
        operation_id = "putDeviceConfig"
    )]
    async fn put_config(
        &self,
        caller: Granted<DeviceToken>,
        request_id: RequestId,
        body: Body<LocalSettingsInput>,
    ) -> Outcome<Answer<LocalSettings>> {
        let device = caller.own_device()?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let LocalSettingsInput { value } = body.parse()?;
        let value = self
            .app
            .store
            .write(move |tx| local::save(tx, &ctx, device, value))
            .await?;
        Ok(Answer::json(&LocalSettings { value }))
    }
}
