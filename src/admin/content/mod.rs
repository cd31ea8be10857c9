//! Content regions: the list, the page of one, publishing. `edit` is the form, `versions` the history.

mod edit;
mod versions;

use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::content::{self, Checked, Draft, Region, Version, edit::Saved, region::Publication},
};

const HERE: &str = "/console/content";

pub(super) fn routes() -> Vec<Route> {
    let edit = "/console/content/edit";
    Routes::access(VIEWER)
        .get(HERE, list)
        .get("/console/content/region", show)
        .get("/console/content/version", versions::show)
        .then(OPERATOR)
        .action("/console/content/restore", versions::restore)
        .get(edit, engine::show::<edit::Regions>)
        .post(edit, engine::submit::<edit::Regions>)
        .action("/console/content/publish", publish)
        .then(ADMINISTRATOR)
        .action("/console/content/remove", remove)
        .all()
}

/// The address of a page about a region.
fn page(page: &str, path: &str) -> String {
    let path: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    format!("{HERE}/{page}?path={path}")
}

fn gone(path: &str) -> Error {
    Error::new(Kind::NoSuchPath, format!("there is no region {path}"))
}

/// The region of a path.
fn find(connection: &Connection, path: &str) -> Result<Region> {
    Region::find(connection, path)?.ok_or_else(|| gone(path))
}

/// Tells in words whether apps get a region, with the colour of the tag.
fn standing(region: &Region, layout: &Layout) -> (&'static str, String) {
    let time = |at: Option<Timestamp>| at.map(|at| layout.time(&at)).unwrap_or_default();
    let (from, to) = (region.now.published_from, region.now.published_to);
    match region.now.standing(Timestamp::now()) {
        Publication::Published if to.is_none() => ("good", "published".to_owned()),
        Publication::Published => ("good", format!("published until {}", time(to))),
        Publication::Later => ("warn", format!("published from {}", time(from))),
        Publication::Over => ("", "offline".to_owned()),
    }
}

#[derive(Template)]
#[template(path = "content/list.html")]
struct RegionList {
    layout: Layout,
    regions: Vec<Region>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let read = |connection: &Connection, layout| {
        let regions = Region::all(connection)?;
        Ok(RegionList { layout, regions })
    };
    request.page("Content", Area::Content, read).await
}

#[derive(Template)]
#[template(path = "content/region.html")]
struct Page {
    layout: Layout,
    region: Region,
    standing: (&'static str, String),
    /// Each with the name of who saved it, the newest first.
    versions: Vec<(Version, String)>,
}

impl Page {
    /// The version that undoing leads to.
    fn before(&self) -> Option<i64> {
        let older = |(version, _): &&(Version, String)| version.version < self.region.version;
        self.versions
            .iter()
            .find(older)
            .map(|(version, _)| version.version)
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let path = request.query.text("path").to_owned();
    let read = move |connection: &Connection, mut layout: Layout| {
        let region = find(connection, &path)?;
        layout.title.clone_from(&region.now.path);
        let versions = Version::all(connection, &path)?.into_iter();
        let versions = versions.map(|version| {
            let actor = audit::actor_name(connection, &version.actor)?;
            Ok((version, actor))
        });
        Ok(Page {
            versions: versions.collect::<Result<_>>()?,
            standing: standing(&region, &layout),
            layout,
            region,
        })
    };
    request.page("Region", Area::Content, read).await
}

/// Tells the result of a button that saves a region, which somebody else may have saved meanwhile.
fn saved(saved: Saved, path: &str, done: String) -> Result<Done> {
    let message = match saved {
        Saved::Version(_) | Saved::Same => done,
        Saved::Meanwhile(Some(now)) => format!(
            "Nothing was changed: somebody else saved version {now} meanwhile. Look at it first."
        ),
        Saved::Meanwhile(None) => return Err(gone(path)),
    };
    Ok(Done::new(message, page("region", path)))
}

/// The version that a button was shown with.
fn seen(action: &Action) -> Result<i64> {
    Ok(action.form.number("seen")?.unwrap_or_default())
}

/// Publishes a region now, or takes it offline; other times are set in the form.
fn publish(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let path = action.form.text("path");
    let region = find(tx, path)?;
    let online = action.form.text("do") == "publish";
    let draft = if online {
        Draft {
            published_from: None,
            published_to: None,
            ..region.now
        }
    } else {
        offline(region.now, tx.now())
    };
    let outcome = content::save(tx, ctx, seen(action)?, &Checked::as_stored(draft))?;
    let done = if online {
        "Published: apps get it from now on."
    } else {
        "Offline: apps get nothing for this region."
    };
    saved(outcome, path, done.to_owned())
}

/// The draft, over since now, in whole seconds as the form shows them.
fn offline(draft: Draft, now: Timestamp) -> Draft {
    let now = Timestamp(now.0.div_euclid(1000) * 1000);
    Draft {
        published_from: draft.published_from.filter(|from| *from < now),
        published_to: Some(now),
        ..draft
    }
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let path = action.form.text("path");
    content::remove(tx, ctx, path)?;
    Ok(Done::new(
        format!("{path} removed with all its versions."),
        HERE,
    ))
}
