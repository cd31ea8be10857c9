//! Finds what a scanned text means (contract §1): the exact text first, then its other forms, and last each form in any
//! case. Of a form that more than one has, or that is blocked, nobody is meant.

use super::settings;
use crate::types::{
    error::Result,
    scanned::{ScanPattern, forms},
};
use rusqlite::Connection;

/// A code that a scanned text may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The id of who or what has it; of a blocked code its own.
    pub id: i64,
    /// The kind of code, by its name in the API.
    pub kind: String,
    pub code: String,
    pub is_blocked: bool,
}

/// The meaning of a scanned text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// The one who has the code, or a blocked code.
    Match(Match),
    /// More than one have it.
    Several,
    Unknown,
}

/// Finds what a scanned text means, with the pattern of the settings. `sql` gives id, kind, code, and 1 for a blocked one,
/// of everything that has the code `?1` in any case.
pub fn meaning(connection: &Connection, sql: &str, scanned: &str) -> Result<Meaning> {
    let pattern = settings::scan_pattern(connection)?;
    meaning_by(connection, sql, scanned, pattern.as_ref())
}

/// As [`meaning`], with this pattern.
pub fn meaning_by(
    connection: &Connection,
    sql: &str,
    scanned: &str,
    pattern: Option<&ScanPattern>,
) -> Result<Meaning> {
    let mut in_any_case = Vec::new();
    for form in forms(scanned, pattern) {
        let matches = look(connection, sql, &form)?;
        let mut exact: Vec<_> = matches
            .iter()
            .filter(|one| one.code == form)
            .cloned()
            .collect();
        // The exact text: the first kind of code counts.
        if form == scanned && exact.first().is_some_and(|first| !first.is_blocked) {
            exact.truncate(1);
        }
        if let Some(decided) = decide(exact) {
            return Ok(decided);
        }
        in_any_case.push(matches);
    }
    let decided = in_any_case.into_iter().find_map(decide);
    Ok(decided.unwrap_or(Meaning::Unknown))
}

fn look(connection: &Connection, sql: &str, form: &str) -> Result<Vec<Match>> {
    let mut statement = connection.prepare_cached(sql)?;
    let matches = statement.query_map([form], |row| {
        Ok(Match {
            id: row.get(0)?,
            kind: row.get(1)?,
            code: row.get(2)?,
            is_blocked: row.get(3)?,
        })
    })?;
    Ok(matches.collect::<rusqlite::Result<_>>()?)
}

/// The meaning of everything that has a form of a code; none where nothing has.
fn decide(matches: Vec<Match>) -> Option<Meaning> {
    let blocked = matches.iter().position(|one| one.is_blocked);
    let first = matches.first()?.id;
    if blocked.is_none() && matches.iter().any(|one| one.id != first) {
        return Some(Meaning::Several);
    }
    matches
        .into_iter()
        .nth(blocked.unwrap_or(0))
        .map(Meaning::Match)
}
