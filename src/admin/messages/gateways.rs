//! By which gateways messages leave, and whether they go to delegates at all.

use super::{gateway, layout};
use crate::{
    admin::{
        Layout, RequestContext, answer,
        engine::{Form, Input, SettingsForm},
        route::{ADMINISTRATOR, Routes},
    },
    core::settings::{self, Communications},
    domain::messages::{
        Channel,
        gateways::{self, Definition, Gateway, presets::Preset},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;
use serde_json::json;

pub(super) const HERE: &str = "/console/messages/gateways";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post("/console/messages/gateways/switches", switches)
        .with(gateway::routes())
}

/// A channel with what it goes by.
struct Way {
    channel: Channel,
    title: &'static str,
    /// The title within a sentence.
    lower: &'static str,
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

/// Describes a gateway in a few words.
fn in_words(definition: &Definition) -> String {
    match definition {
        Definition::Smtp(smtp) => format!("{}, port {}, as {}", smtp.host, smtp.port, smtp.from),
        Definition::Http(http) => {
            let preset = http.preset.as_deref().and_then(Preset::named);
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
            let (title, lower, without) = match channel {
                Channel::Email => ("E-mail", "e-mail", "No mail server is set."),
                Channel::Sms => ("Texts", "texts", "No provider is set."),
                Channel::Push => ("Push messages", "push messages", "No service is set."),
            };
            Way {
                channel: *channel,
                title,
                lower,
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
            switches: match again {
                Some(again) => again,
                None => SWITCHES.form(&stored)?,
            },
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
    help: "One-time passwords and tests are always sent.",
    path: "/console/messages/gateways/switches",
    part_of: Some("communications"),
    defaults: || json!(Communications::default()),
    inputs: || {
        vec![
            Input::flag("enabled", "Send messages to attendees")
                .wide()
                .help("Off: none is sent, whatever apps and automations ask for."),
            Input::flag("email", "E-mails"),
            Input::flag("sms", "Texts"),
            Input::flag("push", "Push messages"),
            Input::text(
                "countryCode",
                "Country of phone numbers without a country code",
            )
            .wide()
            .max(5)
            .placeholder("+49")
            .help("Without it only numbers with a country code can be reached."),
        ]
    },
    saved: "Saved. It applies from now on.",
    ..SettingsForm::EMPTY
};
