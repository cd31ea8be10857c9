//! One user: made, changed, given another password, signed out, removed.

use super::{
    Made, Tick,
    choice::{Chooser, Subject},
    role_ticks, show_once, ticked_roles,
};
use crate::{
    admin::{
        Area, Layout, RequestContext, Route, answer,
        form::{MEANWHILE, is_theirs},
        route,
    },
    identity::{
        ConsoleRole, Edit, Roles,
        password::{self, Hashed, Queue},
        second_factor::{self, State},
        sessions::{self, Session},
        tokens::{self, Usage},
        users::{self, NewUser, User, UserChange},
    },
    types::{
        DelegateId, Patch, Timestamp, UserId,
        error::{Error, Result},
    },
};
use askama::Template;
use poem::Response;

/// Letters of a password that is made here, of five bits each.
const PASSWORD_CHARS: usize = 16;

pub(super) fn routes() -> Vec<Route> {
    let only = route::ADMINISTRATOR;
    vec![
        Route::get("/console/access/users/new", only, blank),
        Route::post("/console/access/users/new", only, make),
        Route::get("/console/access/users/:id", only, show),
        Route::post("/console/access/users/:id", only, change),
        Route::post("/console/access/users/:id/password", only, set_password),
        Route::post("/console/access/users/:id/second-factor", only, turn_off),
        Route::post("/console/access/users/:id/sessions", only, end_sessions),
        Route::post("/console/access/users/:id/remove", only, remove),
    ]
}

/// A user with all that the page tells.
struct Known {
    user: User,
    sessions: Vec<Session>,
    second_factor: Option<State>,
    usage: Usage,
}

#[derive(Template)]
#[template(path = "access/user.html")]
struct Page {
    layout: Layout,
    /// The user, unless it is yet to be made.
    known: Option<Known>,
    own: bool,
    action: String,
    email: String,
    seen: i64,
    console: Option<ConsoleRole>,
    roles: Vec<Tick>,
    password: String,
    chooser: Chooser,
    failure: Option<String>,
}

/// What a form asks for, but for the password.
#[derive(Clone)]
struct Wanted {
    email: String,
    console: Option<ConsoleRole>,
    roles: Roles,
    delegate: Option<DelegateId>,
}

impl Wanted {
    fn sent(request: &RequestContext) -> Result<Self> {
        let form = &request.form;
        Ok(Self {
            email: form.text("email").to_owned(),
            console: form.filled("console").map(ConsoleRole::parse).transpose()?,
            roles: ticked_roles(request)?,
            delegate: form.number("delegate")?.map(DelegateId),
        })
    }

    fn stands(user: &User) -> Self {
        Self {
            email: user.email.clone(),
            console: user.console,
            roles: user.roles,
            delegate: user.delegate,
        }
    }
}

impl Page {
    async fn read(
        request: &RequestContext,
        known: Option<Known>,
        wanted: Wanted,
        seen: Timestamp,
    ) -> Result<Self> {
        let (title, action) = match &known {
            Some(known) => (
                known.user.email.clone(),
                format!("/console/access/users/{}", known.user.id),
            ),
            None => (
                "New user".to_owned(),
                "/console/access/users/new".to_owned(),
            ),
        };
        let delegate = wanted.delegate.map(|delegate| delegate.0);
        let own = request.current_user()?.user;
        Ok(Self {
            layout: request.layout(&title, Some(Area::Access)),
            chooser: Chooser::read(request, Subject::Delegate, action.clone(), delegate).await?,
            own: known.as_ref().is_some_and(|known| known.user.id == own),
            known,
            action,
            email: wanted.email,
            seen: seen.0,
            console: wanted.console,
            roles: role_ticks(wanted.roles),
            password: request.form.filled("how").unwrap_or("made").to_owned(),
            failure: None,
        })
    }

    /// Whether the form asks for a new password: any role would let the user into the console.
    fn asks_for_password(&self) -> bool {
        let role = Some(ConsoleRole::Viewer);
        self.known
            .as_ref()
            .is_some_and(|known| known.user.is_promotion(role))
    }

    /// What is wrong with the new password.
    fn password_failure(&self) -> Option<&str> {
        let failure = self.failure.as_deref()?;
        (self.asks_for_password() && failure.to_lowercase().contains("password")).then_some(failure)
    }

    /// The roles that can be chosen, and whether each is.
    fn consoles(&self) -> impl Iterator<Item = (ConsoleRole, bool)> {
        let chosen = self.console;
        ConsoleRole::ALL
            .iter()
            .map(move |role| (*role, chosen == Some(*role)))
    }
}

