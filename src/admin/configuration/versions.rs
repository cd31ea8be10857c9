//! The versions that were published, and what each of them changed.

use super::show::{Named, named, seen};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit,
    domain::apps::{
        configuration,
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
    changes: Vec<Named>,
    document: String,
    current: bool,
    has_draft: bool,
    seen: String,
}

pub async fn list(request: RequestContext) -> Result<Response> {
    let (versions, current) = request
        .read(|connection| {
            let versions = history::newest(connection)?.into_iter();
            let versions = versions.map(|version| named_by(connection, version));
            Ok((
                versions.collect::<Result<_>>()?,
                configuration::version(connection)?,
            ))
        })
        .await?;
    answer::page(&List {
        layout: request.layout(
            "Versions of the app configuration",
            Some(Area::Configuration),
        ),
        versions,
        current,
    })
}

/// With who published it as people know them.
fn named_by(connection: &Connection, mut version: Version) -> Result<Version> {
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
            let version = named_by(connection, version)?;
            let earlier = history::before(connection, number)?;
            let draft = configuration::draft(connection)?;
            Ok(Page {
                layout,
                changes: named(connection, &earlier, &document, &zone)?,
                document: serde_json::to_string_pretty(&document.to_json())
                    .map_err(Error::defect)?,
                current: configuration::version(connection)? == number,
                has_draft: draft.is_some(),
                seen: seen(draft.as_ref()),
                version,
            })
        })
        .await?;
    answer::page(&page)
}
