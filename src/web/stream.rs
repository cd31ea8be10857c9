//! A list as a body: counted once, then streamed in slices as the client takes them.

use crate::{app::App, error::Result, records::list::Listing};
use poem::Body;
use std::sync::Arc;

/// Rows read at once at the most.
const SLICE_ROWS: u64 = 250;

/// Where in a list a page lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Items passed over.
    pub offset: u64,
    /// Items shown at the most.
    pub limit: u64,
}

/// A page of a list as a body: `{"data": [...], "meta": ...}`, where `meta` gives the envelope's
/// `meta` (JSON text) for the total. What does not fit into one slice is streamed.
///
/// # Errors
/// When the total or the first slice cannot be read.
pub async fn body<L: Listing>(
    app: &App,
    listing: L,
    window: Window,
    meta: impl FnOnce(u64) -> String,
) -> Result<Body> {
    let listing = Arc::new(listing);
    let of_first = Arc::clone(&listing);
    let (total, text, last, count) = app
        .store
        .read(move |connection| {
            let mut text = String::from("{\"data\":[");
            let total = of_first.count(connection)?;
            let limit = window.limit.min(SLICE_ROWS);
            let (last, count) =
                of_first.slice(connection, None, window.offset, limit, &mut text)?;
            Ok((total, text, last, count))
        })
        .await?;
    let end = format!("],\"meta\":{}}}", meta(total));
    if count == 0 || count >= window.limit || window.offset + count >= total {
        return Ok(Body::from_string(text + &end));
    }
    let rest = Rest {
        app: app.clone(),
        listing,
        after: last,
        left: window.limit - count,
        end: Some(end),
        first: Some(text),
    };
    Ok(Body::from_bytes_stream(futures_util::stream::try_unfold(
        rest,
        |rest| async move {
            rest.next()
                .await
                .map_err(|cause| std::io::Error::other(cause.message))
        },
    )))
}

struct Rest<L> {
    app: App,
    listing: Arc<L>,
    after: Option<i64>,
    left: u64,
    end: Option<String>,
    first: Option<String>,
}

impl<L: Listing> Rest<L> {
    /// The next piece of text and what is left after it; `None` at the end.
    async fn next(mut self) -> Result<Option<(String, Self)>> {
        if let Some(first) = self.first.take() {
            return Ok(Some((first, self)));
        }
        let Some(end) = self.end.take() else {
            return Ok(None);
        };
        let (listing, after) = (Arc::clone(&self.listing), self.after);
        let limit = self.left.min(SLICE_ROWS);
        let (mut text, last, count) = self
            .app
            .store
            .read(move |connection| {
                let mut text = String::from(",");
                let (last, count) = listing.slice(connection, after, 0, limit, &mut text)?;
                Ok((text, last, count))
            })
            .await?;
        if count == 0 {
            return Ok(Some((end, self)));
        }
        self.left -= count;
        self.after = last;
        if self.left == 0 {
            text.push_str(&end);
        } else {
            self.end = Some(end);
        }
        Ok(Some((text, self)))
    }
}
