//! The audit: who changed what, found by user, record, action and time.

mod export;

use crate::admin::prelude::*;
use crate::{
    core::audit::{self, Actor},
    domain::history::{NamedEntry, noun, verb},
    types::text::whole,
};
use std::collections::BTreeSet;

/// Lines on a page.
const PAGE: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/audit", show)
        .get("/console/audit/export", export::export)
        .all()
}

#[derive(Template)]
#[template(path = "audit/audit.html")]
struct Page {
    layout: Layout,
    list: List,
    runs: Vec<AuditRun>,
    /// The time back to which was searched, where that took too long.
    searched_to: Option<Timestamp>,
}

/// Changes that are told as one line, or one change.
struct AuditRun {
    /// The newest of them.
    rows: Vec<AuditRow>,
    count: i64,
    is_long: bool,
    /// The page and the name of the import, or of what was done to many.
    batch: Option<(String, String)>,
}

impl AuditRun {
    /// The runs as they are told: those of a few changes one by one.
    fn told(connection: &Connection, run: audit::Run, administers: bool) -> Result<Vec<Self>> {
        let (count, is_long) = (run.count, run.is_long());
        let batch = match run.batch {
            Some(entry) => {
                let id = entry.record_id.unwrap_or_default();
                let name = NamedEntry::new(connection, entry)?.record;
                Some((format!("/console/import/batches/{id}"), name))
            }
            None => None,
        };
        let rows = run.entries.into_iter().map(|entry| {
            let named = NamedEntry::new(connection, entry)?;
            Ok(AuditRow::new(named, administers))
        });
        let rows: Vec<AuditRow> = rows.collect::<Result<_>>()?;
        if is_long {
            let run = Self {
                rows,
                count,
                is_long,
                batch,
            };
            return Ok(vec![run]);
        }
        let one = |row| Self {
            rows: vec![row],
            count: 1,
            is_long,
            batch: None,
        };
        Ok(rows.into_iter().map(one).collect())
    }

    /// A sentence about all of them, of which one is given.
    fn sentence(&self, row: &AuditRow) -> texts::Markup {
        let key = match self.batch {
            Some(_) => "audit-many-at-once-by",
            None => "audit-many-at-once",
        };
        let told = texts::html(key).with("links", row.links(false));
        let told = told.with("who", row.named.actor.shown());
        let told = told.with("who_link", row.who_link.as_deref().unwrap_or_default());
        let told = told.with("count", texts::number(self.count));
        match &self.batch {
            Some((link, name)) => told.with("batch_link", link).with("batch", name),
            None => told,
        }
    }

    fn is_cut(&self) -> bool {
        usize::try_from(self.count).is_ok_and(|count| count > self.rows.len())
    }
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
            verb: say(verb(&named.entry.action).replace('-', " ")),
            noun: say(noun(&named.entry.record_type)),
            who_link: id.map(|id| format!("/console/access/{folder}/{id}")),
            record_link: record_link(&named, administers),
            named,
        }
    }

    /// A sentence about it.
    fn sentence(&self) -> texts::Markup {
        let told = texts::html("audit-did").with("links", self.links(true));
        let told = told.with("who", self.named.actor.shown());
        let told = told.with("who_link", self.who_link.as_deref().unwrap_or_default());
        let told = told.with("verb", &self.verb).with("noun", &self.noun);
        let told = told.with("record", &self.named.record);
        told.with(
            "record_link",
            self.record_link.as_deref().unwrap_or_default(),
        )
    }

    /// Names which of the two have links, for the texts to choose by.
    fn links(&self, is_of_record: bool) -> &'static str {
        let has_record = is_of_record && self.record_link.is_some();
        match (self.who_link.is_some(), has_record) {
            (true, true) => "both",
            (true, false) => "who",
            (false, true) => "record",
            (false, false) => "none",
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

fn prepare(query: &Fields, connection: &Connection, zone: &Zone) -> Result<audit::Filter> {
    let filled = |name| query.filled(name);
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

fn inputs(types: Vec<String>, actions: BTreeSet<String>) -> Vec<Input> {
    let any = || [(String::new(), "anything".to_owned())].into_iter();
    let actions = actions.into_iter();
    let actions = actions.map(|action| (action.clone(), verb(&action).replace('-', " ")));
    let types = types.into_iter().map(|kind| (kind.clone(), noun(&kind)));
    vec![
        Input::text("who", "Who").placeholder("e-mail, client, command line, import"),
        Input::select("action", "Action", any().chain(actions)),
        Input::select("type", "Record", any().chain(types)),
        Input::text("id", "Number of the record").attribute("inputmode", "numeric"),
        Input::line("datetime-local", "from", "From"),
        Input::line("datetime-local", "to", "To"),
    ]
}

async fn show(request: RequestContext) -> Result<Response> {
    let (query, below) = (request.query.clone(), request.query.number("below")?);
    let zone = request.console.settings().zone.clone();
    let layout = request.layout("Audit", Some(Area::Audit));
    let chosen = query.text("action").to_owned();
    let offered = request.read(move |connection| {
        let types = audit::types(connection)?;
        Ok(inputs(types, actions(connection, &chosen)?))
    });
    let mut list = List::new(&request, offered.await?, "below");
    let read = move |connection: &Connection| {
        let found = match prepare(&query, connection, &zone) {
            Ok(wanted) => audit::runs(connection, &wanted, below, PAGE)?,
            Err(cause) if cause.kind == Kind::Invalid => {
                list.failure = Some(answer::sentence(&cause));
                audit::Runs::default()
            }
            Err(cause) => return Err(cause),
        };
        list.next = found.below.map(|below| below.to_string());
        let mut runs = Vec::new();
        for run in found.runs {
            runs.extend(AuditRun::told(connection, run, layout.administers())?);
        }
        Ok(Page {
            runs,
            searched_to: found.searched_to,
            layout,
            list,
        })
    };
    let page = request.read(read).await?;
    answer::form_page(page.list.failure.is_some(), &page)
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
