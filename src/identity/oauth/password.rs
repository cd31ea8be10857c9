//! The password grant (RFC 6749 section 4.3), which oxide-auth does not have: ours, on the same
//! registrar and issuer as the others.

use super::{
    adapter::Core,
    grant::{Ended, scope_lacking},
    issuer::grant_of,
    refusal::{Cause, Refusal},
    request::{Grant, TokenRequest},
};
use crate::{
    core::{Context, settings},
    db::{Store, Tx},
    identity::{
        clients, one_time,
        password::{self, Permit, Queue},
        second_factor,
        throttle::{Account, Endpoint, Throttle},
        tokens::{self, Holder},
        users,
    },
    types::{UserId, error::Result as Outcome},
};
use oxide_auth::primitives::issuer::Issuer;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Instant,
};

/// Guesses at codes of an app count from wherever they come: a code is short, and whoever guesses has
/// the password already.
const ANYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

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

    /// Counts a guess at the user's second factor, where there is one, before it is looked at: of a
    /// thousand that come at once, ten are.
    ///
    /// # Errors
    /// `invalid_grant` where a code is needed and none was sent; too many attempts.
    pub fn check_second_factor(
        &self,
        store: &Store,
        throttle: &Throttle,
        totp: Option<&str>,
    ) -> Result<(), Refusal> {
        let By::Password(user, _) = &self.by else {
            return Ok(());
        };
        if !store.look_up(|connection| second_factor::is_on(connection, *user))? {
            return Ok(());
        }
        if totp.is_none() {
            return Err(totp_missing());
        }
        let account = self.of_second_factor();
        throttle.check(account, ANYWHERE, Instant::now())?;
        let _ = throttle.failed(account, ANYWHERE, Instant::now());
        Ok(())
    }

    /// Takes the guess back that was counted: it was right.
    pub fn second_factor_passed(&self, throttle: &Throttle) {
        throttle.succeeded(self.of_second_factor(), ANYWHERE);
    }

    fn of_second_factor(&self) -> Account<'_> {
        Account::known(Endpoint::SecondFactor, &self.username)
    }

    /// The user, if what was right is right still; a code is used up.
    fn user(&self, tx: &Tx<'_>, request: &TokenRequest) -> Outcome<Result<UserId, Refusal>> {
        let ctx = Context {
            actor: format!("client:{}", request.client.client_id),
            source: "api",
            ..Context::of_command("api", Arc::new(settings::load(tx)?))
        };
        let user = match &self.by {
            By::Password(user, stored) => {
                let now = users::stored_password(tx, &self.username)?;
                let same = now.is_some_and(|now| now == (*user, stored.clone()));
                if same && second_factor::is_on(tx, *user)? {
                    return second_factor_taken(tx, &ctx, *user, request);
                }
                same.then_some(*user)
            }
            By::Code(hash) => one_time::redeem(tx, &ctx, &self.username, hash)?,
        };
        Ok(user.ok_or_else(refusal))
    }
}

/// The user, if the request has a code of their app, or a recovery code; it is used up.
fn second_factor_taken(
    tx: &Tx<'_>,
    ctx: &Context,
    user: UserId,
    request: &TokenRequest,
) -> Outcome<Result<UserId, Refusal>> {
    let Grant::Password {
        totp: Some(code), ..
    } = &request.grant
    else {
        return Ok(Err(totp_missing()));
    };
    if second_factor::take(tx, ctx, user, code)? {
        return Ok(Ok(user));
    }
    Ok(Err(Refusal::new(
        Cause::InvalidGrant,
        "totp is wrong or was used before; codes last half a minute",
    )))
}

fn totp_missing() -> Refusal {
    Refusal::new(
        Cause::InvalidGrant,
        "this user has an authenticator app; send its current code as totp, or a recovery code",
    )
}

/// Checks a user's password, or one-time password, for a client that is known. The writer has no part
/// in hashing, which takes long.
///
/// # Errors
/// `invalid_grant`, and too many attempts.
pub async fn sign_in(
    store: &Store,
    throttle: &Throttle,
    username: &str,
    password: &str,
    address: IpAddr,
) -> Result<SignedIn, Refusal> {
    let by_code = one_time::is_code(password);
    let known = store.look_up(|connection| {
        let known = users::stored_password(connection, username)?.is_some();
        Ok(known || (by_code && one_time::is_pending(connection, username)?))
    })?;
    let account = if known {
        Account::known(Endpoint::UserPassword, username)
    } else {
        Account::unknown(Endpoint::UserPassword)
    };
    throttle.check(account, address, Instant::now())?;
    let permit = password::permit(Queue::Api).await?;
    // Many guesses may have waited together, and the first of them failed.
    throttle.check(account, address, Instant::now())?;
    let signed_in = if by_code {
        try_code(store, permit, username, password).await?
    } else {
        try_password(store, permit, username, password).await?
    };
    let Some(signed_in) = signed_in else {
        throttle.failed(account, address, Instant::now())?;
        return Err(refusal());
    };
    throttle.succeeded(account, address);
    Ok(signed_in)
}

async fn try_password(
    store: &Store,
    permit: Permit,
    username: &str,
    password: &str,
) -> Outcome<Option<SignedIn>> {
    let user = store.look_up(|connection| users::stored_password(connection, username))?;
    let stored = user.as_ref().and_then(|(_, stored)| stored.clone());
    let right = permit.verify(password.to_owned(), stored.clone()).await?;
    let user = user.filter(|_| right);
    Ok(user.map(|(user, _)| SignedIn::new(username, user, stored)))
}

async fn try_code(
    store: &Store,
    permit: Permit,
    username: &str,
    code: &str,
) -> Outcome<Option<SignedIn>> {
    let email = username.to_owned();
    let stored = store
        .write(move |tx| one_time::take_try(tx, &email))
        .await?;
    // Without one it takes as long.
    let right = permit.verify(code.to_owned(), stored.clone()).await?;
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
    let trouble = core.trouble;
    let kept = |outcome| trouble.keep(outcome).map_err(|()| Ended::Broken);
    let sent = &request.client;
    let secret = sent.client_secret.as_bytes();
    let client = trouble
        .keep(clients::authenticate(tx, &sent.client_id, secret))
        .map_err(|()| Ended::Broken)?
        .ok_or_else(|| Ended::Refused(Refusal::invalid_client(sent.basic)))?;
    let held = tokens::through_user(client.scopes);
    let lacks = |name: &str| !held.iter().any(|scope| scope.name() == name);
    let named = request.scope.as_deref().unwrap_or_default();
    if named.split_whitespace().any(lacks) {
        return Err(Ended::Refused(scope_lacking()));
    }
    let user = kept(signed_in.user(tx, request))?.map_err(Ended::Refused)?;
    let holder = Holder::of_user(client.id, user, held);
    let grant = grant_of(client.client_id, &holder, tx.now()).ok_or(Ended::Broken)?;
    core.tokens
        .issue(grant)
        .map(|_| ())
        .map_err(|()| Ended::Broken)
}

/// The refusal of a user who is unknown or whose password is wrong: it does not tell which.
pub fn refusal() -> Refusal {
    Refusal::new(Cause::InvalidGrant, "the username or the password is wrong")
}
