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
    auth::{
        self, Context, clients,
        password::{self, Turn},
        throttle::Throttle,
        tokens::Holder,
        users,
    },
    error::Result as Outcome,
    otp, settings,
    store::{Store, Tx},
    types::UserId,
};
use oxide_auth::primitives::{
    issuer::Issuer,
    registrar::{ClientUrl, Registrar, RegistrarError},
    scope::Scope,
};
use std::{borrow::Cow, net::IpAddr, sync::Arc, time::Instant};

/// Somebody whose password was right.
pub struct SignedIn {
    username: String,
    by: By,
}

/// What was right, with the hash that it was right for: should another have taken its place meanwhile,
/// it counts no more.
enum By {
    /// The password of a user.
    Password(UserId, Option<String>),
    /// A one-time password, whose user may be made only now.
    Code(String),
}

impl SignedIn {
    /// A user, and the stored hash that the password was right for.
    pub fn new(username: &str, user: UserId, stored: Option<String>) -> Self {
        Self {
            username: username.to_owned(),
            by: By::Password(user, stored),
        }
    }

    /// Whom the code of an e-mail address is for, and its stored hash.
    fn by_code(username: &str, stored: String) -> Self {
        Self {
            username: username.to_owned(),
            by: By::Code(stored),
        }
    }

    /// The user, if what was right is right still; a code is used up.
    fn user(&self, tx: &Tx<'_>, client_id: &str) -> Outcome<Option<UserId>> {
        match &self.by {
            By::Password(user, stored) => {
                let now = users::stored_password(tx, &self.username)?;
                let same = now.is_some_and(|now| now == (*user, stored.clone()));
                Ok(same.then_some(*user))
            }
            By::Code(hash) => {
                let ctx = Context {
                    actor: format!("client:{client_id}"),
                    source: "api",
                    ..Context::of_command("api", Arc::new(settings::load(tx)?))
                };
                otp::redeem(tx, &ctx, &self.username, hash)
            }
        }
    }
}

/// Checks the client and the user's password, or one-time password. The writer has no part in hashing,
/// which takes long.
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
    let known = store.look_up(|connection| {
        let secret = client.client_secret.as_bytes();
        clients::authenticate(connection, &client.client_id, secret)
    })?;
    if known.is_none() {
        return Err(Refusal::invalid_client(client.basic));
    }
    let turn = password::turn().await?;
    // Many guesses may have waited together, and the first of them failed.
    throttle.check(&account, address, Instant::now())?;
    let signed_in = if otp::is_code(password) {
        try_code(store, turn, username, password).await?
    } else {
        try_password(store, turn, username, password).await?
    };
    if signed_in.is_some() {
        throttle.succeeded(&account, address);
    } else {
        throttle.failed(&account, address, Instant::now());
    }
    signed_in.ok_or_else(refusal)
}

async fn try_password(
    store: &Store,
    turn: Turn,
    username: &str,
    password: &str,
) -> Outcome<Option<SignedIn>> {
    let user = store.look_up(|connection| users::stored_password(connection, username))?;
    let stored = user.as_ref().and_then(|(_, stored)| stored.clone());
    let right = turn.verify(password.to_owned(), stored.clone()).await?;
    let user = user.filter(|_| right);
    Ok(user.map(|(user, _)| SignedIn::new(username, user, stored)))
}

async fn try_code(
    store: &Store,
    turn: Turn,
    username: &str,
    code: &str,
) -> Outcome<Option<SignedIn>> {
    let email = username.to_owned();
    let stored = store.write(move |tx| otp::take_try(tx, &email)).await?;
    // Without one it takes as long.
    let right = turn.verify(code.to_owned(), stored.clone()).await?;
    let stored = stored.filter(|_| right);
    Ok(stored.map(|stored| SignedIn::by_code(username, stored)))
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
        .and_then(|scope| scope.parse::<Scope>().ok());
    // Nobody is granted that with a password (contract §9).
    if named.as_ref().is_some_and(names_trusted) {
        return Err(Ended::Refused(scope_lacking()));
    }
    let negotiated = core
        .clients
        .bound_redirect(bound)
        .and_then(|bound| core.clients.negotiate(bound, named));
    negotiated.map_err(|error| match error {
        RegistrarError::Unspecified => Ended::Refused(scope_lacking()),
        RegistrarError::PrimitiveError => Ended::Broken,
    })?;
    let user = core
        .trouble
        .keep(signed_in.user(tx, &client.client_id))
        .map_err(|()| Ended::Broken)?
        .ok_or_else(|| Ended::Refused(refusal()))?;
    let found = clients::find(tx, &client.client_id);
    let found = core.trouble.keep(found).map_err(|()| Ended::Broken)?;
    let holder = Holder::of_user(found.id, user, found.scopes);
    let grant = grant_of(client.client_id.clone(), &holder, tx.now()).ok_or(Ended::Broken)?;
    core.tokens
        .issue(grant)
        .map(|_| ())
        .map_err(|()| Ended::Broken)
}

fn names_trusted(named: &Scope) -> bool {
    named.iter().any(|name| name == auth::Scope::Trusted.name())
}

/// The refusal of a user who is unknown or whose password is wrong: it does not tell which.
pub fn refusal() -> Refusal {
    Refusal::new(Cause::InvalidGrant, "the username or the password is wrong")
}
