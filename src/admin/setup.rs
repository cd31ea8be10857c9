//! The first run: a link that works once, told by `serve` alone, makes the first administrator, names
//! the instance, and creates the place *Entrance* where gate apps check in. While there is an
//! administrator it leads nowhere.

use super::{
    Access, Layout, RequestContext, Route, answer,
    engine::{Choice, Form, Group, Input, filled},
    form::is_theirs,
    route::Routes,
    sign_in,
};
use crate::{
    core::{
        Context,
        records::write as records,
        settings::{self, logo},
    },
    db::Tx,
    domain::{apps::configuration, devices},
    identity::{
        ConsoleRole,
        password::{self, Queue},
        users::{self, NewUser},
    },
    types::{
        UserId, Zone,
        error::{Error, Kind, Result},
        secret,
    },
};
use askama::Template;
use poem::{Response, http::header};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The first administrator's way in.
#[derive(Default)]
pub struct Setup(OnceLock<String>);

impl Setup {
    /// The path of the link, where there is no administrator yet; the same each time.
    pub fn link(&self, connection: &Connection) -> Result<Option<String>> {
        if users::has_administrator(connection)? {
            return Ok(None);
        }
        let fresh = secret::fresh()?;
        let token = self.0.get_or_init(|| fresh);
        // In the query: logs show paths, and no queries.
        Ok(Some(format!("/console/setup?token={token}")))
    }

    fn check(&self, sent: &str) -> Result<()> {
        let digest = |text: &str| secret::digest(text.as_bytes());
        let right = self
            .0
            .get()
            .is_some_and(|token| secret::same(&digest(token), &digest(sent)));
        if right { Ok(()) } else { Err(stale()) }
    }
}

fn stale() -> Error {
    Error::new(
        Kind::Forbidden,
        "this link has been used or is of an earlier start; the terminal that runs the server shows \
         the current one while there is no administrator, and `gatepost user add EMAIL --admin \
         --password-stdin` makes one at any time",
    )
}

/// How people enter: what an administrator chooses on the first run.
struct Admission {
    /// What the form sends.
    name: &'static str,
    label: &'static str,
    help: &'static str,
    /// `data.Access` of the entrance.
    rules: fn() -> Value,
}

const ADMISSIONS: [Admission; 3] = [
    Admission {
        name: "once",
        label: "One entry per ticket",
        help: "A ticket that was used is refused.",
        rules: || json!({"ruleSet": "open", "entry": "single", "maxCheckIns": 1}),
    },
    Admission {
        name: "again",
        label: "Come and go",
        help: "A ticket may be scanned again. The gate shows when it was used before.",
        rules: || json!({"ruleSet": "open", "entry": "multiple"}),
    },
    Admission {
        name: "registered",
        label: "Registered attendees only",
        help: "Only those who joined or booked the entrance or its event, once each.",
        rules: || json!({"ruleSet": "simple", "entry": "single", "maxCheckIns": 1}),
    },
];

/// The code of the place that the first run creates.
const ENTRANCE: &str = "entrance";
/// The setting of gate apps that names, as a selector, where they check in.
const PLACE: &str = "place";

/// Creates the entrance, and has gate apps check in there unless they are told otherwise.
fn create_entrance(tx: &Tx<'_>, ctx: &Context, admission: &Admission) -> Result<()> {
    let properties = json!({
        "name": "Entrance", "code": ENTRANCE, "deviceType": "room",
        "data": {"Access": (admission.rules)()},
    });
    if let Value::Object(properties) = properties {
        records::create(tx, ctx, &devices::RESOURCE, properties)?;
    }
    let mut document = configuration::published(tx)?.document;
    let place = json!(format!("code:{ENTRANCE}"));
    document.default.insert(PLACE.to_owned(), place);
    configuration::publish(tx, ctx, &document)?;
    Ok(())
}

pub(super) fn routes() -> Vec<Route> {
    let setup = "/console/setup";
    Routes::access(Access::Anyone)
        .get(setup, show)
        .post(setup, submit)
        .all()
}

#[derive(Template)]
#[template(path = "setup.html")]
struct Page {
    layout: Layout,
    token: String,
    form: Form,
}

