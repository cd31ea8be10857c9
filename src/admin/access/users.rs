//! Users: the list, and the form of one with its password, sessions and removal.

use super::{Made, PAGE, lookup, parse_roles, role_names, roles, show_once};
use crate::admin::prelude::*;
use crate::{
    identity::{
        ConsoleRole,
        password::{self, Hashed, Queue},
        second_factor::{self, State},
        sessions::{self, Session},
        tokens::{self, Usage},
        users::{self, NewUser, User, UserChange},
    },
    types::{DelegateId, Patch, UserId, error::Faults},
};
use serde::{Deserialize, Serialize};

const HERE: &str = "/console/access";
/// Letters of a password that is made here, of five bits each.
const PASSWORD_CHARS: usize = 16;

pub(super) fn routes() -> Routes {
    let (new, edit) = ("/console/access/users/new", "/console/access/users/:id");
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .with(engine::routes::<Users>(new, edit, ADMINISTRATOR))
        .post("/console/access/users/:id/password", set_password)
        .action("/console/access/users/:id/second-factor", turn_off)
        .action("/console/access/users/:id/sessions", end_sessions)
        .post("/console/access/users/:id/remove", remove)
}

#[derive(Template)]
#[template(path = "access/users.html")]
struct UserList {
    layout: Layout,
    list: List,
    lines: Vec<Line>,
}

struct Line {
    user: User,
    second_factor: bool,
    last: Option<Timestamp>,
    /// The name of the attendee that the user is.
    delegate: Option<String>,
}

impl Line {
    fn roles(&self) -> usize {
        self.user.roles.iter().count()
    }

    fn of(connection: &Connection, user: User) -> Result<Self> {
        let delegate = match user.delegate {
            Some(delegate) => lookup::delegate(connection, delegate.0)?,
            None => None,
        };
        // In the console, or by getting a token.
        let seen = sessions::last_seen(connection, user.id)?;
        let usage = tokens::usage_of_user(connection, user.id, Timestamp::now())?;
        Ok(Self {
            second_factor: second_factor::is_on(connection, user.id)?,
            last: seen.max(usage.last),
            delegate: delegate.map(|delegate| delegate.label),
            user,
        })
    }
}

async fn list(request: RequestContext) -> Result<Response> {
    let query = &request.query;
    let (q, console) = (query.text("q").to_owned(), query.ticked("console"));
    let before = query.number("before")?.map(UserId);
    let inputs = vec![
        Input::line("search", "q", "E-mail"),
        Input::flag("console", "only who may use the console"),
    ];
    let mut list = List::new(&request, inputs, "before");
    let read = move |connection: &Connection, layout| {
        let found = users::page(connection, &q, console, before, PAGE + 1)?;
        let found = list.cut(found, PAGE, |user| user.id.0).into_iter();
        let lines = found.map(|user| Line::of(connection, user));
        Ok(UserList {
            lines: lines.collect::<Result<_>>()?,
            layout,
            list,
        })
    };
    request.page("Users and clients", Area::Access, read).await
}

struct Users;

/// The password of a new user: made, typed, or none.
fn new_password_inputs() -> Vec<Input> {
    let how = [
        ("made", "make one", "it is shown once, for you to pass on"),
        ("typed", "the one typed here", ""),
        (
            "none",
            "none",
            "for guests in an app, who sign in with one-time passwords",
        ),
    ];
    let mut how = Input::radios("how", "Password", how).apart();
    how.choices[0].chosen = true;
    std::iter::once(how).chain(password_inputs()).collect()
}

/// The password of a user who may get a role in the console: one of an app, which may be weak, would open the console.
fn promotion_inputs(user: &User) -> Vec<Input> {
    if !user.is_promotion(Some(ConsoleRole::Viewer)) {
        return Vec::new();
    }
    let how = Input::hidden("how", "typed").apart();
    std::iter::once(how).chain(password_inputs()).collect()
}

fn password_inputs() -> [Input; 2] {
    let line = |name, label| {
        let line = Input::line("password", name, label).apart();
        line.attribute("minlength", "8")
            .attribute("autocomplete", "new-password")
    };
    [
        line("password", "Password").help(
            "At least 8 characters. With a role in the console it must be hard to guess: several \
             uncommon words, or one made by a password manager.",
        ),
        line("again", "Confirm password"),
    ]
}

/// A user as the form has it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Draft {
    email: String,
    console: Option<String>,
    role: Vec<String>,
    delegate: Option<i64>,
    #[serde(skip)]
    password: NewPassword,
}

/// A password that was typed or made; one that was made in clear, too.
#[derive(Clone, Default)]
struct NewPassword {
    hashed: Option<Hashed>,
    clear: Option<String>,
}

