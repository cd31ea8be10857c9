//! `POST /oauth/v2/token` in HTTP. Whatever is wrong with a request, the answer has RFC 6749's form
//! and not the envelope's.

use super::{
    grant,
    parameters::{BODY_MAX_BYTES, Parameters},
    refusal::{Cause, Refusal},
    request::TokenRequest,
    revocation::{RevocationAnswer, SentRevocation},
};
use crate::{
    identity::{
        App,
        tokens::{ACCESS_S, Issued},
    },
    types::error::{Error, Kind},
    web::{ClientAddress, RequestId, Tag, body::read_limited},
};
use poem::{
    IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
    web::headers::{Authorization, HeaderMapExt, authorization::Basic},
};
use poem_openapi::OpenApi;
use serde_json::json;
use std::net::IpAddr;

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
    /// A refresh token lasts 30 days and is good for one use: the answer to it has the next one. If
    /// that answer is lost on the way, send the same one again within 30 seconds. One that is used
    /// again later, or after its successor was, has been copied, so that every token that descends
    /// from the same sign-in is cancelled.
    ///
    /// Client credentials are sent in the body or by HTTP Basic, not both. A client's scopes are
    /// granted whether or not `scope` names them; a user's token has the user's roles and the client's
    /// scopes, with `REPORT_LIST` in place of `TRUSTED`. The answer's `scope` names those that count.
    ///
    /// A correct client secret is never refused. After a hundred wrong ones from one address in a
    /// minute the next wrong ones get 429. Ten wrong passwords or codes of one user from one address,
    /// or a hundred of unknown users, are looked at no more for the rest of the minute.
    ///
    /// Answers and errors have the form of RFC 6749, without `data` and `meta`.
    #[oai(path = "/oauth/v2/token", method = "post", operation_id = "token")]
    async fn token(&self, sent: SentRequest, request_id: RequestId) -> TokenAnswer {
        let outcome = match sent.read() {
            Ok((request, address)) => {
                grant::token(&self.app.store, &self.app.throttle, request, address).await
            }
            Err(refusal) => Err(refusal),
        };
        TokenAnswer {
            outcome,
            request_id,
        }
    }

    /// Revoke a token
    ///
    /// An access token ends alone; a refresh token ends with every token that descends from the same
    /// sign-in. A token that is unknown or ended already is answered the same (RFC 7009). Client
    /// credentials are sent as for a token.
    #[oai(
        path = "/oauth/v2/revoke",
        method = "post",
        operation_id = "revokeToken"
    )]
    async fn revoke(&self, sent: SentRevocation, request_id: RequestId) -> RevocationAnswer {
        RevocationAnswer {
            outcome: sent.revoke(&self.app).await,
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
        Self {
            address: ClientAddress::of(request),
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

    /// The parameters, the credentials of the header, and the sender's address.
    ///
    /// # Errors
    /// `invalid_request` or `invalid_client` for what cannot be read.
    pub(super) fn open(
        self,
    ) -> Result<(Parameters, Option<Authorization<Basic>>, IpAddr), Refusal> {
        let basic = self.basic.transpose()?;
        let parameters = Parameters::read(self.content_type.as_deref(), &self.body?)?;
        Ok((parameters, basic, self.address))
    }

    fn read(self) -> Result<(TokenRequest, IpAddr), Refusal> {
        let (parameters, basic, address) = self.open()?;
        let halves = basic
            .as_ref()
            .map(|basic| (basic.username(), basic.password()));
        Ok((TokenRequest::read(parameters, halves)?, address))
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
        Kind::NotJson => {
            Refusal::invalid_request("the body is compressed (Content-Encoding); send it as it is")
        }
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

pub(super) fn refused(refusal: &Refusal, request_id: &RequestId) -> Response {
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

pub(super) fn respond(status: u16, body: &serde_json::Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .content_type("application/json")
        // RFC 6749 section 5.1.
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::PRAGMA, "no-cache")
        .body(body.to_string())
}
