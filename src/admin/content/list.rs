//! Every region.

use super::{layout, page, standing};
use crate::{
    admin::{Layout, RequestContext, answer},
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
    layout: Layout,
    lines: Vec<Line>,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let regions = request.read(Region::all).await?;
    let layout = layout(&request, "Content");
    let line = |region: Region| Line {
        link: page("region", &region.now.path),
        standing: standing(&region, &layout),
        path: region.now.path,
        tags: region.now.tags,
        version: region.version,
        updated_at: region.updated_at,
    };
    let lines = regions.into_iter().map(line).collect();
    answer::page(&List { layout, lines })
}
