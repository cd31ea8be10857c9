//! What is in force, what a draft would change, and who has the version in force, live.

use super::{
    scope::Scope,
    words::{self, Changed},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit,
    domain::apps::{
        Document,
        configuration::{self, Draft, Holder, Published},
        parameters::PARAMETERS,
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
use std::collections::BTreeSet;

/// Devices listed; those that have not confirmed come first.
const LISTED: usize = 200;
/// Beats between two looks at who has the version in force.
const BEATS: u64 = 2;

/// A parameter with its value for all apps.
struct Line {
    label: String,
    meaning: &'static str,
    value: String,
    locked: bool,
}

/// A scope that has settings of its own.
struct Override {
    scope: Scope,
    called: String,
    count: usize,
}

#[derive(Template)]
#[template(path = "configuration/show.html")]
struct Page {
    layout: Layout,
    published: Published,
    by: Option<String>,
    draft: Option<Draft>,
    draft_by: String,
    changes: Vec<Named>,
    lines: Vec<Line>,
    overrides: Vec<Override>,
    kinds: Vec<String>,
    holders: Holders,
}

/// A change with the name of whose it is.
pub struct Named {
    pub called: String,
    pub change: Changed,
}

/// Who has the version in force.
struct Holders {
    version: i64,
    confirmed: i64,
    all: i64,
    listed: Vec<Holder>,
    left_out: i64,
}

#[derive(Template)]
#[template(path = "configuration/holders.html")]
struct Part<'a> {
    layout: &'a Layout,
    holders: &'a Holders,
}

impl Holders {
    fn read(connection: &Connection) -> Result<Self> {
        let mut listed = configuration::holders(connection)?;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let confirmed = listed.iter().filter(|one| one.confirmed_at.is_some());
        let (confirmed, all) = (count(confirmed.count()), count(listed.len()));
        listed.truncate(LISTED);
        let left_out = all - count(listed.len());
        Ok(Self {
            version: configuration::version(connection)?,
            confirmed,
            all,
            listed,
            left_out,
        })
    }
}

/// Changes with the names of whose they are.
pub fn named(
    connection: &Connection,
    before: &Document,
    after: &Document,
    zone: &Zone,
) -> Result<Vec<Named>> {
    words::differences(before, after, zone)
        .into_iter()
        .map(|change| {
            Ok(Named {
                called: change.scope.called(connection)?,
                change,
            })
        })
        .collect()
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
        let published = configuration::published(connection)?;
        let draft = configuration::draft(connection)?;
        let current = draft
            .as_ref()
            .map_or(&published.document, |draft| &draft.document);
        let who = |actor: &str| audit::actor_name(connection, actor);
        Ok(Self {
            by: published.actor.as_deref().map(who).transpose()?,
            draft_by: match &draft {
                Some(draft) => who(&draft.actor)?,
                None => String::new(),
            },
            changes: named(connection, &published.document, current, zone)?,
            lines: lines(current, zone),
            overrides: overrides(connection, current)?,
            kinds: state::types(connection)?.into_iter().collect(),
            holders: Holders::read(connection)?,
            layout,
            draft,
            published,
        })
    }

    /// The moment of the draft, in milliseconds; empty without one.
    fn seen(&self) -> String {
        seen(self.draft.as_ref())
    }
}

/// The moment of a draft as forms carry it; empty without one.
pub fn seen(draft: Option<&Draft>) -> String {
    draft.map_or_else(String::new, |draft| draft.updated_at.0.to_string())
}

fn lines(document: &Document, zone: &Zone) -> Vec<Line> {
    let settings = document.effective(None, "");
    let locked: BTreeSet<&str> = settings
        .get("forced")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let known = PARAMETERS.iter().filter(|known| known.name != "forced");
    let mut lines: Vec<_> = known
        .map(|known| Line {
            label: words::label(known.name),
            meaning: known.meaning,
            value: words::value(
                known.name,
                settings.get(known.name).unwrap_or(&Value::Null),
                zone,
            ),
            locked: locked.contains(known.name),
        })
        .collect();
    for (name, value) in &settings {
        if PARAMETERS.iter().all(|known| known.name != name) {
            lines.push(Line {
                label: name.clone(),
                meaning: "A setting that the apps know by themselves.",
                value: words::value(name, value, zone),
                locked: locked.contains(name.as_str()),
            });
        }
    }
    lines
}

fn overrides(connection: &Connection, document: &Document) -> Result<Vec<Override>> {
    let kinds = document.by_type.keys().cloned().map(Scope::Type);
    let codes = document.by_device.keys().cloned().map(Scope::Device);
    kinds
        .chain(codes)
        .map(|scope| {
            Ok(Override {
                called: scope.called(connection)?,
                count: scope.settings(document).len(),
                scope,
            })
        })
        .collect()
}

/// Who has the version in force, whenever that changes.
pub async fn stream(request: RequestContext) -> Result<Response> {
    let beats = request.beats()?;
    Ok(answer::events(stream::unfold(
        (request, beats, String::new()),
        |(request, mut beats, last)| async move {
            loop {
                let beat = beats.next().await?;
                if beat % BEATS != 0 {
                    continue;
                }
                match part(&request).await {
                    Ok(made) if made == last => {}
                    Ok(made) => return Some((("holders", made.clone()), (request, beats, made))),
                    Err(cause) => tracing::warn!("who has the configuration: {cause}"),
                }
            }
        },
    )))
}

async fn part(request: &RequestContext) -> Result<String> {
    let holders = request.read(Holders::read).await?;
    let layout = request.layout("", Some(Area::Configuration));
    Part {
        layout: &layout,
        holders: &holders,
    }
    .render()
    .map_err(Error::defect)
}
