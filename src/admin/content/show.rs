//! One region: its template, whether apps get it, and its versions.

use super::{found, layout, page, standing};
use crate::{
    admin::{Layout, RequestContext, answer},
    core::audit,
    domain::content::{Region, Version},
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;

/// A version as a line of the page.
struct Line {
    version: i64,
    link: String,
    by: String,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "content/region.html")]
struct Page {
    layout: Layout,
    region: Region,
    standing: (&'static str, String),
    published: bool,
    edit: String,
    /// Who made it what it is.
    by: String,
    versions: Vec<Line>,
}

impl Page {
    /// The version that undoing leads to.
    fn before(&self) -> Option<i64> {
        let older = |line: &&Line| line.version < self.region.version;
        self.versions.iter().find(older).map(|line| line.version)
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let region = found(&request, request.query.text("path"))?;
    let path = region.now.path.clone();
    let versions = request
        .read(move |connection| {
            let line = |version: Version| {
                Ok(Line {
                    link: format!("{}&version={}", page("version", &path), version.version),
                    by: audit::actor_name(connection, &version.actor)?,
                    version: version.version,
                    at: version.at,
                })
            };
            Version::all(connection, &path)?
                .into_iter()
                .map(line)
                .collect::<Result<Vec<_>>>()
        })
        .await?;
    let layout = layout(&request, &region.now.path);
    let standing = standing(&region, &layout);
    answer::page(&Page {
        published: standing.0 == "good",
        edit: page("edit", &region.now.path),
        by: versions
            .first()
            .map(|line| line.by.clone())
            .unwrap_or_default(),
        layout,
        region,
        standing,
        versions,
    })
}
