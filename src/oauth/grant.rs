//! The three grants: from a request to tokens.

use super::{
    adapter::{Core, Trouble},
    issuer::owner_of,
    password::{self, SignedIn},
    refusal::{Cause, Refusal},
    request::{Grant, TokenRequest},
};
use crate::{
    auth::{throttle::Throttle, tokens::Issued},
    error::Result as Outcome,
    store::{Store, Tx},
};
use oxide_auth::code_grant::{
    client_credentials::{self, client_credentials},
    error::{AccessTokenError, AccessTokenErrorType},
    refresh::{self, refresh},
};
use std::{net::IpAddr, time::Instant};

/// Answers a request from `address`, unless too many failed before it.
///
/// # Errors
/// Every refusal there is.
pub async fn token(
    store: &Store,
    throttle: &Throttle,
    request: TokenRequest,
    address: IpAddr,
) -> Result<Issued, Refusal> {
    let account = format!("client {}", request.client.client_id);
    throttle.check(&account, address, Instant::now())?;
    let outcome = answer(store, throttle, request, address).await;
    match &outcome {
        Ok(_) => throttle.succeeded(&account, address),
        Err(refusal) if matches!(refusal.cause, Cause::InvalidClient { .. }) => {
            throttle.failed(&account, address, Instant::now());
        }
        Err(_) => {}
    }
    outcome
}

async fn answer(
    store: &Store,
    throttle: &Throttle,
    request: TokenRequest,
    address: IpAddr,
) -> Result<Issued, Refusal> {
    let user = match &request.grant {
        Grant::Password { username, password } => {
            let client = &request.client;
            Some(password::sign_in(store, throttle, client, username, password, address).await?)
        }
        Grant::ClientCredentials | Grant::RefreshToken { .. } => None,
    };
    store
        .write(move |tx| issue(tx, &request, user.as_ref()))
        .await?
}

/// Runs a grant in the writer's transaction. A refusal is not an error of the transaction: what a
/// refused request leaves behind, such as the cancelled family of a refresh token used twice, is
/// committed.
///
/// # Errors
/// What the store fails with; nothing is written then.
pub fn issue(
    tx: &Tx<'_>,
    request: &TokenRequest,
    user: Option<&SignedIn>,
) -> Outcome<Result<Issued, Refusal>> {
    let trouble = Trouble::default();
    let mut core = Core::new(tx, &trouble);
    let ended = match (&request.grant, user) {
        (Grant::ClientCredentials, _) => for_client(&mut core, request),
        (Grant::RefreshToken { .. }, _) => refreshed(&mut core, request),
        (Grant::Password { .. }, Some(user)) => password::for_user(tx, &mut core, request, user),
        (Grant::Password { .. }, None) => Err(Ended::Refused(password::refusal())),
    };
    match ended {
        Ok(()) => match core.tokens.into_issued() {
            Some(issued) => Ok(Ok(issued)),
            None => Err(trouble.take()),
        },
        Err(Ended::Refused(refusal)) => Ok(Err(refusal)),
        Err(Ended::Broken) => Err(trouble.take()),
    }
}

/// Why a grant ended without tokens.
pub enum Ended {
    /// The client is told no.
    Refused(Refusal),
    /// The store failed; [`Trouble`] has the error.
    Broken,
}

fn for_client(core: &mut Core<'_>, request: &TokenRequest) -> Result<(), Ended> {
    let basic = request.client.basic;
    let ended = |error| match error {
        // Of all that may end like this only a scope that the client lacks can.
        client_credentials::Error::Ignore => Ended::Refused(scope_lacking()),
        client_credentials::Error::Primitive(_) => Ended::Broken,
        mut error => refused(error.description().map(AccessTokenError::kind), basic),
    };
    let pending = client_credentials(core, request).map_err(ended)?;
    let owner = owner_of(None);
    pending.issue(core, owner, false).map(|_| ()).map_err(ended)
}

fn refreshed(core: &mut Core<'_>, request: &TokenRequest) -> Result<(), Ended> {
    refresh(core, request)
        .map(|_| ())
        .map_err(|error| match error {
            refresh::Error::Primitive => Ended::Broken,
            mut error => refused(
                error.description().map(AccessTokenError::kind),
                request.client.basic,
            ),
        })
}

/// The refusal of what oxide-auth refuses.
fn refused(kind: Option<AccessTokenErrorType>, basic: bool) -> Ended {
    let refusal = match kind {
        None => return Ended::Broken,
        Some(AccessTokenErrorType::InvalidRequest) => {
            Refusal::invalid_request("the request is malformed")
        }
        Some(AccessTokenErrorType::InvalidClient | AccessTokenErrorType::UnauthorizedClient) => {
            Refusal::invalid_client(basic)
        }
        Some(AccessTokenErrorType::InvalidGrant) => Refusal::new(
            Cause::InvalidGrant,
            "the refresh token is unknown, expired, cancelled, used before, or of another client",
        ),
        Some(AccessTokenErrorType::UnsupportedGrantType) => {
            Refusal::new(Cause::UnsupportedGrantType, "there is no such grant type")
        }
        Some(AccessTokenErrorType::InvalidScope) => scope_lacking(),
    };
    Ended::Refused(refusal)
}

/// The refusal of a scope that cannot be granted.
pub fn scope_lacking() -> Refusal {
    Refusal::new(
        Cause::InvalidScope,
        "scope names one that this client or this sign-in does not have",
    )
}
