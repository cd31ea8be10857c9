//! The newest entries as they come in, for who looks at them.

use super::{activity::offer_undo, filter::Filter};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::interactions::{
        log::{Entry, heads::Position, since},
        undo::Caller,
    },
    types::{Zone, error::Result},
};
use askama::Template;
use futures_util::stream;
use poem::Response;

/// Entries of one message; of more, the newest.
const MOST: usize = 20;

#[derive(Template)]
#[template(path = "interactions/rows.html")]
struct Part<'a> {
    layout: &'a Layout,
    entries: Vec<Entry>,
}

/// The state of a stream.
struct Told {
    request: RequestContext,
    filter: Filter,
    zone: Zone,
    caller: Caller,
    /// All up to here was told.
    seen: Position,
}

/// Each message has the entries that came in since the one before. After a reconnect some come again; the page
/// knows them by their names.
pub(super) async fn stream(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, _) = Filter::read(&request.query, &zone);
    let beats = request.beats()?;
    let after = request.query.filled("after").and_then(Position::parse);
    let told = Told {
        seen: after.map_or_else(|| request.look_up(Position::newest), Ok)?,
        caller: request.caller()?,
        request,
        filter,
        zone,
    };
    Ok(answer::events(stream::unfold(
        (told, beats),
        |(mut told, mut beats)| async move {
            loop {
                beats.next().await?;
                match told.look().await {
                    Ok(entries) if entries.is_empty() => {}
                    Ok(entries) => {
                        let text = told.rendered(entries)?;
                        return Some((answer::event("rows", &text), (told, beats)));
                    }
                    Err(cause) => tracing::warn!("live activity: {cause}"),
                }
            }
        },
    )))
}

impl Told {
    /// Looks for what is new.
    async fn look(&mut self) -> Result<Vec<Entry>> {
        let store = &self.request.console.store;
        let at = store.look_up(Position::newest)?;
        if self.seen == at {
            return Ok(Vec::new());
        }
        let (filter, zone, seen) = (self.filter.clone(), self.zone.clone(), self.seen);
        let mut entries = store
            .read(move |connection| {
                let finder = filter.prepare(connection, &zone)?;
                since(connection, &finder, seen, at, MOST, &zone)
            })
            .await?;
        self.seen = at;
        offer_undo(&mut entries, self.caller);
        Ok(entries)
    }

    fn rendered(&self, entries: Vec<Entry>) -> Option<String> {
        let layout = self.request.layout("", Some(Area::Interactions));
        let part = Part {
            layout: &layout,
            entries,
        };
        part.render()
            .inspect_err(|cause| tracing::error!("live activity: {cause}"))
            .ok()
    }
}
