//! Earlier versions of the app configuration, which can be taken up again as a draft.

use super::{NamedChange, PAGE, named, unchanged};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::apps::{
        configuration,
        scope::Current,
        versions::{self as history, Version},
    },
};

#[derive(Template)]
#[template(path = "configuration/versions.html")]
struct VersionList {
    layout: Layout,
    versions: Vec<Version>,
    current: i64,
}

#[derive(Template)]
#[template(path = "configuration/version.html")]
struct Page {
    layout: Layout,
    version: Version,
    changes: Vec<NamedChange>,
    document: String,
    current: Current,
}

pub async fn list(request: RequestContext) -> Result<Response> {
    let title = "Versions of the app configuration";
    let read = |connection: &Connection, layout| {
        let versions = history::newest(connection)?.into_iter();
        let versions = versions.map(|version| with_name(connection, version));
        Ok(VersionList {
            layout,
            versions: versions.collect::<Result<_>>()?,
            current: configuration::version(connection)?,
        })
    };
    request.page(title, Area::Configuration, read).await
}

/// The version with the name of whoever published it.
fn with_name(connection: &Connection, mut version: Version) -> Result<Version> {
    version.by = audit::actor_shown(connection, &version.by)?;
    Ok(version)
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let number = request.id("version")?;
    let zone = request.console.settings().zone.clone();
    let read = move |connection: &Connection, layout| {
        let (version, document) = history::find(connection, number)?;
        let earlier = history::before(connection, number)?;
        Ok(Page {
            layout,
            version: with_name(connection, version)?,
            changes: named(connection, &earlier, &document, &zone)?,
            document: serde_json::to_string_pretty(&document.masked()).map_err(Error::defect)?,
            current: Current::read(connection)?,
        })
    };
    let title = format!("Version {number}");
    request.page(&title, Area::Configuration, read).await
}

pub fn take(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let number = action.param("version")?;
    let (_, document) = history::find(tx, number)?;
    let document = document.with_pins_in_force(&configuration::published(tx)?.document);
    let draft = unchanged(tx, action)?.draft;
    let seen = draft.map(|draft| draft.updated_at);
    configuration::save_draft(tx, ctx, &document, seen)?;
    let message = format!("Version {number} is the draft now. Apps get it when you publish it.");
    Ok(Done::new(message, PAGE))
}
