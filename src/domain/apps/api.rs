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
    web::{
        Address, Answer, Body, Outcome, RequestId,
        schema::{
            Described, Properties, array, formatted, inline, integer, nullable, plain, text, texts,
        },
    },
};
use poem_openapi::{
    OpenApi,
    param::Path,
    registry::{MetaSchema, MetaSchemaRef},
};
use serde_json::{Map, Value, json};

/// A ping.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub struct DevicePing(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")] pub Map<String, Value>,
);

impl Described for DevicePing {
    const NAME: &'static str = "DevicePing";

    fn schema() -> MetaSchema {
        let bounded = |least: f64, most: f64, schema: MetaSchema| {
            nullable(MetaSchema {
                minimum: Some(least),
                maximum: Some(most),
                ..schema
            })
        };
        let counted = |about| MetaSchema {
            minimum: Some(0.0),
            ..integer(about)
        };
        let status = MetaSchema {
            enum_items: vec![json!("foreground"), json!("background"), Value::Null],
            ..text("Whether the app is in sight.")
        };
        let about = "A ping of an app. Other properties are kept as well.";
        let battery = "Percent; 100 for a device always on power.";
        let version = "The version of the settings that the app has; 0 for none.";
        let schema = plain("object", about)
            .required("localTime", integer("The device's time, Unix seconds."))
            .optional("lat", bounded(-90.0, 90.0, plain("number", "Latitude.")))
            .optional("lon", bounded(-180.0, 180.0, plain("number", "Longitude.")))
            .optional("battery", bounded(0.0, 100.0, integer(battery)))
            .optional(
                "pingInterval",
                nullable(counted("Seconds between two pings, as set in the app.")),
            )
            .optional("failedUploads", nullable(counted("Uploads that failed.")))
            .optional(
                "network",
                nullable(text("The network's name, or `LAN(<address>)`.")),
            )
            .optional("status", nullable(status))
            .required("configVersion", counted(version));
        open(schema).with_example(json!({
            "localTime": 1_795_248_120, "lat": 53.5511, "lon": 9.9937, "battery": 87, "pingInterval": 60,
            "failedUploads": 0, "network": "venue-crew", "status": "foreground", "configVersion": 0
        }))
    }
}

/// An object that may have other properties, too.
fn open(schema: MetaSchema) -> MetaSchema {
    MetaSchema {
        additional_properties: Some(inline(MetaSchema::ANY).into()),
        ..schema
    }
}

/// The answer to a ping.
pub struct DeviceConfig;

impl Described for DeviceConfig {
    const NAME: &'static str = "DeviceConfig";
    const META: &'static str = "[]";

    /// An empty list (spec: Response envelope).
    fn meta() -> MetaSchemaRef {
        inline(MetaSchema {
            max_items: Some(0),
            ..array(inline(MetaSchema::ANY), "Always `[]`.")
        })
    }

    fn schema() -> MetaSchema {
        let about = "The instance's name and picture, and the settings that the app does not have.";
        let logo = "Address of the instance's picture, which needs no token; absent without one.";
        let confirmed = plain("boolean", "Whether the app named the version in force.");
        plain("object", about)
            .optional_text("logo", logo)
            .required_text("name", "The instance's name.")
            .optional("settings", settings())
            .required("configConfirmed", confirmed)
            .required("configVersion", integer("The version in force."))
            .with_example(json!({
                "name": "Summit 2026",
                "settings": parameters::spelled_out(super::Document::built_in().default),
                "configConfirmed": false, "configVersion": 1
            }))
    }
}

fn settings() -> MetaSchema {
    let about = "Only when the app's version differs: all settings of this device. Others than these are an app's own.";
    let mut schema = open(plain("object", about));
    // No app is sent the PIN.
    let sent = parameters::PARAMETERS.iter();
    for known in sent.filter(|known| known.kind != parameters::Kind::Pin) {
        for name in [Some(known.name), known.also].into_iter().flatten() {
            schema = schema.optional(name, parameter(known));
        }
    }
    schema
}

