//! The list of interactions.

use super::rows::{COLUMNS, Interaction};
use crate::{error::Result, records::list::Listing, types::Zone};
use rusqlite::Connection;

/// All interactions, with the properties that are asked for.
pub struct Interactions {
    /// The properties shown; all without it.
    pub fields: Option<Vec<&'static str>>,
    /// How times are shown.
    pub zone: Zone,
}

impl Listing for Interactions {
    fn count(&self, connection: &Connection) -> Result<u64> {
        Ok(connection
            .prepare_cached("SELECT count(*) FROM interactions")?
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
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?2 OFFSET ?3"
        ))?;
        let mut rows = statement.query(rusqlite::params![after.unwrap_or(0), limit, offset])?;
        let (mut last, mut count) = (None, 0);
        while let Some(row) = rows.next()? {
            let mut interaction = Interaction::read(row)?;
            interaction.complete(connection)?;
            if count > 0 {
                out.push(',');
            }
            interaction.write(&self.zone, self.fields.as_deref(), out);
            last = interaction.id.map(|id| id.0);
            count += 1;
            if out.len() > crate::records::list::SLICE_MAX_BYTES {
                break;
            }
        }
        Ok((last, count))
    }
}
