//! A list as a body: counted once, then streamed in slices as the client takes them.

use crate::{
    core::{Services, records::list::Listing, search::Search},
    types::error::Result,
};
use poem::Body;
use rusqlite::Connection;
use std::{collections::VecDeque, sync::Arc};

/// Rows read at once at the most.
const SLICE_ROWS: usize = 250;

/// Where in a list a page lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Items passed over.
    pub offset: u64,
    /// Items shown at the most.
    pub limit: u64,
    /// Whether the items of the whole list are counted.
    pub total: bool,
}

/// What is known of a list's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many items.
    Counted(u64),
    /// Not counted: whether there is anything after the page.
    Uncounted { more: bool },
}

/// A page of a list as a body: `{"data": [...], "meta": ...}`, where `meta` gives the envelope's
/// `meta` (JSON text) for the list's length. What does not fit into one slice is streamed.
pub async fn body<L: Listing>(
    app: &Services,
    listing: L,
    search: Option<Search>,
    window: Window,
    meta: impl FnOnce(Length) -> String,
) -> Result<Body> {
    let listing = Arc::new(listing);
    let of_first = Arc::clone(&listing);
    let (length, text, cursor) = app
        .store
        .read(move |connection| {
            let (length, mut cursor) = begin(connection, &*of_first, search.as_ref(), window)?;
            let mut text = String::from("{\"data\":[");
            cursor.write(connection, &*of_first, &mut text)?;
            Ok((length, text, cursor))
        })
        .await?;
    let end = format!("],\"meta\":{}}}", meta(length));
    if cursor.is_done() {
        return Ok(Body::from_string(text + &end));
    }
    let rest = Rest {
        app: app.clone(),
        listing,
        cursor,
        items: text.len() > "{\"data\":[".len(),
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

/// How long the list is, and where its page begins. Without a total one item more is looked for than
/// the page shows.
fn begin(
    connection: &Connection,
    listing: &impl Listing,
    search: Option<&Search>,
    window: Window,
) -> Result<(Length, Cursor)> {
    let Window { offset, limit, .. } = window;
    Ok(match (search, window.total) {
        (Some(search), true) => {
            let found = search.page(connection, offset, limit)?;
            (
                Length::Counted(found.total),
                Cursor::Found(found.ids.into()),
            )
        }
        (Some(search), false) => {
            let mut ids = search.slice(connection, offset, limit + 1)?;
            let more = ids.len() as u64 > limit;
            ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            (Length::Uncounted { more }, Cursor::Found(ids.into()))
        }
        (None, true) => {
            let total = listing.count(connection)?;
            let left = limit.min(total.saturating_sub(offset));
            (Length::Counted(total), Cursor::all(offset, left))
        }
        (None, false) => {
            let next = listing.ids(connection, None, offset + limit, 1)?;
            let more = !next.is_empty();
            (Length::Uncounted { more }, Cursor::all(offset, limit))
        }
    })
}

/// What of a page is still to be read.
enum Cursor {
    /// The ids that a search found.
    Found(VecDeque<i64>),
    /// So many of all that come after an id, or after so many others.
    All {
        after: Option<i64>,
        offset: u64,
        left: u64,
    },
}

impl Cursor {
    fn all(offset: u64, left: u64) -> Self {
        Self::All {
            after: None,
            offset,
            left,
        }
    }

    /// Whether nothing is left to read.
    fn is_done(&self) -> bool {
        match self {
            Self::Found(ids) => ids.is_empty(),
            Self::All { left, .. } => *left == 0,
        }
    }

    /// Writes the next slice; how many items, `None` at the end.
    fn write(
        &mut self,
        connection: &Connection,
        listing: &impl Listing,
        out: &mut String,
    ) -> Result<Option<usize>> {
        let mut asked = 0;
        let ids: Vec<i64> = match self {
            Self::Found(ids) => ids.iter().take(SLICE_ROWS).copied().collect(),
            Self::All {
                after,
                offset,
                left,
            } => {
                let passed_over = if after.is_some() { 0 } else { *offset };
                asked = (*left).min(SLICE_ROWS as u64);
                listing.ids(connection, *after, passed_over, asked)?
            }
        };
        if ids.is_empty() {
            return Ok(None);
        }
        let written = listing.write(connection, &ids, out)?;
        match self {
            Self::Found(ids) => drop(ids.drain(..written.ids)),
            Self::All { after, left, .. } => {
                *after = ids.get(written.ids - 1).copied();
                *left -= written.ids as u64;
                // Fewer than asked for are the last.
                if (ids.len() as u64) < asked && written.ids == ids.len() {
                    *left = 0;
                }
            }
        }
        Ok(Some(written.items))
    }
}

struct Rest<L> {
    app: Services,
    listing: Arc<L>,
    cursor: Cursor,
    /// Whether an item was written yet.
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
        let Some(end) = self.end.take() else {
            return Ok(None);
        };
        let listing = Arc::clone(&self.listing);
        let (app, mut cursor, some) = (self.app.clone(), self.cursor, self.items);
        let (cursor, text, written) = app
            .store
            .read(move |connection| {
                let mut text = String::from(if some { "," } else { "" });
                let written = cursor.write(connection, &*listing, &mut text)?;
                Ok((cursor, text, written))
            })
            .await?;
        self.cursor = cursor;
        let (text, end) = match written {
            None => (end, None),
            // All of them were deleted meanwhile.
            Some(0) => (String::new(), Some(end)),
            Some(_) => {
                self.items = true;
                (text, Some(end))
            }
        };
        self.end = end;
        Ok(Some((text, self)))
    }
}
