//! Lists, read in slices by id, so that a slow client neither holds a connection nor starves the
//! checkpoint.

use super::{Expansion, Selection};
use crate::{core::search::Part, types::error::Result};
use rusqlite::Connection;

/// A slice ends early once it is this long, so that large records do not fill the memory.
pub const SLICE_MAX_BYTES: usize = 2 * 1024 * 1024;

/// A list that can be read in slices.
pub trait Listing: Send + Sync + 'static {
    /// The table of its items, what is true of those in the list, and the index of just their ids, where
    /// there is one.
    fn source(&self) -> (&'static str, &'static str, Option<&'static str>);

    /// Appends the items of these ids to `out` as JSON, in this order, separated by commas, as far as they still
    /// stand.
    fn write(&self, connection: &Connection, ids: &[i64], out: &mut String) -> Result<Written>;

    /// The number of items in all.
    fn count(&self, connection: &Connection) -> Result<u64> {
        let (table, alive, _) = self.source();
        let sql = format!("SELECT count(*) FROM {table} WHERE {alive}");
        Ok(connection
            .prepare_cached(&sql)?
            .query_row([], |row| row.get(0))?)
    }

    /// Up to `limit` ids of a part, ascending, the nearest but for the first `offset`.
    fn ids(
        &self,
        connection: &Connection,
        part: Part,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<i64>> {
        let (table, alive, index) = self.source();
        let index = index.map_or_else(String::new, |index| format!(" INDEXED BY {index}"));
        let (from, bound, order) = match part {
            Part::After(id) => (id, "id > ?1", "ASC"),
            Part::Before(id) => (id, "id < ?1", "DESC"),
        };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT id FROM {table}{index} WHERE {alive} AND {bound} ORDER BY id {order} LIMIT ?2 OFFSET ?3"
        ))?;
        let ids = statement.query_map((from, limit, offset), |row| row.get(0))?;
        let mut ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
        ids.sort_unstable();
        Ok(ids)
    }
}

/// The amount that a slice wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of ids that it dealt with; at least one of any.
    pub ids: usize,
    /// The number of items that it wrote.
    pub items: usize,
}

impl Written {
    /// Counts an id, and its item if there is one; appends that to `out`, after a comma where it is not the first.
    pub fn add(
        &mut self,
        out: &mut String,
        write: impl FnOnce(&mut String) -> Result<bool>,
    ) -> Result<()> {
        let begins = out.len();
        if self.items > 0 {
            out.push(',');
        }
        if write(out)? {
            self.items += 1;
        } else {
            out.truncate(begins);
        }
        self.ids += 1;
        Ok(())
    }
}

/// The records of a selection.
pub struct Records {
    /// The properties of the records that are shown.
    pub selection: Selection,
    /// The zone in which times are shown.
    pub zone: crate::types::Zone,
    pub expansion: Expansion,
}

impl Listing for Records {
    fn source(&self) -> (&'static str, &'static str, Option<&'static str>) {
        let resource = self.selection.resource;
        (resource.table, resource.alive, resource.alive_index)
    }

    fn write(&self, connection: &Connection, ids: &[i64], out: &mut String) -> Result<Written> {
        let resource = self.selection.resource;
        let attachments = (resource.attach)(connection, &self.selection, ids, &self.zone)?;
        let sql = format!("{} AND id = ?1", self.selection.sql());
        let mut statement = connection.prepare_cached(&sql)?;
        let mut written = Written::default();
        for id in attachments.complete_for(ids) {
            written.add(out, |out| {
                let mut rows = statement.query([id])?;
                let Some(row) = rows.next()? else {
                    return Ok(false);
                };
                let begins = out.len();
                self.selection.write(row, &attachments, &self.zone, out)?;
                self.expansion.expand(connection, &self.zone, out, begins)?;
                Ok(true)
            })?;
            if out.len() > SLICE_MAX_BYTES {
                break;
            }
        }
        Ok(written)
    }
}
