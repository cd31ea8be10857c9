//! The token endpoint in the API's document.

use super::api::{SentRequest, TokenAnswer};
use crate::web::schema::{Described, example, inline, nullable, object, plain, text};
use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions,
    registry::{
        MetaHeader, MetaMediaType, MetaRequest, MetaResponse, MetaResponses, MetaSchema, Registry,
    },
};
use serde_json::json;

/// What is sent.
struct TokenRequest;

impl Described for TokenRequest {
    const NAME: &'static str = "TokenRequest";

    fn schema() -> MetaSchema {
        let grant_type = MetaSchema {
            enum_items: vec![
                json!("client_credentials"),
                json!("password"),
                json!("refresh_token"),
            ],
            ..text("")
        };
        let shape = object(
            "A token request (RFC 6749). Other parameters are passed over; one that is sent twice is refused.",
            &["grant_type"],
            vec![
                ("grant_type", inline(grant_type)),
                (
                    "client_id",
                    inline(text("The client's id, unless sent by HTTP Basic.")),
                ),
                (
                    "client_secret",
                    inline(text("The client's secret, unless sent by HTTP Basic.")),
                ),
                (
                    "username",
                    inline(text("The user's e-mail address; for `password`.")),
                ),
                (
                    "password",
                    inline(text(
                        "The user's password, or a one-time password of POST /otp/send; for `password`.",
                    )),
                ),
                (
                    "totp",
                    inline(text(
                        "For `password`, of a user who has an authenticator app: its current code, or a recovery code. A one-time password needs none.",
                    )),
                ),
                ("refresh_token", inline(text("For `refresh_token`."))),
                (
                    "scope",
                    inline(text(
                        "Names of scopes, separated by spaces. All that the client has are granted anyway; through a user's token `TRUSTED` stands for `REPORT_LIST`.",
                    )),
                ),
            ],
        );
        example(
            shape,
            json!({
                "grant_type": "client_credentials",
                "client_id": "gate-b-5f3a9c21",
                "client_secret": "9d0c…",
            }),
        )
    }
}

/// What is answered.
struct Token;

impl Described for Token {
    const NAME: &'static str = "Token";

    fn schema() -> MetaSchema {
        let lifetime = plain("integer", "Seconds until the access token ends.");
        let shape = object(
            "An access token, to be sent as `Authorization: Bearer …`.",
            &["access_token", "expires_in", "token_type", "scope"],
            vec![
                ("access_token", inline(text(""))),
                ("expires_in", inline(lifetime)),
                ("token_type", inline(text("Always `bearer`."))),
                (
                    "scope",
                    inline(nullable(text(
                        "The scopes that count with this token, separated by spaces; null without any.",
                    ))),
                ),
                (
                    "refresh_token",
                    inline(text("For `password` and `refresh_token` only.")),
                ),
            ],
        );
        example(
            shape,
            json!({
                "access_token": "2fd4e1c6…",
                "expires_in": 3600,
                "token_type": "bearer",
                "scope": null,
                "refresh_token": "7a2d28fc…",
            }),
        )
    }
}

/// What is answered when there is no token.
pub(super) struct TokenError;

impl Described for TokenError {
    const NAME: &'static str = "TokenError";

    fn schema() -> MetaSchema {
        let codes = MetaSchema {
            enum_items: vec![
                json!("invalid_request"),
                json!("invalid_client"),
                json!("invalid_grant"),
                json!("unsupported_grant_type"),
                json!("invalid_scope"),
                json!("temporarily_unavailable"),
                json!("server_error"),
            ],
            ..text("What went wrong, for programs.")
        };
        let shape = object(
            "A token request that was refused (RFC 6749 section 5.2).",
            &["error", "error_description"],
            vec![
                ("error", inline(codes)),
                (
                    "error_description",
                    inline(text("What went wrong, for people.")),
                ),
            ],
        );
        example(
            shape,
            json!({
                "error": "invalid_grant",
                "error_description": "the username or the password is wrong",
            }),
        )
    }
}

impl<'a> ApiExtractor<'a> for SentRequest {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        TokenRequest::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        // JSON is taken as well. Documented, it makes two generators of clients write broken code.
        Some(MetaRequest {
            description: Some("At most 64 KiB."),
            content: vec![media::<TokenRequest>("application/x-www-form-urlencoded")],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        Ok(Self::receive(request, body).await)
    }
}

impl ApiResponse for TokenAnswer {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![
                response::<Token>(200, "A token", &[]),
                response::<TokenError>(
                    400,
                    "`invalid_request`, `invalid_grant`, `unsupported_grant_type` or `invalid_scope`",
                    &[],
                ),
                response::<TokenError>(
                    401,
                    "`invalid_client`: the client is unknown or revoked, or its secret is wrong",
                    &[(
                        "WWW-Authenticate",
                        "string",
                        "`Basic`, when the client used it.",
                    )],
                ),
                response::<TokenError>(
                    429,
                    "`temporarily_unavailable`: too many attempts failed",
                    &[RETRY_AFTER],
                ),
                response::<TokenError>(
                    503,
                    "`temporarily_unavailable`: the store could not take it; nothing was issued",
                    &[RETRY_AFTER],
                ),
            ],
        }
    }

    fn register(registry: &mut Registry) {
        Token::register(registry);
        TokenError::register(registry);
    }
}

/// A header: name, type, meaning.
pub(super) type Header = (&'static str, &'static str, &'static str);

pub(super) const RETRY_AFTER: Header = (
    "Retry-After",
    "integer",
    "Seconds after which to try again.",
);

pub(super) fn response<T: Described>(
    status: u16,
    description: &'static str,
    headers: &[Header],
) -> MetaResponse {
    let header = |(name, ty, about): &Header| MetaHeader {
        name: (*name).to_owned(),
        description: Some((*about).to_owned()),
        required: false,
        deprecated: false,
        schema: inline(plain(ty, "")),
    };
    MetaResponse {
        description,
        status: Some(status),
        status_range: None,
        content: vec![media::<T>("application/json")],
        headers: headers.iter().map(header).collect(),
    }
}

pub(super) fn media<T: Described>(content_type: &'static str) -> MetaMediaType {
    MetaMediaType {
        content_type,
        schema: T::reference(),
    }
}
