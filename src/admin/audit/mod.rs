//! The audit: who changed what, found by user, record, action and time.

mod export;

use super::{
    Area, Fields, Layout, RequestContext, Route, answer,
    engine::{Input, choices},
    filter::Typed,
    route,
};
use crate::{
    core::audit::{self, Actor},
    domain::history::{NamedEntry, noun, verb},
    types::{
        Timestamp, Zone,
        error::{Error, Kind, Result},
        text::whole,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Changes on a page.
const PAGE: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/audit", route::VIEWER, show),
        Route::get("/console/audit/export", route::VIEWER, export::export),
    ]
}

#[derive(Template)]
#[template(path = "audit/audit.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    inputs: Vec<Input>,
    rows: Vec<AuditRow>,
    /// The query of the next page.
    older: Option<String>,
    /// How far back was searched, where that took too long.
    searched_to: Option<Timestamp>,
    begins_later: bool,
    failure: Option<String>,
}

struct AuditRow {
    named: NamedEntry,
    verb: String,
    noun: String,
    who_link: Option<String>,
    record_link: Option<String>,
}

impl AuditRow {
    fn new(named: NamedEntry, administers: bool) -> Self {
        let (folder, id) = match &named.actor {
            Actor::User(_, id) => ("users", *id),
            Actor::Client(_, id) => ("clients", *id),
            _ => ("", None),
        };
        let id = id.filter(|_| administers);
        Self {
            verb: verb(&named.entry.action).replace('-', " "),
            noun: noun(&named.entry.record_type),
            who_link: id.map(|id| format!("/console/access/{folder}/{id}")),
            record_link: record_link(&named, administers),
            named,
        }
    }

    fn has_before(&self) -> bool {
        self.named.entry.before.is_some()
    }

    fn has_after(&self) -> bool {
        self.named.entry.after.is_some()
    }
}

/// The page of a record, for those who may open it.
fn record_link(named: &NamedEntry, administers: bool) -> Option<String> {
    let id = named.entry.record_id.filter(|_| named.exists)?;
    let folder = match named.entry.record_type.as_str() {
        "delegate" => "delegates",
        "device" | "event" => "devices",
        "transaction" => "sales",
        "message" => "messages",
        "template" => "messages/templates",
        "automation" => "messages/automations",
        "user" if administers => "access/users",
        "client" if administers => "access/clients",
        "webhook" if administers => "webhooks",
        _ => return None,
    };
    Some(format!("/console/{folder}/{id}"))
}

/// What is looked for, as it was typed.
type Filter = Typed<6>;

fn read_filter(query: &Fields) -> Filter {
    Typed::read(query, ["who", "action", "type", "id", "from", "to"])
}

fn prepare(filter: &Filter, connection: &Connection, zone: &Zone) -> Result<audit::Filter> {
    let filled = |name| Some(filter.get(name)).filter(|text| !text.is_empty());
    let text = |name| filled(name).map(str::to_owned);
    let time = |name| {
        let time = filled(name).map(|text| zone.read(name, &text.into()));
        time.transpose()
    };
    let id = filled("id").map(|id| {
        whole(id).map_err(|fault| Error::invalid(format!("number of the record: {fault}")))
    });
    Ok(audit::Filter {
        who: filled("who")
            .map(|who| audit::meant(connection, who))
            .transpose()?,
        record_type: text("type"),
        record_id: id.transpose()?,
        action: text("action"),
        from: time("from")?,
        // The field knows minutes, and the last one is meant as a whole.
        to: time("to")?.map(|to| Timestamp(to.0 + 60_000)),
    })
}

fn inputs(filter: &Filter, types: Vec<String>, actions: BTreeSet<String>) -> Vec<Input> {
    let value = |name| filter.get(name);
    let any = [(String::new(), "anything".to_owned())];
    let actions = actions.into_iter();
    let actions = actions.map(|action| (action.clone(), verb(&action).replace('-', " ")));
    let types = types.into_iter().map(|kind| (kind.clone(), noun(&kind)));
    let moment = |name, label| Input::line("datetime-local", name, label).value(value(name));
    vec![
        Input::text("who", "Who")
            .value(value("who"))
            .placeholder("e-mail, client, command line, import"),
        Input::select(
            "action",
            "Action",
            choices(any.clone().into_iter().chain(actions), value("action")),
        ),
        Input::select(
            "type",
            "Record",
            choices(any.into_iter().chain(types), value("type")),
        ),
        Input::text("id", "Number of the record")
            .value(value("id"))
            .attribute("inputmode", "numeric"),
        moment("from", "From"),
        moment("to", "To"),
    ]
}

async fn show(request: RequestContext) -> Result<Response> {
    let filter = read_filter(&request.query);
    let below = request.query.number("below")?;
    let zone = request.console.settings().zone.clone();
    let layout = request.layout("Audit", Some(Area::Audit));
    let page = request
        .read(move |connection| {
            let (found, failure) = match prepare(&filter, connection, &zone) {
                Ok(wanted) => (audit::page(connection, &wanted, below, PAGE)?, None),
                Err(cause) if cause.kind == Kind::Invalid => {
                    let failure = answer::sentence(&cause.message);
                    (audit::Page::default(), Some(failure))
                }
                Err(cause) => return Err(cause),
            };
            let older = found.below;
            let rows = found.entries.into_iter().map(|entry| {
                let named = NamedEntry::new(connection, entry)?;
                Ok(AuditRow::new(named, layout.administers()))
            });
            let types = audit::types(connection)?;
            let actions = actions(connection, filter.get("action"))?;
            Ok(Page {
                rows: rows.collect::<Result<_>>()?,
                older: older.map(|below| filter.with("below", &below.to_string())),
                inputs: inputs(&filter, types, actions),
                searched_to: found.searched_to,
                begins_later: below.is_some(),
                failure,
                layout,
                filter,
            })
        })
        .await?;
    answer::form_page(page.failure.is_some(), &page)
}

/// The actions that are offered: the usual and recent ones, and the chosen one.
fn actions(connection: &Connection, chosen: &str) -> Result<BTreeSet<String>> {
    let mut actions = BTreeSet::from_iter(audit::recent_actions(connection)?);
    actions.extend(audit::USUAL_ACTIONS.map(str::to_owned));
    if !chosen.is_empty() {
        actions.insert(chosen.to_owned());
    }
    Ok(actions)
}
