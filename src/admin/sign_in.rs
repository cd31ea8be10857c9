//! Sign-in and sign-out: e-mail and password, and a code of the authenticator app where the user
//! has set one up. Guesses are throttled by user and address; those in the API never close this door.

use super::{Access, Console, Fields, Layout, RequestContext, Route, answer, route, session};
use crate::{
    core::keyed::Key,
    identity::{
        password::{self, Queue},
        second_factor, sessions,
        throttle::{Account, Endpoint},
        users,
    },
    types::{
        UserId,
        error::{Error, Kind, Result},
        secret,
    },
};
use askama::Template;
use poem::{
    Response,
    http::{StatusCode, header},
};
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long somebody whose password was right has for the code.
const CODE_WITHIN: Duration = Duration::from_mins(5);
/// How many may be between password and code.
const WAITING_MAX: usize = 1000;

/// Users whose password was right and whose code is awaited, by a random value that their form has.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<String, Known>>);

/// Somebody whose password was right.
#[derive(Clone)]
struct Known {
    user: UserId,
    email: String,
    /// The password's hash: should it be another by the time the code comes, the sign-in ends.
    password: Option<String>,
    since: Instant,
}

impl Waiting {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, known| known.since.elapsed() < CODE_WITHIN);
        all
    }

    fn add(&self, known: Known) -> Result<String> {
        let mut all = self.all();
        if all.len() >= WAITING_MAX {
            return Err(Error::unavailable("too many sign-ins at once; try again"));
        }
        let key = secret::fresh()?;
        all.insert(key.clone(), known);
        Ok(key)
    }
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/sign-in", Access::Anyone, show),
        Route::post("/console/sign-in", Access::Anyone, sign_in),
        Route::post("/console/sign-in/code", Access::Anyone, code),
        Route::post("/console/sign-out", route::VIEWER, sign_out),
    ]
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Page {
    layout: Layout,
    email: String,
    next: String,
    failure: Option<String>,
    waiting: Option<String>,
}

impl Page {
    fn new(request: &RequestContext, fields: &Fields) -> Self {
        Self {
            layout: request.layout("Sign in", None),
            email: fields.text("email").to_owned(),
            next: next(fields).to_owned(),
            failure: None,
            waiting: None,
        }
    }
}

/// Where to go after sign-in: within the console only.
fn next(fields: &Fields) -> &str {
    let wanted = fields.text("next");
    let ours =
        wanted == "/console" || wanted.starts_with("/console/") || wanted.starts_with("/console?");
    if ours && !wanted.contains(['\\', '\r', '\n']) {
        wanted
    } else {
        "/console"
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    if request.current_user.is_some() {
        return Ok(answer::go(next(&request.query)));
    }
    answer::page(&Page::new(&request, &request.query))
}

async fn sign_in(request: RequestContext) -> Result<Response> {
    let email = request.form.text("email").to_owned();
    let password = request.form.sent("password").unwrap_or_default().to_owned();
    let known = match check_password(&request, &email, password).await {
        Ok(known) => known,
        Err(error) => return again(&request, &error, None),
    };
    let console = &request.console;
    let has_code = console
        .store
        .look_up(|connection| second_factor::is_on(connection, known.user))?;
    if has_code {
        let mut page = Page::new(&request, &request.form);
        page.waiting = Some(console.waiting.add(known)?);
        return answer::page(&page);
    }
    enter(&request, known.user).await
}

async fn code(request: RequestContext) -> Result<Response> {
    let key = request.form.text("waiting").to_owned();
    let found = request.console.waiting.all().get(&key).cloned();
    let Some(known) = found else {
        let error = Error::invalid("that took too long; sign in again");
        return again(&request, &error, None);
    };
    match check_code(&request, &known).await {
        Ok(()) => {
            // Only one of two that came with the same code at once goes on.
            if request.console.waiting.all().remove(&key).is_none() {
                return again(&request, &Error::invalid("sign in again"), None);
            }
            enter(&request, known.user).await
        }
        Err(error) => {
            let goes_on = error.kind != Kind::Forbidden;
            again(&request, &error, goes_on.then_some(key))
        }
    }
}

fn again(request: &RequestContext, error: &Error, waiting: Option<String>) -> Result<Response> {
    if matches!(error.kind, Kind::Defect | Kind::Unavailable) {
        return Err(Error::new(error.kind, error.message.clone()));
    }
    let mut page = Page::new(request, &request.form);
    page.failure = Some(answer::sentence(&error.message));
    page.waiting = waiting;
    let mut response = answer::form_again(&page)?;
    if let Kind::TooManyAttempts { retry_after_s } = error.kind {
        response.set_status(StatusCode::TOO_MANY_REQUESTS);
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, retry_after_s.into());
    }
    Ok(response)
}

