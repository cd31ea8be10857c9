//! `POST /oauth/v2/token` and `/oauth/v2/revoke` (RFC 7009). Their answers and errors have RFC 6749's form, not the
//! envelope's.

use super::{
    grant,
    refusal::{Cause, Refusal},
    request::{ClientCredentials, Parameters, TokenRequest},
};
use crate::{
    identity::{
        App,
        tokens::{self, ACCESS_S, Issued},
    },
    types::error::{Error, Kind},
    web::{
        ClientAddress, RequestId, Tag,
        body::{ANONYMOUS_MAX_BYTES, read_limited},
        schema::{Described, inline, plain, response as json_response},
    },
};
use poem::{
    IntoResponse, Request, RequestBody, Response,
    http::{StatusCode, header},
    web::headers::{Authorization, HeaderMapExt, authorization::Basic},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions, OpenApi,
    registry::{MetaHeader, MetaMediaType, MetaRequest, MetaResponse, MetaResponses, Registry},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::{marker::PhantomData, net::IpAddr};

pub struct OAuthApi {
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
    async fn token(&self, sent: Form<TokenInput>, request_id: RequestId) -> OAuthAnswer<true> {
        OAuthAnswer {
            outcome: self.issued(sent).await,
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
    async fn revoke(
        &self,
        sent: Form<RevocationInput>,
        request_id: RequestId,
    ) -> OAuthAnswer<false> {
        OAuthAnswer {
            outcome: self.revoked(sent).await,
            request_id,
        }
    }
}

impl OAuthApi {
    async fn issued(&self, sent: Form<TokenInput>) -> Result<Value, Refusal> {
        let (parameters, basic, address) = sent.open()?;
        let request = TokenRequest::read(parameters, halves(basic.as_ref()))?;
        let issued = grant::token(&self.app.store, &self.app.throttle, request, address).await?;
        Ok(granted(&issued))
    }

    async fn revoked(&self, sent: Form<RevocationInput>) -> Result<Value, Refusal> {
        let (store, throttle) = (&self.app.store, &self.app.throttle);
        let (mut parameters, basic, address) = sent.open()?;
        let client = ClientCredentials::read(&mut parameters, halves(basic.as_ref()))?;
        let client = grant::authenticate(store, throttle, &client, address)?;
        let token = parameters.require("token")?;
        if store
            .write(move |tx| tokens::revoke(tx, client.id, &token))
            .await?
        {
            return Ok(json!({}));
        }
        let description = "the token was issued to another client";
        Err(Refusal::new(Cause::InvalidGrant, description))
    }
}

fn halves(basic: Option<&Authorization<Basic>>) -> Option<(&str, &str)> {
    basic.map(|basic| (basic.username(), basic.password()))
}

fn granted(issued: &Issued) -> Value {
    let scopes: Vec<_> = issued.scopes.iter().map(|scope| scope.name()).collect();
    json!(Token {
        access_token: &issued.access,
        expires_in: ACCESS_S,
        token_type: "bearer",
        scope: (!scopes.is_empty()).then(|| scopes.join(" ")),
        refresh_token: issued.refresh.as_deref(),
    })
}

/// A request as it was sent, described by `T`. The answer tells in its own form that it cannot be read.
pub struct Form<T> {
    address: IpAddr,
    content_type: Option<String>,
    basic: Option<Result<Authorization<Basic>, Refusal>>,
    body: Result<Vec<u8>, Refusal>,
    described: PhantomData<fn() -> T>,
}

impl<T> Form<T> {
    /// The parameters, the credentials of the header, and the sender's address.
    fn open(self) -> Result<(Parameters, Option<Authorization<Basic>>, IpAddr), Refusal> {
        let basic = self.basic.transpose()?;
        let parameters = Parameters::read(self.content_type.as_deref(), &self.body?)?;
        Ok((parameters, basic, self.address))
    }
}

/// Tells whether the client signs in by header. Any other scheme is passed over: many apps send their old
/// token with every request, this one included.
fn has_basic(request: &Request) -> bool {
    request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().get(..5))
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"Basic"))
}

