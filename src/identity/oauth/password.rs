//! The password grant (RFC 6749 section 4.3), which oxide-auth does not have.

use super::{
    refusal::Refusal,
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
        tokens::{self, Holder, Issued},
        users,
    },
    types::{UserId, error::Result as Outcome},
};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Instant,
};

/// Guesses at codes of an authenticator app count wherever they come from: a code is short, and whoever
/// guesses has the password already.
const ANYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// A user whose password was right, with the hash that it was right for: should another have taken
/// its place meanwhile, it counts no more.
#[derive(Clone)]
pub struct SignedIn {
    username: String,
    by: By,
}

#[derive(Clone)]
enum By {
    Password(UserId, Option<String>),
    /// A one-time password; its user may not exist yet.
    Code(String),
}

impl SignedIn {
    pub fn by_password(username: &str, user: UserId, stored: Option<String>) -> Self {
        Self {
            username: username.to_owned(),
            by: By::Password(user, stored),
        }
    }

    /// Counts a guess at the user's second factor, where there is one, before it is checked: of a
    /// thousand that come at once, ten are.
    pub fn check_second_factor(
        &self,
        store: &Store,
        throttle: &Throttle,
        totp: Option<&str>,
    ) -> Result<(), Refusal> {
        let By::Password(user, _) = self.by else {
            return Ok(());
        };
        if !store.look_up(|connection| second_factor::is_on(connection, user))? {
            return Ok(());
        }
        if totp.is_none() {
            return Err(totp_missing());
        }
        let account = self.second_factor_account();
        throttle.check(account, ANYWHERE, Instant::now())?;
        let _ = throttle.failed(account, ANYWHERE, Instant::now());
        Ok(())
    }

    /// Takes back the guess that was counted: it was right.
    pub fn second_factor_passed(&self, throttle: &Throttle) {
        throttle.succeeded(self.second_factor_account(), ANYWHERE);
    }

    fn second_factor_account(&self) -> Account<'_> {
        Account::known(Endpoint::SecondFactor, &self.username)
    }

    /// The user, if the password still counts; a code is used up.
    fn user(&self, tx: &Tx<'_>, request: &TokenRequest) -> Outcome<Result<UserId, Refusal>> {
        let ctx = Context {
            actor: format!("client:{}", request.client.client_id),
            ..Context::of_command("api", Arc::new(settings::load(tx)?))
        };
        let user = match &self.by {
            By::Password(user, stored) => {
                let now = users::stored_password(tx, &self.username)?;
                let same = now.is_some_and(|now| now == (*user, stored.clone()));
                if same && second_factor::is_on(tx, *user)? {
                    let Grant::Password {
                        totp: Some(code), ..
                    } = &request.grant
                    else {
                        return Ok(Err(totp_missing()));
                    };
                    if !second_factor::take(tx, &ctx, *user, code)? {
                        return Ok(Err(Refusal::invalid_grant(
                            "totp is wrong or was used before; codes last half a minute",
                        )));
                    }
                }
                same.then_some(*user)
            }
            By::Code(hash) => one_time::redeem(tx, &ctx, &self.username, hash)?,
        };
        Ok(user.ok_or_else(refusal))
    }
}

fn totp_missing() -> Refusal {
    Refusal::invalid_grant(
        "this user has an authenticator app; send its current code as totp, or a recovery code",
    )
}

/// Checks a user's password, or one-time password, for a client that is known. Hashing takes long, so the
/// writer has no part in it.
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
    Ok(user.map(|(user, _)| SignedIn::by_password(username, user, stored)))
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
    Ok(stored.filter(|_| right).map(|stored| SignedIn {
        username: username.to_owned(),
        by: By::Code(stored),
    }))
}

/// Issues tokens to a user who signed in.
pub fn issue(
    tx: &Tx<'_>,
    request: &TokenRequest,
    signed_in: &SignedIn,
) -> Outcome<Result<Issued, Refusal>> {
    let sent = &request.client;
    let secret = sent.client_secret.as_bytes();
    let Some(client) = clients::authenticate(tx, &sent.client_id, secret)? else {
        return Ok(Err(Refusal::invalid_client(sent.basic)));
    };
    let held = tokens::through_user(client.scopes);
    let lacks = |name: &str| !held.iter().any(|scope| scope.name() == name);
    let named = request.scope.as_deref().unwrap_or_default();
    if named.split_whitespace().any(lacks) {
        return Ok(Err(Refusal::invalid_scope()));
    }
    match signed_in.user(tx, request)? {
        Ok(user) => tokens::issue(tx, &Holder::of_user(client.id, user, held)).map(Ok),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Does not tell whether the user or the password is wrong.
pub fn refusal() -> Refusal {
    Refusal::invalid_grant("the username or the password is wrong")
}