fn id(request: &RequestContext) -> Result<UserId> {
    request.id("id").map(UserId)
}

fn path(id: UserId) -> String {
    format!("/console/access/users/{id}")
}

async fn read(request: &RequestContext, id: UserId) -> Result<Known> {
    request
        .read(move |connection| {
            let now = Timestamp::now();
            Ok(Known {
                user: users::get(connection, id)?,
                sessions: sessions::of_user(connection, id, now)?,
                second_factor: second_factor::state(connection, id)?,
                usage: tokens::usage_of_user(connection, id, now)?,
            })
        })
        .await
}

async fn blank(request: RequestContext) -> Result<Response> {
    let wanted = Wanted {
        email: String::new(),
        console: Some(ConsoleRole::Operator),
        roles: Roles::default(),
        delegate: None,
    };
    answer::page(&Page::read(&request, None, wanted, Timestamp(0)).await?)
}

/// A password as the form asks for it: typed, made here (then in clear beside it), or none. Whoever
/// has a role in the console needs one that is hard to guess.
async fn new_password(
    request: &RequestContext,
    email: &str,
    console: Option<ConsoleRole>,
) -> Result<(Option<Hashed>, Option<String>)> {
    let form = &request.form;
    match form.text("how") {
        "none" => Ok((None, None)),
        "typed" => {
            if form.sent("password") != form.sent("again") {
                return Err(Error::invalid("the two passwords differ"));
            }
            let typed = form.sent("password").unwrap_or_default().to_owned();
            let permit = password::permit(Queue::Console).await?;
            let hashed = match console {
                Some(_) => permit.hash_strong(typed, email.to_owned()).await?,
                None => permit.hash(typed).await?,
            };
            Ok((Some(hashed), None))
        }
        _ => {
            let made = second_factor::readable(PASSWORD_CHARS)?;
            let hashed = password::permit(Queue::Console)
                .await?
                .hash(made.clone())
                .await?;
            Ok((Some(hashed), Some(made)))
        }
    }
}

async fn make(request: RequestContext) -> Result<Response> {
    let wanted = Wanted::sent(&request)?;
    match made(&request, wanted.clone()).await {
        Ok((id, Some(password))) => show_password(&request, id, wanted.email, password),
        Ok((id, None)) => request.done(format!("{} is made.", wanted.email), &path(id)),
        Err(error) if is_theirs(&error) => {
            let mut page = Page::read(&request, None, wanted, Timestamp(0)).await?;
            page.failure = Some(answer::sentence(&error.message));
            answer::form_again(&page)
        }
        Err(error) => Err(error),
    }
}

async fn made(request: &RequestContext, wanted: Wanted) -> Result<(UserId, Option<String>)> {
    let (password, clear) = new_password(request, &wanted.email, wanted.console).await?;
    if password.is_none() && wanted.console.is_some() {
        return Err(Error::invalid(
            "whoever is to work in the console needs a password",
        ));
    }
    let new = NewUser {
        email: wanted.email,
        password,
        console: wanted.console,
        roles: wanted.roles,
        delegate: wanted.delegate,
    };
    let ctx = request.context();
    let store = &request.console.store;
    let id = store.write(move |tx| users::create(tx, &ctx, &new)).await?;
    Ok((id, clear))
}

fn show_password(
    request: &RequestContext,
    id: UserId,
    email: String,
    secret: String,
) -> Result<Response> {
    show_once(
        request,
        Made {
            what: "Password",
            secret,
            id: ("E-mail", email.clone()),
            back: path(id),
            name: email,
        },
    )
}

async fn show(request: RequestContext) -> Result<Response> {
    let known = read(&request, id(&request)?).await?;
    let (wanted, seen) = (Wanted::stands(&known.user), known.user.updated_at);
    answer::page(&Page::read(&request, Some(known), wanted, seen).await?)
}

async fn change(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let wanted = Wanted::sent(&request)?;
    let seen = Timestamp(request.form.number("seen")?.unwrap_or_default());
    let (wanted, seen, failure) = match changed(&request, id, wanted.clone(), seen).await {
        Ok(Edit::Done(user)) => {
            request.flash(format!("{} is changed.", user.email));
            let stays = id != request.current_user()?.user
                || user.console == Some(ConsoleRole::Administrator);
            let next = if stays {
                path(id)
            } else {
                "/console".to_owned()
            };
            return Ok(answer::go(&next));
        }
        Ok(Edit::Outdated(user)) => (Wanted::stands(&user), user.updated_at, MEANWHILE.to_owned()),
        Err(error) if is_theirs(&error) => (wanted, seen, answer::sentence(&error.message)),
        Err(error) => return Err(error),
    };
    again(&request, id, wanted, seen, failure).await
}

