//! Every region.

use super::{page, shell, standing};
use crate::{
    admin::{Shell, Visit, answer},
    domain::content::Region,
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;

/// A region as a line of the list.
struct Line {
    path: String,
    link: String,
    standing: (&'static str, String),
    tags: Vec<String>,
    version: i64,
    updated_at: Timestamp,
}

#[derive(Template)]
#[template(path = "content/list.html")]
struct List {
    shell: Shell,
    lines: Vec<Line>,
}

pub async fn show(visit: Visit) -> Result<Response> {
    let regions = visit.console.store.read(Region::all).await?;
    let shell = shell(&visit, "Content");
    let line = |region: Region| Line {
        link: page("region", &region.now.path),
        standing: standing(&region, &shell),
        path: region.now.path,
        tags: region.now.tags,
        version: region.version,
        updated_at: region.updated_at,
    };
    let lines = regions.into_iter().map(line).collect();
    answer::page(&List { shell, lines })
}
