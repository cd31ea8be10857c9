//! The schemas of sections that an earlier version stored. Step 36 marks them as not checked.

use crate::types::{
    error::Result,
    json::{
        schema::{find_reference, inlined},
        size::{SCHEMA_SIZE_MAX, schema_size},
    },
};
use rusqlite::Connection;
use serde_json::Value;

/// Writes out the references of schemas that are not checked, where that is possible, and has all of them checked from
/// then on whose size is within the limit.
pub fn inline_references(connection: &Connection) -> Result<()> {
    let mut statement =
        connection.prepare("SELECT record_type, name, schema FROM sections WHERE NOT checked")?;
    let unchecked = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let unchecked: Vec<(String, String, String)> = unchecked.collect::<rusqlite::Result<_>>()?;
    for (record_type, name, text) in unchecked {
        let Ok(schema) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let checked = match find_reference(&schema) {
            Some(_) => inlined(&schema).map(|schema| schema.to_string()),
            None => (schema_size(&schema) <= SCHEMA_SIZE_MAX).then_some(text),
        };
        if let Some(checked) = checked {
            connection.execute(
                "UPDATE sections SET schema = ?3, checked = 1 WHERE record_type = ?1 AND name = ?2",
                [record_type, name, checked],
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{
        db::migrate::{up_to, upgrade},
        types::json::size::SCHEMA_SIZE_MAX,
    };
    use rusqlite::Connection;
    use serde_json::{Value, json};

    /// The stored schema after an upgrade, and whether it is checked.
    fn upgraded(schema: &Value) -> (Value, bool) {
        let mut connection = Connection::open_in_memory().unwrap();
        up_to(&mut connection, 35);
        connection
            .execute(
                "INSERT INTO sections (record_type, name, schema) VALUES ('delegate', 'A', ?1)",
                [schema.to_string()],
            )
            .unwrap();
        upgrade(&mut connection).unwrap();
        let sql = "SELECT schema, checked FROM sections";
        let (schema, checked): (String, bool) = connection
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        (serde_json::from_str(&schema).unwrap(), checked)
    }

    #[test]
    fn stored_schemas_are_checked_written_out_or_left_unchecked() {
        let meal = json!({"enum": ["vegan", "none"]});
        let referring =
            json!({"properties": {"meal": {"$ref": "#/$defs/meal"}}, "$defs": {"meal": meal}});
        let written = json!({"properties": {"meal": meal}});
        assert_eq!(upgraded(&referring), (written.clone(), true));
        // Nothing to be done.
        let property = json!({"properties": {"$ref": {"type": "string"}}});
        for schema in [written, property] {
            assert_eq!(upgraded(&schema), (schema, true));
        }
        for schema in [
            json!({"properties": {"next": {"$ref": "#"}}}),
            json!({"$ref": "https://example.com/a.json"}),
            json!({"$recursiveRef": "#"}),
            json!({"enum": (0..SCHEMA_SIZE_MAX).collect::<Vec<_>>()}),
        ] {
            assert_eq!(upgraded(&schema), (schema, false));
        }
    }
}
