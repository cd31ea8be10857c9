//! What happened, the newest first: interactions and refusals in one list, all the way back.

use super::filter::Filter;
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::{
        devices::{self, Offer},
        interactions::{
            log::{Found, Place, find, lines::Line},
            types::{InteractionType, TYPES},
        },
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "interactions/tail.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    kinds: &'static [InteractionType],
    devices: Vec<Offer>,
    lines: Vec<Line>,
    /// Where the next page begins.
    next: Option<String>,
    /// Nothing was found as far as was looked.
    looked_in_vain: bool,
    /// The address of the stream; none where the page stands still.
    stream: Option<String>,
    /// The address of the page that goes on or stands still, whichever this is not.
    other: String,
    paused: bool,
    newest: bool,
}

impl Page {
    /// Whether the type that is looked for means nothing to the server: clients may post any.
    fn is_of_another_type(&self) -> bool {
        let kind = &self.filter.kind;
        !kind.is_empty() && self.kinds.iter().all(|known| known.name != kind)
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, mut failure) = Filter::read(&request.query, &zone);
    let before = request.query.filled("before").and_then(Place::parse);
    let asked = filter.clone();
    let (found, devices, at) = request
        .read(move |connection| {
            let at = Place::newest(connection)?;
            let found = asked
                .prepare(connection, &zone)
                .and_then(|finder| find(connection, &finder, before.unwrap_or(at)));
            let found = match found {
                Err(cause) if is_about_search(&cause) => Err(cause.message),
                found => Ok(found?),
            };
            Ok((found, devices::offers(connection)?, at))
        })
        .await?;
    let found = found.unwrap_or_else(|message| {
        failure = Some(answer::sentence(&format!(
            "this search cannot be run: {message}"
        )));
        Found {
            lines: Vec::new(),
            next: None,
        }
    });
    let failed = failure.is_some();
    let query = filter.query();
    let joined = |part: &str| {
        let between = if query.is_empty() { "" } else { "&" };
        format!("?{query}{between}{part}")
    };
    let paused = request.query.ticked("paused");
    let live = before.is_none() && !paused && !failed;
    let page = Page {
        layout: request.layout("Activity", Some(Area::Interactions)),
        failure,
        kinds: &TYPES,
        devices,
        looked_in_vain: found.lines.is_empty() && found.next.is_some(),
        next: found
            .next
            .map(|next| joined(&format!("before={}", next.shown()))),
        lines: found.lines,
        stream: live.then(|| {
            let after = joined(&format!("after={}", at.shown()));
            format!("/console/interactions/stream{after}")
        }),
        other: if paused || before.is_some() {
            format!("/console/interactions?{query}")
        } else {
            format!("/console/interactions{}", joined("paused=on"))
        },
        paused,
        newest: before.is_none(),
        filter,
    };
    if failed {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// Whether a failure is one of what was typed, to be told beside it.
pub(super) fn is_about_search(cause: &Error) -> bool {
    matches!(
        cause.kind,
        Kind::InvalidSearch | Kind::NotJson | Kind::Invalid
    )
}
