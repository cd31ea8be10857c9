//! Which stored records would not fit a schema, so that somebody is told before it is stored.

use super::{Kind, Schema};
use crate::types::error::Result;
use rusqlite::Connection;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Records that are named.
const NAMED_MAX: usize = 5;
/// How long it goes on: whoever reads for longer keeps the log from being emptied.
const TIME_MAX: Duration = Duration::from_secs(10);

/// What stands in a section.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Living records that have the section.
    pub having: i64,
    /// Those whose section does not fit.
    pub misfits: i64,
    /// The first of those: id and what does not fit.
    pub first: Vec<(i64, String)>,
    /// There are more records, which were not looked at in time.
    pub cut_off: bool,
}

/// Holds every living record that has a section against a schema.
pub fn survey(
    connection: &Connection,
    kind: Kind,
    name: &str,
    schema: Option<&Schema>,
) -> Result<Survey> {
    // The name as it stands in JSON leaves most records without it unread.
    let mut statement = connection.prepare(&format!(
        "SELECT id, data FROM {} WHERE deleted_at IS NULL AND data IS NOT NULL AND instr(data, ?1)
         ORDER BY id",
        kind.table()
    ))?;
    let mut rows = statement.query([Value::from(name).to_string()])?;
    let mut survey = Survey::default();
    let begun = Instant::now();
    while let Some(row) = rows.next()? {
        let data: Value = serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or_default())
            .unwrap_or(Value::Null);
        let Some(value) = data.get(name) else {
            continue;
        };
        if begun.elapsed() > TIME_MAX {
            survey.cut_off = true;
            break;
        }
        survey.having += 1;
        let Some(Err(fault)) = schema.map(|schema| schema.check(&format!("data.{name}"), value))
        else {
            continue;
        };
        survey.misfits += 1;
        if survey.first.len() < NAMED_MAX {
            survey.first.push((row.get(0)?, fault.message));
        }
    }
    Ok(survey)
}
