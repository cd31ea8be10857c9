//! `/device-request/new` (spec: Device endpoints, rules 7 to 9).

use super::{
    Discovery,
    ask::{Ask, Record, SECRET_MIN_CHARS},
};
use crate::{
    identity::App,
    types::{Zone, text::CODE_MAX_CHARS},
    web::{
        Address, Body, ClientAddress, Outcome,
        body::ANONYMOUS_MAX_BYTES,
        envelope::{envelope, enveloped},
        schema::{Described, NoMeta, response},
    },
};
use poem::{
    FromRequest, IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaResponses, Registry},
};
use schemars::JsonSchema;
use serde_json::json;
use std::{net::IpAddr, sync::Arc};

/// An app that asks to be let in.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e", "preferredType": "checkin",
}))]
pub struct DeviceRequestInput {
    /// The code on the device; several apps on one device add something to it.
    #[schemars(length(min = 1, max = CODE_MAX_CHARS))]
    code: String,
    /// Random and long (at least 128 bits), made once for this request, and secret.
    #[schemars(length(min = SECRET_MIN_CHARS, max = CODE_MAX_CHARS))]
    secret: String,
    /// `checkin`, `accesscontrol`, `upload`, or a project's own.
    #[schemars(length(min = 1, max = CODE_MAX_CHARS))]
    preferred_type: Option<String>,
}

/// An app's request; only properties that have a value appear.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({
    "id": 1, "_type": "deviceRequest", "code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e",
    "agent": "GateApp/3.1", "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:20+00:00",
    "apiUrl": "http://192.168.1.7:8080/api/v5", "deviceId": 12, "clientId": "app-42-9f86d081",
    "clientSecret": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
    "clearedAt": "2026-11-21T08:00:20+00:00", "clearedStatus": "added"
}))]
pub struct DeviceRequest {
    id: i64,
    /// Always `deviceRequest`.
    #[serde(rename = "_type")]
    kind: &'static str,
    /// As it was sent.
    code: String,
    /// As it was sent.
    secret: String,
    /// The name that the app gave itself (`User-Agent`).
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    /// The prefix of every method of the API.
    api_url: String,
    /// The device that the app is; shown as long as `clientSecret`.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_id: Option<i64>,
    /// Signs in with `clientSecret`; shown as long as that.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// Shown for up to ten minutes after the request was added, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// The time when it was added or dismissed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    cleared_at: Option<String>,
    /// `added` or `dismissed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_status: Option<String>,
}

/// The sender of a request without a token.
pub struct Sender {
    address: IpAddr,
    agent: Option<String>,
}

impl<'a> FromRequest<'a> for Sender {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let agent = request.header(header::USER_AGENT);
        Ok(Self {
            address: ClientAddress::of(request),
            agent: agent.map(ToOwned::to_owned),
        })
    }
}

/// A new request (201), or one that was made before (200).
pub struct Requested {
    new: bool,
    data: DeviceRequest,
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
            .body(envelope(&json!(self.data).to_string(), "{}"))
    }
}

impl ApiResponse for Requested {
    fn meta() -> MetaResponses {
        let json = |status, description| {
            let schema = enveloped::<DeviceRequest, NoMeta>();
            response(status, description, "application/json", schema)
        };
        MetaResponses {
            responses: vec![
                json(201, "Recorded; ask again until it is cleared"),
                json(200, "Asked before with the same secret: the request now"),
            ],
        }
    }

    fn register(registry: &mut Registry) {
        DeviceRequest::register(registry);
    }
}

pub struct DiscoveryApi {
    pub app: App,
    pub discovery: Arc<Discovery>,
}

#[OpenApi(tag = "crate::web::Tag::Discovery")]
impl DiscoveryApi {
    /// Ask to be let in
    ///
    /// Needs no token: it is the Discovery page of the console that lets apps ask, from when it is
    /// opened or refreshed for ten minutes; otherwise 1001. The same `code` with the same `secret`
    /// asks again: the answer (200) is the request as it is now, also when the page is closed. With
    /// another secret it is 1002. A code is free again when its request was dismissed, is a day old,
    /// or its client was revoked. The body has at most 4 KiB. At most 200 requests wait, 10 from one address; a hundred wrong
    /// secrets from one address, or ten for one code, close it for the rest of the minute (1203).
    ///
    /// A `code` that the console made at a place (*Pair a gate*), with `preferredType` `gate`, needs neither the
    /// Discovery page nor somebody who adds it: the app is the gate of that place at once. It is good for one request
    /// and ten minutes.
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
        body: Body<DeviceRequestInput, ANONYMOUS_MAX_BYTES>,
    ) -> Outcome<Requested> {
        let input = body.parse()?;
        let secret = input.secret.clone();
        let ask = Ask {
            code: input.code,
            secret: input.secret,
            preferred_type: input.preferred_type,
            agent: sender.agent,
            address: sender.address,
        };
        let (new, record) = self.discovery.ask(ask).await?;
        let api_url = format!("{}/api/v5", address.base());
        let data = shown(record, secret, api_url, &self.app.settings().zone);
        Ok(Requested { new, data })
    }
}

fn shown(record: Record, secret: String, api_url: String, zone: &Zone) -> DeviceRequest {
    let (device, client) = record.credentials.map_or((None, None), |credentials| {
        let client = (credentials.client_id, credentials.client_secret);
        (Some(credentials.device.0), Some(client))
    });
    let (client_id, client_secret) = client.unzip();
    DeviceRequest {
        id: record.id,
        kind: "deviceRequest",
        code: record.code,
        secret,
        agent: record.agent,
        created_at: zone.iso(record.created_at),
        updated_at: zone.iso(record.updated_at),
        api_url,
        device_id: device,
        client_id,
        client_secret,
        cleared_at: record.cleared_at.map(|at| zone.iso(at)),
        cleared_status: record.cleared_status,
    }
}
