//! The list that follows while somebody types at the desk.

use super::Desk;
use crate::admin::prelude::*;
use crate::{
    domain::{
        delegates::{blocked, overview},
        interactions::{
            history::{Whereabouts, whereabouts},
            judge::DeviceCache,
        },
    },
    types::{DelegateId, fold::fold},
};

/// People that the list shows.
const SHOWN: usize = 8;

/// Somebody to choose.
pub(super) struct Candidate {
    pub id: i64,
    pub name: String,
    pub company: String,
    pub kind: String,
    /// The symbol, the class and the words of the person's state.
    pub state: (&'static str, &'static str, String),
}

impl Candidate {
    /// Returns whether a text is the whole name, in whatever order: *Hansen Elin* is nobody called Johansen.
    pub fn is_named(&self, typed: &str) -> bool {
        let words = |text: &str| {
            let mut words: Vec<_> = fold(text)
                .split_whitespace()
                .map(ToOwned::to_owned)
                .collect();
            words.sort_unstable();
            words
        };
        words(&self.name) == words(typed)
    }
}

#[derive(Template)]
#[template(path = "desk/find.html")]
struct Found {
    desk: Desk,
    typed: String,
    people: Vec<Candidate>,
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let typed = request.query.text("q").to_owned();
    let zone = request.console.settings().zone.clone();
    let words = typed.clone();
    let people = request
        .read(move |connection| candidates(connection, &words, &zone))
        .await?;
    answer::page(&Found {
        desk: Desk::of(&request),
        typed,
        people,
    })
}

/// The people whom words find, the best first.
pub(super) fn candidates(
    connection: &Connection,
    words: &str,
    zone: &Zone,
) -> Result<Vec<Candidate>> {
    let mut lines = overview::candidates(connection, words, 0)?;
    lines.retain(|line| line.deleted_at.is_none());
    lines.truncate(SHOWN);
    let device_cache = DeviceCache::default();
    let candidate = |line: overview::Line| {
        let is_blocked = line.barcode.is_none() && !blocked::of(connection, line.id)?.is_empty();
        let state = if is_blocked {
            ("block", "bad", "Ticket blocked".to_owned())
        } else {
            state(connection, &device_cache, line.id, zone)?
        };
        Ok(Candidate {
            id: line.id,
            name: line.name,
            company: line.company.or(line.email).unwrap_or_default(),
            kind: line.kind.unwrap_or_default(),
            state,
        })
    };
    lines.into_iter().map(candidate).collect()
}

/// The symbol, the class and the words for where somebody is.
pub(in crate::admin) fn state(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: i64,
    zone: &Zone,
) -> Result<(&'static str, &'static str, String)> {
    let now = Timestamp::now();
    let found = whereabouts(connection, device_cache, DelegateId(delegate))?;
    Ok(match found {
        Whereabouts::NotArrived => ("ring", "", say("Not arrived")),
        Whereabouts::Inside(since) => (
            "inside",
            "good",
            say(format!(
                "Inside since {}",
                texts::short_minute(zone, since, now)
            )),
        ),
        Whereabouts::Left(at) => (
            "out",
            "",
            say(format!("Left at {}", texts::short_minute(zone, at, now))),
        ),
    })
}
