//! The newest lines as they come in, for who looks at them.

use super::{filter::Filter, tail::is_about_search};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::interactions::log::{PAGE, Place, find, lines::Line, since},
    types::{Zone, error::Result},
};
use askama::Template;
use futures_util::stream;
use poem::Response;
use std::collections::VecDeque;

#[derive(Template)]
#[template(path = "interactions/lines.html")]
struct Part<'a> {
    layout: &'a Layout,
    lines: &'a [Line],
}

/// What a stream has told.
struct Told {
    request: RequestContext,
    filter: Filter,
    zone: Zone,
    lines: VecDeque<Line>,
    /// What of both tables is told; none before the first look.
    seen: Option<Place>,
    /// What the page had when it was made.
    after: Option<Place>,
}

/// The newest page of lines whenever there is something new in it: a whole one each time, so that
/// nothing stands twice after a reconnect.
pub(super) async fn stream(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, _) = Filter::read(&request.query, &zone);
    let beats = request.beats()?;
    let told = Told {
        after: request.query.filled("after").and_then(Place::parse),
        request,
        filter,
        zone,
        lines: VecDeque::new(),
        seen: None,
    };
    Ok(answer::events(stream::unfold(
        (told, beats),
        |(mut told, mut beats)| async move {
            loop {
                beats.next().await?;
                match told.look().await {
                    Ok(true) => {
                        let text = told.rendered()?;
                        return Some((("lines", text), (told, beats)));
                    }
                    Ok(false) => {}
                    Err(cause) if is_about_search(&cause) => return None,
                    Err(cause) => tracing::warn!("live interactions: {cause}"),
                }
            }
        },
    )))
}

impl Told {
    /// Looks for what is new; false when nothing is.
    async fn look(&mut self) -> Result<bool> {
        let store = &self.request.console.store;
        let at = store.look_up(Place::newest)?;
        if self.seen == Some(at) {
            return Ok(false);
        }
        let (filter, zone, seen) = (self.filter.clone(), self.zone.clone(), self.seen);
        let new = store
            .read(move |connection| {
                let finder = filter.prepare(connection, &zone)?;
                match seen {
                    Some(seen) => since(connection, &finder, seen, at),
                    None => find(connection, &finder, at).map(|found| found.lines),
                }
            })
            .await?;
        let first = self.seen.replace(at).is_none();
        let any = !new.is_empty();
        for line in new.into_iter().rev() {
            self.lines.push_front(line);
        }
        self.lines.truncate(PAGE);
        // What the page was made with need not be told again.
        Ok(any && !(first && self.after == Some(at)))
    }

    fn rendered(&mut self) -> Option<String> {
        let layout = self.request.layout("", Some(Area::Interactions));
        let part = Part {
            layout: &layout,
            lines: self.lines.make_contiguous(),
        };
        part.render()
            .inspect_err(|cause| tracing::error!("live interactions: {cause}"))
            .ok()
    }
}
