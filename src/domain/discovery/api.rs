//! `/device-request/new` (spec: Device endpoints, rules 7 to 9).

use super::{
    Discovery,
    ask::{Answered, Ask, Record, SECRET_MIN_CHARS},
};
use crate::{
    identity::App,
    types::{Zone, text::CODE_MAX_CHARS},
    web::{
        Address, Body, ClientAddress, Outcome,
        envelope::{envelope, enveloped},
        schema::{Described, example, formatted, inline, integer, nullable, object, text},
    },
};
use poem::{
    FromRequest, IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, Registry},
};
use serde_json::{Map, Value, json};
use std::{net::IpAddr, sync::Arc};

/// What an app sends.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceRequestInput {
    code: String,
    secret: String,
    preferred_type: Option<String>,
}

impl Described for DeviceRequestInput {
    const NAME: &'static str = "DeviceRequestInput";

    fn schema() -> MetaSchema {
        let bounded = |least: usize, mut schema: MetaSchema| {
            schema.min_length = Some(least);
            schema.max_length = Some(CODE_MAX_CHARS);
            schema
        };
        example(
            object(
                "An app that asks to be let in.",
                &["code", "secret"],
                vec![
                    (
                        "code",
                        inline(bounded(
                            1,
                            text(
                                "The code on the device; several apps on one device add something to it.",
                            ),
                        )),
                    ),
                    (
                        "secret",
                        inline(bounded(
                            SECRET_MIN_CHARS,
                            text(
                                "Random and long (at least 128 bits), made once for this request and told to nobody else.",
                            ),
                        )),
                    ),
                    (
                        "preferredType",
                        inline(nullable(bounded(
                            1,
                            text("`checkin`, `accesscontrol`, `upload`, or a project's own."),
                        ))),
                    ),
                ],
            ),
            json!({"code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e", "preferredType": "checkin"}),
        )
    }
}

/// A request as it is answered.
pub struct DeviceRequest;

impl Described for DeviceRequest {
    const NAME: &'static str = "DeviceRequest";

    fn schema() -> MetaSchema {
        let time = |about| inline(formatted("string", "date-time", about));
        let said = |about| inline(text(about));
        example(
            object(
                "An app's request; only properties that have a value appear.",
                &[
                    "id",
                    "_type",
                    "code",
                    "secret",
                    "createdAt",
                    "updatedAt",
                    "apiUrl",
                ],
                vec![
                    ("id", inline(integer(""))),
                    ("_type", said("Always `deviceRequest`.")),
                    ("code", said("As it was sent.")),
                    ("secret", said("As it was sent.")),
                    ("agent", said("How the app named itself (`User-Agent`).")),
                    ("createdAt", time("")),
                    ("updatedAt", time("")),
                    ("apiUrl", said("What to prefix to every method of the API.")),
                    (
                        "deviceId",
                        inline(integer(
                            "The device that the app is; shown as long as `clientSecret`.",
                        )),
                    ),
                    (
                        "clientId",
                        said("Signs in with `clientSecret`; shown as long as that."),
                    ),
                    (
                        "clientSecret",
                        said(
                            "Shown for up to ten minutes after the request was added, and never again.",
                        ),
                    ),
                    ("clearedAt", time("When it was added or dismissed.")),
                    ("clearedStatus", said("`added` or `dismissed`.")),
                ],
            ),
            json!({
                "id": 1, "_type": "deviceRequest", "code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e",
                "agent": "GateApp/3.1", "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:20+00:00",
                "apiUrl": "http://192.168.1.7:8080/api/v5", "deviceId": 12, "clientId": "app-42-9f86d081",
                "clientSecret": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                "clearedAt": "2026-11-21T08:00:20+00:00", "clearedStatus": "added"
            }),
        )
    }
}

/// Who sends a request without a token.
pub struct Sender {
    address: IpAddr,
    agent: Option<String>,
}

impl<'a> FromRequest<'a> for Sender {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let agent = request.headers().get(header::USER_AGENT);
        Ok(Self {
            address: ClientAddress::of(request),
            agent: agent
                .and_then(|agent| agent.to_str().ok())
                .map(ToOwned::to_owned),
        })
    }
}

