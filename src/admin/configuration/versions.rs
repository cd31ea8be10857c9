//! Earlier versions of the app configuration, which can be taken up again as a draft.

use super::{NamedChange, PAGE, begun_on, named, unchanged};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit,
    domain::apps::{
        configuration,
        scope::Current,
        versions::{self as history, Version},
    },
    types::error::{Error, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

#[derive(Template)]
#[template(path = "configuration/versions.html")]
struct List {
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
    let (versions, current) = request
        .read(|connection| {
            let versions = history::newest(connection)?.into_iter();
            let versions = versions.map(|version| with_name(connection, version));
            let versions = versions.collect::<Result<_>>()?;
            Ok((versions, configuration::version(connection)?))
        })
        .await?;
    let title = "Versions of the app configuration";
    answer::page(&List {
        layout: request.layout(title, Some(Area::Configuration)),
        versions,
        current,
    })
}

/// The version with the name of whoever published it.
fn with_name(connection: &Connection, mut version: Version) -> Result<Version> {
    version.by = audit::actor_name(connection, &version.by)?;
    Ok(version)
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let number = request.id("version")?;
    let layout = request.layout(&format!("Version {number}"), Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    let page = request
        .read(move |connection| {
            let (version, document) = history::find(connection, number)?;
            let earlier = history::before(connection, number)?;
            Ok(Page {
                layout,
                version: with_name(connection, version)?,
                changes: named(connection, &earlier, &document, &zone)?,
                document: serde_json::to_string_pretty(&document.to_json())
                    .map_err(Error::defect)?,
                current: Current::read(connection)?,
            })
        })
        .await?;
    answer::page(&page)
}

pub async fn take(request: RequestContext) -> Result<Response> {
    let (begun_on, number) = (begun_on(&request), request.id("version")?);
    request
        .write(move |tx, ctx| {
            let (_, document) = history::find(tx, number)?;
            let seen = unchanged(tx, &begun_on)?
                .draft
                .map(|draft| draft.updated_at);
            configuration::save_draft(tx, ctx, &document, seen)
        })
        .await?;
    request.done(
        format!("Version {number} is the draft now. Apps get it when you publish it."),
        PAGE,
    )
}
