//! Sign-in and sign-out: e-mail and password, and a code of the authenticator app where the user
//! has set one up.

use super::{Access, session};
use crate::admin::prelude::*;
use crate::{
    core::keyed::Key,
    identity::{second_factor, sessions, sign_in as identity, users},
    types::UserId,
};
use poem::http::{StatusCode, header};

pub(super) fn routes() -> Vec<Route> {
    Routes::access(Access::Anyone)
        .get("/console/sign-in", show)
        .post("/console/sign-in", sign_in)
        .post("/console/sign-in/code", code)
        .then(VIEWER)
        .post("/console/sign-out", sign_out)
        .all()
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
            next: next(request, fields).to_owned(),
            failure: None,
            waiting: None,
        }
    }
}

/// Returns the path to go to after sign-in: within the console only.
fn next<'f>(request: &RequestContext, fields: &'f Fields) -> &'f str {
    let wanted = fields.text("next");
    let ours = wanted.starts_with("/console/") || wanted.starts_with("/console?");
    if ours && !wanted.contains(['\\', '\r', '\n']) {
        wanted
    } else if request.console.reach.hub {
        // Its dashboard knows what happens on its own file only: nothing.
        "/console/venues"
    } else {
        "/console"
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    if request.current_user.is_some() {
        return Ok(answer::go(next(&request, &request.query)));
    }
    answer::page(&Page::new(&request, &request.query))
}

async fn sign_in(request: RequestContext) -> Result<Response> {
    let email = request.form.text("email").to_owned();
    let password = request.form.sent("password").unwrap_or_default().to_owned();
    let (app, address) = (request.console.app(), request.address());
    let known = match identity::check_password(app, address, &email, password).await {
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
    let waiting = &request.console.waiting;
    let Some(known) = waiting.find(&key) else {
        let error = Error::invalid("that took too long; sign in again");
        return again(&request, &error, None);
    };
    let (app, typed) = (request.console.app(), request.form.text("code").to_owned());
    match identity::check_code(app, request.context(), &known, typed).await {
        Ok(()) => {
            // Only one of two that came with the same code at once goes on.
            if !waiting.remove(&key) {
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
    if error.kind == Kind::Defect || error.kind.is_of_store() {
        return Err(error.clone());
    }
    let mut page = Page::new(request, &request.form);
    page.failure = Some(answer::sentence(error));
    page.waiting = waiting;
    let mut response = answer::form_again(&page)?;
    if let Kind::TooManyAttempts { retry_after_s } = error.kind {
        response.set_status(StatusCode::TOO_MANY_REQUESTS);
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, retry_after_s.into());
    }
    Ok(response)
}

/// Checks the password of whoever is signed in, before something that a stranger at an open laptop must
/// not do.
pub(super) async fn check_own_password(request: &RequestContext, password: &str) -> Result<()> {
    let (app, address) = (request.console.app(), request.address());
    let current = request.current_user()?;
    let own = (current.user, current.email.as_str());
    identity::check_own_password(app, address, own, password.to_owned()).await
}

async fn enter(request: &RequestContext, user: UserId) -> Result<Response> {
    signed_in(request, user, next(request, &request.form)).await
}

/// Opens a session, and leads on: the browser gets the cookie of the session, and the user's language.
pub(super) async fn signed_in(
    request: &RequestContext,
    user: UserId,
    path: &str,
) -> Result<Response> {
    let address = request.address().to_string();
    let agent = request.header("user-agent").unwrap_or_default().to_owned();
    let (token, key, language) = request
        .write(move |tx, _| {
            let token = sessions::open(tx, user, &address, &agent)?;
            let language = users::language(tx, user)?;
            Ok((token, Key::find_or_make(tx)?, language))
        })
        .await?;
    let cookie = request.console.name_session_cookie(&key)?;
    let mut response = answer::go(path);
    let headers = response.headers_mut();
    headers.append(
        header::SET_COOKIE,
        session::set_cookie(cookie, Some(&token), secure(request))?,
    );
    headers.append(
        header::SET_COOKIE,
        session::language_cookie(language.as_deref())?,
    );
    Ok(response)
}

/// Returns whether the browser came by TLS, to us or to what stands in front.
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
