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
        schema::{
            Described, Properties, bounded_text, formatted, integer, nullable, plain, response,
        },
    },
};
use poem::{
    FromRequest, IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaResponses, MetaSchema, Registry},
};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};

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
        let bounded = |least, about| bounded_text(least, CODE_MAX_CHARS, about);
        let code = "The code on the device; several apps on one device add something to it.";
        let secret = "Random and long (at least 128 bits), made once for this request, and secret.";
        let preferred = "`checkin`, `accesscontrol`, `upload`, or a project's own.";
        plain("object", "An app that asks to be let in.")
            .required("code", bounded(1, code))
            .required("secret", bounded(SECRET_MIN_CHARS, secret))
            .optional("preferredType", nullable(bounded(1, preferred)))
            .with_example(json!({
                "code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e", "preferredType": "checkin"
            }))
    }
}

pub struct DeviceRequest;

impl Described for DeviceRequest {
    const NAME: &'static str = "DeviceRequest";

    fn schema() -> MetaSchema {
        let time = |about| formatted("string", "date-time", about);
        let about = "An app's request; only properties that have a value appear.";
        let client_secret =
            "Shown for up to ten minutes after the request was added, and never again.";
        plain("object", about)
            .required("id", integer(""))
            .required_text("_type", "Always `deviceRequest`.")
            .required_text("code", "As it was sent.")
            .required_text("secret", "As it was sent.")
            .optional_text("agent", "How the app named itself (`User-Agent`).")
            .required("createdAt", time(""))
            .required("updatedAt", time(""))
            .required_text("apiUrl", "What to prefix to every method of the API.")
            .optional(
                "deviceId",
                integer("The device that the app is; shown as long as `clientSecret`."),
            )
            .optional_text("clientId", "Signs in with `clientSecret`; shown as long as that.")
            .optional_text("clientSecret", client_secret)
            .optional("clearedAt", time("When it was added or dismissed."))
            .optional_text("clearedStatus", "`added` or `dismissed`.")
            .with_example(json!({
                "id": 1, "_type": "deviceRequest", "code": "42", "secret": "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e",
                "agent": "GateApp/3.1", "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:20+00:00",
                "apiUrl": "http://192.168.1.7:8080/api/v5", "deviceId": 12, "clientId": "app-42-9f86d081",
                "clientSecret": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                "clearedAt": "2026-11-21T08:00:20+00:00", "clearedStatus": "added"
            }))
    }
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
        let json = |status, description| {
            let schema = enveloped::<DeviceRequest>();
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
        let data = shown(&record, &secret, &api_url, &self.app.settings().zone);
        Ok(Requested { new, data })
    }
}

fn shown(record: &Record, secret: &str, api_url: &str, zone: &Zone) -> Value {
    let credentials = record.credentials.as_ref();
    let mut data = json!({
        "id": record.id,
        "_type": "deviceRequest",
        "code": record.code,
        "secret": secret,
        "agent": record.agent,
        "createdAt": zone.iso(record.created_at),
        "updatedAt": zone.iso(record.updated_at),
        "apiUrl": api_url,
        "deviceId": credentials.map(|credentials| credentials.device),
        "clientId": credentials.map(|credentials| &credentials.client_id),
        "clientSecret": credentials.map(|credentials| &credentials.client_secret),
        "clearedAt": record.cleared_at.map(|at| zone.iso(at)),
        "clearedStatus": record.cleared_status,
    });
    if let Value::Object(properties) = &mut data {
        properties.retain(|_, value| !value.is_null());
    }
    data
}
