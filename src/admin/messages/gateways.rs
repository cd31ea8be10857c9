//! By which gateways messages leave, and whether they go to delegates at all.

use super::layout;
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        form::{mark, told},
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
const SETTING: &str = "communications";

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
    failure: String,
    ways: Vec<Way>,
    switches: Communications,
    country: String,
    seen: String,
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
    fn new(request: &RequestContext) -> Result<Self> {
        let (known, stored) = request.console.store.look_up(|connection| {
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
        let settings = request.console.settings();
        Ok(Self {
            layout: layout(request, "Gateways"),
            tab: "Gateways",
            failure: String::new(),
            ways: ways.collect(),
            country: settings
                .communications
                .country_code
                .clone()
                .unwrap_or_default(),
            switches: settings.communications.clone(),
            seen: seen(&stored),
            public: request.console.public_url().is_some(),
        })
    }
}

fn seen(stored: &Map<String, Value>) -> String {
    mark(&stored.get(SETTING))
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request)?)
}

fn typed(form: &Fields) -> Communications {
    Communications {
        enabled: form.ticked("enabled"),
        email: form.ticked("email"),
        sms: form.ticked("sms"),
        push: form.ticked("push"),
        country_code: form.filled("countryCode").map(|code| code.replace(' ', "")),
    }
}

async fn switches(request: RequestContext) -> Result<Response> {
    let (wanted, ctx) = (typed(&request.form), request.context());
    let was = request.form.text("seen").to_owned();
    let value = if wanted == Communications::default() {
        Value::Null
    } else {
        json!(wanted)
    };
    let saved = request
        .console
        .store
        .write(move |tx| {
            if seen(&settings::stored(tx)?) != was {
                return Ok(false);
            }
            let changes = [(SETTING.to_owned(), value)].into_iter().collect();
            settings::save(tx, &ctx, &changes)?;
            Ok(true)
        })
        .await;
    let mut page = Page::new(&request)?;
    match saved {
        Ok(true) => {
            request.flash("That is in force.");
            return Ok(answer::go(HERE));
        }
        Ok(false) => {
            "Somebody else changed this meanwhile. Nothing of yours was saved; this is what is there now."
                .clone_into(&mut page.failure);
        }
        Err(cause) => {
            page.country = wanted_country(&request.form);
            page.switches = typed(&request.form);
            page.failure = told(cause)?;
        }
    }
    answer::form_again(&page)
}

fn wanted_country(form: &Fields) -> String {
    form.text("countryCode").to_owned()
}
