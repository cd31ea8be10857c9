//! The first run: a link that works once, told by `serve` alone, makes the first administrator, names
//! the instance, and creates the place *Entrance* where gate apps check in. While there is an
//! administrator it leads nowhere.

use super::{Access, Layout, RequestContext, Route, answer, settings::words, sign_in};
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
    vec![
        Route::get("/console/setup", Access::Anyone, show),
        Route::post("/console/setup", Access::Anyone, make),
    ]
}

#[derive(Template)]
#[template(path = "setup.html")]
struct Page {
    layout: Layout,
    token: String,
    email: String,
    name: String,
    time_zone: String,
    zones: Vec<String>,
    admission: String,
    failure: Option<String>,
}

impl Page {
    fn new(request: &RequestContext, token: &str) -> Self {
        let settings = request.console.settings();
        Self {
            layout: request.layout("Welcome", None),
            token: token.to_owned(),
            email: request.form.text("email").to_owned(),
            name: request.form.filled("name").map_or_else(
                || settings.name.clone().unwrap_or_default(),
                ToOwned::to_owned,
            ),
            time_zone: request
                .form
                .filled("timeZone")
                .map_or_else(own_zone, ToOwned::to_owned),
            zones: Zone::names(),
            admission: request
                .form
                .filled("admission")
                .unwrap_or("once")
                .to_owned(),
            failure: None,
        }
    }
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
    answer::page(&Page::new(&request, token))
}

async fn make(mut request: RequestContext) -> Result<Response> {
    let token = request.form.text("token").to_owned();
    request.console.setup.check(&token)?;
    match administrator(&mut request).await {
        Ok(user) => {
            let mut response = answer::go("/console");
            let cookie = sign_in::opened(&request, user).await?;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) if matches!(error.kind, Kind::Invalid | Kind::CodeTaken | Kind::TooLarge) => {
            let mut page = Page::new(&request, &token);
            page.failure = Some(answer::sentence(&words::in_words(&error.message)));
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
        return Err(Error::invalid("the two passwords differ"));
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
    let mut named = Map::new();
    for name in ["name", "timeZone"] {
        let value = form.filled(name).map_or(Value::Null, Value::from);
        named.insert(name.to_owned(), value);
    }
    let admission = match form.filled("admission") {
        None => None,
        Some(chosen) => Some(
            ADMISSIONS
                .iter()
                .find(|known| known.name == chosen)
                .ok_or_else(|| Error::invalid("admission: choose how people enter"))?,
        ),
    };
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
