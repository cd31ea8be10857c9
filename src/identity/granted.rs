//! The caller of an operation, with what the operation requires in its type:
//! `caller: Granted<ReadDelegates>` lets nobody in without a valid token and that role.

use super::{App, Principal, Requirement, Scope, clients};
use crate::{
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        text,
    },
    web::{ClientAddress, Failure, RequestTrace},
};
use poem::{
    FromRequest, Request, RequestBody,
    http::header,
    web::headers::{Authorization, HeaderMapExt, authorization::Basic},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaOAuthFlow, MetaOAuthFlows, MetaOAuthScope, MetaSecurityScheme, Registry},
};
use std::{marker::PhantomData, net::IpAddr, ops::Deref, sync::Arc};

/// The name of the security scheme in the OpenAPI document.
pub const SCHEME: &str = "OAuth2";
/// The name of HTTP Basic there.
const BASIC: &str = "Basic";
/// The path of the token endpoint, from the server's address on.
const TOKEN_URL: &str = "/api/oauth/v2/token";

/// A caller who has what `R` requires.
pub struct Granted<R> {
    principal: Arc<Principal>,
    requirement: PhantomData<fn() -> R>,
}

impl<R> Granted<R> {
    /// The caller, for what runs elsewhere.
    pub fn principal(&self) -> Arc<Principal> {
        Arc::clone(&self.principal)
    }
}

impl<R> Deref for Granted<R> {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.principal
    }
}

fn bearer(request: &Request) -> Option<&str> {
    let value = request
        .headers()
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// The token itself, for what outlasts the request's first check.
pub struct BearerToken(String);

impl BearerToken {
    /// Returns the holder of the token by now, if that grants `R`.
    pub fn granted<R: Requirement>(&self, app: &App) -> Result<Arc<Principal>> {
        let principal = app.tokens.principal(&app.store, &self.0)?;
        principal.require::<R>()?;
        Ok(principal)
    }
}

impl<'a> FromRequest<'a> for BearerToken {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(bearer(request).unwrap_or_default().to_owned()))
    }
}

/// Describes the OAuth flow by which a client or a user gets a token, with the scopes that are granted so.
fn flow(granted: impl Fn(&Scope) -> bool) -> MetaOAuthFlow {
    let scope = |scope: &Scope| MetaOAuthScope {
        name: scope.name(),
        description: Some(scope.meaning()),
    };
    MetaOAuthFlow {
        authorization_url: None,
        token_url: Some(TOKEN_URL),
        refresh_url: Some(TOKEN_URL),
        scopes: Scope::ALL
            .iter()
            .filter(|scope| granted(scope))
            .map(scope)
            .collect(),
    }
}

fn missing<R: Requirement>(request: &Request) -> Error {
    let sent = request.header(header::AUTHORIZATION).unwrap_or_default();
    if let Some((scheme, _)) = sent.split_once(' ')
        && !scheme.eq_ignore_ascii_case("bearer")
    {
        let message = format!(
            "the access token goes as `Authorization: Bearer <access token>`, not as {}",
            text::shortened(scheme)
        );
        return Error::new(Kind::TokenMissing, message);
    }
    let or = if R::BASIC {
        ", or a client's id and secret by HTTP Basic"
    } else {
        ""
    };
    let message = format!("this needs a token: Authorization: Bearer <access token>{or}");
    Error::new(Kind::TokenMissing, message)
}

/// The client of an id and a secret.
fn by_secret(app: &App, sent: &Authorization<Basic>, address: IpAddr) -> Result<Principal> {
    let (name, secret) = (sent.username(), sent.password().as_bytes());
    let client = clients::by_secret(&app.store, &app.throttle, name, secret, address)?;
    let client = client
        .ok_or_else(|| Error::new(Kind::Unauthenticated, "the client's id or secret is wrong"))?;
    Ok(Principal {
        client: client.id,
        client_name: client.client_id,
        device: client.device,
        user: None,
        delegate: None,
        roles: client.roles,
        scopes: client.scopes,
        visible_properties: client.visible_properties.map(Into::into),
        expires_at: Timestamp(i64::MAX),
    })
}

impl<'a, R: Requirement> ApiExtractor<'a> for Granted<R> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        if R::BASIC {
            registry.create_security_scheme(
                BASIC,
                MetaSecurityScheme {
                    ty: "http",
                    description: Some(
                        "A client's id and secret, for readers that cannot renew tokens.",
                    ),
                    name: None,
                    key_in: None,
                    scheme: Some("basic"),
                    bearer_format: None,
                    flows: None,
                    openid_connect_url: None,
                },
            );
        }
        registry.create_security_scheme(
            SCHEME,
            MetaSecurityScheme {
                ty: "oauth2",
                description: Some(
                    "An access token of POST /oauth/v2/token, as `Authorization: Bearer …`.",
                ),
                name: None,
                key_in: None,
                scheme: None,
                bearer_format: None,
                flows: Some(MetaOAuthFlows {
                    implicit: None,
                    password: Some(flow(|scope| *scope != Scope::Trusted)),
                    client_credentials: Some(flow(|_| true)),
                    authorization_code: None,
                }),
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        if R::BASIC {
            vec![SCHEME, BASIC]
        } else {
            vec![SCHEME]
        }
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        let app = request
            .data::<App>()
            .ok_or_else(|| Failure(Error::defect("no application in the request")))?;
        let basic = R::BASIC.then(|| request.headers().typed_get());
        let principal = if let Some(basic) = basic.flatten() {
            Arc::new(by_secret(app, &basic, ClientAddress::of(request)).map_err(Failure)?)
        } else {
            let token = bearer(request).ok_or_else(|| Failure(missing::<R>(request)))?;
            app.tokens.principal(&app.store, token).map_err(Failure)?
        };
        if let Some(trace) = RequestTrace::of(request) {
            trace.made_by(&principal.client_name);
        }
        if let Some(device) = principal.device {
            app.last_seen.mark(device, Timestamp::now());
        }
        principal.require::<R>().map_err(Failure)?;
        Ok(Self {
            principal,
            requirement: PhantomData,
        })
    }
}
