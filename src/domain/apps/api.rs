//! `/device/ping`, `/device/{idType}:{id}/pong` and `/device-config` (spec: Device endpoints).

use super::{
    configuration, local, parameters,
    ping::{self, Ping},
    presence,
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
        envelope::{envelope, enveloped},
        schema::{Described, array, example, inline, integer, nullable, object, plain, text},
    },
};
use poem::{IntoResponse, Response, http::StatusCode};
use poem_openapi::{
    ApiResponse, OpenApi,
    param::Path,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};
use serde_json::{Map, Value, json};

/// What an app tells of itself.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub struct DevicePing(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")] pub Map<String, Value>,
);

impl Described for DevicePing {
    const NAME: &'static str = "DevicePing";

    fn schema() -> MetaSchema {
        let bounded = |least: f64, most: f64, mut schema: MetaSchema| {
            schema.minimum = Some(least);
            schema.maximum = Some(most);
            inline(nullable(schema))
        };
        let counted = |about| {
            let mut schema = integer(about);
            schema.minimum = Some(0.0);
            schema
        };
        let mut schema = object(
            "What an app tells of itself. Whatever else it sends is kept as well.",
            &["localTime", "configVersion"],
            vec![
                (
                    "localTime",
                    inline(integer("The device's time, Unix seconds.")),
                ),
                ("lat", bounded(-90.0, 90.0, plain("number", "Latitude."))),
                ("lon", bounded(-180.0, 180.0, plain("number", "Longitude."))),
                (
                    "battery",
                    bounded(
                        0.0,
                        100.0,
                        integer("Percent; 100 for a device always on power."),
                    ),
                ),
                (
                    "pingInterval",
                    inline(nullable(counted(
                        "Seconds between two pings, as set in the app.",
                    ))),
                ),
                (
                    "failedUploads",
                    inline(nullable(counted("Uploads that failed."))),
                ),
                (
                    "network",
                    inline(nullable(text("The network's name, or `LAN(<address>)`."))),
                ),
                (
                    "status",
                    inline(nullable(MetaSchema {
                        enum_items: vec![json!("foreground"), json!("background"), Value::Null],
                        ..text("Whether the app is in sight.")
                    })),
                ),
                (
                    "configVersion",
                    inline(counted(
                        "The version of the settings that the app has; 0 for none.",
                    )),
                ),
            ],
        );
        schema.additional_properties = Some(inline(MetaSchema::ANY).into());
        example(
            schema,
            json!({
                "localTime": 1_795_248_120, "lat": 53.5511, "lon": 9.9937, "battery": 87, "pingInterval": 60,
                "failedUploads": 0, "network": "venue-crew", "status": "foreground", "configVersion": 0
            }),
        )
    }
}

/// What the server tells an app that pings.
pub struct DeviceConfig;

impl Described for DeviceConfig {
    const NAME: &'static str = "DeviceConfig";

    fn schema() -> MetaSchema {
        example(
            object(
                "The instance's name and picture, and the settings that the app has not.",
                &["name", "configConfirmed", "configVersion"],
                vec![
                    (
                        "logo",
                        inline(text(
                            "Address of the instance's picture, which needs no token; absent without one.",
                        )),
                    ),
                    ("name", inline(text("The instance's name."))),
                    ("settings", inline(settings())),
                    (
                        "configConfirmed",
                        inline(plain(
                            "boolean",
                            "Whether the app named the version in force.",
                        )),
                    ),
                    ("configVersion", inline(integer("The version in force."))),
                ],
            ),
            json!({
                "name": "Summit 2026",
                "settings": parameters::spelled_out(super::Document::built_in().default),
                "configConfirmed": false, "configVersion": 1
            }),
        )
    }
}

