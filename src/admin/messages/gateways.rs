//! By which gateways messages leave, and whether they go to delegates at all.

use super::layout;
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        engine::{Form, Input, SettingsForm},
        route,
    },
    core::settings::{self, Communications},
    domain::messages::{
        Channel,
        gateways::{self, Definition, Gateway},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;
use serde_json::{Map, Value, json};

pub(super) const HERE: &str = "/console/messages/gateways";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, route::ADMINISTRATOR, show),
        Route::post(
            "/console/messages/gateways/switches",
            route::ADMINISTRATOR,
            switches,
        ),
    ]
}

/// A channel with what it goes by.
struct Way {
    channel: Channel,
    title: &'static str,
    what: String,
    gateway: Option<Gateway>,
}

#[derive(Template)]
#[template(path = "messages/gateways.html")]
struct Page {
    layout: Layout,
    tab: &'static str,
    ways: Vec<Way>,
    switches: Form,
    public: bool,
}

/// What a gateway is, in a few words.
fn in_words(definition: &Definition) -> String {
    match definition {
        Definition::Smtp(smtp) => format!("{}, port {}, as {}", smtp.host, smtp.port, smtp.from),
        Definition::Http(http) => {
            let preset = http
                .preset
                .as_deref()
                .and_then(gateways::presets::Preset::named);
            preset.map_or_else(|| http.url.clone(), |preset| preset.label.to_owned())
        }
        Definition::Fcm(_) => "Firebase Cloud Messaging".to_owned(),
    }
}

impl Page {
    fn new(request: &RequestContext, again: Option<Form>) -> Result<Self> {
        let (known, stored) = request.look_up(|connection| {
            Ok((gateways::all(connection)?, settings::stored(connection)?))
        })?;
        let ways = Channel::ALL.iter().map(|channel| {
            let gateway = known
                .iter()
                .find(|gateway| gateway.channel == *channel)
                .cloned();
            let (title, without) = match channel {
                Channel::Email => ("E-mail", "No mail server is set."),
                Channel::Sms => ("Texts", "No provider is set."),
                Channel::Push => ("Push messages", "No service is set."),
            };
            Way {
                channel: *channel,
                title,
                what: gateway.as_ref().map_or_else(
                    || without.to_owned(),
                    |gateway| in_words(&gateway.definition),
                ),
                gateway,
            }
        });
        Ok(Self {
            layout: layout(request, "Gateways"),
            tab: "Gateways",
            ways: ways.collect(),
            switches: again.unwrap_or_else(|| SWITCHES.form(&stored)),
            public: request.console.public_url().is_some(),
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request, None)?)
}

async fn switches(request: RequestContext) -> Result<Response> {
    match SWITCHES.save(&request).await? {
        None => request.done(SWITCHES.saved, HERE),
        Some(again) => answer::form_again(&Page::new(&request, Some(again))?),
    }
}

static SWITCHES: SettingsForm = SettingsForm {
    heading: "Messages to attendees",
    help: "One-time passwords and tests go in any case.",
    path: "/console/messages/gateways/switches",
    page: HERE,
    keys: &["communications"],
    inputs,
    changes: |form| Ok(changes(form)),
    saved: "Saved. It counts from now on.",
};

fn inputs(stored: &Map<String, Value>) -> Vec<Input> {
    let stored = stored.get("communications").cloned();
    let stored = stored.map(serde_json::from_value::<Communications>);
    let switches = stored.and_then(Result::ok).unwrap_or_default();
    let country = switches.country_code.as_deref().unwrap_or_default();
    vec![
        Input::flag("enabled", "Messages go to attendees", switches.enabled)
            .wide()
            .help("Off: nothing does, whatever apps and automations say."),
        Input::flag("email", "E-mails", switches.email),
        Input::flag("sms", "Texts", switches.sms),
        Input::flag("push", "Push messages", switches.push),
        Input::text(
            "countryCode",
            "Country of phone numbers without a country code",
            country,
        )
        .wide()
        .max(5)
        .placeholder("+49")
        .help("Without it only numbers with a country code can be reached."),
    ]
}

fn changes(form: &Fields) -> Map<String, Value> {
    let wanted = Communications {
        enabled: form.ticked("enabled"),
        email: form.ticked("email"),
        sms: form.ticked("sms"),
        push: form.ticked("push"),
        country_code: form.filled("countryCode").map(|code| code.replace(' ', "")),
    };
    let value = (wanted != Communications::default()).then(|| json!(wanted));
    Map::from_iter([("communications".to_owned(), value.unwrap_or_default())])
}
