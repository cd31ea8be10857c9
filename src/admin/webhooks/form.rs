//! The form of a webhook.

use super::show_secret;
use crate::{
    admin::{
        Area, Fields, RequestContext, Route, answer,
        engine::{self, At, Choice, Editor, Group, Groups, Input},
        route,
    },
    core::Context,
    db::Tx,
    domain::{
        devices,
        feed::expandable,
        interactions::types::{self, CHECK_IN, TYPES},
        webhooks::{ANY, CHANGES, NewWebhook, store},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Devices that are offered; others by their code.
const DEVICES: usize = 300;

/// Kinds of records whose changes can be sent, with what people call them.
const RECORDS: [(&str, &str); 6] = [
    ("delegate", "Attendees"),
    ("device", "Rooms, sessions, gates and products"),
    ("event", "Events"),
    ("interaction", "Interactions"),
    ("import", "Imports"),
    ("rehearsal", "The rehearsal"),
];

pub(super) fn routes() -> Vec<Route> {
    engine::routes::<Webhooks>(
        "/console/webhooks/new",
        "/console/webhooks/:id/edit",
        route::ADMINISTRATOR,
    )
}

struct Webhooks;

/// What a webhook is mostly for.
struct Preset {
    name: &'static str,
    label: &'static str,
    help: &'static str,
    interactions: &'static [&'static str],
    /// Records whose changes it gets.
    records: &'static [&'static str],
    expand: &'static [&'static str],
}

static PRESETS: [Preset; 4] = [
    Preset {
        name: "passages",
        label: "Who came and went",
        help: "Check-ins and check-outs, with names and places",
        interactions: &["check-in", "check-in-override", "check-out"],
        records: &[],
        expand: &["firstDelegate", "firstDevice"],
    },
    Preset {
        name: "attendees",
        label: "Attendee list",
        help: "Attendees who are added, changed or deleted",
        interactions: &[],
        records: &["delegate"],
        expand: &[],
    },
    Preset {
        name: "leads",
        label: "Leads of exhibitors",
        help: "Contacts that stands scan, with both people",
        interactions: &["lead"],
        records: &[],
        expand: &["firstDelegate", "secondDelegate", "firstDevice"],
    },
    Preset {
        name: "everything",
        label: "Everything",
        help: "All interactions and all changes, such as for a data warehouse",
        interactions: &[ANY],
        records: &["delegate", "device", "event", "interaction"],
        expand: &[],
    },
];

impl Preset {
    fn webhook(&self) -> NewWebhook {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let changes = CHANGES.iter().map(|change| change.name);
        let wanted = changes.filter(|name| {
            let record = name.split('.').next().unwrap_or_default();
            self.records.contains(&record)
        });
        NewWebhook {
            interactions: owned(self.interactions),
            changes: wanted.map(ToOwned::to_owned).collect(),
            expand: owned(self.expand),
            ..NewWebhook::default()
        }
    }
}

/// Links to the presets, beside a new webhook.
#[derive(Template)]
#[template(path = "webhooks/presets.html")]
struct Presets {
    all: &'static [Preset],
}

impl Editor for Webhooks {
    type Key = i64;
    type Draft = NewWebhook;
    type Created = (i64, String);
    const LIST: &'static str = "/console/webhooks";
    const NOUN: &'static str = "webhook";
    const AREA: Area = Area::Webhooks;

    fn blank(_: &RequestContext) -> NewWebhook {
        NewWebhook {
            interactions: BTreeSet::from([CHECK_IN.name.to_owned()]),
            ..NewWebhook::default()
        }
    }

    fn begin(_: &Connection, query: &Fields) -> Result<Option<NewWebhook>> {
        let preset = PRESETS
            .iter()
            .find(|preset| preset.name == query.text("preset"));
        Ok(preset.map(Preset::webhook))
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        match at.key {
            Some(_) => Ok(String::new()),
            None => answer::part(&Presets { all: &PRESETS }),
        }
    }

    fn find(connection: &Connection, id: &i64) -> Result<NewWebhook> {
        Ok(store::get(connection, *id)?.is)
    }