fn unreadable(error: Error) -> Refusal {
    match error.kind {
        Kind::TooLarge | Kind::NotJson => Refusal::invalid_request(error.to_string()),
        Kind::Invalid => Refusal::invalid_request("the body breaks off"),
        _ => error.into(),
    }
}

impl<'a, T: Described> ApiExtractor<'a> for Form<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        // JSON is taken as well. Documented, it makes two generators of clients write broken code.
        Some(MetaRequest {
            description: Some("At most 4 KiB and 32 parameters."),
            content: vec![MetaMediaType {
                content_type: "application/x-www-form-urlencoded",
                schema: T::reference(),
            }],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        let body = read_limited(request, body, ANONYMOUS_MAX_BYTES).await;
        Ok(Self {
            address: ClientAddress::of(request),
            content_type: request.content_type().map(ToOwned::to_owned),
            basic: has_basic(request).then(|| {
                let basic = request.headers().typed_get();
                basic.ok_or_else(|| Refusal::invalid_client(true))
            }),
            body: body.map_err(unreadable),
            described: PhantomData,
        })
    }
}

/// A token, or an empty answer, or a refusal.
pub struct OAuthAnswer<const TOKEN: bool> {
    outcome: Result<Value, Refusal>,
    request_id: RequestId,
}

impl<const TOKEN: bool> IntoResponse for OAuthAnswer<TOKEN> {
    fn into_response(self) -> Response {
        match self.outcome {
            Ok(body) => respond(200, &body),
            Err(refusal) => refused(&refusal, &self.request_id),
        }
    }
}

fn refused(refusal: &Refusal, request_id: &RequestId) -> Response {
    let description = if refusal.cause == Cause::Defect {
        tracing::error!(%request_id, "defect: {}", refusal.description);
        format!("internal error; the server's log has the details under request {request_id}")
    } else {
        refusal.description.to_string()
    };
    let is_revoked = matches!(refusal.cause, Cause::RevokedClient { .. });
    let body = json!(TokenError {
        error: refusal.code(),
        error_description: description,
        internal_code: is_revoked.then(|| Kind::ClientRevoked.code()),
    });
    let mut response = respond(refusal.status(), &body);
    let headers = response.headers_mut();
    let challenged = matches!(
        refusal.cause,
        Cause::InvalidClient { basic: true } | Cause::RevokedClient { basic: true }
    );
    if challenged {
        let challenge = header::HeaderValue::from_static("Basic realm=\"gatepost\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Some(retry_after_s) = refusal.retry_after_s() {
        headers.insert(header::RETRY_AFTER, retry_after_s.into());
    }
    response
}

fn respond(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .content_type("application/json")
        // RFC 6749 section 5.1.
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::PRAGMA, "no-cache")
        .body(body.to_string())
}

