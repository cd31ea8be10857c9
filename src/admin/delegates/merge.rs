//! Merging two records of one person.

use super::{label, name_of};
use crate::admin::prelude::*;
use crate::{
    domain::{
        delegates::{
            merge::{chosen, combined, merge, record},
            overview::{self, Line},
        },
        interactions::history::count_of_delegate,
    },
    types::{DelegateId, json::flatten, text::fold},
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

#[derive(Template)]
#[template(path = "delegates/merge.html")]
struct Page {
    layout: Layout,
    id: i64,
    name: String,
    q: String,
    candidates: Vec<Line>,
    pair: Option<Pair>,
    failure: Option<String>,
}

/// The two records, side by side.
struct Pair {
    other: i64,
    name: String,
    rows: Vec<PropertyRow>,
    /// The versions of both records.
    seen: String,
    interactions: i64,
    /// Codes that are blocked unless they are chosen.
    blocked: Vec<String>,
    /// Why they may be two people: names or addresses that differ.
    differing: Vec<String>,
    /// They share no name, address, phone or company.
    have_nothing_in_common: bool,
}

/// Properties by which people are told apart, and what they are called.
const TELLING: [(&str, &str); 3] = [
    ("firstName", "first names"),
    ("lastName", "last names"),
    ("email", "e-mail addresses"),
];

/// Properties that records of one person have in common.
const COMMON: [&str; 5] = ["firstName", "lastName", "email", "phone", "company"];

/// Tells whether two records share none of the properties that records of one person share.
fn have_nothing_in_common(kept: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let text = |record: &Map<String, Value>, name: &str| fold(super::text(record, name).trim());
    let is_shared = |name: &str| {
        let ours = text(kept, name);
        !ours.is_empty() && ours == text(other, name)
    };
    !COMMON.iter().any(|name| is_shared(name))
}

/// Says which of the properties by which people are told apart differ.
fn differing(kept: &Map<String, Value>, other: &Map<String, Value>) -> Vec<String> {
    let text = |record: &Map<String, Value>, name: &str| fold(super::text(record, name).trim());
    let differs = |name: &str| {
        let (ours, theirs) = (text(kept, name), text(other, name));
        !ours.is_empty() && !theirs.is_empty() && ours != theirs
    };
    let differing = TELLING.iter().filter(|(name, _)| differs(name));
    differing.map(|(_, words)| say(*words)).collect()
}

/// A property of both records.
struct PropertyRow {
    name: &'static str,
    kept: String,
    other: String,
    /// Both have a value, and the values differ.
    open: bool,
    /// The value of the other record is chosen.
    take: bool,
}

impl PropertyRow {
    fn label(&self) -> &str {
        label(self.name)
    }
}

fn rows(
    kept: &Map<String, Value>,
    other: &Map<String, Value>,
    take: &BTreeSet<String>,
) -> Vec<PropertyRow> {
    let text = |record: &Map<String, Value>, name: &str| {
        let mut values = Vec::new();
        if let Some(value) = record.get(name) {
            flatten("", value, &mut values);
        }
        let values: Vec<String> = values
            .into_iter()
            .map(|(path, value)| {
                if path.is_empty() {
                    value
                } else {
                    format!("{path}: {value}")
                }
            })
            .collect();
        values.join("; ")
    };
    let row = |name: &'static str| {
        let (ours, theirs) = (text(kept, name), text(other, name));
        PropertyRow {
            open: !ours.is_empty() && !theirs.is_empty() && ours != theirs,
            take: take.contains(name),
            kept: ours,
            other: theirs,
            name,
        }
    };
    chosen()
        .into_iter()
        .map(row)
        .filter(|row| !row.kept.is_empty() || !row.other.is_empty())
        .collect()
}

/// Tells people of one name apart.
pub(super) fn about(line: &Line) -> String {
    let about = [&line.company, &line.email, &line.barcode];
    let about: Vec<&str> = about.into_iter().flatten().map(String::as_str).collect();
    about.join(" · ")
}

