//! A list as a body: its page is found once, then streamed in slices as the client takes them.

use crate::{
    core::{
        Services,
        records::list::Listing,
        search::{Order, Part, Search},
    },
    types::error::Result,
};
use poem::Body;
use rusqlite::{Connection, types::Value as Sql};
use std::{collections::VecDeque, sync::Arc};

/// Rows read at once at the most.
const SLICE_ROWS: usize = 250;
/// No list is longer.
const COUNT_MAX: u64 = 1 << 62;

/// The position and size of a page in a list.
#[derive(Debug, Clone)]
pub struct Window {
    /// The order of the list; by id without it.
    pub order: Option<Order>,
    /// After or before an item; without it after `offset` items.
    pub part: Option<Part>,
    /// The value of that item which the list is sorted by.
    pub key: Sql,
    /// Items passed over.
    pub offset: u64,
    /// Items shown at the most.
    pub limit: u64,
    /// True if the items of the whole list are counted.
    pub total: bool,
}

/// A page that was found.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The ids of its items, in order.
    pub ids: VecDeque<i64>,
    /// The values of the first and the last that the list is sorted by.
    pub keys: Option<[Sql; 2]>,
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
            let mut page = find(connection, &*of_first, search.as_ref(), &window)?;
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
    window: &Window,
) -> Result<Page> {
    let &Window {
        part,
        offset,
        limit,
        total,
        ..
    } = window;
    if let Some(order) = &window.order {
        return find_sorted(connection, listing, search, window, order);
    }
    if let Some(search) = search.filter(|_| total) {
        let found = search.page(connection, part, offset, limit)?;
        return Ok(Page {
            total: Some(found.total),
            is_behind: found.before > 0,
            more: found.before + (found.ids.len() as u64) < found.total,
            ids: found.ids,
            keys: None,
        });
    }
    let mut ids: VecDeque<i64> = match (search, part) {
        (Some(search), Some(part)) => search.part(connection, part, limit + 1)?,
        (Some(search), None) => search.slice(connection, offset, limit + 1)?,
        (None, Some(part)) => listing.ids(connection, part, 0, limit + 1)?,
        (None, None) => listing.ids(connection, Part::After(0), offset, limit + 1)?,
    }
    .into();
    let (is_behind, more) = cut(&mut ids, window);
    Ok(Page {
        total: if total {
            Some(listing.count(connection)?)
        } else {
            None
        },
        is_behind,
        more,
        ids,
        keys: None,
    })
}

/// Takes off the item that was looked for beyond the page; tells if there are items before the page, and after it.
fn cut<T>(items: &mut VecDeque<T>, window: &Window) -> (bool, bool) {
    let is_cut = items.len() as u64 > window.limit;
    match window.part {
        Some(Part::Before(_)) if is_cut => items.pop_front(),
        _ if is_cut => items.pop_back(),
        _ => None,
    };
    match window.part {
        Some(Part::Before(_)) => (is_cut, true),
        Some(Part::After(_)) => (true, is_cut),
        None => (window.offset > 0, is_cut),
    }
}

/// As [`find`], in another order than by id.
fn find_sorted(
    connection: &Connection,
    listing: &impl Listing,
    search: Option<&Search>,
    window: &Window,
    order: &Order,
) -> Result<Page> {
    let total = match search {
        _ if !window.total => None,
        None => Some(listing.count(connection)?),
        Some(search) => Some(search.count(connection, COUNT_MAX)?),
    };
    let everything = Search::everything(order.subject);
    let (from, offset) = match window.part {
        Some(part) => (Some((part, &window.key)), 0),
        None => (None, window.offset),
    };
    let found =
        search
            .unwrap_or(&everything)
            .sorted(connection, order, from, offset, window.limit + 1)?;
    let mut found = VecDeque::from(found);
    let (is_behind, more) = cut(&mut found, window);
    let keys = match (found.front(), found.back()) {
        (Some((_, first)), Some((_, last))) => Some([first.clone(), last.clone()]),
        _ => None,
    };
    Ok(Page {
        ids: found.into_iter().map(|(id, _)| id).collect(),
        keys,
        total,
        is_behind,
        more,
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