/// The settings of an app, as the document describes them.
fn settings() -> MetaSchema {
    let properties = parameters::PARAMETERS.iter().flat_map(|known| {
        let names = [Some(known.name), known.also];
        names
            .into_iter()
            .flatten()
            .map(move |name| (name, inline(parameter(known))))
    });
    MetaSchema {
        additional_properties: Some(inline(MetaSchema::ANY).into()),
        ..object(
            "Only when the app's version differs: all settings of this device. Others than these are an app's own.",
            &[],
            properties.collect(),
        )
    }
}

fn parameter(known: &'static parameters::Parameter) -> MetaSchema {
    use parameters::Kind;
    let texts = |about| array(inline(text("")), about);
    match known.kind {
        Kind::Time => nullable(MetaSchema {
            format: Some("date-time"),
            ..text(known.meaning)
        }),
        Kind::Flag => plain("boolean", known.meaning),
        Kind::Text => nullable(text(known.meaning)),
        Kind::Texts => texts(known.meaning),
        Kind::Ranks => array(inline(texts("")), known.meaning),
    }
}

/// What an app set by itself.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSettingsInput {
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    value: Map<String, Value>,
}

impl Described for LocalSettingsInput {
    const NAME: &'static str = "LocalSettingsInput";

    fn schema() -> MetaSchema {
        example(
            object("", &["value"], vec![("value", inline(local_settings()))]),
            json!({"value": {"mode": "check-in", "ownDevice": 12, "uiMode": "dark"}}),
        )
    }
}

fn local_settings() -> MetaSchema {
    let properties = vec![
        (
            "mode",
            inline(nullable(text("What the app is used for now."))),
        ),
        (
            "ownDevice",
            inline(nullable(integer(
                "The device at which the app works, such as a room.",
            ))),
        ),
    ];
    MetaSchema {
        additional_properties: Some(inline(MetaSchema::ANY).into()),
        ..object(
            "`mode`, `ownDevice` and whatever the app lets its user set; `null` takes a setting away.",
            &[],
            properties,
        )
    }
}

/// What the server keeps of what an app set by itself.
pub struct LocalSettings;

impl Described for LocalSettings {
    const NAME: &'static str = "LocalSettings";

    fn schema() -> MetaSchema {
        example(
            object("", &["value"], vec![("value", inline(local_settings()))]),
            json!({"value": {"mode": "check-in", "ownDevice": 12, "uiMode": "dark"}}),
        )
    }
}

/// Whether a device is there.
pub struct Pong;

impl Described for Pong {
    const NAME: &'static str = "Pong";

    fn schema() -> MetaSchema {
        let online = plain("boolean", "Whether it was seen within the last 15 minutes.");
        let last_seen = nullable(text(
            "`yyyy-mm-dd hh:mm:ss` in the instance's zone; `null` for never.",
        ));
        example(
            object(
                "Whether a device is there.",
                &["online", "lastSeen"],
                vec![("online", inline(online)), ("lastSeen", inline(last_seen))],
            ),
            json!({"online": true, "lastSeen": "2026-11-21 09:02:00"}),
        )
    }
}

/// An answer with its status, an envelope already.
fn answered(status: StatusCode, body: String) -> Response {
    Response::builder()
        .status(status)
        .content_type("application/json")
        .body(body)
}

fn response(description: &'static str, schema: MetaSchemaRef) -> MetaResponse {
    MetaResponse {
        description,
        status: Some(200),
        status_range: None,
        content: vec![MetaMediaType {
            content_type: "application/json",
            schema,
        }],
        headers: vec![],
    }
}

/// The answer to a ping: its `meta` is an empty list (spec: Response envelope).
pub struct Pinged(String);

impl IntoResponse for Pinged {
    fn into_response(self) -> Response {
        answered(StatusCode::OK, envelope(&self.0, "[]"))
    }
}

