//! The list of interactions.

use super::rows::{COLUMNS, Interaction};
use crate::{
    core::{
        records::list::{Listing, SLICE_MAX_BYTES, Written},
        search::{FieldKind, SearchField, Stretches, Subject},
    },
    types::{Zone, error::Result},
};
use rusqlite::Connection;

/// What can be searched.
pub static SEARCHED: Subject = Subject {
    name: "interaction",
    table: "interactions",
    alive: "1",
    fields: &[
        field("id", "id", FieldKind::Number),
        field("interactionType", "interaction_type", FieldKind::Text),
        field("firstDelegate", "first_delegate_id", FieldKind::Number),
        field("secondDelegate", "second_delegate_id", FieldKind::Number),
        field("thirdDelegate", "third_delegate_id", FieldKind::Number),
        field("firstDevice", "first_device_id", FieldKind::Number),
        field("secondDevice", "second_device_id", FieldKind::Number),
        field("thirdDevice", "third_device_id", FieldKind::Number),
        field("recordedAt", "recorded_at", FieldKind::Time),
        field("createdAt", "created_at", FieldKind::Time),
        // Nothing changes an interaction: it was last changed when it was created.
        field("updatedAt", "created_at", FieldKind::Time),
    ],
    text_index: None,
    beginnings: &[],
    kind: Some(("interaction_type", "lower(interaction_type)")),
    stretches: Some(Stretches {
        column: "recorded_at",
        expression: "recorded_at / 600000",
        length_ms: 600_000,
    }),
    document: "iif(json_valid(data), data, NULL)",
    shared: Some("shared"),
    counted: None,
    statements: false,
    messages: None,
    batches: None,
};

const fn field(name: &'static str, column: &'static str, kind: FieldKind) -> SearchField {
    SearchField {
        name,
        column,
        kind,
        text_indexed: false,
    }
}

/// All interactions, with the properties that are asked for.
pub struct Interactions {
    /// The properties shown; all without it.
    pub fields: Option<Vec<&'static str>>,
    /// How times are shown.
    pub zone: Zone,
}

impl Listing for Interactions {
    fn count(&self, connection: &Connection) -> Result<u64> {
        let sql = "SELECT count(*) FROM interactions";
        Ok(connection
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))?)
    }

    fn ids(
        &self,
        connection: &Connection,
        after: Option<i64>,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<i64>> {
        let mut statement = connection.prepare_cached(
            "SELECT id FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?2 OFFSET ?3",
        )?;
        let ids = statement.query_map(
            rusqlite::params![after.unwrap_or(0), limit, offset],
            |row| row.get(0),
        )?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    fn write(&self, connection: &Connection, ids: &[i64], out: &mut String) -> Result<Written> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM interactions
             WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id"
        ))?;
        let mut rows = statement.query([serde_json::json!(ids).to_string()])?;
        let mut items = 0;
        while let Some(row) = rows.next()? {
            let mut interaction = Interaction::read(row)?;
            interaction.complete(connection)?;
            if items > 0 {
                out.push(',');
            }
            interaction.write(&self.zone, self.fields.as_deref(), out);
            items += 1;
            if out.len() > SLICE_MAX_BYTES {
                let last = interaction.id.map(|id| id.0);
                return Ok(Written::up_to(last, ids, items));
            }
        }
        Ok(Written::up_to(None, ids, items))
    }
}