/// Changes a user; with a new password where the form sends one, which a promotion needs.
async fn changed(
    request: &RequestContext,
    id: UserId,
    wanted: Wanted,
    seen: Timestamp,
) -> Result<Edit<User>> {
    let form = &request.form;
    let password = match form.filled("password") {
        Some(_) => {
            new_password(request, &wanted.email, wanted.console)
                .await?
                .0
        }
        None => None,
    };
    let change = UserChange {
        email: Some(wanted.email),
        password,
        console: wanted.console.map_or(Patch::Null, Patch::Value),
        roles: Some(wanted.roles),
        delegate: match form.sent("delegate") {
            None => Patch::Absent,
            Some(_) => wanted.delegate.map_or(Patch::Null, Patch::Value),
        },
        ..UserChange::default()
    };
    let ctx = request.context();
    let store = &request.console.store;
    store
        .write(move |tx| users::edit(tx, &ctx, id, seen, &change))
        .await
}

async fn again(
    request: &RequestContext,
    id: UserId,
    wanted: Wanted,
    seen: Timestamp,
    failure: String,
) -> Result<Response> {
    let known = read(request, id).await?;
    let mut page = Page::read(request, Some(known), wanted, seen).await?;
    page.failure = Some(failure);
    answer::form_again(&page)
}

async fn set_password(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    match password_set(&request, id).await {
        Ok((email, Some(password))) => show_password(&request, id, email, password),
        Ok((email, None)) => request.done(
            format!("{email} has a new password and is signed out everywhere."),
            &path(id),
        ),
        Err(error) if is_theirs(&error) => {
            let user = read(&request, id).await?.user;
            let (wanted, failure) = (Wanted::stands(&user), answer::sentence(&error.message));
            again(&request, id, wanted, user.updated_at, failure).await
        }
        Err(error) => Err(error),
    }
}

async fn password_set(request: &RequestContext, id: UserId) -> Result<(String, Option<String>)> {
    let user = request.look_up(|connection| users::get(connection, id))?;
    let (password, clear) = new_password(request, &user.email, user.console).await?;
    let change = UserChange {
        password,
        ..UserChange::default()
    };
    let email = request
        .write(move |tx, ctx| {
            let email = users::get(tx, id)?.email;
            users::change(tx, ctx, &email, &change)?;
            Ok(email)
        })
        .await?;
    Ok((email, clear))
}

async fn turn_off(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let email = request
        .write(move |tx, ctx| {
            let user = users::get(tx, id)?;
            second_factor::remove(tx, ctx, id)?;
            Ok(user.email)
        })
        .await?;
    request.done(
        format!("{email} signs in with the password alone now."),
        &path(id),
    )
}

async fn end_sessions(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let session = request.form.number("session")?;
    let ended = request
        .write(move |tx, ctx| {
            users::get(tx, id)?;
            let ended = if let Some(session) = session {
                usize::from(sessions::end(tx, id, session)?)
            } else {
                tokens::cancel_of_user(tx, id)?;
                sessions::end_all(tx, id, None)?
            };
            sessions::audit_end(tx, ctx, id, ended)?;
            Ok(ended)
        })
        .await?;
    request.done(
        if session.is_some() {
            sessions::told_end(ended)
        } else {
            "Signed out everywhere, in the console and in apps."
        },
        &path(id),
    )
}

async fn remove(request: RequestContext) -> Result<Response> {
    let id = id(&request)?;
    let removed = request
        .write(move |tx, ctx| {
            let email = users::get(tx, id)?.email;
            users::remove(tx, ctx, &email)?;
            Ok(email)
        })
        .await;
    match removed {
        Ok(email) => request.done(
            format!("{email} is removed and signed out everywhere."),
            "/console/access",
        ),
        Err(error) if is_theirs(&error) => {
            let user = read(&request, id).await?.user;
            let (wanted, failure) = (Wanted::stands(&user), answer::sentence(&error.message));
            again(&request, id, wanted, user.updated_at, failure).await
        }
        Err(error) => Err(error),
    }
}
