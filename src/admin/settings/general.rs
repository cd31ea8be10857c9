//! Name, time zone, address, origins; beside them the logo, the default rules, and what is as it is.

use super::{Frame, access, frame, layout};
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        engine::{Choice, Form, Input, SettingsForm},
        route,
    },
    core::settings::{self, logo},
    db::Durability,
    types::{Timestamp, Zone, error::Result},
};
use askama::Template;
use poem::Response;
use serde_json::{Map, Value, json};

const HERE: &str = "/console/settings";

pub(super) fn routes() -> Vec<Route> {
    let only = route::ADMINISTRATOR;
    vec![
        Route::get(HERE, only, |request| async move {
            answer::page(&Page::new(&request, None)?)
        }),
        Route::post(HERE, only, |request| save(request, &GENERAL)),
        Route::post("/console/settings/access", only, |request| {
            save(request, &access::FORM)
        }),
        Route::post("/console/settings/outgoing", only, |request| {
            save(request, &OUTGOING)
        }),
    ]
}

/// The page of general settings.
#[derive(Template)]
#[template(path = "settings/general.html")]
pub(super) struct Page {
    layout: Layout,
    frame: Frame,
    general: Form,
    access: Form,
    outgoing: Form,
    /// Why a picture is not the logo.
    pub(super) logo_failure: String,
    /// The address that the command line gave.
    flag: Option<String>,
    logo: Option<Timestamp>,
    file: String,
    version: &'static str,
    safe: bool,
}

impl Page {
    /// The page, with a form on it that could not be saved.
    pub(super) fn new(request: &RequestContext, again: Option<Form>) -> Result<Self> {
        let console = &request.console;
        let (stored, logo) = request
            .look_up(|connection| Ok((settings::stored(connection)?, logo::since(connection)?)))?;
        let mut page = Self {
            layout: layout(request, "Settings"),
            frame: frame("General"),
            general: GENERAL.form(&stored),
            access: access::FORM.form(&stored),
            outgoing: OUTGOING.form(&stored),
            logo_failure: String::new(),
            flag: console.public_url.clone(),
            logo,
            file: console.store.path().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            safe: console.store.durability() == Durability::Full,
        };
        if let Some(again) = again {
            let forms = [&mut page.general, &mut page.access, &mut page.outgoing];
            if let Some(form) = forms.into_iter().find(|form| form.action == again.action) {
                *form = again;
            }
        }
        Ok(page)
    }
}

async fn save(request: RequestContext, form: &'static SettingsForm) -> Result<Response> {
    match form.save(&request).await? {
        None => request.done(form.saved, form.page),
        Some(again) => answer::form_again(&Page::new(&request, Some(again))?),
    }
}

static GENERAL: SettingsForm = SettingsForm {
    heading: "The instance",
    help: "",
    path: HERE,
    page: HERE,
    keys: &[
        "name",
        "timeZone",
        "publicUrl",
        "corsOrigins",
        "oneTimePasswords",
    ],
    inputs: general_inputs,
    changes: |form| Ok(general_changes(form)),
    saved: "Settings saved.",
};

/// Who may sign in to apps with a code.
const CODES: [(&str, &str); 5] = [
    ("", "Who is a user already (nothing set)"),
    ("off", "Nobody: passwords only"),
    ("users", "Who is a user already"),
    (
        "delegates",
        "Users, and attendees whose e-mail address nobody else has",
    ),
    ("anyone", "Anybody with an e-mail address"),
];

fn general_inputs(stored: &Map<String, Value>) -> Vec<Input> {
    let text = |name: &str| stored.get(name).and_then(Value::as_str).unwrap_or_default();
    let zone = Some(text("timeZone")).filter(|zone| !zone.is_empty());
    let origins = stored.get("corsOrigins").and_then(Value::as_array);
    let origins = origins.into_iter().flatten().filter_map(Value::as_str);
    let codes = CODES
        .iter()
        .map(|(value, label)| Choice::new(*value, *label, text("oneTimePasswords") == *value));
    vec![
        Input::text("name", "Name of the event or the venue", text("name"))
            .max(200)
            .placeholder("Gatepost"),
        Input::text("timeZone", "Time zone", zone.unwrap_or("UTC"))
            .offered(Zone::names())
            .help("The venue's time zone, such as Europe/Berlin."),
        Input::line(
            "url",
            "publicUrl",
            "Address that apps reach this server by",
            text("publicUrl"),
        )
        .wide()
        .placeholder("https://gate.example.org")
        .help(
            "Leave it empty unless a proxy or a name stands before this machine: then the address \
             that was called is used. What the server was started with (--public-url) counts before it.",
        ),
        Input::area(
            "corsOrigins",
            "Web apps that may call the API",
            3,
            &origins.collect::<Vec<_>>().join("\n"),
        )
        .wide()
        .help(
            "One address a line, such as https://gate.example.org. Empty: any web app may, with a \
             token of its own.",
        ),
        Input::select(
            "oneTimePasswords",
            "Signing in to apps with a code by e-mail",
            codes.collect(),
        )
        .wide()
        .help(
            "Who is no user yet becomes one with the first sign-in, tied to the attendee with that \
             address. Apps send the code, or people ask for it at /otp.",
        ),
    ]
}

fn general_changes(form: &Fields) -> Map<String, Value> {
    let text = |name: &str| form.filled(name).map_or(Value::Null, Value::from);
    let origins = form.text("corsOrigins").split([',', '\n', ' ', '\r']);
    let origins: Vec<&str> = origins.filter(|origin| !origin.is_empty()).collect();
    let mut changes: Map<String, Value> = ["name", "timeZone", "publicUrl", "oneTimePasswords"]
        .map(|name| (name.to_owned(), text(name)))
        .into_iter()
        .collect();
    let origins = (!origins.is_empty()).then(|| json!(origins));
    changes.insert("corsOrigins".into(), origins.unwrap_or_default());
    changes
}

/// How far calls to others may go: gateways and webhooks.
static OUTGOING: SettingsForm = SettingsForm {
    heading: "Calls to others",
    help: "",
    path: "/console/settings/outgoing",
    page: HERE,
    keys: &["outgoing"],
    inputs: |stored| {
        let outgoing = stored.get("outgoing");
        let on = outgoing.is_some_and(|outgoing| outgoing["allowLocal"] == json!(true));
        let local = Input::flag("allowLocal", "Programs on this machine may be called", on);
        vec![local.wide().help(
            "By webhooks and gateways for messages. Without it they reach the internet and this \
             network, but neither this machine nor link-local addresses.",
        )]
    },
    changes: |form| {
        let local = form.ticked("allowLocal");
        let value = local.then(|| json!({"allowLocal": true}));
        Ok(Map::from_iter([(
            "outgoing".to_owned(),
            value.unwrap_or_default(),
        )]))
    },
    saved: "Saved. It counts for calls from now on.",
};
