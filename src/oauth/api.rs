//! `POST /oauth/v2/token` in HTTP. Whatever is wrong with a request, the answer has RFC 6749's form
//! and not the envelope's.

use super::{
    grant,
    parameters::{BODY_MAX_BYTES, Parameters},
    refusal::{Cause, Refusal},
    request::TokenRequest,
};
use crate::{
    app::App,
    auth::tokens::{ACCESS_S, Issued},
    error::{Error, Kind},
    web::{RequestId, body::read_limited, tags::Tag},
};
use poem::{
    IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
    web::headers::{Authorization, HeaderMapExt, authorization::Basic},
};
use poem_openapi::OpenApi;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The token endpoint.
pub struct OAuthApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "Tag::Authentication")]
impl OAuthApi {
    /// Get an access token
    ///
    /// `client_credentials` for what an app does on its own behalf, `password` to sign a user in,
    /// `refresh_token` to get another access token for that user. An access token lasts an hour.
    ///
    /// A refresh token lasts 30 days and is good for one use: the answer to it has the next one. One
    /// that is used a second time has been copied, so that every token that descends from the same
    /// sign-in is cancelled.
    ///
    /// Client credentials are sent in the body or by HTTP Basic, not both. A client's scopes are
    /// granted whether or not `scope` names them; a user's token has the user's roles and the client's
    /// scopes, but never `TRUSTED`. The answer's `scope` names those that count.
    /// Ten wrong secrets or passwords of one account, or a hundred from one address, close it for
    /// the rest of the minute.
    ///
    /// Answers and errors have the form of RFC 6749, without `data` and `meta`.
    #[oai(path = "/oauth/v2/token", method = "post", operation_id = "token")]
    async fn token(&self, sent: SentRequest, request_id: RequestId) -> TokenAnswer {
        let address = sent.address;
        let outcome = match sent.read() {
            Ok(request) => {
                grant::token(&self.app.store, &self.app.throttle, request, address).await
            }
            Err(refusal) => Err(refusal),
        };
        TokenAnswer {
            outcome,
            request_id,
        }
    }
}

/// A request as it was sent; that it cannot be read is told in the answer's own form.
pub struct SentRequest {
    address: IpAddr,
    content_type: Option<String>,
    basic: Option<Result<Authorization<Basic>, Refusal>>,
    body: Result<Vec<u8>, Refusal>,
}

impl SentRequest {
    pub(super) async fn receive(request: &Request, body: &mut RequestBody) -> Self {
        let remote = request.remote_addr().as_socket_addr();
        Self {
            // A socket of the machine itself has no address.
            address: remote.map_or(Ipv4Addr::LOCALHOST.into(), SocketAddr::ip),
            content_type: request.content_type().map(ToOwned::to_owned),
            basic: says_basic(request).then(|| {
                let basic = request.headers().typed_get();
                basic.ok_or_else(|| Refusal::invalid_client(true))
            }),
            body: read_limited(request, body, BODY_MAX_BYTES)
                .await
                .map_err(unreadable),
        }
    }

    fn read(self) -> Result<TokenRequest, Refusal> {
        let basic = self.basic.transpose()?;
        let halves = basic
            .as_ref()
            .map(|basic| (basic.username(), basic.password()));
        let parameters = Parameters::read(self.content_type.as_deref(), &self.body?)?;
        TokenRequest::read(parameters, halves)
    }
}

/// Whether the client signs in by header. Any other scheme is passed over: many apps send their old
/// token with every request, this one included.
fn says_basic(request: &Request) -> bool {
    request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().get(..5))
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"Basic"))
}

fn unreadable(error: Error) -> Refusal {
    match error.kind {
        Kind::TooLarge => Refusal::invalid_request("the body may have at most 65536 bytes"),
        Kind::Invalid => Refusal::invalid_request("the body breaks off"),
        _ => error.into(),
    }
}

/// Tokens, or a refusal.
pub struct TokenAnswer {
    outcome: Result<Issued, Refusal>,
    request_id: RequestId,
}

impl IntoResponse for TokenAnswer {
    fn into_response(self) -> Response {
        match self.outcome {
            Ok(issued) => respond(200, &granted(&issued)),
            Err(refusal) => refused(&refusal, &self.request_id),
        }
    }
}

fn granted(issued: &Issued) -> serde_json::Value {
    let scopes: Vec<_> = issued.scopes.iter().map(|scope| scope.name()).collect();
    let mut answer = json!({
        "access_token": issued.access,
        "expires_in": ACCESS_S,
        "token_type": "bearer",
        "scope": (!scopes.is_empty()).then(|| scopes.join(" ")),
    });
    if let Some(refresh) = &issued.refresh {
        answer["refresh_token"] = json!(refresh);
    }
    answer
}

fn refused(refusal: &Refusal, request_id: &RequestId) -> Response {
    let description = if refusal.cause == Cause::Defect {
        tracing::error!(%request_id, "defect: {}", refusal.description);
        format!("internal error; the server's log has the details under request {request_id}")
    } else {
        refusal.description.to_string()
    };
    let body = json!({"error": refusal.code(), "error_description": description});
    let mut response = respond(refusal.status(), &body);
    let headers = response.headers_mut();
    if refusal.cause == (Cause::InvalidClient { basic: true }) {
        let challenge = header::HeaderValue::from_static("Basic realm=\"gatepost\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Some(retry_after_s) = refusal.retry_after_s() {
        headers.insert(header::RETRY_AFTER, retry_after_s.into());
    }
    response
}

fn respond(status: u16, body: &serde_json::Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .content_type("application/json")
        // RFC 6749 section 5.1.
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::PRAGMA, "no-cache")
        .body(body.to_string())
}
