//! Signing in to the console: a password, and a code of the authenticator app where the user has set
//! one up. Guesses are throttled by user and address; those in the API never close this door.

use super::{
    App,
    password::{self, Queue},
    second_factor,
    throttle::{Account, Endpoint},
    users,
};
use crate::{
    core::Context,
    types::{
        UserId,
        error::{Error, Kind, Result},
        secret,
    },
};
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time allowed for the code once the password was right.
const CODE_WITHIN: Duration = Duration::from_mins(5);
/// The most users who may be between password and code.
const WAITING_MAX: usize = 1000;

/// Users whose password was right and whose code is awaited, by a random value that their form has.
#[derive(Default)]
pub struct Waiting(Mutex<HashMap<String, Known>>);

/// Somebody whose password was right.
#[derive(Clone)]
pub struct Known {
    pub user: UserId,
    email: String,
    /// The password's hash: should it be another by the time the code comes, the sign-in ends.
    password: Option<String>,
    since: Instant,
}

impl Waiting {
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Known> {
        self.all().get(key).cloned()
    }

    /// Returns whether somebody was still waiting; of two with one code at once, only one was.
    pub fn remove(&self, key: &str) -> bool {
        self.all().remove(key).is_some()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, known| known.since.elapsed() < CODE_WITHIN);
        all
    }

    /// Keeps somebody until the code comes; the random value.
    pub fn add(&self, known: Known) -> Result<String> {
        let mut all = self.all();
        if all.len() >= WAITING_MAX {
            return Err(Error::unavailable("too many sign-ins at once; try again"));
        }
        let key = secret::fresh()?;
        all.insert(key.clone(), known);
        Ok(key)
    }
}

/// The user of an e-mail address and a password, if they may enter the console.
///
/// # Errors
/// [`Kind::Invalid`], [`Kind::TooManyAttempts`].
pub async fn check_password(
    app: &App,
    address: IpAddr,
    email: &str,
    password: String,
) -> Result<Known> {
    let (found, right) = try_password(app, address, email, password).await?;
    match found {
        Some(known) if right => {
            let role = app
                .store
                .look_up(|connection| Ok(users::get(connection, known.user)?.console));
            // Whoever knows the password may know that it does not open this door.
            if matches!(role, Ok(None)) {
                let account = Account::known(Endpoint::ConsolePassword, email);
                app.throttle.failed(account, address, Instant::now())?;
                return Err(Error::invalid(
                    "this user has no role in the console; an administrator can give one",
                ));
            }
            Ok(known)
        }
        _ => Err(Error::invalid(
            "the e-mail address or the password is wrong",
        )),
    }
}

/// Checks the password of a user who is signed in. Guesses count as those at the sign-in do.
///
/// # Errors
/// [`Kind::Invalid`] when it is wrong, [`Kind::TooManyAttempts`].
pub async fn check_own_password(
    app: &App,
    address: IpAddr,
    (user, email): (UserId, &str),
    password: String,
) -> Result<()> {
    let (found, right) = try_password(app, address, email, password).await?;
    match found {
        Some(known) if right && known.user == user => Ok(()),
        _ => Err(Error::invalid("your password is wrong")),
    }
}

/// Returns the user with this e-mail address, and whether this is the password; throttled.
async fn try_password(
    app: &App,
    address: IpAddr,
    email: &str,
    password: String,
) -> Result<(Option<Known>, bool)> {
    let stored = app
        .store
        .look_up(|connection| users::stored_password(connection, email))?;
    let account = match &stored {
        Some(_) => Account::known(Endpoint::ConsolePassword, email),
        None => Account::unknown(Endpoint::ConsolePassword),
    };
    app.throttle.check(account, address, Instant::now())?;
    let known = stored.map(|(user, password)| Known {
        user,
        email: email.to_owned(),
        password,
        since: Instant::now(),
    });
    let permit = password::permit(Queue::Console).await?;
    // Many guesses may have waited together, and the first of them failed.
    app.throttle.check(account, address, Instant::now())?;
    let hash = known.as_ref().and_then(|known| known.password.clone());
    let right = permit.verify(password, hash).await?;
    if right {
        app.throttle.succeeded(account, address);
    } else {
        app.throttle.failed(account, address, Instant::now())?;
    }
    Ok((known, right))
}

/// Checks the code of somebody whose password was right.
///
/// # Errors
/// [`Kind::Invalid`] when it is wrong; [`Kind::Forbidden`] when the password was changed meanwhile.
pub async fn check_code(app: &App, mut ctx: Context, known: &Known, code: String) -> Result<()> {
    // From wherever they come: a code is short, and whoever guesses has the password already.
    let account = Account::known(Endpoint::SecondFactor, &known.email);
    let anywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    app.throttle.check(account, anywhere, Instant::now())?;
    // Counted before it is looked at: of a thousand that come at once, ten are.
    let _ = app.throttle.failed(account, anywhere, Instant::now());
    ctx.actor = format!("user:{}", known.user);
    let sought = known.clone();
    let right = app
        .store
        .write(move |tx| {
            let stored = users::stored_password(tx, &sought.email)?;
            if stored != Some((sought.user, sought.password)) {
                return Err(Error::new(
                    Kind::Forbidden,
                    "the password was changed; sign in again",
                ));
            }
            second_factor::take(tx, &ctx, sought.user, &code)
        })
        .await?;
    if right {
        app.throttle.succeeded(account, anywhere);
        return Ok(());
    }
    Err(Error::invalid(
        "this code is wrong or was used already; codes last half a minute, and the clock of this server \
         must be right for them",
    ))
}
