//! The first run: a link that works once, told by `serve` alone, makes the first administrator, names
//! the instance, and creates the place *Entrance* where gate apps check in. While there is an
//! administrator it leads nowhere.

use super::{Access, engine::filled, sign_in};
use crate::admin::prelude::*;
use crate::{
    core::settings::logo,
    identity::{
        ConsoleRole,
        password::{self, Queue},
        users::{self, NewUser},
    },
    ops::first_run::{self, ADMISSIONS, FirstRun},
    types::{UserId, error::Faults, secret},
};
use serde_json::{Value, json};
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
            "name": request.console.settings().name, "timeZone": own_zone(), "days": "one", "admission": "once",
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
            .attribute("data-own-zone", "")
            .help("The venue's time zone."),
        Input::radios("days", "One day or several?", first_run::DAYS),
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
    // A server in the cloud has none: the page then asks the browser.
    let name = system
        .iana_name()
        .filter(|name| Zone::named(name).is_ok() && !name.starts_with("Etc/"));
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
        Ok(user) => sign_in::signed_in(&request, user, "/console").await,
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
    let mut faults = Faults::default();
    if form.sent("password") != form.sent("again") {
        let differ = Error::field("again", "the two passwords differ");
        faults.take::<()>(Err(differ));
    }
    let password = form.sent("password").unwrap_or_default().to_owned();
    let email = form.text("email").to_owned();
    faults.take(users::check_email(&email));
    faults.take(Zone::named(form.text("timeZone")).map_err(|cause| cause.at("timeZone")));
    faults.done()?;
    let permit = password::permit(Queue::Console).await?;
    let password = permit.hash_strong(password, email.clone()).await?;
    let value = |name: &str| form.filled(name).map_or(Value::Null, Value::from);
    let find = |chosen: &str| {
        let known = ADMISSIONS.iter().find(|known| known.name == chosen);
        known.ok_or_else(|| Error::field("admission", "choose how people enter"))
    };
    let first = FirstRun {
        administrator: NewUser {
            email,
            password: Some(password),
            console: Some(ConsoleRole::Administrator),
            ..NewUser::default()
        },
        settings: ["name", "timeZone"]
            .map(|name| (name.to_owned(), value(name)))
            .into_iter()
            .collect(),
        logo: picture,
        admission: form.filled("admission").map(find).transpose()?,
        several_days: form.text("days") == "several",
    };
    let created = request.write(move |tx, ctx| first_run::set_up(tx, ctx, &first));
    // Of two who have the link, one becomes administrator.
    created.await?.ok_or_else(stale)
}