impl Draft {
    fn of(user: &User) -> Self {
        Self {
            email: user.email.clone(),
            console: user.console.map(|role| role.name().to_owned()),
            role: role_names(user.roles),
            delegate: user.delegate.map(|delegate| delegate.0),
            password: NewPassword::default(),
        }
    }

    fn console(&self) -> Result<Option<ConsoleRole>> {
        self.console.as_deref().map(ConsoleRole::parse).transpose()
    }
}

#[derive(Template)]
#[template(path = "access/user.html")]
struct Aside<'a> {
    layout: &'a Layout,
    user: User,
    is_own: bool,
    sessions: Vec<Session>,
    second_factor: Option<State>,
    usage: Usage,
}

impl Editor for Users {
    type Key = UserId;
    type Draft = Draft;
    type Created = UserId;
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "user";
    const AREA: Area = Area::Access;

    fn blank(_: &RequestContext) -> Draft {
        Draft {
            console: Some(ConsoleRole::Operator.name().to_owned()),
            ..Draft::default()
        }
    }

    fn find(connection: &Connection, id: &UserId) -> Result<Draft> {
        Ok(Draft::of(&users::get(connection, *id)?))
    }

    fn name(draft: &Draft) -> String {
        draft.email.clone()
    }

    fn groups(connection: &Connection, id: Option<&UserId>, draft: &Draft) -> Groups {
        let role = |role: &ConsoleRole| Choice::from((role.name(), role.name(), role.meaning()));
        let nothing = Choice::from(("", "nothing", "cannot sign in here"));
        let consoles = std::iter::once(nothing).chain(ConsoleRole::ALL.iter().map(role));
        let mut delegate = Input::lookup(
            "delegate",
            "Attendee that this user is",
            "/console/access/find/delegate",
            "name, e-mail or barcode",
        );
        if let Some(id) = draft.delegate {
            delegate.choices.extend(lookup::delegate(connection, id)?);
        }
        let mut inputs = vec![
            Input::line("email", "email", "E-mail")
                .wide()
                .required()
                .max(254),
            Input::radios("console", "In this console", consoles),
        ];
        inputs.extend(match id {
            None => new_password_inputs(),
            Some(id) => promotion_inputs(&users::get(connection, *id)?),
        });
        inputs.push(roles("In apps that use the API").help(
            "Only for people who sign in to an app. The crew in this console needs none of these.",
        ));
        inputs.push(delegate.help(
            "Whoever is tied to an attendee may see and change that record in an app. The crew needs none.",
        ));
        engine::filled(vec![Group::new("Permissions", inputs)], draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        engine::typed(groups, sent)
    }

    async fn prepare(at: At<'_, Self>, draft: Draft) -> Result<Draft> {
        let console = draft.console()?;
        let is_wanted = at.key.is_none() || at.request.form.filled("password").is_some();
        let mut faults = Faults::default();
        faults.take(users::check_email(&draft.email));
        let password = if is_wanted {
            faults.take(new_password(at.request, &draft.email, console).await)
        } else {
            Some(NewPassword::default())
        };
        if let Some(password) = &password
            && at.key.is_none()
            && password.hashed.is_none()
            && console.is_some()
        {
            let lacking = Error::field("how", "a role in the console needs a password");
            faults.take::<()>(Err(lacking));
        }
        faults.done()?;
        Ok(Draft {
            password: password.unwrap_or_default(),
            ..draft
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<UserId> {
        let new = NewUser {
            email: draft.email.clone(),
            password: draft.password.hashed.clone(),
            console: draft.console()?,
            roles: parse_roles(&draft.role)?,
            delegate: draft.delegate.map(DelegateId),
        };
        users::create(tx, ctx, &new)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &UserId, draft: &Draft) -> Result<()> {
        let change = UserChange {
            email: Some(draft.email.clone()),
            password: draft.password.hashed.clone(),
            console: draft.console()?.map_or(Patch::Null, Patch::Value),
            roles: Some(parse_roles(&draft.role)?),
            delegate: draft
                .delegate
                .map(DelegateId)
                .map_or(Patch::Null, Patch::Value),
            ..UserChange::default()
        };
        users::edit(tx, ctx, *id, &change)
    }

    fn created(request: &RequestContext, draft: Draft, id: UserId) -> Result<Response> {
        match draft.password.clear {
            Some(password) => show_password(request, id, draft.email, password),
            None => request.done(format!("{} created.", draft.email), &Self::page(&id)),
        }
    }

    fn saved(request: &RequestContext, id: &UserId, draft: &Draft) -> Result<Response> {
        let is_out = *id == request.current_user()?.user
            && draft.console()? != Some(ConsoleRole::Administrator);
        let next = Self::page(id);
        let next = if is_out { "/console" } else { &next };
        request.done(format!("{} saved.", draft.email), next)
    }

    fn page(id: &UserId) -> String {
        format!("{HERE}/users/{id}")
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let Some(id) = at.key.copied() else {
            return Ok(String::new());
        };
        let now = Timestamp::now();
        let aside = at.request.look_up(|connection| {
            Ok(Aside {
                layout: at.layout,
                user: users::get(connection, id)?,
                is_own: at.request.current_user()?.user == id,
                sessions: sessions::of_user(connection, id, now)?,
                second_factor: second_factor::state(connection, id)?,
                usage: tokens::usage_of_user(connection, id, now)?,
            })
        })?;
        answer::part(&aside)
    }

    fn found(connection: &Connection, text: &str) -> Result<Vec<Choice>> {
        lookup::find_delegates(connection, text)
    }
}

/// A password as a form asks for it: typed, made here, or none. Whoever has a role in the console needs
/// one that is hard to guess.
async fn new_password(
    request: &RequestContext,
    email: &str,
    console: Option<ConsoleRole>,
) -> Result<NewPassword> {
    let form = &request.form;
    let (clear, is_made) = match form.text("how") {
        "none" => return Ok(NewPassword::default()),
        "typed" if form.sent("password") != form.sent("again") => {
            return Err(Error::field("again", "the two passwords differ"));
        }
        "typed" => (form.sent("password").unwrap_or_default().to_owned(), false),
        _ => (second_factor::readable(PASSWORD_CHARS)?, true),
    };
    let permit = password::permit(Queue::Console).await?;
    let hashed = match console {
        Some(_) if !is_made => permit.hash_strong(clear.clone(), email.to_owned()).await?,
        _ => permit.hash(clear.clone()).await?,
    };
    Ok(NewPassword {
        hashed: Some(hashed),
        clear: is_made.then_some(clear),
    })
}

fn show_password(
    request: &RequestContext,
    id: UserId,
    email: String,
    secret: String,
) -> Result<Response> {
    let made = Made {
        what: "Password",
        secret,
        id: ("E-mail", email.clone()),
        back: Users::page(&id),
        name: email,
    };
    show_once(request, made)
}

async fn set_password(request: RequestContext) -> Result<Response> {
    let id = UserId(request.id("id")?);
    match password_set(&request, id).await {
        Ok((email, Some(password))) => show_password(&request, id, email, password),
        Ok((email, None)) => {
            let message = format!("{email} has a new password and is signed out everywhere.");
            request.done(message, &Users::page(&id))
        }
        Err(cause) => request.failed(cause, engine::show::<Users>).await,
    }
}

async fn password_set(request: &RequestContext, id: UserId) -> Result<(String, Option<String>)> {
    let user = request.look_up(|connection| users::get(connection, id))?;
    let NewPassword { hashed, clear } = new_password(request, &user.email, user.console).await?;
    let change = UserChange {
        password: hashed,
        ..UserChange::default()
    };
    request
        .write(move |tx, ctx| users::edit(tx, ctx, id, &change))
        .await?;
    Ok((user.email, clear))
}

fn turn_off(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let user = users::get(tx, UserId(action.id))?;
    second_factor::remove(tx, ctx, user.id)?;
    let message = format!("{} now signs in with the password alone.", user.email);
    Ok(Done::new(message, Users::page(&user.id)))
}

fn end_sessions(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let user = users::get(tx, UserId(action.id))?.id;
    let session = action.form.number("session")?;
    let ended = if let Some(session) = session {
        usize::from(sessions::end(tx, user, session)?)
    } else {
        tokens::cancel_of_user(tx, user)?;
        sessions::end_all(tx, user, None)?
    };
    sessions::audit_end(tx, ctx, user, ended)?;
    let message = match session {
        Some(_) => sessions::told_end(ended),
        None => "Signed out everywhere, in the console and in apps.",
    };
    Ok(Done::new(message, Users::page(&user)))
}

async fn remove(request: RequestContext) -> Result<Response> {
    let id = UserId(request.id("id")?);
    let removed = request.write(move |tx, ctx| {
        let email = users::get(tx, id)?.email;
        users::remove(tx, ctx, &email)?;
        Ok(email)
    });
    match removed.await {
        Ok(email) => {
            let message = format!("{email} removed and signed out everywhere.");
            request.done(message, HERE)
        }
        Err(cause) => request.failed(cause, engine::show::<Users>).await,
    }
}
