//! Whether all records that a file names are in it.

use crate::types::error::Result;
use rusqlite::Connection;

/// References of one table to records of another that do not exist.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing {
    /// The table whose rows name them.
    pub table: String,
    /// The table in which they are missing.
    pub of: String,
    /// How many references these are.
    pub count: i64,
    /// The first row that has one; `None` in a table whose rows have no number.
    pub first: Option<i64>,
}

/// What is missing in a file: of foreign keys, and of who and what takes part in interactions, which
/// `schema.sql` keeps otherwise. It looks at every row.
pub fn missing(connection: &Connection) -> Result<Vec<Missing>> {
    let mut references = vec![
        "SELECT \"table\", parent AS of, rowid AS \"row\" FROM pragma_foreign_key_check".to_owned(),
    ];
    for (participant, of) in [("delegate", "delegates"), ("device", "devices")] {
        for place in ["first", "second", "third"] {
            let named = format!("{place}_{participant}_id");
            references.push(format!(
                "SELECT 'interactions', '{of}', id FROM interactions
                 WHERE {named} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {of} AS o WHERE o.id = {named})"
            ));
        }
    }
    let mut statement = connection.prepare(&format!(
        "SELECT \"table\", of, count(*), min(\"row\") FROM ({}) GROUP BY 1, 2 ORDER BY 1, 2",
        references.join(" UNION ALL ")
    ))?;
    let rows = statement.query_map([], |row| {
        Ok(Missing {
            table: row.get(0)?,
            of: row.get(1)?,
            count: row.get(2)?,
            first: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;

    fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO delegates (id, public_id, sources, created_at, updated_at)
             VALUES (1, 'a', '[]', 0, 0), (2, 'b', '[]', 0, 0), (3, 'c', '[]', 0, 0), (4, 'd', '[]', 0, 0);
             INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
             VALUES (1, 'a', 'a', '[]', 0, 0), (2, 'b', 'b', '[]', 0, 0), (3, 'c', 'c', '[]', 0, 0), (4, 'd', 'd', '[]', 0, 0);
             INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                 third_delegate_id, first_device_id, second_device_id, third_device_id, recorded_at, created_at)
             VALUES (7, 'x', 1, 2, 3, 1, 2, 3, 0, 0), (8, 'x', NULL, NULL, NULL, 1, NULL, NULL, 0, 0);",
        )
        .unwrap();
        file
    }

    #[test]
    fn who_takes_part_in_an_interaction_cannot_be_deleted() {
        let file = file();
        for table in ["delegates", "devices"] {
            for id in 1..4 {
                let sql = format!("DELETE FROM {table} WHERE id = {id}");
                let refused = file.execute(&sql, []).unwrap_err().to_string();
                assert!(refused.contains("takes part"), "{sql}: {refused}");
            }
            let sql = format!("DELETE FROM {table} WHERE id = 4");
            assert_eq!(file.execute(&sql, []).unwrap(), 1);
        }
        assert_eq!(missing(&file).unwrap(), []);
    }

    #[test]
    fn every_place_that_names_nobody_is_found() {
        for (at, of) in [("delegate", "delegates"), ("device", "devices")] {
            for place in ["first", "second", "third"] {
                let file = file();
                let sql = format!("UPDATE interactions SET {place}_{at}_id = 99 WHERE id = 7");
                file.execute_batch(&sql).unwrap();
                let found = Missing {
                    table: "interactions".into(),
                    of: of.into(),
                    count: 1,
                    first: Some(7),
                };
                assert_eq!(missing(&file).unwrap(), [found], "{sql}");
            }
        }
    }

    #[test]
    fn a_place_for_nobody_misses_nobody_even_where_there_is_nobody() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES ('x', 0, 0)",
        )
        .unwrap();
        assert_eq!(missing(&file).unwrap(), []);
    }

    #[test]
    fn foreign_keys_are_looked_at_too() {
        let file = file();
        file.execute_batch(
            "PRAGMA foreign_keys = 0; UPDATE delegates SET parent_id = 99 WHERE id = 2",
        )
        .unwrap();
        let found = Missing {
            table: "delegates".into(),
            of: "delegates".into(),
            count: 1,
            first: Some(2),
        };
        assert_eq!(missing(&file).unwrap(), [found]);
    }
}
