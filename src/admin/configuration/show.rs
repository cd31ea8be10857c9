//! The page of the app configuration: what is in force, the draft, and which apps confirmed it.

use super::{
    NamedChange, PAGE, named, path,
    tasks::{self, Card},
    unchanged,
};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::apps::{
        Document,
        configuration::{self, Holder},
        scope::{Current, Scope},
        state,
        values::Words,
    },
};
use std::sync::Arc;

/// Apps that are listed.
const LISTED: usize = 200;
/// The list of apps is looked at each time that many beats have passed.
const BEATS: u64 = 2;

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
    cards: Vec<Card>,
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
    let zone = request.console.settings().zone.clone();
    let read = move |connection: &Connection, layout| Page::read(connection, layout, &zone);
    request
        .page("App configuration", Area::Configuration, read)
        .await
}

impl Page {
    fn read(connection: &Connection, layout: Layout, zone: &Zone) -> Result<Self> {
        let current = Current::read(connection)?;
        let (published, document) = (&current.published, current.document());
        let who = |actor: &str| audit::actor_shown(connection, actor);
        Ok(Self {
            published_by: published.actor.as_deref().map(who).transpose()?,
            draft_by: match &current.draft {
                Some(draft) => who(&draft.actor)?,
                None => String::new(),
            },
            changes: named(connection, &published.document, document, zone)?,
            cards: tasks::of_all(
                document,
                &Words {
                    zone,
                    places: &super::places(connection)?,
                },
            ),
            overrides: overrides(connection, document)?,
            kinds: state::types(connection)?.into_iter().collect(),
            holders: Holders::read(connection)?,
            layout,
            current,
        })
    }
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
    answer::parts(request, Default::default(), BEATS, holders)
}

async fn holders(request: Arc<RequestContext>, _: u64) -> Result<Arc<[answer::Rendered; 1]>> {
    let part = HoldersPart {
        holders: request.read(Holders::read).await?,
        layout: request.layout("", Some(Area::Configuration)),
    };
    Ok(answer::rendered(["holders"], &[answer::part(&part)?]))
}

pub fn publish(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let draft = unchanged(tx, action)?.draft;
    let draft = draft.ok_or_else(|| Error::invalid("there is no draft to publish"))?;
    let version = configuration::publish_draft(tx, ctx, &draft)?;
    let message = format!("Version {version} published. Apps get it with their next ping.");
    Ok(Done::new(message, PAGE))
}

pub fn discard(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    unchanged(tx, action)?;
    configuration::discard_draft(tx, ctx)?;
    Ok(Done::new("Draft discarded.", PAGE))
}
