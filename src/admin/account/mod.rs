//! One's own account: password, authenticator app, recovery codes, and where one is signed in.
//! Everything that a stranger at an open laptop must not do asks for the password once more.

mod second_factor;

use super::{session, sign_in};
use crate::admin::prelude::*;
use crate::identity::{
    password::{self, Queue},
    second_factor::{self as factor, State},
    sessions::{self, Session},
    users::{self, UserChange},
};
use poem::http::header;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/account", show)
        .post("/console/account/password", change_password)
        .post("/console/account/language", change_language)
        .action("/console/account/sessions", end_sessions)
        .with(second_factor::routes())
        .all()
}

#[derive(Template)]
#[template(path = "account/account.html")]
struct Page {
    layout: Layout,
    role: &'static str,
    meaning: &'static str,
    /// Each with whether it is this one.
    sessions: Vec<(Session, bool)>,
    factor: Option<State>,
    /// The language that the user chose; empty where the browser's counts.
    chosen: String,
}

impl Page {
    fn read(request: &RequestContext) -> Result<Self> {
        let current_user = request.current_user()?;
        let user = current_user.user;
        let (sessions, factor, chosen) = request.look_up(|connection| {
            let sessions = sessions::of_user(connection, user, Timestamp::now())?;
            let chosen = users::language(connection, user)?;
            Ok((sessions, factor::state(connection, user)?, chosen))
        })?;
        let with_this = |session: Session| {
            let is_this = session.id == current_user.session;
            (session, is_this)
        };
        Ok(Self {
            layout: request.layout("Your account", Some(Area::Account)),
            role: current_user.role.name(),
            meaning: current_user.role.meaning(),
            sessions: sessions.into_iter().map(with_this).collect(),
            factor,
            chosen: chosen.unwrap_or_default(),
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::read(&request)?)
}

/// Keeps the language with the user, and in this browser.
async fn change_language(request: RequestContext) -> Result<Response> {
    let chosen = request.form.text("language");
    let is_known = |language: &&texts::Language| language.code == chosen;
    let chosen = texts::languages().iter().find(is_known);
    let code = chosen.map(|language| language.code.as_str());
    let user = request.current_user()?.user;
    request
        .write(move |tx, _| users::set_language(tx, user, code))
        .await?;
    let language = chosen.or_else(texts::current);
    texts::within(language, || request.flash(t("account-language-changed")));
    let mut response = answer::go("/console/account");
    let cookie = session::language_cookie(code)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

async fn change_password(request: RequestContext) -> Result<Response> {
    match password_changed(&request).await {
        Ok(()) => request.done(
            "Your password is changed. You are signed out everywhere else.",
            "/console/account",
        ),
        Err(error) => request.failed(error, show).await,
    }
}

async fn password_changed(request: &RequestContext) -> Result<()> {
    let form = &request.form;
    let new = form.sent("password").unwrap_or_default().to_owned();
    if form.sent("password") != form.sent("again") {
        return Err(Error::invalid("the two passwords differ"));
    }
    sign_in::check_own_password(request, form.sent("old").unwrap_or_default()).await?;
    let current_user = request.current_user()?.clone();
    let permit = password::permit(Queue::Console).await?;
    let change = UserChange {
        password: Some(permit.hash_strong(new, current_user.email.clone()).await?),
        session: Some(current_user.session),
        ..UserChange::default()
    };
    let work = request.write(move |tx, ctx| users::edit(tx, ctx, current_user.user, &change));
    work.await
}

/// Ends one session, or all but this one.
fn end_sessions(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let own = &action.by;
    let session = action.form.number("session")?;
    let ended = match session {
        Some(session) => usize::from(sessions::end(tx, own.user, session)?),
        None => sessions::end_all(tx, own.user, Some(own.session))?,
    };
    sessions::audit_end(tx, ctx, own.user, ended)?;
    let message = match session {
        Some(_) => sessions::told_end(ended),
        None => "You are signed in here and nowhere else.",
    };
    Ok(Done::new(message, "/console/account"))
}