/// The versions of both records.
fn seen(connection: &Connection, kept: i64, other: i64) -> Result<String> {
    let updated_at = |id| Ok::<_, Error>(overview::stamps(connection, id)?.1.0);
    Ok(format!("{}-{}", updated_at(kept)?, updated_at(other)?))
}

fn pair(
    connection: &Connection,
    id: i64,
    other: i64,
    take: &BTreeSet<String>,
    zone: &Zone,
) -> Result<Pair> {
    if id == other {
        return Err(Error::invalid(
            "choose another record; this is the same one",
        ));
    }
    let kept = record(connection, DelegateId(id), zone)?;
    let theirs = record(connection, DelegateId(other), zone)?;
    let (_, lost) = combined(&kept, &theirs, take);
    Ok(Pair {
        other,
        name: name_of(connection, other)?.unwrap_or_default(),
        differing: differing(&kept, &theirs),
        have_nothing_in_common: have_nothing_in_common(&kept, &theirs),
        rows: rows(&kept, &theirs, take),
        seen: seen(connection, id, other)?,
        interactions: count_of_delegate(connection, other)?,
        blocked: lost
            .into_iter()
            .map(|(code, value)| format!("{} {value}", label(code.name())))
            .collect(),
    })
}

fn page(
    request: &RequestContext,
    other: Option<i64>,
    take: &BTreeSet<String>,
    failure: Option<String>,
) -> Result<Page> {
    let id = request.id("id")?;
    let q = request.query.text("q").to_owned();
    let zone = request.console.settings().zone.clone();
    let (name, candidates, pair) = request.look_up(|connection| {
        // Only existing records can be merged.
        record(connection, DelegateId(id), &zone)?;
        let name = name_of(connection, id)?.unwrap_or_default();
        let pair = match other {
            Some(other) => Some(pair(connection, id, other, take, &zone)?),
            None => None,
        };
        Ok((name, overview::candidates(connection, &q, id)?, pair))
    })?;
    Ok(Page {
        layout: request.layout(&format!("Merge {name}"), Some(Area::Delegates)),
        id,
        name,
        q,
        candidates,
        pair,
        failure,
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let other = request.query.number("other")?;
    answer::page(&page(&request, other, &BTreeSet::new(), None)?)
}

pub(super) async fn merge_two(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let Some(other) = request.form.number("other")? else {
        return Err(Error::invalid("choose the other record first"));
    };
    let take: BTreeSet<String> = chosen()
        .into_iter()
        .filter(|name| request.form.text(&format!("take-{name}")) == "other")
        .map(ToOwned::to_owned)
        .collect();
    let wanted = take.clone();
    let was_seen = request.form.text("seen").to_owned();
    let done = request
        .write(move |tx, ctx| {
            record(tx, DelegateId(id), &ctx.settings.zone)?;
            record(tx, DelegateId(other), &ctx.settings.zone)?;
            if seen(tx, id, other)? != was_seen {
                return Ok(None);
            }
            merge(tx, ctx, DelegateId(id), DelegateId(other), &wanted).map(Some)
        })
        .await;
    match done {
        Ok(Some(merged)) => request.done(
            format!(
                "Merged: {} interactions moved, {} codes blocked.",
                merged.interactions, merged.blocked
            ),
            &format!("/console/delegates/{id}"),
        ),
        Ok(None) => {
            let failure = "Somebody changed one of the two meanwhile; nothing is merged. Check what is there now.";
            answer::form_again(&page(
                &request,
                Some(other),
                &take,
                Some(failure.to_owned()),
            )?)
        }
        Err(cause) if is_theirs(&cause) => {
            let failure = answer::sentence(&cause);
            let other = Some(other).filter(|other| *other != id);
            answer::form_again(&page(&request, other, &take, Some(failure))?)
        }
        Err(cause) => Err(cause),
    }
}
