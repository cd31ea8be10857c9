//! Name, time zone, address, origins; beside them the logo, the default rules, and what is as it is.

use super::{Frame, access::AccessForm, frame, layout, mark, outgoing::OutgoingForm, told_of};
use crate::{
    admin::{Fields, Layout, RequestContext, Route, answer, route},
    core::settings::{self, logo},
    db::Durability,
    types::{Timestamp, Zone, error::Result},
};
use askama::Template;
use poem::Response;
use serde_json::{Map, Value, json};

/// The settings of the form.
const NAMES: [&str; 5] = [
    "name",
    "timeZone",
    "publicUrl",
    "corsOrigins",
    "oneTimePasswords",
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/settings", route::ADMINISTRATOR, show),
        Route::post("/console/settings", route::ADMINISTRATOR, save),
    ]
}

/// The page; other forms on it show it again when they cannot be taken.
#[derive(Template)]
#[template(path = "settings/general.html")]
pub(super) struct Page {
    layout: Layout,
    frame: Frame,
    /// Which form could not be taken, and why.
    pub(super) failed: &'static str,
    pub(super) failure: String,
    seen: String,
    name: String,
    time_zone: String,
    zones: Vec<String>,
    public_url: String,
    flag: Option<String>,
    origins: String,
    codes: String,
    logo: Option<Timestamp>,
    pub(super) access: AccessForm,
    pub(super) outgoing: OutgoingForm,
    file: String,
    version: &'static str,
    safe: bool,
}

impl Page {
    pub(super) fn new(request: &RequestContext) -> Result<Self> {
        let console = &request.console;
        let (stored, logo) = console
            .store
            .look_up(|connection| Ok((settings::stored(connection)?, logo::since(connection)?)))?;
        let text = |name: &str| {
            let value = stored.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let origins = stored.get("corsOrigins").and_then(Value::as_array);
        let origins: Vec<_> = origins
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        Ok(Self {
            layout: layout(request, "Settings"),
            frame: frame("General"),
            failed: "",
            failure: String::new(),
            seen: seen(&stored),
            name: text("name"),
            time_zone: Some(text("timeZone"))
                .filter(|zone| !zone.is_empty())
                .unwrap_or_else(|| "UTC".into()),
            zones: Zone::names(),
            public_url: text("publicUrl"),
            flag: console.public_url.clone(),
            origins: origins.join("\n"),
            codes: text("oneTimePasswords"),
            logo,
            access: AccessForm::of(stored.get("access")),
            outgoing: OutgoingForm::of(stored.get("outgoing")),
            file: console.store.path().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            safe: console.store.durability() == Durability::Full,
        })
    }

    fn typed(mut self, form: &Fields) -> Self {
        let text = |name: &str| form.text(name).to_owned();
        self.name = text("name");
        self.time_zone = text("timeZone");
        self.public_url = text("publicUrl");
        self.origins = text("corsOrigins");
        self.codes = text("oneTimePasswords");
        self
    }
}

fn seen(stored: &Map<String, Value>) -> String {
    mark(&NAMES.map(|name| stored.get(name)))
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request)?)
}

fn changes(form: &Fields) -> Map<String, Value> {
    let text = |name: &str| form.filled(name).map_or(Value::Null, Value::from);
    let origins: Vec<&str> = form
        .text("corsOrigins")
        .split([',', '\n', ' ', '\r'])
        .filter(|origin| !origin.is_empty())
        .collect();
    let mut changes: Map<String, Value> = ["name", "timeZone", "publicUrl", "oneTimePasswords"]
        .map(|name| (name.to_owned(), text(name)))
        .into_iter()
        .collect();
    let origins = if origins.is_empty() {
        Value::Null
    } else {
        json!(origins)
    };
    changes.insert("corsOrigins".into(), origins);
    changes
}

async fn save(request: RequestContext) -> Result<Response> {
    let (changes, ctx) = (changes(&request.form), request.context());
    let was = request.form.text("seen").to_owned();
    let saved = request
        .console
        .store
        .write(move |tx| {
            if seen(&settings::stored(tx)?) != was {
                return Ok(false);
            }
            settings::save(tx, &ctx, &changes)?;
            Ok(true)
        })
        .await;
    let mut page = Page::new(&request)?;
    page.failed = "general";
    match saved {
        Ok(true) => {
            request.flash("The settings are in force.");
            Ok(answer::go("/console/settings"))
        }
        Ok(false) => {
            page.failure =
                "Somebody else changed these settings meanwhile. Nothing of yours was saved; \
                            this is what is there now."
                    .into();
            answer::form_again(&page)
        }
        Err(cause) => {
            let mut page = page.typed(&request.form);
            page.failure = told_of(cause)?;
            answer::form_again(&page)
        }
    }
}