/// A header: name, type, meaning.
type Header = (&'static str, &'static str, &'static str);

const CHALLENGE: Header = ("WWW-Authenticate", "string", "`Basic`, if it was used.");
const RETRY_AFTER: Header = ("Retry-After", "integer", "Seconds until the next try.");

fn refusal(status: u16, description: &'static str, header: Option<Header>) -> MetaResponse {
    let header = header.map(|(name, ty, about)| MetaHeader {
        name: name.to_owned(),
        description: Some(about.to_owned()),
        required: false,
        deprecated: false,
        schema: inline(plain(ty, "")),
    });
    MetaResponse {
        headers: header.into_iter().collect(),
        ..json_response(status, description, JSON, TokenError::reference())
    }
}

impl<const TOKEN: bool> ApiResponse for OAuthAnswer<TOKEN> {
    fn meta() -> MetaResponses {
        let mut done = json_response(200, "A token", JSON, Token::reference());
        if !TOKEN {
            done.description = "The token is worth nothing any more, or never was";
            done.content.clear();
        }
        let invalid =
            "`invalid_request`, `invalid_grant`, `unsupported_grant_type` or `invalid_scope`";
        let client = "`invalid_client`: the client is unknown or revoked, or its secret is wrong";
        let too_many = "`temporarily_unavailable`: too many attempts failed";
        let unavailable =
            "`temporarily_unavailable`: the store is unavailable; nothing was written";
        MetaResponses {
            responses: vec![
                done,
                refusal(400, invalid, None),
                refusal(401, client, TOKEN.then_some(CHALLENGE)),
                refusal(429, too_many, Some(RETRY_AFTER)),
                refusal(503, unavailable, Some(RETRY_AFTER)),
            ],
        }
    }

    fn register(registry: &mut Registry) {
        if TOKEN {
            Token::register(registry);
        }
        TokenError::register(registry);
    }
}

const JSON: &str = "application/json";

/// A token request (RFC 6749). Other parameters are ignored; one that is sent twice is refused.
#[derive(JsonSchema)]
#[schemars(rename = "TokenRequest", example = json!({
    "grant_type": "client_credentials", "client_id": "gate-b-5f3a9c21", "client_secret": "9d0c…",
}))]
pub struct TokenInput {
    #[schemars(extend("enum" = ["client_credentials", "password", "refresh_token"]))]
    pub grant_type: String,
    /// The client's id, unless sent by HTTP Basic.
    pub client_id: Option<String>,
    /// The client's secret, unless sent by HTTP Basic.
    pub client_secret: Option<String>,
    /// The user's e-mail address; for `password`.
    pub username: Option<String>,
    /// The user's password, or a one-time password of POST /otp/send; for `password`.
    pub password: Option<String>,
    /// For `password`, of a user who has an authenticator app: its current code, or a recovery code. A one-time password
    /// needs none.
    pub totp: Option<String>,
    /// For `refresh_token`.
    pub refresh_token: Option<String>,
    /// Names of scopes, separated by spaces. All that the client has are granted anyway; through a user's token
    /// `TRUSTED` stands for `REPORT_LIST`.
    pub scope: Option<String>,
}

/// A revocation request (RFC 7009). Other parameters are ignored.
#[derive(JsonSchema)]
#[schemars(rename = "RevocationRequest", example = json!({
    "token": "7a2d28fc…", "client_id": "gate-b-5f3a9c21", "client_secret": "9d0c…",
}))]
pub struct RevocationInput {
    /// An access token or a refresh token.
    pub token: String,
    /// Ignored: the token is found without it.
    pub token_type_hint: Option<String>,
    /// The client's id, unless sent by HTTP Basic.
    pub client_id: Option<String>,
    /// The client's secret, unless sent by HTTP Basic.
    pub client_secret: Option<String>,
}

/// An access token, to be sent as `Authorization: Bearer …`.
#[derive(Serialize, JsonSchema)]
#[schemars(example = json!({
    "access_token": "2fd4e1c6…", "expires_in": 3600, "token_type": "bearer", "scope": null, "refresh_token": "7a2d28fc…",
}))]
struct Token<'a> {
    access_token: &'a str,
    /// Seconds until the access token ends.
    #[schemars(extend("format" = null))]
    expires_in: i64,
    /// Always `bearer`.
    token_type: &'static str,
    /// The scopes that count with this token, separated by spaces; null without any.
    #[schemars(required, extend("nullable" = true))]
    scope: Option<String>,
    /// For `password` and `refresh_token` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
}

/// A token request that was refused (RFC 6749 section 5.2).
#[derive(Serialize, JsonSchema)]
#[schemars(example = json!({
    "error": "invalid_grant", "error_description": "the username or the password is wrong",
}))]
struct TokenError {
    /// The fault, for programs.
    #[schemars(extend("enum" = [
        "invalid_request", "invalid_client", "invalid_grant", "unsupported_grant_type", "invalid_scope",
        "temporarily_unavailable", "server_error",
    ]))]
    error: &'static str,
    /// The fault, for people.
    error_description: String,
    /// 1204: the client was revoked, and its secret is right.
    #[serde(rename = "internalCode", skip_serializing_if = "Option::is_none")]
    internal_code: Option<i64>,
}
