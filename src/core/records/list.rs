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

    /// Appends the items of these ids as JSON, separated by commas, to `out`, as far as they still
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of ids that it dealt with; at least one of any.
    pub ids: usize,
    /// The number of items that it wrote.
    pub items: usize,
}

impl Written {
    /// A slice that dealt with the ids up to `last`, where it ended early.
    pub fn up_to(last: Option<i64>, ids: &[i64], items: usize) -> Self {
        let ids = match last {
            Some(last) => ids.partition_point(|id| *id <= last),
            None => ids.len(),
        };
        Self { ids, items }
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
        let ids = attachments.complete_for(ids);
        let sql = format!(
            "{} AND id IN (SELECT value FROM json_each(?1)) ORDER BY id",
            self.selection.sql()
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([serde_json::json!(ids).to_string()])?;
        let mut items = 0;
        while let Some(row) = rows.next()? {
            if items > 0 {
                out.push(',');
            }
            if self.expansion.names().is_empty() {
                self.selection.write(row, &attachments, &self.zone, out)?;
            } else {
                let mut item = String::new();
                self.selection
                    .write(row, &attachments, &self.zone, &mut item)?;
                out.push_str(&self.expansion.expanded(connection, &self.zone, item)?);
            }
            items += 1;
            if out.len() > SLICE_MAX_BYTES {
                return Ok(Written::up_to(Some(row.get(0)?), ids, items));
            }
        }
        Ok(Written::up_to(None, ids, items))
    }
}
