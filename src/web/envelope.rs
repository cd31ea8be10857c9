//! The envelope of every API answer: `{"data": ..., "meta": ...}` (contract §2).

use super::schema::{Described, inline, object, plain, text};
use poem::{
    Body, IntoResponse, Response,
    http::{HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{
        MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
    },
};
use serde_json::{Value, json};
use std::marker::PhantomData;

/// An enveloped answer with status `S`, whose `data` has the shape of `T`.
pub struct Answer<T, const S: u16 = 200> {
    body: Body,
    status: u16,
    etag: Option<String>,
    location: Option<String>,
    shape: PhantomData<fn() -> T>,
}

/// A created record.
pub type Created<T> = Answer<T, 201>;

impl<T, const S: u16> Answer<T, S> {
    /// An answer with `data` (JSON text) and an empty `meta`.
    pub fn of(data: &str) -> Self {
        Self::with_meta(data, "{}")
    }

    /// An answer with `data` and `meta`, both JSON text.
    pub fn with_meta(data: &str, meta: &str) -> Self {
        Self::whole(envelope(data, meta))
    }

    /// An answer that is an envelope already.
    pub fn whole(body: String) -> Self {
        Self {
            location: location(S, &body),
            body: body.into(),
            status: S,
            etag: None,
            shape: PhantomData,
        }
    }

    /// The answer with another status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The answer with the version of the record that it shows.
    #[must_use]
    pub fn with_etag(self, etag: Option<String>) -> Self {
        Self { etag, ..self }
    }
}

/// `{"data": data, "meta": meta}` from JSON text.
pub fn envelope(data: &str, meta: &str) -> String {
    let mut body = String::with_capacity(data.len() + meta.len() + 20);
    body.push_str("{\"data\":");
    body.push_str(data);
    body.push_str(",\"meta\":");
    body.push_str(meta);
    body.push('}');
    body
}

/// Records that can be got by `id:`.
const LOCATED: [&str; 4] = ["delegate", "device", "event", "interaction"];

/// The address of the record in an envelope that tells of its creation.
fn location(status: u16, body: &str) -> Option<String> {
    let record = body
        .strip_prefix("{\"data\":{\"id\":")
        .filter(|_| status == 201)?;
    let (id, rest) = record.split_once(",\"_type\":\"")?;
    let id: i64 = id.parse().ok()?;
    let name = LOCATED.into_iter().find(|name| rest.starts_with(name))?;
    Some(format!("/api/v5/{name}/id:{id}"))
}

fn respond(status: u16, body: Body, location: Option<String>) -> Response {
    let mut response = Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::OK))
        .content_type("application/json")
        .body(body);
    if let Some(Ok(location)) = location.map(HeaderValue::try_from) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

impl<T: Send, const S: u16> IntoResponse for Answer<T, S> {
    fn into_response(self) -> Response {
        let mut response = respond(self.status, self.body, self.location);
        if let Some(Ok(etag)) = self.etag.map(HeaderValue::try_from) {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

impl<T: Described, const S: u16> ApiResponse for Answer<T, S> {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![response::<T>(S)],
        }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

fn response<T: Described>(status: u16) -> MetaResponse {
    MetaResponse {
        description: if status == 201 { "Created" } else { "Done" },
        status: Some(status),
        status_range: None,
        content: vec![json(enveloped::<T>())],
        headers: if status == 201 {
            vec![location_header()]
        } else {
            vec![]
        },
    }
}

fn location_header() -> MetaHeader {
    MetaHeader {
        name: "Location".to_owned(),
        description: Some("The address of the record.".to_owned()),
        required: false,
        deprecated: false,
        schema: inline(text("")),
    }
}

fn json(schema: MetaSchemaRef) -> MetaMediaType {
    MetaMediaType {
        content_type: "application/json",
        schema,
    }
}

/// The answer given before; `{}` once the record is deleted.
fn replay<T: Described>() -> MetaResponse {
    let gone = MetaSchema {
        max_properties: Some(0),
        ..plain("object", "It was deleted since.")
    };
    let data = MetaSchema {
        any_of: vec![T::reference(), inline(gone)],
        ..MetaSchema::ANY
    };
    MetaResponse {
        description: "Done before: what the same nonce created, with `meta.replayed`",
        content: vec![json(around(
            inline(data),
            T::meta(),
            T::schema().example,
            json!({"replayed": true}),
        ))],
        ..response::<T>(200)
    }
}

/// The schema of an envelope around a `T`, with the example that `T` has.
pub fn enveloped<T: Described>() -> MetaSchemaRef {
    let of_meta = serde_json::from_str(T::META).unwrap_or_default();
    around(T::reference(), T::meta(), T::schema().example, of_meta)
}

fn around(
    data: MetaSchemaRef,
    meta: MetaSchemaRef,
    of_data: Option<Value>,
    of_meta: Value,
) -> MetaSchemaRef {
    inline(MetaSchema {
        example: of_data.map(|data| json!({"data": data, "meta": of_meta})),
        ..object("", &["data", "meta"], vec![("data", data), ("meta", meta)])
    })
}

/// An answer that is an envelope already, with its status: of what `CREATES` a record (201; 200 with
/// `meta.replayed` for the same nonce), or only tries to (200), or of a refusal that was stored (412).
pub struct StoredAnswer<T, const CREATES: bool> {
    status: u16,
    body: String,
    shape: PhantomData<fn() -> T>,
}

/// A created record, the answer given before to the same nonce, or a refusal.
pub type CreatedOnce<T> = StoredAnswer<T, true>;
/// The answer that an operation would have given that was only tried.
pub type Tried<T> = StoredAnswer<T, false>;

impl<T, const CREATES: bool> StoredAnswer<T, CREATES> {
    pub fn new(status: u16, body: String) -> Self {
        Self {
            status,
            body,
            shape: PhantomData,
        }
    }
}

/// The `meta` of an answer that repeats an earlier one.
pub const REPLAYED: &str = "{\"replayed\":true}";

impl<T: Send, const CREATES: bool> IntoResponse for StoredAnswer<T, CREATES> {
    fn into_response(self) -> Response {
        let location = location(self.status, &self.body);
        respond(self.status, self.body.into(), location)
    }
}

impl<T: Described, const CREATES: bool> ApiResponse for StoredAnswer<T, CREATES> {
    fn meta() -> MetaResponses {
        let responses = if CREATES {
            vec![response::<T>(201), replay::<T>()]
        } else {
            vec![response::<T>(200)]
        };
        MetaResponses { responses }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// 204: done, nothing to show.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl ApiResponse for NoContent {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![MetaResponse {
                description: "Done, nothing to show",
                status: Some(204),
                status_range: None,
                content: vec![],
                headers: vec![],
            }],
        }
    }

    fn register(_: &mut Registry) {}
}
