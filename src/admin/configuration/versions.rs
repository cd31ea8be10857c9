//! The versions that were published, and what each of them changed.

use super::show::{Named, named, seen};
use crate::{
    admin::{Area, Layout, RequestContext, actor, answer},
    domain::apps::{Document, configuration},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};

/// Versions listed.
const LISTED: i64 = 100;

/// A version as it was published.
pub struct Version {
    pub version: i64,
    pub by: String,
    pub published_at: Timestamp,
}

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
        .console
        .store
        .read(|connection| Ok((newest(connection)?, configuration::version(connection)?)))
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

fn newest(connection: &Connection) -> Result<Vec<Version>> {
    let mut statement = connection.prepare_cached(
        "SELECT version, actor, published_at FROM app_config ORDER BY version DESC LIMIT ?1",
    )?;
    let rows = statement.query_map([LISTED], |row| {
        Ok(Version {
            version: row.get(0)?,
            by: row.get(1)?,
            published_at: row.get(2)?,
        })
    })?;
    let mut versions = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    for version in &mut versions {
        version.by = actor::called(connection, &version.by)?;
    }
    Ok(versions)
}

/// A version with its document.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is none.
pub fn find(connection: &Connection, version: i64) -> Result<(Version, Document)> {
    connection
        .prepare_cached(
            "SELECT version, actor, published_at, document FROM app_config WHERE version = ?1",
        )?
        .query_row([version], |row| {
            let found = Version {
                version: row.get(0)?,
                by: row.get(1)?,
                published_at: row.get(2)?,
            };
            Ok((found, Document::stored(&row.get::<_, String>(3)?)))
        })
        .optional()?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, format!("there is no version {version}")))
}

/// What was in force before a version.
fn before(connection: &Connection, version: i64) -> Result<Document> {
    let text: Option<String> = connection
        .prepare_cached(
            "SELECT document FROM app_config WHERE version < ?1 ORDER BY version DESC LIMIT 1",
        )?
        .query_row([version], |row| row.get(0))
        .optional()?;
    Ok(text.map_or_else(Document::built_in, |text| Document::stored(&text)))
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let number = request.id("version")?;
    let layout = request.layout(&format!("Version {number}"), Some(Area::Configuration));
    let zone = request.console.settings().zone.clone();
    let page = request
        .console
        .store
        .read(move |connection| {
            let (mut version, document) = find(connection, number)?;
            version.by = actor::called(connection, &version.by)?;
            let earlier = before(connection, number)?;
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
