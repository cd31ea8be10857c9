//! `regions`: a list, matched by path. Times are written with their offset; without one they are read
//! in the instance's time zone.

use super::{Part, Plan, planned, read};
use crate::{
    core::settings,
    db::Store,
    domain::content::{self, Checked, Draft, Region},
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const PART: Part = Part {
    key: "regions",
    help: "Regions: [{\"path\": \"/api/delegate-info/...\", \"content\": a template, \"tags\", \"references\", \"publishedFrom\", \"publishedTo\"}]; each save is a version.",
    export: |connection| {
        let zone = settings::load(connection)?.zone;
        let written = |region: Region| {
            let time = |at: Option<Timestamp>| at.map(|at| zone.iso(at));
            json!({
                "path": region.now.path,
                "content": region.now.content,
                "tags": region.now.tags,
                "references": region.now.references,
                "publishedFrom": time(region.now.published_from),
                "publishedTo": time(region.now.published_to),
            })
        };
        Ok(Value::Array(
            Region::all(connection)?.into_iter().map(written).collect(),
        ))
    },
    plan,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    path: String,
    content: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    references: Vec<String>,
    #[serde(default)]
    published_from: Value,
    #[serde(default)]
    published_to: Value,
}

impl Entry {
    fn draft(self, zone: &Zone) -> Result<Checked> {
        let time = |name: &str, value: &Value| -> Result<Option<Timestamp>> {
            if value.is_null() {
                return Ok(None);
            }
            zone.read(name, value).map(Some)
        };
        Draft {
            published_from: time("publishedFrom", &self.published_from)?,
            published_to: time("publishedTo", &self.published_to)?,
            path: self.path,
            content: self.content,
            tags: self.tags,
            references: self.references,
        }
        .check()
    }
}

fn plan(store: &Store, said: Option<Value>, prune: bool) -> Result<Plan> {
    let entries: Vec<Entry> = read(PART.key, said)?;
    let zone = store.look_up(settings::load)?.zone;
    let mut drafts: Vec<Checked> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.into_iter().enumerate() {
        let path = entry.path.clone();
        let draft = entry
            .draft(&zone)
            .map_err(|cause| Error::new(cause.kind, format!("regions[{at}] {path}: {cause}")))?;
        if drafts.iter().any(|earlier| earlier.path == draft.path) {
            return Err(Error::invalid(format!(
                "regions[{at}] {path}: stands twice"
            )));
        }
        drafts.push(draft);
    }
    planned(drafts.len(), move |tx, ctx| {
        let named: BTreeSet<&str> = drafts.iter().map(|draft| draft.path.as_str()).collect();
        if prune {
            for region in Region::all(tx)? {
                if !named.contains(region.now.path.as_str()) {
                    content::remove(tx, ctx, &region.now.path)?;
                }
            }
        }
        for draft in &drafts {
            match Region::find(tx, &draft.path)? {
                Some(region) => drop(content::save(tx, ctx, region.version, draft)?),
                None => content::create(tx, ctx, draft)?,
            }
        }
        Ok(())
    })
}
