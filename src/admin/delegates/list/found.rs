//! Finding delegates for the list: a part of them, how many there are, and whose code was typed.

use super::{
    super::{NAME, label, name_of},
    Filters,
};
use crate::{
    admin::{Fields, answer},
    core::search::{Part, Search},
    db::totals,
    domain::delegates::{SEARCHED, blocked},
    types::{
        DelegateCode, Timestamp, Zone,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

/// Lines of a page.
const LINES: usize = 50;
/// Counted at once; the rest is counted when somebody wants to know.
const COUNTED_MAX: u64 = 1_000;

/// What was found, or why nothing could be.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lines: Vec<Line>,
    pub(super) count: i64,
    /// There are more than were counted.
    pub(super) more: bool,
    pub(super) previous: Option<i64>,
    pub(super) next: Option<i64>,
    /// The delegate whose code was typed or scanned.
    pub(super) holder: Option<Holder>,
    /// What became of a blocked code.
    pub(super) lost: Option<(i64, String)>,
    /// What is wrong with the search.
    pub(super) fault: Option<String>,
    /// There is nobody at all.
    pub(super) empty_file: bool,
}

/// Who has a code.
pub(super) struct Holder {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) code: &'static str,
}

/// A delegate as a line.
pub(super) struct Line {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) company: Option<String>,
    pub(super) email: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) barcode: Option<String>,
    pub(super) level: Option<String>,
    pub(super) deleted_at: Option<Timestamp>,
}

/// Which part of it a page is of.
pub(super) fn part(query: &Fields) -> Result<Part> {
    Ok(match (query.number("after")?, query.number("before")?) {
        (_, Some(id)) => Part::Before(id),
        (after, None) => Part::After(after.unwrap_or(0)),
    })
}

/// Finds a part, and counts what there is.
pub(super) fn look(
    connection: &Connection,
    filters: &Filters,
    zone: &Zone,
    part: Part,
) -> Result<Found> {
    let search = filters.search(connection, zone)?;
    let mut ids = search.part(connection, part, LINES as u64 + 1)?;
    let more = ids.len() > LINES;
    let (previous, next) = match part {
        Part::After(after) => {
            ids.truncate(LINES);
            (after > 0, more)
        }
        Part::Before(_) => {
            if more {
                ids.remove(0);
            }
            (more, true)
        }
    };
    let counted = if part == Part::After(0) && !more {
        ids.len() as u64
    } else if filters.narrow() {
        search.count(connection, COUNTED_MAX + 1)?
    } else {
        totals::delegates(connection)?
    };
    let capped = filters.narrow() && counted > COUNTED_MAX;
    let holder = holder(connection, &filters.q)?;
    Ok(Found {
        count: i64::try_from(if capped { COUNTED_MAX } else { counted }).unwrap_or(i64::MAX),
        more: capped,
        previous: ids.first().copied().filter(|_| previous),
        next: ids.last().copied().filter(|_| next),
        lines: lines(connection, &ids)?,
        lost: match holder {
            Some(_) => None,
            None => lost(connection, &filters.q)?,
        },
        holder,
        fault: None,
        empty_file: counted == 0 && !filters.narrow(),
    })
}

fn lines(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT p.id, {NAME}, p.company, p.email, p.delegate_type, p.barcode, n.level, p.deleted_at
         FROM delegates p LEFT JOIN gate_notes n ON n.delegate_id = p.id
         WHERE p.id IN (SELECT value FROM json_each(?1)) ORDER BY p.id"
    ))?;
    let lines = statement.query_map([json!(ids).to_string()], |row| {
        Ok(Line {
            id: row.get(0)?,
            name: row.get(1)?,
            company: row.get(2)?,
            email: row.get(3)?,
            kind: row.get(4)?,
            barcode: row.get(5)?,
            level: row.get(6)?,
            deleted_at: row.get(7)?,
        })
    })?;
    Ok(lines.collect::<rusqlite::Result<_>>()?)
}

/// Who has this code, whichever kind of code it is.
pub(super) fn holder(connection: &Connection, typed: &str) -> Result<Option<Holder>> {
    if typed.is_empty() {
        return Ok(None);
    }
    for code in DelegateCode::ALL {
        let id: Option<i64> = connection
            .prepare_cached(code.find_sql())?
            .query_row([typed], |row| row.get(0))
            .optional()?;
        if let Some(id) = id {
            return Ok(Some(Holder {
                id,
                name: name_of(connection, id)?.unwrap_or_default(),
                code: label(code.name()),
            }));
        }
    }
    Ok(None)
}

/// Whose blocked code this is, and what became of it.
fn lost(connection: &Connection, typed: &str) -> Result<Option<(i64, String)>> {
    for code in DelegateCode::ALL {
        if let Some(blocked) = blocked::get(connection, code.name(), typed)? {
            let told = answer::sentence(&blocked::told(connection, &blocked)?);
            return Ok(Some((blocked.delegate.0, told)));
        }
    }
    Ok(None)
}

/// The types there are, each found by a step in the index.
pub(in crate::admin::delegates) fn types(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE types (name) AS (
             SELECT min(delegate_type) FROM delegates WHERE delegate_type IS NOT NULL AND deleted_at IS NULL
             UNION ALL
             SELECT (SELECT min(delegate_type) FROM delegates WHERE delegate_type > name AND deleted_at IS NULL)
             FROM types WHERE name IS NOT NULL
         ) SELECT name FROM types WHERE name <> '' LIMIT 100",
    )?;
    let types = statement.query_map([], |row| row.get(0))?;
    Ok(types.collect::<rusqlite::Result<_>>()?)
}

/// Devices where somebody ever checked in, there or below.
pub(super) fn devices(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, coalesce(d.name, d.code) FROM occupancy o JOIN devices d ON d.id = o.device_id
         WHERE d.deleted_at IS NULL ORDER BY 2 LIMIT 500",
    )?;
    let devices = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(devices.collect::<rusqlite::Result<_>>()?)
}

/// Those whom words find, but for one; for choosing somebody.
pub(in crate::admin::delegates) fn candidates(
    connection: &Connection,
    words: &str,
    but: i64,
) -> Result<Vec<(i64, String, String)>> {
    if words.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut ids =
        Search::everything(&SEARCHED)
            .and_words(words)
            .part(connection, Part::After(0), 21)?;
    if let Some(holder) = holder(connection, words.trim())? {
        ids.insert(0, holder.id);
    }
    ids.retain(|id| *id != but);
    ids.sort_unstable();
    ids.dedup();
    let told = |line: Line| {
        let about = [line.company, line.email, line.barcode];
        let about: Vec<String> = about.into_iter().flatten().collect();
        (line.id, line.name, about.join(" · "))
    };
    Ok(lines(connection, &ids)?.into_iter().map(told).collect())
}

/// Reads what has to be there.
pub(in crate::admin::delegates) fn missing(id: i64) -> Error {
    Error::new(
        Kind::DelegateNotFound,
        format!("there is no delegate {id}; it may have been erased"),
    )
}
