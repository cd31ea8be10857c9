//! Making, saving, restoring and removing regions. Every save is a version; whoever saves says which
//! version they saw, and nobody's work is written over unseen.

use super::{Draft, Region, Version, region::Checked};
use crate::{
    core::{Context, audit},
    db::Tx,
    types::error::{Error, Kind, Result},
};
use rusqlite::params;
use serde_json::{Value, json};

/// Versions kept of a region; older ones go.
const VERSIONS_KEPT: i64 = 500;

/// The outcome of a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    Version(i64),
    Same,
    /// Nothing was saved: somebody else saved this version meanwhile, or with `None` removed it.
    Meanwhile(Option<i64>),
}

/// Makes a region.
///
/// # Errors
/// [`Kind::CodeTaken`] where there is one at the path.
pub fn create(tx: &Tx<'_>, ctx: &Context, draft: &Checked) -> Result<()> {
    if Region::find(tx, &draft.path)?.is_some() {
        return Err(Error::new(
            Kind::CodeTaken,
            format!("there is a region {} already", draft.path),
        )
        .at("path"));
    }
    store(tx, ctx, draft, 1)?;
    let after = Some(shown(draft, 1, ctx));
    audit::append_between(tx, ctx, "region", None, None, after)
}

/// Saves a region as its next version. The path is that of the region.
pub fn save(tx: &Tx<'_>, ctx: &Context, seen: i64, draft: &Checked) -> Result<Saved> {
    let Some(region) = Region::find(tx, &draft.path)? else {
        return Ok(Saved::Meanwhile(None));
    };
    if region.version != seen {
        return Ok(Saved::Meanwhile(Some(region.version)));
    }
    if region.now == **draft {
        return Ok(Saved::Same);
    }
    let version = region.version + 1;
    store(tx, ctx, draft, version)?;
    // The contents are in the versions; the audit has the rest.
    let before = Some(shown(&region.now, region.version, ctx));
    let after = Some(shown(draft, version, ctx));
    audit::append_between(tx, ctx, "region", None, before, after)?;
    Ok(Saved::Version(version))
}

/// Takes a version up again, as a new one. When it is published stays as it is: what is offline does
/// not come back with an old text.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is no such version.
pub fn restore(tx: &Tx<'_>, ctx: &Context, path: &str, seen: i64, version: i64) -> Result<Saved> {
    let Some(region) = Region::find(tx, path)? else {
        return Ok(Saved::Meanwhile(None));
    };
    let earlier = Version::find(tx, path, version)?.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            format!("there is no version {version} of {path}"),
        )
    })?;
    let draft = Draft {
        published_from: region.now.published_from,
        published_to: region.now.published_to,
        ..earlier.then
    };
    save(tx, ctx, seen, &Checked::as_stored(draft))
}

/// Removes a region for good, with its versions.
pub fn remove(tx: &Tx<'_>, ctx: &Context, path: &str) -> Result<()> {
    let Some(region) = Region::find(tx, path)? else {
        return Ok(());
    };
    tx.execute("DELETE FROM regions WHERE path = ?1", [path])?;
    let mut before = shown(&region.now, region.version, ctx);
    before["content"] = json!(region.now.content);
    audit::append_between(tx, ctx, "region", None, Some(before), None)
}

fn store(tx: &Tx<'_>, ctx: &Context, draft: &Draft, version: i64) -> Result<()> {
    let values = params![
        draft.path,
        version,
        draft.content,
        json!(draft.tags).to_string(),
        json!(draft.references).to_string(),
        draft.published_from,
        draft.published_to,
        tx.now(),
        ctx.actor,
    ];
    tx.prepare_cached(
        "INSERT INTO regions (path, version, content, tags, refs, published_from, published_to, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
         ON CONFLICT (path) DO UPDATE SET version = excluded.version, content = excluded.content, tags = excluded.tags,
             refs = excluded.refs, published_from = excluded.published_from,
             published_to = excluded.published_to, updated_at = excluded.updated_at",
    )?
    .execute(&values[..8])?;
    tx.prepare_cached(
        "INSERT INTO region_versions (path, version, content, tags, refs, published_from, published_to, at, actor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(values)?;
    tx.execute(
        "DELETE FROM region_versions WHERE path = ?1 AND version <= ?2",
        params![draft.path, version - VERSIONS_KEPT],
    )?;
    Ok(())
}

/// A region for the audit, without its text.
fn shown(draft: &Draft, version: i64, ctx: &Context) -> Value {
    let time = |at: Option<_>| at.map(|at| ctx.settings.zone.iso(at));
    json!({
        "path": format!("{} (version {version})", draft.path),
        "tags": draft.tags,
        "references": draft.references,
        "publishedFrom": time(draft.published_from),
        "publishedTo": time(draft.published_to),
    })
}
