//! Lists: counted once, then read in slices by id, so that a slow client neither holds a
//! connection nor starves the checkpoint.

use super::Selection;
use crate::{app::App, error::Result};
use poem::Body;
use rusqlite::Connection;
use std::sync::Arc;

/// Rows read at once at the most.
const SLICE_ROWS: u64 = 250;
/// A slice ends early once it is this long, so that large records do not fill the memory.
pub const SLICE_MAX_BYTES: usize = 2 * 1024 * 1024;

/// A list that can be read in slices.
pub trait Listing: Send + Sync + 'static {
    /// How many items there are in all.
    ///
    /// # Errors
    /// When they cannot be counted.
    fn count(&self, connection: &Connection) -> Result<u64>;

    /// Appends up to `limit` items as JSON, separated by commas, to `out`: those after the id
    /// `after`, or without it those after the first `offset`. Gives the last id and how many; none
    /// means that the list is at its end.
    ///
    /// # Errors
    /// When they cannot be read.
    fn slice(
        &self,
        connection: &Connection,
        after: Option<i64>,
        offset: u64,
        limit: u64,
        out: &mut String,
    ) -> Result<(Option<i64>, u64)>;
}

/// The records of a selection.
pub struct Records {
    /// What of them is shown.
    pub selection: Selection,
    /// How times are shown.
    pub zone: crate::types::Zone,
}

impl Listing for Records {
    fn count(&self, connection: &Connection) -> Result<u64> {
        let resource = self.selection.resource;
        let sql = format!(
            "SELECT count(*) FROM {} WHERE {}",
            resource.table, resource.alive
        );
        Ok(connection
            .prepare_cached(&sql)?
            .query_row([], |row| row.get(0))?)
    }

    fn slice(
        &self,
        connection: &Connection,
        after: Option<i64>,
        offset: u64,
        limit: u64,
        out: &mut String,
    ) -> Result<(Option<i64>, u64)> {
        let resource = self.selection.resource;
        let ids = self.ids(connection, after, offset, limit)?;
        let attachments = (resource.attach)(connection, &self.selection, &ids, &self.zone)?;
        let sql = format!("{} AND id BETWEEN ?1 AND ?2 ORDER BY id", self.selection.sql());
        let mut statement = connection.prepare_cached(&sql)?;
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
            return Ok((None, 0));
        };
        let mut rows = statement.query([first, last])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            if count > 0 {
                out.push(',');
            }
            self.selection.write(row, &attachments, &self.zone, out)?;
            count += 1;
            if out.len() > SLICE_MAX_BYTES {
                return Ok((Some(row.get(0)?), count));
            }
        }
        Ok((Some(*last), count))
    }
}

impl Records {
    fn ids(
        &self,
        connection: &Connection,
        after: Option<i64>,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<i64>> {
        let resource = self.selection.resource;
        let sql = format!(
            "SELECT id FROM {} WHERE {} AND id > ?1 ORDER BY id LIMIT ?2 OFFSET ?3",
            resource.table, resource.alive
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let ids = statement.query_map(
            rusqlite::params![after.unwrap_or(0), limit, offset],
            |row| row.get(0),
        )?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }
}

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