    fn name(draft: &NewWebhook) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &NewWebhook) -> Groups {
        let destination = vec![
            Input::text("name", "Name")
                .value(&draft.name)
                .required()
                .max(100)
                .placeholder("CRM"),
            Input::line("url", "url", "Address")
                .value(&draft.url)
                .required()
                .max(2000)
                .placeholder("https://crm.example.org/gatepost")
                .help("On the internet or in this network. Redirects are not followed."),
        ];
        let changes = RECORDS.iter().map(|record| changes(record, draft));
        Ok(vec![
            Group::new("Destination", destination)
                .help("It gets what happens from now on, signed by a secret that is shown once."),
            Group::new("Events", events(connection, draft)?),
            Group::new("Record changes", changes.collect()).help(
                "The record is sent as it stands, e-mail addresses and phone numbers of people \
                 included. Choose only what the other side needs.",
            ),
        ])
    }

    fn typed(_: &[Group], form: &Fields) -> Result<NewWebhook> {
        let ticked = |name: &'static str| form.all(name).map(ToOwned::to_owned);
        let split = |name: &str| -> Vec<String> {
            let parts = form.text(name).split([',', '\n', '\r']).map(str::trim);
            let filled = parts.filter(|part| !part.is_empty());
            filled.map(ToOwned::to_owned).collect()
        };
        Ok(NewWebhook {
            name: form.text("name").to_owned(),
            url: form.text("url").to_owned(),
            interactions: match form.text("interactions") {
                "all" => BTreeSet::from([ANY.to_owned()]),
                "some" => ticked("kind").chain(split("others")).collect(),
                _ => BTreeSet::new(),
            },
            changes: ticked("changes").collect(),
            devices: (form.text("devices") == "some")
                .then(|| ticked("device").chain(split("codes")).collect()),
            expand: ticked("expand").collect(),
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &NewWebhook) -> Result<(i64, String)> {
        store::create(tx, ctx, draft, None)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &NewWebhook) -> Result<()> {
        store::change(tx, ctx, *id, draft)
    }

    fn created(
        request: &RequestContext,
        draft: NewWebhook,
        (id, secret): (i64, String),
    ) -> Result<Response> {
        show_secret(request, id, draft.name, draft.url, secret)
    }
}

/// Which interactions, and where.
fn events(connection: &Connection, draft: &NewWebhook) -> Result<Vec<Input>> {
    let chosen_types = &draft.interactions;
    let (all, none) = (chosen_types.contains(ANY), chosen_types.is_empty());
    let which = vec![
        Choice::new("none", "none", none),
        Choice::new("all", "all, of every type", all),
        Choice::new("some", "these types", !all && !none),
    ];
    let usual = TYPES.iter().map(|known| {
        Choice::new(known.name, known.name, chosen_types.contains(known.name)).help(known.label)
    });
    let others = chosen_types.iter().map(String::as_str);
    let others: Vec<&str> = others
        .filter(|name| *name != ANY && types::find(name).is_none())
        .collect();

    let chosen = draft.devices.clone().unwrap_or_default();
    let mut known = devices::offers(connection)?;
    known.truncate(DEVICES);
    let unknown = chosen
        .iter()
        .filter(|code| known.iter().all(|device| device.code != **code));
    let unknown: Vec<&str> = unknown.map(String::as_str).collect();
    let offered = known.iter().map(|device| {
        let on = chosen.contains(&device.code);
        Choice::named(&*device.code, &*device.name, on).help(&*device.kind)
    });
    let places = vec![
        Choice::new("any", "anywhere", draft.devices.is_none()),
        Choice::new("some", "at these devices", draft.devices.is_some())
            .help("and all that belongs to them; for interactions, not for changes of records"),
    ];
    let whole = expandable().into_iter();
    let whole = whole.map(|name| Choice::new(name, name, draft.expand.contains(name)));
    Ok(vec![
        Input::radios("interactions", "Interactions", which),
        if all || none {
            Input::checks("kind", "Types", usual).folded()
        } else {
            Input::checks("kind", "Types", usual)
        },
        Input::text("others", "Other types")
            .value(others.join(", "))
            .placeholder("photo-taken, prize-won")
            .help("Types of your own, separated by commas."),
        Input::radios("devices", "Where", places),
        Input::checks("device", "Devices", offered).folded(),
        Input::area("codes", "Other devices, by their code", 2)
            .value(unknown.join("\n"))
            .help("One a line. They need not exist yet."),
        Input::checks("expand", "Whole records", whole)
            .folded()
            .help("Sent with the records that name them, in place of their ids."),
    ])
}

fn changes((record, name): &(&str, &'static str), draft: &NewWebhook) -> Input {
    let of_record = |name: &str| name.split('.').next() == Some(record);
    let choices = CHANGES.iter().filter(|change| of_record(change.name));
    let choices = choices.map(|change| {
        Choice::new(change.name, change.name, draft.wants_change(change.name)).help(change.about)
    });
    let input = Input::checks("changes", *name, choices);
    // Most webhooks need none of most.
    if input.choices.iter().any(|choice| choice.chosen) {
        input
    } else {
        input.folded()
    }
}
