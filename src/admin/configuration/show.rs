//! The page of the app configuration: what is in force, the draft, and which apps confirmed it.

use super::{NamedChange, PAGE, begun_on, named, path, unchanged};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit,
    domain::apps::{
        Document,
        configuration::{self, Holder},
        parameters::{self, PARAMETERS, in_words, label, strings},
        scope::{Current, Scope},
        state,
    },
    types::{
        Zone,
        error::{Error, Result},
    },
};
use askama::Template;
use futures_util::stream;
use poem::Response;
use rusqlite::Connection;
use serde_json::Value;

/// Apps that are listed.
const LISTED: usize = 200;
/// The list of apps is looked at each time that many beats have passed.
const BEATS: u64 = 2;

struct SettingRow {
    label: String,
    meaning: &'static str,
    value: String,
    locked: bool,
}

/// Settings of a type or of a device.
struct Override {
    name: String,
    path: String,
    count: usize,
}

#[derive(Template)]
#[template(path = "configuration/show.html")]
struct Page {
    layout: Layout,
    current: Current,
    published_by: Option<String>,
    draft_by: String,
    changes: Vec<NamedChange>,
    rows: Vec<SettingRow>,
    overrides: Vec<Override>,
    kinds: Vec<String>,
    holders: Holders,
}

/// The apps, and how many of them confirmed the version in force.
struct Holders {
    version: i64,
    confirmed: i64,
    all: i64,
    listed: Vec<Holder>,
    left_out: i64,
}

#[derive(Template)]
#[template(path = "configuration/holders.html")]
struct HoldersPart {
    layout: Layout,
    holders: Holders,
}

impl Holders {
    fn read(connection: &Connection) -> Result<Self> {
        let mut listed = configuration::holders(connection)?;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let confirmed = listed.iter().filter(|one| one.confirmed_at.is_some());
        let (confirmed, all) = (count(confirmed.count()), count(listed.len()));
        listed.truncate(LISTED);
        Ok(Self {
            version: configuration::version(connection)?,
            confirmed,
            all,
            left_out: all - count(listed.len()),
            listed,
        })
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let layout = request.layout("App configuration", Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    let page = request
        .read(move |connection| Page::read(connection, layout, &zone))
        .await?;
    answer::page(&page)
}

impl Page {
    fn read(connection: &Connection, layout: Layout, zone: &Zone) -> Result<Self> {
        let current = Current::read(connection)?;
        let (published, document) = (&current.published, current.document());
        let who = |actor: &str| audit::actor_name(connection, actor);
        Ok(Self {
            published_by: published.actor.as_deref().map(who).transpose()?,
            draft_by: match &current.draft {
                Some(draft) => who(&draft.actor)?,
                None => String::new(),
            },
            changes: named(connection, &published.document, document, zone)?,
            rows: rows(document, zone),
            overrides: overrides(connection, document)?,
            kinds: state::types(connection)?.into_iter().collect(),
            holders: Holders::read(connection)?,
            layout,
            current,
        })
    }
}

/// The settings of all apps: the parameters first, then those that only apps know.
fn rows(document: &Document, zone: &Zone) -> Vec<SettingRow> {
    let settings = document.effective(None, "");
    let locked = settings.get("forced").cloned().unwrap_or_default();
    let row = |name: &str, meaning| SettingRow {
        label: label(name).to_owned(),
        meaning,
        value: in_words(name, settings.get(name).unwrap_or(&Value::Null), zone),
        locked: strings(&locked).any(|locked| locked == name),
    };
    let known = PARAMETERS.iter().filter(|known| known.name != "forced");
    let known = known.map(|known| row(known.name, known.meaning));
    let further = settings.keys();
    let further = further.filter(|name| parameters::parameter(name).is_none());
    known
        .chain(further.map(|name| row(name, "A setting that only the apps know.")))
        .collect()
}

fn overrides(connection: &Connection, document: &Document) -> Result<Vec<Override>> {
    let kinds = document.by_type.keys().cloned().map(Scope::Type);
    let codes = document.by_device.keys().cloned().map(Scope::Device);
    kinds
        .chain(codes)
        .map(|scope| {
            Ok(Override {
                name: scope.name(connection)?,
                path: path(&scope),
                count: scope.settings(document).len(),
            })
        })
        .collect()
}

/// The apps that confirmed the version, whenever that changes.
pub async fn stream(request: RequestContext) -> Result<Response> {
    let beats = request.beats()?;
    let state = (request, beats, String::new());
    Ok(answer::events(stream::unfold(
        state,
        |(request, mut beats, last)| async move {
            loop {
                let beat = beats.next().await?;
                if beat % BEATS != 0 {
                    continue;
                }
                match holders(&request).await {
                    Ok(made) if made == last => {}
                    Ok(made) => return Some((("holders", made.clone()), (request, beats, made))),
                    Err(cause) => tracing::warn!("apps that have the configuration: {cause}"),
                }
            }
        },
    )))
}

async fn holders(request: &RequestContext) -> Result<String> {
    let part = HoldersPart {
        holders: request.read(Holders::read).await?,
        layout: request.layout("", Some(Area::Configuration)),
    };
    part.render().map_err(Error::defect)
}

pub async fn publish(request: RequestContext) -> Result<Response> {
    let begun_on = begun_on(&request);
    let version = request
        .write(move |tx, ctx| {
            let draft = unchanged(tx, &begun_on)?.draft;
            let draft = draft.ok_or_else(|| Error::invalid("there is no draft to publish"))?;
            configuration::publish_draft(tx, ctx, &draft)
        })
        .await?;
    request.done(
        format!("Version {version} published. Apps get it with their next ping."),
        PAGE,
    )
}

pub async fn discard(request: RequestContext) -> Result<Response> {
    let begun_on = begun_on(&request);
    request
        .write(move |tx, ctx| {
            unchanged(tx, &begun_on)?;
            configuration::discard_draft(tx, ctx)
        })
        .await?;
    request.done("Draft discarded.", PAGE)
}