impl ApiResponse for Pinged {
    fn meta() -> MetaResponses {
        let meta = MetaSchema {
            max_items: Some(0),
            ..array(inline(MetaSchema::ANY), "Always `[]`.")
        };
        let whole = MetaSchema {
            example: DeviceConfig::schema()
                .example
                .map(|data| json!({"data": data, "meta": []})),
            ..object(
                "",
                &["data", "meta"],
                vec![("data", DeviceConfig::reference()), ("meta", inline(meta))],
            )
        };
        MetaResponses {
            responses: vec![response("Done", inline(whole))],
        }
    }

    fn register(registry: &mut Registry) {
        DeviceConfig::register(registry);
    }
}

/// The answer to a pong: 404 when the device is offline (spec: Device endpoints, rule 3).
pub struct Ponged {
    online: bool,
    data: Value,
}

impl IntoResponse for Ponged {
    fn into_response(self) -> Response {
        let status = if self.online {
            StatusCode::OK
        } else {
            StatusCode::NOT_FOUND
        };
        answered(status, envelope(&self.data.to_string(), "{}"))
    }
}

impl ApiResponse for Ponged {
    /// That of 404 is added in `server::openapi`, beside the error of an unknown device.
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![response("It is online", enveloped::<Pong>())],
        }
    }

    fn register(registry: &mut Registry) {
        Pong::register(registry);
    }
}

/// The endpoints.
pub struct AppsApi {
    /// The application.
    pub app: App,
}

impl AppsApi {
    /// What an app is told that said it has the configuration of this version.
    fn config(&self, device: DeviceId, said: i64, base: &str) -> Result<Value> {
        self.app.store.look_up(|connection| {
            // Settings and version of one look: a version that is published meanwhile is for the
            // next ping.
            let version = configuration::version(connection)?;
            let confirmed = version == said;
            let mut data = Map::new();
            if let Some(since) = logo::since(connection)? {
                // Another address for another picture.
                let address = format!("{base}/logo?v={}", since.0);
                data.insert("logo".to_owned(), json!(address));
            }
            data.insert("name".to_owned(), json!(self.app.settings().name()));
            if !confirmed {
                let (_, settings) = configuration::effective(connection, device)?;
                let settings = parameters::spelled_out(settings);
                data.insert("settings".to_owned(), Value::Object(settings));
            }
            data.insert("configConfirmed".to_owned(), json!(confirmed));
            data.insert("configVersion".to_owned(), json!(version));
            Ok(Value::Object(data))
        })
    }
}

#[OpenApi(tag = "crate::web::Tag::Devices")]
impl AppsApi {
    /// Tell that the device is there, and get its settings
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
    ) -> Outcome<Pinged> {
        let device = caller.own_device()?;
        let DevicePing(sent) = body.parse()?;
        let ping = Ping::read(sent)?;
        let said = ping.config_version();
        self.app
            .store
            .write(move |tx| ping::record(tx, device, &ping))
            .await?;
        let data = self.config(device, said, address.base())?;
        Ok(Pinged(data.to_string()))
    }

    /// Whether a device is online
    ///
    /// A device is online when its client made a request within the last 15 minutes; otherwise the
    /// status is 404 and `online` is `false`. Needs `ROLE_OAUTH2_DEVICE_READ`, or
    /// `ROLE_OAUTH2_OWN_READ` for a device that one's delegate owns through an `own` interaction.
    #[oai(
        path = "/device/:selector/pong",
        method = "get",
        operation_id = "pongDevice"
    )]
    async fn pong(&self, caller: Granted<ReadDevice>, selector: Path<String>) -> Outcome<Ponged> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let last_seen = self.app.store.look_up(|connection| {
            let device = find_readable(connection, &selector, &caller)?;
            presence::last_seen(connection, &self.app.last_seen, device)
        })?;
        let online = presence::is_online(last_seen, Timestamp::now());
        let zone = &self.app.settings().zone;
        let last_seen = last_seen.map(|at| zone.plain(at));
        Ok(Ponged {
            online,
            data: json!({"online": online, "lastSeen": last_seen}),
        })
    }

    /// Tell what was set in the app
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
