//! Values that the venue keeps against the head office's, as they are now: what was settled since is not among them.

use super::{
    configuration,
    records::{BLOCKED, DELETED, RECORD, Row, code_of, current, resource},
};
use crate::{
    core::head_office::{
        Kept,
        venue::{ANONYMOUS, ERASED},
    },
    domain::delegates::{self, blocked},
    types::{Zone, error::Result},
};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// The most that are listed.
const MOST: usize = 1_000;

/// A kept value and the record here; 0 where there is none.
pub type Local = (Kept, i64);

/// The kept values, as a hub is told them.
pub fn all(connection: &Connection, zone: &Zone) -> Result<Vec<Kept>> {
    let listed = listed(connection, zone)?.into_iter();
    Ok(listed.map(|(kept, _)| kept).collect())
}

/// The kept values, those of the configuration first.
pub fn listed(connection: &Connection, zone: &Zone) -> Result<Vec<Local>> {
    let of_configuration = configuration::kept(connection)?.into_iter();
    let mut kept: Vec<Local> = of_configuration.map(|kept| (kept, 0)).collect();
    let mut statement = connection.prepare_cached(
        "SELECT type, office_id FROM office_records WHERE kept IS NOT NULL ORDER BY type, office_id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()?
        && kept.len() < MOST
    {
        let (record_type, id): (String, i64) = (row.get(0)?, row.get(1)?);
        let Some(row) = Row::find(connection, &record_type, id)? else {
            continue;
        };
        let ours = match resource(&record_type) {
            Some(resource) => current(connection, resource, zone, row.local)?,
            None => None,
        };
        for (property, office) in row.kept {
            let (office, venue) = match property.as_str() {
                ANONYMOUS => continue,
                ERASED if record_type != delegates::RESOURCE.name => continue,
                ERASED => (Value::Null, true.into()),
                RECORD => (Value::Null, office),
                DELETED => (office, ours.is_none().into()),
                BLOCKED => {
                    let (code, value) = code_of(&row.applied);
                    let is_blocked = blocked::get(connection, code, value)?.is_some();
                    (office, is_blocked.into())
                }
                _ => {
                    let of_venue = ours.as_ref().and_then(|ours| ours.get(&property));
                    (office, of_venue.cloned().unwrap_or_default())
                }
            };
            if office != venue {
                let of_record = Kept {
                    record_type: record_type.clone(),
                    id,
                    property,
                    office,
                    venue,
                };
                kept.push((of_record, row.local));
            }
        }
    }
    Ok(kept)
}

/// Reads a JSON object; an empty one where there is none.
pub(super) fn object(text: Option<String>) -> Map<String, Value> {
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}
