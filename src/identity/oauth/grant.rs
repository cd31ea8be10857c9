//! The three grants: from a request to tokens; and whose request it is.

use super::{
    adapter::{Core, Trouble},
    issuer::owner_of,
    password::{self, SignedIn},
    refusal::{Cause, Refusal},
    request::{ClientCredentials, Grant, TokenRequest},
};
use crate::{
    db::{Store, Tx},
    identity::{
        clients::{self, Client},
        throttle::{Account, Endpoint, Throttle},
        tokens::Issued,
    },
    types::error::Result as Outcome,
};
use oxide_auth::code_grant::{
    client_credentials::{self, client_credentials},
    error::{AccessTokenError, AccessTokenErrorType},
    refresh::{self, refresh},
};
use std::{net::IpAddr, time::Instant};

/// Answers a request from `address`.
pub async fn token(
    store: &Store,
    throttle: &Throttle,
    request: TokenRequest,
    address: IpAddr,
) -> Result<Issued, Refusal> {
    authenticate(store, throttle, &request.client, address)?;
    let user = match &request.grant {
        Grant::Password {
            username,
            password,
            totp,
        } => {
            let user = password::sign_in(store, throttle, username, password, address).await?;
            user.check_second_factor(store, throttle, totp.as_deref())?;
            Some(user)
        }
        Grant::ClientCredentials | Grant::RefreshToken { .. } => None,
    };
    let (request, user, outcome) = store
        .write(move |tx| {
            let outcome = issue(tx, &request, user.as_ref())?;
            Ok((request, user, outcome))
        })
        .await?;
    if let (Ok(_), Some(user), Grant::Password { totp: Some(_), .. }) =
        (&outcome, user, request.grant)
    {
        user.second_factor_passed(throttle);
    }
    outcome
}

/// Checks the client's secret, before anything else. A correct one is never refused, whatever failed
/// at this address before: a whole venue may share it (contract §9).
///
/// # Errors
/// `invalid_client`, and too many attempts in its place.
pub fn authenticate(
    store: &Store,
    throttle: &Throttle,
    sent: &ClientCredentials,
    address: IpAddr,
) -> Result<Client, Refusal> {
    let secret = sent.client_secret.as_bytes();
    let (found, revoked) = store.look_up(|connection| {
        let found = clients::authenticate(connection, &sent.client_id, secret)?;
        let revoked = found.is_none() && clients::is_revoked(connection, &sent.client_id, secret)?;
        Ok((found, revoked))
    })?;
    if revoked {
        let cause = Cause::InvalidClient { basic: sent.basic };
        return Err(Refusal::new(cause, "the client was revoked"));
    }
    let Some(client) = found else {
        let nobody = Account::unknown(Endpoint::ClientSecret);
        throttle.failed(nobody, address, Instant::now())?;
        return Err(Refusal::invalid_client(sent.basic));
    };
    Ok(client)
}

/// Runs a grant in the writer's transaction. A refusal is not an error of the transaction: what a
/// refused request leaves behind, such as the cancelled family of a refresh token used twice, is
/// committed.
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
