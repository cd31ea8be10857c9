//! The three grants: from a request to tokens; and whose request it is.

use super::{
    adapter::Core,
    password::{self, SignedIn},
    refusal::{Cause, Refusal},
    request::{ClientCredentials, Grant, TokenRequest},
};
use crate::{
    db::{Store, Tx},
    identity::{
        clients::{self, Client},
        throttle::Throttle,
        tokens::Issued,
    },
    types::error::{Error, Kind, Result as Outcome},
};
use oxide_auth::code_grant::{
    client_credentials::{self, client_credentials},
    error::{AccessTokenError, AccessTokenErrorType as ErrorType},
    refresh::refresh,
};
use std::net::IpAddr;

/// Answers a request from `address`.
pub async fn token(
    store: &Store,
    throttle: &Throttle,
    request: TokenRequest,
    address: IpAddr,
) -> Result<Issued, Refusal> {
    authenticate(store, throttle, &request.client, address)?;
    let Grant::Password {
        username,
        password,
        totp,
    } = &request.grant
    else {
        return store.write(move |tx| issue(tx, &request, None)).await?;
    };
    let user = password::sign_in(store, throttle, username, password, address).await?;
    user.check_second_factor(store, throttle, totp.as_deref())?;
    let (has_code, signed_in) = (totp.is_some(), user.clone());
    let outcome = store
        .write(move |tx| issue(tx, &request, Some(&signed_in)))
        .await?;
    if has_code && outcome.is_ok() {
        user.second_factor_passed(throttle);
    }
    outcome
}

/// Checks the client's secret, before anything else.
pub fn authenticate(
    store: &Store,
    throttle: &Throttle,
    sent: &ClientCredentials,
    address: IpAddr,
) -> Result<Client, Refusal> {
    let secret = sent.client_secret.as_bytes();
    match clients::by_secret(store, throttle, &sent.client_id, secret, address) {
        Ok(Some(client)) => Ok(client),
        Ok(None) => Err(Refusal::invalid_client(sent.basic)),
        Err(error) if error.kind == Kind::ClientRevoked => Err(Refusal::revoked_client(sent.basic)),
        Err(error) => Err(error.into()),
    }
}

/// Runs a grant in the writer's transaction. A refusal is not an error of the transaction: what a
/// refused request leaves behind, such as the cancelled family of a refresh token used twice, is
/// committed.
pub fn issue(
    tx: &Tx<'_>,
    request: &TokenRequest,
    user: Option<&SignedIn>,
) -> Outcome<Result<Issued, Refusal>> {
    let mut core = Core::new(tx);
    let ended = match (&request.grant, user) {
        (Grant::Password { .. }, Some(user)) => return password::issue(tx, request, user),
        (Grant::Password { .. }, None) => return Ok(Err(password::refusal())),
        (Grant::RefreshToken { .. }, _) => refresh(&mut core, request)
            .map(drop)
            .map_err(|mut error| error.description().map(AccessTokenError::kind)),
        (Grant::ClientCredentials, _) => client_credentials(&mut core, request)
            .and_then(|pending| pending.issue(&mut core, "client".to_owned(), false))
            .map(drop)
            .map_err(|mut error| match error {
                // Of all that may end like this only a scope that the client lacks can.
                client_credentials::Error::Ignore => Some(ErrorType::InvalidScope),
                _ => error.description().map(AccessTokenError::kind),
            }),
    };
    if let Some(failure) = core.take_failure() {
        return Err(failure);
    }
    match (ended, core.issued) {
        (Ok(()), Some(issued)) => Ok(Ok(issued)),
        (Err(Some(kind)), _) => Ok(Err(refused(kind, request.client.basic))),
        _ => Err(Error::defect("oxide-auth: a primitive failed")),
    }
}

/// The refusal of what oxide-auth refuses.
fn refused(kind: ErrorType, basic: bool) -> Refusal {
    match kind {
        ErrorType::InvalidRequest => Refusal::invalid_request("the request is malformed"),
        ErrorType::InvalidClient | ErrorType::UnauthorizedClient => Refusal::invalid_client(basic),
        ErrorType::InvalidGrant => Refusal::invalid_grant(
            "the refresh token is unknown, expired, cancelled, used before, or of another client",
        ),
        ErrorType::UnsupportedGrantType => {
            Refusal::new(Cause::UnsupportedGrantType, "there is no such grant type")
        }
        ErrorType::InvalidScope => Refusal::invalid_scope(),
    }
}
