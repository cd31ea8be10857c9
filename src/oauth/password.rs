//! The password grant (RFC 6749 section 4.3), which oxide-auth does not have: ours, on the same
//! registrar and issuer as the others.

use super::{
    adapter::Core,
    grant::{Ended, scope_lacking},
    issuer::grant_of,
    refusal::{Cause, Refusal},
    request::{ClientCredentials, TokenRequest},
};
use crate::{
    auth::{clients, password, throttle::Throttle, tokens::Holder, users},
    store::{Store, Tx},
    types::UserId,
};
use oxide_auth::primitives::{
    issuer::Issuer,
    registrar::{ClientUrl, Registrar, RegistrarError},
};
use std::{borrow::Cow, net::IpAddr, time::Instant};

/// A user whose password was right.
pub struct SignedIn {
    username: String,
    user: UserId,
    /// The hash it was right for: should another have taken its place meanwhile, it counts no more.
    stored: Option<String>,
}

impl SignedIn {
    /// A user, and the stored hash that the password was right for.
    pub fn new(username: &str, user: UserId, stored: Option<String>) -> Self {
        Self {
            username: username.to_owned(),
            user,
            stored,
        }
    }
}

/// Checks the client and the user's password. The writer has no part in it: hashing takes long.
///
/// # Errors
/// `invalid_client`, `invalid_grant`, and too many attempts.
pub async fn sign_in(
    store: &Store,
    throttle: &Throttle,
    client: &ClientCredentials,
    username: &str,
    password: &str,
    address: IpAddr,
) -> Result<SignedIn, Refusal> {
    let account = format!("user {username}");
    throttle.check(&account, address, Instant::now())?;
    // Only a client that we know has passwords tried, and our processors used.
    let (known, user) = store.look_up(|connection| {
        let secret = client.client_secret.as_bytes();
        let known = clients::authenticate(connection, &client.client_id, secret)?;
        Ok((known, users::stored_password(connection, username)?))
    })?;
    if known.is_none() {
        return Err(Refusal::invalid_client(client.basic));
    }
    let stored = user.as_ref().and_then(|(_, stored)| stored.clone());
    let turn = password::turn().await?;
    // Many guesses may have waited together, and the first of them failed.
    throttle.check(&account, address, Instant::now())?;
    let right = turn.verify(password.to_owned(), stored.clone()).await?;
    match user {
        Some((user, _)) if right => {
            throttle.succeeded(&account, address);
            Ok(SignedIn::new(username, user, stored))
        }
        _ => {
            throttle.failed(&account, address, Instant::now());
            Err(refusal())
        }
    }
}

/// Issues tokens to a user who signed in.
pub fn for_user(
    tx: &Tx<'_>,
    core: &mut Core<'_>,
    request: &TokenRequest,
    signed_in: &SignedIn,
) -> Result<(), Ended> {
    let client = &request.client;
    let checked = core
        .clients
        .check(&client.client_id, Some(client.client_secret.as_bytes()));
    checked.map_err(|error| match error {
        RegistrarError::Unspecified => Ended::Refused(Refusal::invalid_client(client.basic)),
        RegistrarError::PrimitiveError => Ended::Broken,
    })?;
    let bound = ClientUrl {
        client_id: Cow::Borrowed(&client.client_id),
        redirect_uri: None,
    };
    let named = request
        .scope
        .as_deref()
        .and_then(|scope| scope.parse().ok());
    let negotiated = core
        .clients
        .bound_redirect(bound)
        .and_then(|bound| core.clients.negotiate(bound, named));
    negotiated.map_err(|error| match error {
        RegistrarError::Unspecified => Ended::Refused(scope_lacking()),
        RegistrarError::PrimitiveError => Ended::Broken,
    })?;
    let unchanged = core
        .trouble
        .keep(users::stored_password(tx, &signed_in.username))
        .map_err(|()| Ended::Broken)?
        .is_some_and(|now| now == (signed_in.user, signed_in.stored.clone()));
    if !unchanged {
        return Err(Ended::Refused(refusal()));
    }
    let found = clients::find(tx, &client.client_id);
    let found = core.trouble.keep(found).map_err(|()| Ended::Broken)?;
    let holder = Holder::of_user(found.id, signed_in.user);
    let grant = grant_of(client.client_id.clone(), &holder, tx.now()).ok_or(Ended::Broken)?;
    core.tokens
        .issue(grant)
        .map(|_| ())
        .map_err(|()| Ended::Broken)
}

/// The refusal of a user who is unknown or whose password is wrong: it does not tell which.
pub fn refusal() -> Refusal {
    Refusal::new(Cause::InvalidGrant, "the username or the password is wrong")
}
