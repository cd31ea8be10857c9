//! Automations: which template is sent by itself, when.

use super::{hindrance, layout};
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, Route, answer,
        engine::{self, Choice, Editor, Group, Input},
        route,
    },
    core::Context,
    db::Tx,
    domain::{
        delegates, devices,
        interactions::types::{CHECK_IN, TYPES},
        messages::{
            automations::{self, Automation, Entry},
            templates,
        },
    },
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

const HERE: &str = "/console/messages/automations";

pub(super) fn routes() -> Vec<Route> {
    let mut routes = engine::routes::<Automations>(
        "/console/messages/automations/new",
        "/console/messages/automations/:id",
        route::ADMINISTRATOR,
    );
    routes.extend([
        Route::get(HERE, route::VIEWER, list),
        Route::post(
            "/console/messages/automations/:id/remove",
            route::ADMINISTRATOR,
            remove,
        ),
        Route::post(
            "/console/messages/automations/:id/switch",
            route::OPERATOR,
            switch,
        ),
    ]);
    routes
}

#[derive(Template)]
#[template(path = "messages/automations.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    automations: Vec<(Automation, String)>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let automations = request.look_up(|connection| {
        automations::all(connection)?
            .into_iter()
            .map(|automation| {
                let at = match automation.device {
                    Some(device) => devices::called(connection, DeviceId(device))?,
                    None => "anywhere".to_owned(),
                };
                Ok((automation, at))
            })
            .collect::<Result<Vec<_>>>()
    })?;
    answer::page(&List {
        layout: layout(&request, "Automations"),
        tab: "Automations",
        hindrance: hindrance(&request)?,
        automations,
    })
}

struct Automations;

impl Editor for Automations {
    type Draft = Entry;
    type Created = i64;
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "automation";
    const AREA: Area = Area::Messages;
    const TABS: (&'static [(&'static str, &'static str)], &'static str) =
        (super::TABS, "Automations");

    fn blank() -> Entry {
        Entry {
            name: String::new(),
            active: true,
            interaction_type: CHECK_IN.name.into(),
            device: None,
            delegate_type: None,
            channel: String::new(),
            template: String::new(),
            within_minutes: 60,
        }
    }

    fn find(connection: &Connection, id: i64) -> Result<Entry> {
        find(connection, id)
    }

    fn name(draft: &Entry) -> &str {
        &draft.name
    }

    fn groups(connection: &Connection, draft: &Entry) -> Result<Vec<Group>> {
        let at = draft.device.as_deref();
        let anywhere = Choice::new("", "anywhere", at.is_none());
        let places = devices::offers(connection)?.into_iter();
        let places = places.filter(devices::Offer::is_place);
        let places = places.map(|device| {
            let chosen = at == Some(&device.code);
            Choice::new(device.code, device.name, chosen)
        });
        let chosen = (draft.channel.as_str(), draft.template.as_str());
        let templates = templates::all(connection)?.into_iter().map(|known| {
            let entry = known.entry;
            let noun = entry.channel().map_or("message", |channel| channel.noun());
            Choice::new(
                format!("{}:{}", entry.channel, entry.slug),
                format!("{noun}: {}", entry.slug),
                chosen == (&entry.channel, &entry.slug),
            )
        });
        let delegate_type = draft.delegate_type.as_deref().unwrap_or_default();
        let minutes = draft.within_minutes.to_string();
        let inputs = vec![
            Input::text("name", "Name", &draft.name)
                .wide()
                .max(100)
                .placeholder("Welcome at the door"),
            Input::text(
                "interactionType",
                "When this interaction comes in",
                &draft.interaction_type,
            )
            .max(64)
            .offered(TYPES.iter().map(|known| known.name)),
            Input::select(
                "device",
                "At",
                std::iter::once(anywhere).chain(places).collect(),
            )
            .help("What belongs to it counts too: rooms of an event, sessions in a room."),
            Input::text("delegateType", "Of attendees of this type", delegate_type)
                .placeholder("any")
                .offered(delegates::types(connection)?),
            Input::select("template", "Send", templates.collect())
                .help("One of the templates for e-mails, texts or push messages."),
            Input::line(
                "number",
                "withinMinutes",
                "But not later than (minutes)",
                &minutes,
            )
            .attribute("min", "1")
            .attribute("max", "10080")
            .help(
                "An app that was offline uploads what happened hours ago; nobody wants a message \
                     about it then.",
            ),
            Input::flag("active", "Active", draft.active),
        ];
        Ok(vec![Group::new("", inputs)])
    }

    fn typed(form: &Fields) -> Result<Entry> {
        let filled = |name: &str| form.filled(name).map(ToOwned::to_owned);
        let template = form.text("template").split_once(':');
        let (channel, template) = template.ok_or_else(|| {
            Error::invalid("template: choose one; write one first if there is none")
        })?;
        Ok(Entry {
            name: form.text("name").to_owned(),
            active: form.ticked("active"),
            interaction_type: form.text("interactionType").to_owned(),
            device: filled("device"),
            delegate_type: filled("delegateType"),
            channel: channel.to_owned(),
            template: template.to_owned(),
            within_minutes: form.number("withinMinutes")?.unwrap_or(60),
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Entry) -> Result<i64> {
        automations::save(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: i64, draft: &Entry) -> Result<()> {
        automations::save(tx, ctx, Some(id), draft).map(|_| ())
    }

    fn created(request: &RequestContext, draft: Entry, _: i64) -> Result<Response> {
        request.done(
            format!("{} created. It counts from now on.", draft.name),
            HERE,
        )
    }

    fn page(_: i64) -> String {
        HERE.to_owned()
    }
}

fn find(connection: &Connection, id: i64) -> Result<Entry> {
    let found = automations::of_id(connection, id)?;
    found
        .map(|known| known.entry)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "this automation was removed"))
}

async fn remove(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| automations::remove(tx, ctx, id))
        .await?;
    request.done("Automation removed.", HERE)
}

/// Switches one on or off: what somebody has to be able to do at once when it sends nonsense.
async fn switch(request: RequestContext) -> Result<Response> {
    let (id, on) = (request.id("id")?, request.form.text("active") == "on");
    let name = request
        .write(move |tx, ctx| {
            let mut entry = find(tx, id)?;
            entry.active = on;
            automations::save(tx, ctx, Some(id), &entry)?;
            Ok(entry.name)
        })
        .await?;
    let state = if on {
        "on; it counts from now on"
    } else {
        "off"
    };
    request.done(format!("“{name}” is {state}."), HERE)
}
