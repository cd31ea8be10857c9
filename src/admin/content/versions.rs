//! The history of a region: what a version changed, and restoring it.

use super::{find, layout, page, saved, seen};
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::content::{
        self, Version,
        difference::{self, Line},
    },
};

#[derive(Template)]
#[template(path = "content/version.html")]
struct Page {
    layout: Layout,
    path: String,
    back: String,
    version: Version,
    by: String,
    current: i64,
    lines: Vec<Line>,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let region = find(&request)?;
    let path = region.now.path.clone();
    let number = request.query.number("version")?.unwrap_or(region.version);
    let (version, by, before) = request
        .read(move |connection| {
            let version = Version::find(connection, &path, number)?.ok_or_else(|| {
                Error::new(
                    Kind::NoSuchPath,
                    format!("there is no version {number} of {path}"),
                )
            })?;
            let by = audit::actor_name(connection, &version.actor)?;
            let before = Version::find(connection, &path, number - 1)?;
            Ok((version, by, before))
        })
        .await?;
    let before = before.map(|before| before.then.content).unwrap_or_default();
    answer::page(&Page {
        layout: layout(
            &request,
            &format!("Version {number} of {}", region.now.path),
        ),
        back: page("region", &region.now.path),
        path: region.now.path,
        lines: difference::changed(&before, &version.then.content),
        current: region.version,
        version,
        by,
    })
}

pub fn restore(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let path = action.form.text("path");
    let version = action.form.number("version")?.unwrap_or_default();
    let outcome = content::restore(tx, ctx, path, seen(action)?, version)?;
    saved(outcome, path, format!("Version {version} restored."))
}
