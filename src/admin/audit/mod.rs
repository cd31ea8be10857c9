//! The audit: who changed what, when, and how it was before. It shows and never changes.

mod differences;
mod export;
mod history;
mod line;

pub use differences::flatten;
pub use history::{Change, changes};

use super::{Area, Fields, Layout, RequestContext, Route, answer, route};
use crate::{
    core::audit::{self, Filter},
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use askama::Template;
use line::Line;
use poem::Response;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeSet;

/// Changes on a page.
const LINES: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/audit", route::VIEWER, show),
        Route::get("/console/audit/export", route::VIEWER, export::export),
    ]
}

#[derive(Template)]
#[template(path = "audit/audit.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    lines: Vec<Line>,
    /// The query string of the page before these, that is of older changes.
    older: Option<String>,
    searched_to: Option<Timestamp>,
    begins_later: bool,
    types: Vec<Offer>,
    actions: Vec<Offer>,
    failure: Option<String>,
}

/// Something to filter by.
struct Offer {
    value: String,
    name: String,
    chosen: bool,
}

fn offers(values: Vec<String>, words: fn(&str) -> String, chosen: &str) -> Vec<Offer> {
    let offer = |value: String| Offer {
        name: words(&value),
        chosen: value == chosen,
        value,
    };
    values.into_iter().map(offer).collect()
}

/// The filter as it was typed.
#[derive(Clone, Default)]
struct Asked {
    who: String,
    record_type: String,
    record_id: String,
    action: String,
    from: String,
    to: String,
}

impl Asked {
    fn read(query: &Fields) -> Self {
        let text = |name| query.text(name).to_owned();
        Self {
            who: text("who"),
            record_type: text("type"),
            record_id: text("id"),
            action: text("action"),
            from: text("from"),
            to: text("to"),
        }
    }

    fn is_empty(&self) -> bool {
        self.pairs().next().is_none()
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("who", &self.who),
            ("type", &self.record_type),
            ("id", &self.record_id),
            ("action", &self.action),
            ("from", &self.from),
            ("to", &self.to),
        ]
        .into_iter()
        .map(|(name, text)| (name, text.as_str()))
        .filter(|(_, text)| !text.is_empty())
    }

    /// The query string of this filter.
    fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs()).finish()
    }

    /// The query string of this filter, with one more parameter.
    fn with(&self, name: &str, value: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs());
        query.append_pair(name, value).finish()
    }

    /// What is looked for.
    fn filter(&self, connection: &Connection, zone: &Zone) -> Result<Filter> {
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let time = |name: &str, text: &String| {
            given(text)
                .map(|text| zone.read(name, &Value::String(text)))
                .transpose()
        };
        let record_id = given(&self.record_id).map(|id| {
            crate::types::text::whole(&id)
                .map_err(|fault| Error::invalid(format!("number of the record: {fault}")))
        });
        Ok(Filter {
            who: given(&self.who)
                .map(|who| audit::meant(connection, &who))
                .transpose()?,
            record_type: given(&self.record_type),
            record_id: record_id.transpose()?,
            action: given(&self.action),
            from: time("from", &self.from)?,
            // The field knows minutes, and the last one is meant as a whole.
            to: time("to", &self.to)?.map(|to| Timestamp(to.0 + 60_000)),
        })
    }
}

struct Read {
    page: audit::Page,
    lines: Vec<Line>,
    types: Vec<String>,
    actions: Vec<String>,
    failure: Option<String>,
}

async fn show(request: RequestContext) -> Result<Response> {
    let asked = Asked::read(&request.query);
    let below = request.query.number("below")?;
    let zone = request.console.settings().zone.clone();
    let layout = request.layout("Audit", Some(Area::Audit));
    let (sought, administers) = (asked.clone(), layout.administers());
    let read = request
        .read(move |connection| {
            let (page, failure) = match sought.filter(connection, &zone) {
                Ok(filter) => (audit::page(connection, &filter, below, LINES)?, None),
                Err(error) if error.kind == crate::types::error::Kind::Invalid => (
                    audit::Page::default(),
                    Some(answer::sentence(&error.message)),
                ),
                Err(error) => return Err(error),
            };
            let lines = page.entries.iter();
            let lines: Result<Vec<Line>> = lines
                .map(|entry| Line::of(connection, entry, administers))
                .collect();
            Ok(Read {
                lines: lines?,
                page,
                types: audit::types(connection)?,
                actions: actions(connection, &sought.action)?,
                failure,
            })
        })
        .await?;
    let older = read.page.below;
    let page = Page {
        layout,
        older: older.map(|below| asked.with("below", &below.to_string())),
        types: offers(read.types, line::kind, &asked.record_type),
        actions: offers(read.actions, line::deed, &asked.action),
        asked,
        lines: read.lines,
        searched_to: read.page.searched_to,
        begins_later: below.is_some(),
        failure: read.failure,
    };
    if page.failure.is_some() {
        return answer::form_again(&page);
    }
    answer::page(&page)
}

/// Actions to choose from: the usual ones, those of the newest changes, and the one chosen.
fn actions(connection: &Connection, chosen: &str) -> Result<Vec<String>> {
    let usual = ["create", "update", "delete", "restore", "revoke"];
    let mut actions: BTreeSet<String> = usual.iter().map(ToString::to_string).collect();
    if !chosen.is_empty() {
        actions.insert(chosen.to_owned());
    }
    actions.extend(audit::recent_actions(connection)?);
    Ok(actions.into_iter().collect())
}
