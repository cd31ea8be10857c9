//! `POST /oauth/v2/revoke` (RFC 7009): a client gives a token back, such as when its user signs out.

use super::{
    api::{SentRequest, refused, respond},
    document::{RETRY_AFTER, TokenError, media, response},
    grant,
    refusal::{Cause, Refusal},
    request::ClientCredentials,
};
use crate::{
    identity::{App, tokens},
    web::{
        RequestId,
        schema::{Described, example, inline, object, text},
    },
};
use poem::{IntoResponse, Request, RequestBody, Response};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions,
    registry::{MetaRequest, MetaResponse, MetaResponses, MetaSchema, Registry},
};
use serde_json::json;

/// A request to revoke a token, as it was sent.
pub struct SentRevocation(SentRequest);

impl SentRevocation {
    /// Revokes the token.
    ///
    /// # Errors
    /// `invalid_request`, `invalid_client`; `invalid_grant` for a token of another client; too many
    /// attempts.
    pub async fn revoke(self, app: &App) -> Result<(), Refusal> {
        let (mut parameters, basic, address) = self.0.open()?;
        let halves = basic
            .as_ref()
            .map(|basic| (basic.username(), basic.password()));
        let client = ClientCredentials::read(&mut parameters, halves)?;
        let client = grant::authenticate(&app.store, &app.throttle, &client, address)?;
        let token = parameters.require("token")?;
        let own = app
            .store
            .write(move |tx| tokens::revoke(tx, client.id, &token))
            .await?;
        if own {
            return Ok(());
        }
        Err(Refusal::new(
            Cause::InvalidGrant,
            "the token was issued to another client",
        ))
    }
}

/// What is sent.
struct RevocationRequest;

impl Described for RevocationRequest {
    const NAME: &'static str = "RevocationRequest";

    fn schema() -> MetaSchema {
        let shape = object(
            "A revocation request (RFC 7009). Other parameters are ignored.",
            &["token"],
            vec![
                ("token", inline(text("An access token or a refresh token."))),
                (
                    "token_type_hint",
                    inline(text("Ignored: the token is found without it.")),
                ),
                (
                    "client_id",
                    inline(text("The client's id, unless sent by HTTP Basic.")),
                ),
                (
                    "client_secret",
                    inline(text("The client's secret, unless sent by HTTP Basic.")),
                ),
            ],
        );
        example(
            shape,
            json!({
                "token": "7a2d28fc…",
                "client_id": "gate-b-5f3a9c21",
                "client_secret": "9d0c…",
            }),
        )
    }
}

impl<'a> ApiExtractor<'a> for SentRevocation {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        RevocationRequest::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: Some("At most 64 KiB, form-encoded."),
            content: vec![media::<RevocationRequest>(
                "application/x-www-form-urlencoded",
            )],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        Ok(Self(SentRequest::receive(request, body).await))
    }
}

/// Done, or a refusal.
pub struct RevocationAnswer {
    /// What came of it.
    pub outcome: Result<(), Refusal>,
    /// The request's id, for a defect.
    pub request_id: RequestId,
}

impl IntoResponse for RevocationAnswer {
    fn into_response(self) -> Response {
        match self.outcome {
            Ok(()) => respond(200, &json!({})),
            Err(refusal) => refused(&refusal, &self.request_id),
        }
    }
}

impl ApiResponse for RevocationAnswer {
    fn meta() -> MetaResponses {
        let done = MetaResponse {
            description: "The token is worth nothing any more, or never was",
            status: Some(200),
            status_range: None,
            content: Vec::new(),
            headers: Vec::new(),
        };
        MetaResponses {
            responses: vec![
                done,
                response::<TokenError>(
                    400,
                    "`invalid_request`, or `invalid_grant` for a token of another client",
                    &[],
                ),
                response::<TokenError>(
                    401,
                    "`invalid_client`: the client is unknown or revoked, or its secret is wrong",
                    &[],
                ),
                response::<TokenError>(
                    429,
                    "`temporarily_unavailable`: too many attempts failed",
                    &[RETRY_AFTER],
                ),
                response::<TokenError>(
                    503,
                    "`temporarily_unavailable`: the store could not take it; nothing was revoked",
                    &[RETRY_AFTER],
                ),
            ],
        }
    }

    fn register(registry: &mut Registry) {
        TokenError::register(registry);
    }
}