/// A new request (201), or how one stands that was made before (200).
pub struct Requested {
    new: bool,
    data: Value,
}

impl IntoResponse for Requested {
    fn into_response(self) -> Response {
        let status = if self.new {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        Response::builder()
            .status(status)
            .content_type("application/json")
            // It may hold a secret.
            .header(header::CACHE_CONTROL, "no-store")
            .body(envelope(&self.data.to_string(), "{}"))
    }
}

impl ApiResponse for Requested {
    fn meta() -> MetaResponses {
        let response = |status, description| MetaResponse {
            description,
            status: Some(status),
            status_range: None,
            content: vec![MetaMediaType {
                content_type: "application/json",
                schema: enveloped::<DeviceRequest>(),
            }],
            headers: vec![],
        };
        MetaResponses {
            responses: vec![
                response(201, "Taken; ask again until it is cleared"),
                response(200, "Asked before with the same secret: how it stands"),
            ],
        }
    }

    fn register(registry: &mut Registry) {
        DeviceRequest::register(registry);
    }
}

/// The endpoint.
pub struct DiscoveryApi {
    /// The application.
    pub app: App,
    /// Who decides whether apps may ask.
    pub discovery: Arc<Discovery>,
}

#[OpenApi(tag = "crate::web::Tag::Discovery")]
impl DiscoveryApi {
    /// Ask to be let in
    ///
    /// Needs no token: it is the Discovery page of the console that lets apps ask, from when it is
    /// opened or refreshed for ten minutes; otherwise 1001. The same `code` with the same `secret`
    /// asks again: the answer (200) tells how the request stands, also when the page is closed. With
    /// another secret it is 1002. A code is free again when its request was dismissed, is a day old,
    /// or its client was revoked. At most 200 requests wait, 10 from one address; a hundred wrong
    /// secrets from one address, or ten for one code, close it for the rest of the minute (1203).
    ///
    /// Once the request is added, the answers have `deviceId`, `clientId` and `clientSecret` for ten
    /// minutes, and never again.
    ///
    /// So that the right request is added, the console shows four digits that the app may show as
    /// well: the first four bytes of the SHA-256 of `secret` (as UTF-8), read as a whole number, the
    /// most significant byte first; of that the last four decimal digits, with leading zeros. The
    /// secret `gatepost` has 1879.
    #[oai(
        path = "/device-request/new",
        method = "post",
        operation_id = "createDeviceRequest"
    )]
    async fn create(
        &self,
        sender: Sender,
        address: Address,
        body: Body<DeviceRequestInput>,
    ) -> Outcome<Requested> {
        let DeviceRequestInput {
            code,
            secret,
            preferred_type,
        } = body.parse()?;
        let ask = Ask {
            code,
            secret: secret.clone(),
            preferred_type,
            agent: sender.agent,
            address: sender.address,
        };
        let Answered { new, record } = self.discovery.ask(ask).await?;
        let mut data = shown(record, &self.app.settings().zone);
        data["secret"] = json!(secret);
        data["apiUrl"] = json!(format!("{}/api/v5", address.base()));
        Ok(Requested { new, data })
    }
}

/// A request without what only its sender knows.
fn shown(record: Record, zone: &Zone) -> Value {
    let mut data = Map::new();
    let mut put = |name: &str, value: Value| {
        data.insert(name.to_owned(), value);
    };
    put("id", json!(record.id));
    put("_type", json!("deviceRequest"));
    put("code", json!(record.code));
    put("secret", Value::Null);
    if let Some(agent) = record.agent {
        put("agent", json!(agent));
    }
    put("createdAt", json!(zone.iso(record.created_at)));
    put("updatedAt", json!(zone.iso(record.updated_at)));
    put("apiUrl", Value::Null);
    if let Some(credentials) = record.credentials {
        put("deviceId", json!(credentials.device));
        put("clientId", json!(credentials.client_id));
        put("clientSecret", json!(credentials.client_secret));
    }
    if let Some(at) = record.cleared_at {
        put("clearedAt", json!(zone.iso(at)));
    }
    if let Some(status) = record.cleared_status {
        put("clearedStatus", json!(status));
    }
    Value::Object(data)
}