fn parameter(known: &'static parameters::Parameter) -> MetaSchema {
    use parameters::Kind;
    match known.kind {
        Kind::Time => nullable(formatted("string", "date-time", known.meaning)),
        Kind::Flag => plain("boolean", known.meaning),
        Kind::Text | Kind::Place | Kind::Pin => nullable(text(known.meaning)),
        Kind::Places => nullable(texts(known.meaning)),
        Kind::OneOf(choices) => nullable(MetaSchema {
            enum_items: enum_of(choices).chain([Value::Null]).collect(),
            ..text(known.meaning)
        }),
        Kind::AnyOf(choices) => {
            let one = MetaSchema {
                enum_items: enum_of(choices).collect(),
                ..text("")
            };
            nullable(array(inline(one), known.meaning))
        }
        Kind::Number(least, most) => nullable(MetaSchema {
            minimum: Some(f64::from(least)),
            maximum: Some(f64::from(most)),
            ..integer(known.meaning)
        }),
        Kind::Texts => texts(known.meaning),
        Kind::Ranks => array(inline(texts("")), known.meaning),
    }
}

fn enum_of(choices: Choices) -> impl Iterator<Item = Value> {
    choices.iter().map(|(name, _)| json!(name))
}

/// The settings that an app set by itself.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSettingsInput {
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    value: Map<String, Value>,
}

impl Described for LocalSettingsInput {
    const NAME: &'static str = "LocalSettingsInput";

    fn schema() -> MetaSchema {
        LocalSettings::schema()
    }
}

/// The settings that the server keeps of those that an app set by itself.
pub struct LocalSettings;

impl Described for LocalSettings {
    const NAME: &'static str = "LocalSettings";

    fn schema() -> MetaSchema {
        let about = "`mode`, `ownDevice` and whatever the app lets its user set; `null` takes a setting away.";
        let own_device = "The device at which the app works, such as a room.";
        let value = plain("object", about)
            .optional("mode", nullable(text("What the app is used for now.")))
            .optional("ownDevice", nullable(integer(own_device)));
        plain("object", "")
            .required("value", open(value))
            .with_example(json!({"value": {"mode": "check-in", "ownDevice": 12, "uiMode": "dark"}}))
    }
}

pub struct Pong;

impl Described for Pong {
    const NAME: &'static str = "Pong";

    fn schema() -> MetaSchema {
        let online = plain("boolean", "Whether it was seen within the last 15 minutes.");
        let last_seen = "`yyyy-mm-dd hh:mm:ss` in the instance's zone; `null` for never.";
        plain("object", "Whether a device is there.")
            .required("online", online)
            .required("lastSeen", nullable(text(last_seen)))
            .with_example(json!({"online": true, "lastSeen": "2026-11-21 09:02:00"}))
    }
}

pub struct AppsApi {
    pub app: App,
}

impl AppsApi {
    /// The answer to an app that has this version of the configuration.
    fn config(&self, device: DeviceId, app_version: i64, base: &str) -> Result<Value> {
        self.app.store.look_up(|connection| {
            // Settings and version of one look: a version that is published meanwhile is for the
            // next ping.
            let version = configuration::version(connection)?;
            let confirmed = version == app_version;
            let mut data = json!({"name": self.app.settings().name()});
            if let Some(since) = logo::since(connection)? {
                // Another address for another picture.
                data["logo"] = json!(format!("{base}/logo?v={}", since.0));
            }
            if !confirmed {
                let (_, settings) = configuration::effective(connection, device)?;
                data["settings"] = parameters::spelled_out(settings).into();
            }
            data["configConfirmed"] = json!(confirmed);
            data["configVersion"] = json!(version);
            Ok(data)
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
    ) -> Outcome<Answer<DeviceConfig>> {
        let device = caller.own_device()?;
        let DevicePing(sent) = body.parse()?;
        let ping = Ping::read(sent)?;
        let said = ping.config_version();
        self.app
            .store
            .write(move |tx| ping::record(tx, device, &ping))
            .await?;
        let config = self.config(device, said, address.base())?;
        let meta = DeviceConfig::META;
        Ok(Answer::with_meta(&config.to_string(), meta))
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
        let data = json!({"online": online, "lastSeen": last_seen}).to_string();
        Ok(Answer::of(&data).with_status(if online { 200 } else { 404 }))
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
        let kept = self
            .app
            .store
            .write(move |tx| local::save(tx, &ctx, device, value))
            .await?;
        Ok(Answer::of(&json!({"value": kept}).to_string()))
    }
}
