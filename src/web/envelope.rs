//! The envelope of every API answer: `{"data": ..., "meta": ...}` (contract §2).

use super::schema::{Described, NoMeta, inline, object, text};
use crate::core::idempotency::Stored;
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
use serde::Serialize;
use serde_json::json;
use std::marker::PhantomData;

/// An enveloped answer with status `S`, whose `data` has the shape of `T`, and whose `meta` that of `M`.
pub struct Answer<T, const S: u16 = 200, M = NoMeta> {
    body: Body,
    status: u16,
    etag: Option<String>,
    location: Option<String>,
    shape: PhantomData<fn() -> (T, M)>,
}

/// A created record.
pub type Created<T> = Answer<T, 201>;

impl<T, const S: u16, M> Answer<T, S, M> {
    /// An answer with `data` (JSON text) and an empty `meta`.
    pub fn of(data: &str) -> Self {
        Self::with_meta(data, "{}")
    }

    /// An answer with `data` and an empty `meta`.
    pub fn json(data: &impl Serialize) -> Self {
        Self::of(&json!(data).to_string())
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

    /// The answer with another status. Only what creates a record tells where that is.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self {
            status,
            location: self.location.filter(|_| status == 201),
            ..self
        }
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

/// The answer that tells of a created record, as it is stored under an idempotency key.
pub fn stored_creation(data: &str) -> Stored {
    Stored {
        status: 201,
        body: envelope(data, "{}"),
        done: 1,
    }
}

/// Records that can be got by `id:`.
const LOCATED: [&str; 5] = ["delegate", "device", "event", "interaction", "webhook"];

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

/// The `Content-Disposition` of a file to keep.
pub fn attachment(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let plain: String = name
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect();
    format!("attachment; filename=\"{plain}\"")
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

impl<T: Send, const S: u16, M: Send> IntoResponse for Answer<T, S, M> {
    fn into_response(self) -> Response {
        let mut response = respond(self.status, self.body, self.location);
        if let Some(Ok(etag)) = self.etag.map(HeaderValue::try_from) {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

impl<T: Described, const S: u16, M: Described> ApiResponse for Answer<T, S, M> {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![response::<T, M>(S)],
        }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
        M::register(registry);
    }
}

fn response<T: Described, M: Described>(status: u16) -> MetaResponse {
    MetaResponse {
        description: if status == 201 { "Created" } else { "Done" },
        status: Some(status),
        status_range: None,
        content: vec![json(enveloped::<T, M>())],
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

/// The schema of an envelope around a `T` and an `M`, with the examples that they have.
pub fn enveloped<T: Described, M: Described>() -> MetaSchemaRef {
    let example_of_meta = M::example().unwrap_or_else(|| json!({}));
    let mut meta = M::reference();
    if let MetaSchemaRef::Inline(meta) = &mut meta {
        meta.example = None;
    }
    inline(MetaSchema {
        example: T::example().map(|data| json!({"data": data, "meta": example_of_meta})),
        ..object(vec![("data", T::reference()), ("meta", meta)])
    })
}

/// An answer that is an envelope already, with its status: of what `CREATES` a record (201; 200 with
/// `meta.replayed` for the same nonce), or only tries to (200), or of a refusal that was stored (412).
pub struct StoredAnswer<T, const CREATES: bool, M> {
    status: u16,
    body: String,
    shape: PhantomData<fn() -> (T, M)>,
}

/// A created record, the answer given before to the same nonce, or a refusal.
pub type CreatedOnce<T, M> = StoredAnswer<T, true, M>;
/// The answer that an operation would have given that was only tried.
pub type Tried<T, M> = StoredAnswer<T, false, M>;

impl<T, const CREATES: bool, M> StoredAnswer<T, CREATES, M> {
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

impl<T: Send, const CREATES: bool, M: Send> IntoResponse for StoredAnswer<T, CREATES, M> {
    fn into_response(self) -> Response {
        let location = location(self.status, &self.body);
        respond(self.status, self.body.into(), location)
    }
}

impl<T: Described, const CREATES: bool, M: Described> ApiResponse for StoredAnswer<T, CREATES, M> {
    fn meta() -> MetaResponses {
        let responses = if CREATES {
            let mut replay = MetaResponse {
                description: "Done before: what the same nonce created, with `meta.replayed`; `{}` once it is deleted",
                ..response::<T, M>(200)
            };
            for content in &mut replay.content {
                if let MetaSchemaRef::Inline(schema) = &mut content.schema
                    && let Some(example) = &mut schema.example
                {
                    example["meta"] = json!({"replayed": true});
                }
            }
            vec![response::<T, M>(201), replay]
        } else {
            vec![response::<T, M>(200)]
        };
        MetaResponses { responses }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
        M::register(registry);
    }
}

/// A record that was created (201) or changed (200).
pub struct Put<T>(pub Created<T>);

impl<T: Send> IntoResponse for Put<T> {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl<T: Described> ApiResponse for Put<T> {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: [200, 201].map(response::<T, NoMeta>).into(),
        }
    }

    fn register(registry: &mut Registry) {
        Created::<T>::register(registry);
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
