//! Automations: which template is sent by itself, when.

use super::{hindrance, layout, tabs};
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, answer,
        engine::{self, Choice, Editor, Group, Groups, Input, Tabs},
        route::{ADMINISTRATOR, Action, Done, OPERATOR, Routes, VIEWER},
    },
    core::{Context, texts::say},
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
use serde_json::json;

const HERE: &str = "/console/messages/automations";

pub(super) fn routes() -> Routes {
    let (new, edit) = (
        "/console/messages/automations/new",
        "/console/messages/automations/:id",
    );
    Routes::access(VIEWER)
        .get(HERE, list)
        .with(engine::routes::<Automations>(new, edit, ADMINISTRATOR))
        .then(ADMINISTRATOR)
        .action("/console/messages/automations/:id/remove", remove)
        .then(OPERATOR)
        .action("/console/messages/automations/:id/switch", switch)
}

#[derive(Template)]
#[template(path = "messages/automations.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    /// Each with the name of its place.
    automations: Vec<(Automation, String)>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let automations = request.look_up(|connection| {
        let with_place = |automation: Automation| {
            let place = match automation.device {
                Some(device) => devices::called(connection, DeviceId(device))?,
                None => say("anywhere"),
            };
            Ok((automation, place))
        };
        let all = automations::all(connection)?.into_iter();
        all.map(with_place).collect::<Result<Vec<_>>>()
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
    type Key = i64;
    type Draft = Entry;
    type Created = i64;
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "automation";
    const AREA: Area = Area::Messages;

    fn tabs(layout: &Layout) -> Tabs {
        (tabs(layout), "Automations")
    }

    fn blank(_: &RequestContext) -> Entry {
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

    fn find(connection: &Connection, id: &i64) -> Result<Entry> {
        let found = automations::of_id(connection, *id)?.map(|known| known.entry);
        found.ok_or_else(|| Error::new(Kind::NoSuchPath, "this automation was removed"))
    }

    fn name(draft: &Entry) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &Entry) -> Groups {
        let places = devices::places(connection)?.into_iter();
        let places = places.map(|place| Choice::named(place.code, place.name, false));
        let anywhere = Choice::from(("", "anywhere"));
        let templates = templates::all(connection)?.into_iter().map(|known| {
            let entry = known.entry;
            let noun = entry.channel().map_or("message", |channel| channel.noun());
            let value = format!("{}:{}", entry.channel, entry.slug);
            Choice::from((value, format!("{noun}: {}", entry.slug)))
        });
        let is_chosen = !draft.template.is_empty();
        let none = (!is_chosen).then(|| Choice::from(("", "Choose …")));
        let inputs = vec![
            Input::text("name", "Name")
                .wide()
                .required()
                .max(100)
                .placeholder("Welcome at the door"),
            Input::text("interactionType", "Activity")
                .required()
                .max(64)
                .offered(TYPES.iter().map(|known| known.name))
                .help("The message is sent when an activity of this type comes in."),
            Input::select("device", "At", std::iter::once(anywhere).chain(places))
                .help("Places below it count too: rooms of an event, sessions in a room."),
            Input::text("delegateType", "Attendees of this type")
                .placeholder("any")
                .offered(delegates::types(connection)?),
            Input::select("template", "Send", none.into_iter().chain(templates))
                .required()
                .help("One of the templates for e-mails, texts or push messages."),
            Input::number("withinMinutes", "Not later than (minutes)", 1, 10_080).help(
                "An app that was offline uploads what happened hours ago; nobody wants a message \
                 about it then.",
            ),
            Input::flag("active", "Active"),
        ];
        let mut shown = json!(draft);
        if is_chosen {
            shown["template"] = format!("{}:{}", draft.channel, draft.template).into();
        }
        engine::filled(vec![Group::new("", inputs)], &shown)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Entry> {
        let mut values = engine::read(groups.iter().flat_map(|group| &group.inputs), sent)?;
        let template = sent.text("template").split_once(':');
        let (channel, template) = template.ok_or_else(|| {
            Error::field("template", "choose one; write one first if there is none")
        })?;
        values.insert("type".into(), channel.into());
        values.insert("template".into(), template.into());
        engine::parse(values)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Entry) -> Result<i64> {
        automations::save(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Entry) -> Result<()> {
        automations::save(tx, ctx, Some(*id), draft).map(|_| ())
    }

    fn created(request: &RequestContext, draft: Entry, _: i64) -> Result<Response> {
        let message = format!("{} created. It applies from now on.", draft.name);
        request.done(message, HERE)
    }

    fn page(_: &i64) -> String {
        HERE.to_owned()
    }
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    automations::remove(tx, ctx, action.id)?;
    Ok(Done::new("Automation removed.", HERE))
}

/// Switches one on or off at once, such as when it sends nonsense.
fn switch(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let mut entry = Automations::find(tx, &action.id)?;
    entry.active = action.form.text("active") == "on";
    automations::save(tx, ctx, Some(action.id), &entry)?;
    let state = if entry.active {
        "on; it applies from now on"
    } else {
        "off"
    };
    Ok(Done::new(format!("“{}” is {state}.", entry.name), HERE))
}
