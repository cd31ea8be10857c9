//! One's own account: password, authenticator app, recovery codes, and where one is signed in.
//! Everything that a stranger at an open laptop must not do asks for the password once more.

mod second_factor;

use super::{Area, Layout, RequestContext, Route, answer, route, sign_in};
use crate::{
    identity::{
        password::{self, Queue},
        second_factor::{self as factor, State},
        sessions::{self, Session},
        users::{self, UserChange},
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::get("/console/account", route::VIEWER, show),
        Route::post("/console/account/password", route::VIEWER, change_password),
        Route::post("/console/account/sessions", route::VIEWER, end_sessions),
    ];
    routes.extend(second_factor::routes());
    routes
}

/// The part of the page in which something was wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Password,
    Codes,
    Off,
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
    failure: Option<(Part, String)>,
}

impl Page {
    fn read(request: &RequestContext, failure: Option<(Part, String)>) -> Result<Self> {
        let current_user = request.current_user()?;
        let (sessions, factor) = request.look_up(|connection| {
            Ok((
                sessions::of_user(connection, current_user.user, Timestamp::now())?,
                factor::state(connection, current_user.user)?,
            ))
        })?;
        Ok(Self {
            layout: request.layout("Your account", Some(Area::Account)),
            role: current_user.role.name(),
            meaning: current_user.role.meaning(),
            sessions: sessions
                .into_iter()
                .map(|session| {
                    let this = session.id == current_user.session;
                    (session, this)
                })
                .collect(),
            factor,
            failure,
        })
    }

    fn wrong(&self, part: Part) -> Option<&str> {
        let (at, message) = self.failure.as_ref()?;
        (*at == part).then_some(message)
    }

    fn wrong_password(&self) -> Option<&str> {
        self.wrong(Part::Password)
    }

    fn wrong_codes(&self) -> Option<&str> {
        self.wrong(Part::Codes)
    }

    fn wrong_off(&self) -> Option<&str> {
        self.wrong(Part::Off)
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::read(&request, None)?)
}

/// The page again, with what was wrong; errors that are not the user's own go on.
fn again(request: &RequestContext, part: Part, error: Error) -> Result<Response> {
    if !matches!(error.kind, Kind::Invalid | Kind::TooManyAttempts { .. }) {
        return Err(error);
    }
    let failure = answer::sentence(&error.message);
    answer::form_again(&Page::read(request, Some((part, failure)))?)
}

async fn change_password(request: RequestContext) -> Result<Response> {
    match password_changed(&request).await {
        Ok(()) => request.done(
            "Your password is changed. Wherever else you were signed in, you are no more.",
            "/console/account",
        ),
        Err(error) => again(&request, Part::Password, error),
    }
}

async fn password_changed(request: &RequestContext) -> Result<()> {
    let form = &request.form;
    let old = form.sent("old").unwrap_or_default().to_owned();
    let new = form.sent("password").unwrap_or_default().to_owned();
    if form.sent("password") != form.sent("again") {
        return Err(Error::invalid("the two passwords differ"));
    }
    sign_in::check_own_password(request, old).await?;
    let current_user = request.current_user()?.clone();
    let permit = password::permit(Queue::Console).await?;
    let change = UserChange {
        password: Some(permit.hash_strong(new, current_user.email.clone()).await?),
        session: Some(current_user.session),
        ..UserChange::default()
    };
    request
        .write(move |tx, ctx| {
            let email = users::get(tx, current_user.user)?.email;
            users::change(tx, ctx, &email, &change)
        })
        .await
}

/// Ends one session, or all but this one.
async fn end_sessions(request: RequestContext) -> Result<Response> {
    let current_user = request.current_user()?.clone();
    let session = request.form.number("session")?;
    let ended = request
        .write(move |tx, ctx| {
            let ended = match session {
                Some(session) => usize::from(sessions::end(tx, current_user.user, session)?),
                None => sessions::end_all(tx, current_user.user, Some(current_user.session))?,
            };
            sessions::audit_end(tx, ctx, current_user.user, ended)?;
            Ok(ended)
        })
        .await?;
    request.done(
        if session.is_some() {
            sessions::told_end(ended)
        } else {
            "You are signed in here and nowhere else."
        },
        "/console/account",
    )
}
