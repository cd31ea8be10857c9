//! A list as a body: its page is found once, then streamed in slices as the client takes them.

use crate::{
    core::{
        Services,
        records::list::Listing,
        search::{Part, Search},
    },
    types::error::Result,
};
use poem::Body;
use rusqlite::Connection;
use std::{collections::VecDeque, sync::Arc};

/// Rows read at once at the most.
const SLICE_ROWS: usize = 250;

/// The position and size of a page in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// After or before an item; without it after `offset` items.
    pub part: Option<Part>,
    /// Items passed over.
    pub offset: u64,
    /// Items shown at the most.
    pub limit: u64,
    /// True if the items of the whole list are counted.
    pub total: bool,
}

/// A page that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The ids of its items, ascending.
    pub ids: VecDeque<i64>,
    /// The number of items in the whole list, where they are counted.
    pub total: Option<u64>,
    /// True if there are items before it.
    pub is_behind: bool,
    /// True if there are items after it.
    pub more: bool,
}

/// A page of a list as a body: `{"data": [...], "meta": ...}`, where `meta` gives the envelope's
/// `meta` (JSON text) for the page. What does not fit into one slice is streamed.
pub async fn body<L: Listing>(
    app: &Services,
    listing: L,
    search: Option<Search>,
    window: Window,
    meta: impl FnOnce(&Page) -> String + Send + 'static,
) -> Result<Body> {
    let listing = Arc::new(listing);
    let of_first = Arc::clone(&listing);
    let (ids, text, end) = app
        .store
        .read(move |connection| {
            let mut page = find(connection, &*of_first, search.as_ref(), window)?;
            let end = format!("],\"meta\":{}}}", meta(&page));
            let mut text = String::from("{\"data\":[");
            write(connection, &*of_first, &mut page.ids, &mut text)?;
            Ok((page.ids, text, end))
        })
        .await?;
    if ids.is_empty() {
        return Ok(Body::from_string(text + &end));
    }
    let rest = Rest {
        app: app.clone(),
        listing,
        ids,
        items: text.len() > "{\"data\":[".len(),
        end: Some(end),
        first: Some(text),
    };
    Ok(Body::from_bytes_stream(futures_util::stream::try_unfold(
        rest,
        |rest| async move {
            rest.next()
                .await
                .map_err(|cause| std::io::Error::other(cause.to_string()))
        },
    )))
}

/// Finds a page. Without a total one item more is looked for than the page shows.
fn find(
    connection: &Connection,
    listing: &impl Listing,
    search: Option<&Search>,
    window: Window,
) -> Result<Page> {
    let Window {
        part,
        offset,
        limit,
        total,
    } = window;
    if let Some(search) = search.filter(|_| total) {
        let found = search.page(connection, part, offset, limit)?;
        return Ok(Page {
            total: Some(found.total),
            is_behind: found.before > 0,
            more: found.before + (found.ids.len() as u64) < found.total,
            ids: found.ids,
        });
    }
    let mut ids: VecDeque<i64> = match (search, part) {
        (Some(search), Some(part)) => search.part(connection, part, limit + 1)?,
        (Some(search), None) => search.slice(connection, offset, limit + 1)?,
        (None, Some(part)) => listing.ids(connection, part, 0, limit + 1)?,
        (None, None) => listing.ids(connection, Part::After(0), offset, limit + 1)?,
    }
    .into();
    let is_cut = ids.len() as u64 > limit;
    let (is_behind, more) = match part {
        Some(Part::Before(_)) => (is_cut, true),
        Some(Part::After(_)) => (true, is_cut),
        None => (offset > 0, is_cut),
    };
    match part {
        Some(Part::Before(_)) if is_cut => ids.pop_front(),
        _ if is_cut => ids.pop_back(),
        _ => None,
    };
    Ok(Page {
        total: if total {
            Some(listing.count(connection)?)
        } else {
            None
        },
        is_behind,
        more,
        ids,
    })
}

/// Writes the next slice of what is left of a page, and returns how many items that were.
fn write(
    connection: &Connection,
    listing: &impl Listing,
    left: &mut VecDeque<i64>,
    out: &mut String,
) -> Result<usize> {
    let ids: Vec<i64> = left.iter().take(SLICE_ROWS).copied().collect();
    if ids.is_empty() {
        return Ok(0);
    }
    let written = listing.write(connection, &ids, out)?;
    left.drain(..written.ids);
    Ok(written.items)
}

struct Rest<L> {
    app: Services,
    listing: Arc<L>,
    /// Of the items that are still to be read.
    ids: VecDeque<i64>,
    /// True if an item was written.
    items: bool,
    end: Option<String>,
    first: Option<String>,
}

impl<L: Listing> Rest<L> {
    /// The next piece of text and what is left after it; `None` at the end.
    async fn next(mut self) -> Result<Option<(String, Self)>> {
        if let Some(first) = self.first.take() {
            return Ok(Some((first, self)));
        }
        if self.ids.is_empty() {
            return Ok(self.end.take().map(|end| (end, self)));
        }
        let listing = Arc::clone(&self.listing);
        let (app, mut ids, some) = (self.app.clone(), self.ids, self.items);
        let (ids, text, written) = app
            .store
            .read(move |connection| {
                let mut text = String::from(if some { "," } else { "" });
                let written = write(connection, &*listing, &mut ids, &mut text)?;
                Ok((ids, text, written))
            })
            .await?;
        self.ids = ids;
        // All of them may have been deleted meanwhile.
        let text = if written == 0 { String::new() } else { text };
        self.items |= written > 0;
        Ok(Some((text, self)))
    }
}
