//! Lists, read in slices by id, so that a slow client neither holds a connection nor starves the
//! checkpoint.

use super::Selection;
use crate::error::Result;
use rusqlite::Connection;

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
        let sql = format!(
            "{} AND id BETWEEN ?1 AND ?2 ORDER BY id",
            self.selection.sql()
        );
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
