//! Which running server pushes for a venue. A file that was copied and started twice has one key and one cursor: each run
//! has a mark of its own, which its file keeps, so that a copy is told from a server that was started again.

use super::{
    store::{Sql, text},
    venues::{AWAY_MS, Venue, taken},
};
use crate::{
    core::head_office::RUNS_MAX,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};

/// A server that is refused tries again once a minute: so long it is said.
const COPY_TOLD_MS: i64 = 120_000;

/// The marks of a running server: its own, and those of its file's runs before. Older versions send none.
#[derive(Debug, Clone, Default)]
pub struct Run(Vec<String>);

impl Run {
    /// Reads the header.
    pub fn parse(header: &str) -> Self {
        let is_mark = |mark: &&str| {
            mark.len() <= 64 && mark.bytes().all(|letter| letter.is_ascii_alphanumeric())
        };
        let marks = header.split(' ').filter(|mark| !mark.is_empty());
        let marks = marks.filter(is_mark).take(RUNS_MAX);
        Self(marks.map(ToOwned::to_owned).collect())
    }

    /// Returns whether this server goes on where the one with the mark stopped, or is that one.
    fn follows(&self, mark: &str) -> bool {
        self.0.iter().any(|own| own == mark)
    }
}

/// The running server of a venue, and until when others wait for it.
fn running(sql: &mut dyn Sql, venue: i64) -> Result<Option<(String, i64)>> {
    let found = sql.query_one(
        "SELECT hash, expires_at FROM hub_codes WHERE venue = ?1 AND hash LIKE 'run %' ORDER BY expires_at DESC",
        &[venue.into()],
    )?;
    Ok(found.map(|row| (row.text(0).split_off("run ".len()), row.number(1))))
}

/// Whether a server may push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Granted,
    /// It is a copy that goes on where another one is gone: it begins anew.
    Anew,
    /// Another server with a copy of its file is connected.
    Copied,
}

/// Lets one running server push for a venue: the one that did, one that goes on where that stopped, or any once it was not
/// heard of for a minute.
pub fn claim(
    sql: &mut dyn Sql,
    venue: &Venue,
    run: &Run,
    epoch: i64,
    now: Timestamp,
) -> Result<Claim> {
    let Some(mark) = run.0.first() else {
        return Ok(Claim::Granted);
    };
    let mut claim = Claim::Granted;
    if let Some((before, until)) = running(sql, venue.id)?
        && !run.follows(&before)
        && epoch <= venue.epoch
    {
        claim = if now.0 < until {
            Claim::Copied
        } else {
            Claim::Anew
        };
    }
    let (name, until) = match claim {
        Claim::Copied => (format!("copy {mark}"), now.0 + COPY_TOLD_MS),
        _ => (format!("run {mark}"), now.0 + AWAY_MS),
    };
    if claim != Claim::Copied {
        sql.execute(
            "DELETE FROM hub_codes WHERE venue = ?1 AND (hash LIKE 'run %' AND hash <> ?2 OR hash = ?3)",
            &[venue.id.into(), text(&name), text(&format!("copy {mark}"))],
        )?;
    }
    sql.execute(
        "INSERT INTO hub_codes (hash, venue, expires_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (hash) DO UPDATE SET venue = excluded.venue, expires_at = excluded.expires_at",
        &[text(&name), venue.id.into(), until.into()],
    )?;
    if claim == Claim::Anew {
        sql.execute(
            "UPDATE hub_venues SET cursor = NULL, begun = NULL WHERE id = ?1",
            &[venue.id.into()],
        )?;
    }
    Ok(claim)
}

/// The venue of a bearer that asks what is new for it; a copy of its file is told nothing.
pub fn of_caller(sql: &mut dyn Sql, bearer: &str, run: &Run, now: Timestamp) -> Result<Venue> {
    let venue = Venue::of_bearer(sql, bearer)?;
    let is_other = |(mark, until): (String, i64)| !run.follows(&mark) && now.0 < until;
    if !run.0.is_empty() && running(sql, venue.id)?.is_some_and(is_other) {
        return Err(copied());
    }
    Ok(venue)
}

/// The error for a server while another one with a copy of its file is connected.
pub fn copied() -> Error {
    taken(
        "another server runs with a copy of this venue's file. Stop one of them; if the other one is stopped, or this file was \
         restored, this one goes on within two minutes",
    )
}