/// The user of an e-mail address and a password, if they may enter the console.
async fn check_password(request: &RequestContext, email: &str, password: String) -> Result<Known> {
    let (found, right) = try_password(request, email, password).await?;
    match found {
        Some(known) if right => {
            let role =
                request.look_up(|connection| Ok(users::get(connection, known.user)?.console));
            // Whoever knows the password may know that it does not open this door.
            if matches!(role, Ok(None)) {
                let account = Account::known(Endpoint::ConsolePassword, email);
                let throttle = &request.console.throttle;
                throttle.failed(account, request.address(), Instant::now())?;
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

/// Checks the password of whoever is signed in, before something that a stranger at an open laptop
/// must not do. Guesses count as those at the sign-in do.
///
/// # Errors
/// [`Kind::Invalid`] when it is wrong, [`Kind::TooManyAttempts`].
pub(super) async fn check_own_password(request: &RequestContext, password: String) -> Result<()> {
    let current_user = request.current_user()?;
    let (found, right) = try_password(request, &current_user.email, password).await?;
    match found {
        Some(known) if right && known.user == current_user.user => Ok(()),
        _ => Err(Error::invalid("your password is wrong")),
    }
}

/// Who has this e-mail address, and whether this is the password; throttled.
async fn try_password(
    request: &RequestContext,
    email: &str,
    password: String,
) -> Result<(Option<Known>, bool)> {
    let console: &Console = &request.console;
    let address = request.address();
    let stored = console
        .store
        .look_up(|connection| users::stored_password(connection, email))?;
    let account = match &stored {
        Some(_) => Account::known(Endpoint::ConsolePassword, email),
        None => Account::unknown(Endpoint::ConsolePassword),
    };
    console.throttle.check(account, address, Instant::now())?;
    let known = stored.map(|(user, password)| Known {
        user,
        email: email.to_owned(),
        password,
        since: Instant::now(),
    });
    let permit = password::permit(Queue::Console).await?;
    // Many guesses may have waited together, and the first of them failed.
    console.throttle.check(account, address, Instant::now())?;
    let hash = known.as_ref().and_then(|known| known.password.clone());
    let right = permit.verify(password, hash).await?;
    if right {
        console.throttle.succeeded(account, address);
    } else {
        console.throttle.failed(account, address, Instant::now())?;
    }
    Ok((known, right))
}

async fn check_code(request: &RequestContext, known: &Known) -> Result<()> {
    let console: &Console = &request.console;
    // From wherever they come: a code is short, and whoever guesses has the password already.
    let account = Account::known(Endpoint::SecondFactor, &known.email);
    let anywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    console.throttle.check(account, anywhere, Instant::now())?;
    // Counted before it is looked at: of a thousand that come at once, ten are.
    let _ = console.throttle.failed(account, anywhere, Instant::now());
    let code = request.form.text("code").to_owned();
    let mut ctx = request.context();
    ctx.actor = format!("user:{}", known.user);
    let sought = known.clone();
    let right = console
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
        console.throttle.succeeded(account, anywhere);
        return Ok(());
    }
    Err(Error::invalid(
        "this code is wrong or was used already; codes last half a minute, and the clock of this server \
         must be right for them",
    ))
}

async fn enter(request: &RequestContext, user: UserId) -> Result<Response> {
    let cookie = opened(request, user).await?;
    let mut response = answer::go(next(&request.form));
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Opens a session: the header with its cookie.
pub(super) async fn opened(
    request: &RequestContext,
    user: UserId,
) -> Result<poem::http::HeaderValue> {
    let address = request.address().to_string();
    let agent = request.header("user-agent").unwrap_or_default().to_owned();
    let (token, key) = request
        .write(move |tx, _| {
            let token = sessions::open(tx, user, &address, &agent)?;
            Ok((token, Key::find_or_make(tx)?))
        })
        .await?;
    let cookie = request.console.name_session_cookie(&key)?;
    session::set_cookie(cookie, Some(&token), secure(request))
}

/// Whether the browser came by TLS, to us or to what stands in front.
fn secure(request: &RequestContext) -> bool {
    let console = &request.console;
    let public = console.public_url().unwrap_or_default();
    console.reach.tls || public.starts_with("https://")
}

async fn sign_out(request: RequestContext) -> Result<Response> {
    let current_user = request.current_user()?.clone();
    request
        .write(move |tx, _| sessions::end(tx, current_user.user, current_user.session))
        .await?;
    let mut response = answer::go("/console/sign-in");
    if let Some(name) = request.console.session_cookie()? {
        let cookie = session::set_cookie(name, None, secure(&request))?;
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