impl Page {
    fn new(request: &RequestContext, token: &str) -> Result<Self> {
        let begun = json!({
            "name": request.console.settings().name, "timeZone": own_zone(), "admission": "once",
        });
        Ok(Self {
            layout: request.layout("Welcome", None),
            token: token.to_owned(),
            form: Form {
                groups: filled(groups(), &begun)?,
                ..Form::default()
            },
        })
    }
}

fn groups() -> Vec<Group> {
    let admissions = ADMISSIONS.iter();
    let admissions = admissions.map(|known| Choice::from((known.name, known.label, known.help)));
    let password = |name, label| {
        Input::line("password", name, label)
            .required()
            .attribute("minlength", "8")
            .attribute("autocomplete", "new-password")
    };
    let inputs = vec![
        Input::text("name", "Name of the event or the venue")
            .wide()
            .max(200)
            .placeholder("Gatepost")
            .attribute("autofocus", ""),
        Input::text("timeZone", "Time zone")
            .wide()
            .required()
            .offered(Zone::names())
            .help("The venue's time zone."),
        Input::radios("admission", "How do people enter?", admissions).help(
            "Gatepost creates the place Entrance with these rules. Gate apps check in there. You can \
             change the rules at any time.",
        ),
        Input::line("email", "email", "Your e-mail")
            .wide()
            .required()
            .attribute("autocomplete", "username"),
        password("password", "Password").wide().help(
            "At least 8 characters, and hard to guess: several uncommon words, or one made by a \
             password manager. You become the first administrator.",
        ),
        password("again", "Confirm password").wide(),
    ];
    vec![Group::new("", inputs)]
}

/// The laptop's zone: mostly the event's.
fn own_zone() -> String {
    let system = jiff::tz::TimeZone::system();
    let name = system.iana_name().filter(|name| Zone::named(name).is_ok());
    name.unwrap_or("UTC").to_owned()
}

async fn show(request: RequestContext) -> Result<Response> {
    let token = request.query.text("token");
    request.console.setup.check(token)?;
    if request.look_up(users::has_administrator)? {
        return Err(stale());
    }
    answer::page(&Page::new(&request, token)?)
}

async fn submit(mut request: RequestContext) -> Result<Response> {
    let token = request.form.text("token").to_owned();
    request.console.setup.check(&token)?;
    match administrator(&mut request).await {
        Ok(user) => {
            let mut response = answer::go("/console");
            let cookie = sign_in::opened(&request, user).await?;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) if is_theirs(&error) || error.kind == Kind::TooLarge => {
            let mut page = Page::new(&request, &token)?;
            page.form.reject(&request.form, &error);
            answer::form_again(&page)
        }
        Err(error) => Err(error),
    }
}

async fn administrator(request: &mut RequestContext) -> Result<UserId> {
    let picture = match request.upload() {
        Some(upload) if upload.file_name().is_some() => {
            let content = upload.small(logo::MAX_BYTES).await?;
            logo::check(&content)?;
            Some(content)
        }
        _ => None,
    };
    let form = &request.form;
    if form.sent("password") != form.sent("again") {
        return Err(Error::invalid("again: the two passwords differ"));
    }
    let password = form.sent("password").unwrap_or_default().to_owned();
    let email = form.text("email").to_owned();
    let permit = password::permit(Queue::Console).await?;
    let password = permit.hash_strong(password, email.clone()).await?;
    let new = NewUser {
        email,
        password: Some(password),
        console: Some(ConsoleRole::Administrator),
        ..NewUser::default()
    };
    let value = |name: &str| form.filled(name).map_or(Value::Null, Value::from);
    let named = ["name", "timeZone"].map(|name| (name.to_owned(), value(name)));
    let named: Map<String, Value> = named.into_iter().collect();
    let find = |chosen: &str| {
        let known = ADMISSIONS.iter().find(|known| known.name == chosen);
        known.ok_or_else(|| Error::invalid("admission: choose how people enter"))
    };
    let admission = form.filled("admission").map(find).transpose()?;
    request
        .write(move |tx, ctx| {
            // Of two who have the link, one becomes administrator.
            if users::has_administrator(tx)? {
                return Err(stale());
            }
            settings::save(tx, ctx, &named)?;
            if let Some(picture) = &picture {
                logo::save(tx, ctx, picture)?;
            }
            if let Some(admission) = admission {
                create_entrance(tx, ctx, admission)?;
            }
            users::create(tx, ctx, &new)
        })
        .await
}
