//! Finding delegates for the list: a part of them, how many there are, and whose code was typed.

use super::Filters;
use crate::{
    admin::{Fields, answer},
    core::search::Part,
    domain::delegates::{
        self, blocked,
        overview::{Holder, Line, holder, lines},
    },
    types::{
        DelegateCode, Zone,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;

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
        delegates::count(connection)?
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

/// Reads what has to be there.
pub(in crate::admin::delegates) fn missing(id: i64) -> Error {
    Error::new(
        Kind::DelegateNotFound,
        format!("there is no delegate {id}; it may have been erased"),
    )
}
