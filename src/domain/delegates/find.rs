//! Attendees as the console finds them: by words, filters and an expression, a page at a time.

use super::{
    DELETED, SEARCHED, blocked, count,
    overview::{Holder, Line, holder, lines},
    people::{self, People},
    spellings,
};
use crate::{
    core::search::{Part, Search},
    domain::{
        devices,
        interactions::{presence::PresenceChange, types},
    },
    types::{
        DelegateSelector, DeviceId, Zone,
        error::{Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::json;
use std::time::Duration;

/// Attendees on a page.
const PAGE: usize = 50;
/// The most matches that are counted, and ranked.
const COUNTED_MAX: u64 = 1_000;
const RANKED_MAX: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Words, or a code.
    pub q: String,
    pub kind: String,
    pub flag: String,
    /// A part of the company's name.
    pub company: String,
    pub device: Option<i64>,
    /// The check-ins asked for, at the device or below, or anywhere: `yes`, `no` or empty.
    pub been: &'static str,
    pub deleted: bool,
    /// Only those with a blocked ticket (`blocked`), or with a note for gates (`noted`); otherwise empty.
    pub only: &'static str,
    /// An expression as the API takes it.
    pub search: String,
    /// These alone.
    pub ids: Option<Vec<i64>>,
}

impl Wanted {
    /// Returns whether it leaves anybody out.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        let texts = [&self.q, &self.kind, &self.flag, &self.company, &self.search];
        self.deleted
            || self.ids.is_some()
            || self.device.is_some()
            || !self.been.is_empty()
            || !self.only.is_empty()
            || texts.iter().any(|text| !text.is_empty())
    }

    /// Ranks the attendees whom the words find, the likeliest first; all of them without words.
    fn ranked(&self, connection: &Connection, most: usize) -> Result<Option<people::Found>> {
        if self.q.trim().is_empty() {
            return Ok(None);
        }
        let people = People::new(&self.q).deleted(self.deleted);
        people::find(connection, &people, most).map(Some)
    }

    /// All that is asked for, the words included.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::InvalidSearch`] for an expression that cannot be read.
    pub fn search(&self, connection: &Connection, zone: &Zone) -> Result<Search> {
        let filters = self.filters(connection, zone)?;
        Ok(match self.ranked(connection, usize::MAX)? {
            Some(found) => filters.among(&found.ids),
            None => filters,
        })
    }

    /// Counts all that is asked for; none where that takes longer.
    pub fn count_within(
        &self,
        connection: &Connection,
        zone: &Zone,
        most: Duration,
    ) -> Result<Option<i64>> {
        if !self.is_narrow() {
            return Ok(i64::try_from(count(connection)?).ok());
        }
        match self.search(connection, zone)?.ids(connection, most) {
            Ok(ids) => Ok(i64::try_from(ids.len()).ok()),
            Err(cause) if cause.kind == Kind::InvalidSearch || cause.kind.is_of_store() => Ok(None),
            Err(cause) => Err(cause),
        }
    }

    /// Lists the attendees who are marked as asked for; none where nothing is asked.
    fn marked(&self, connection: &Connection) -> Result<Option<Vec<i64>>> {
        let sql = match self.only {
            "blocked" => {
                "SELECT DISTINCT b.delegate_id FROM blocked_codes b JOIN delegates p ON p.id = b.delegate_id
                 WHERE p.barcode IS NULL"
            }
            "noted" => "SELECT delegate_id FROM gate_notes",
            _ => return Ok(None),
        };
        let mut statement = connection.prepare_cached(sql)?;
        let ids = statement.query_map([], |row| row.get(0))?;
        Ok(Some(ids.collect::<rusqlite::Result<_>>()?))
    }

    /// All that is asked for but the words.
    fn filters(&self, connection: &Connection, zone: &Zone) -> Result<Search> {
        let own = Search::asked(&SEARCHED, Some(&self.search), zone, None)?;
        let subject = if self.deleted { &*DELETED } else { &*SEARCHED };
        let mut search = Search::everything(subject);
        let mut filters = Vec::new();
        if !self.kind.is_empty() {
            let spellings = spellings(connection, &self.kind)?.into_iter();
            let of = |spelling| json!({"==": ["delegateType", spelling]});
            filters.push(json!({"or": spellings.map(of).collect::<Vec<_>>()}));
        }
        if !self.flag.is_empty() {
            filters.push(json!({"*=": ["rawFlags", self.flag]}));
        }
        if !self.company.is_empty() {
            filters.push(json!({"*=": ["company", self.company]}));
        }
        if !self.been.is_empty() {
            let place = match self.device {
                Some(device) => {
                    let devices = devices::with_below(connection, DeviceId(device))?;
                    json!({"firstDevice": devices})
                }
                None => json!({}),
            };
            let there = |kind| json!({"fi": [kind, place, ">= 1"]});
            let entries: Vec<_> = types::names_of(PresenceChange::Enter).map(there).collect();
            let been = json!({"or": entries});
            filters.push(match self.been {
                "no" => json!({"not": been}),
                _ => been,
            });
        }
        for filter in filters {
            search = search.and_search(Search::parse(&SEARCHED, &filter.to_string(), zone, None)?);
        }
        if let Some(ids) = &self.ids {
            search = search.among(ids);
        }
        if let Some(ids) = self.marked(connection)? {
            search = search.among(&ids);
        }
        Ok(match own {
            Some(own) => search.and_search(own),
            None => search,
        })
    }
}

/// A page of attendees.
#[derive(Default)]
pub struct Found {
    pub lines: Vec<Line>,
    pub count: i64,
    /// Set where there are more than were counted.
    pub more: bool,
    /// The page before ends before this attendee.
    pub previous: Option<i64>,
    /// The next page begins after this attendee.
    pub next: Option<i64>,
    /// The attendee whose code was typed.
    pub holder: Option<Holder>,
    /// The attendee whose code is blocked, and why.
    pub blocked: Option<(i64, String)>,
    /// The file has no attendees.
    pub empty_file: bool,
}

pub fn find(connection: &Connection, wanted: &Wanted, zone: &Zone, part: Part) -> Result<Found> {
    let search = wanted.filters(connection, zone)?;
    let mut found = match wanted.ranked(connection, RANKED_MAX)? {
        Some(ranked) => ranked_page(connection, search, &ranked, part)?,
        None => page(connection, wanted, &search, part)?,
    };
    found.holder = holder(connection, &wanted.q)?;
    if found.holder.is_none() {
        found.blocked = blocked_code(connection, &wanted.q)?;
    }
    Ok(found)
}

/// A page of those whom words find, the likeliest first.
fn ranked_page(
    connection: &Connection,
    search: Search,
    ranked: &people::Found,
    part: Part,
) -> Result<Found> {
    let left = search
        .among(&ranked.ids)
        .part(connection, Part::After(0), COUNTED_MAX)?;
    let ids: Vec<i64> = ranked
        .ids
        .iter()
        .copied()
        .filter(|id| left.binary_search(id).is_ok())
        .collect();
    let place = |id: i64| ids.iter().position(|other| *other == id);
    let from = match part {
        Part::After(id) => place(id).map_or(0, |place| place + 1),
        Part::Before(id) => place(id).unwrap_or(0).saturating_sub(PAGE),
    };
    let to = ids.len().min(from + PAGE);
    let shown = &ids[from..to];
    Ok(Found {
        lines: lines(connection, shown)?,
        count: i64::try_from(ids.len()).unwrap_or(i64::MAX),
        more: ranked.more,
        previous: shown.first().copied().filter(|_| from > 0),
        next: shown.last().copied().filter(|_| to < ids.len()),
        ..Found::default()
    })
}

/// A page of all that filters find, by id.
fn page(connection: &Connection, wanted: &Wanted, search: &Search, part: Part) -> Result<Found> {
    let mut ids = search.part(connection, part, PAGE as u64 + 1)?;
    let more = ids.len() > PAGE;
    let (previous, next) = match part {
        Part::After(after) => {
            ids.truncate(PAGE);
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
    } else if wanted.is_narrow() {
        search.count(connection, COUNTED_MAX + 1)?
    } else {
        count(connection)?
    };
    let capped = wanted.is_narrow() && counted > COUNTED_MAX;
    let counted = if capped { COUNTED_MAX } else { counted };
    Ok(Found {
        count: i64::try_from(counted).unwrap_or(i64::MAX),
        more: capped,
        previous: ids.first().copied().filter(|_| previous),
        next: ids.last().copied().filter(|_| next),
        lines: lines(connection, &ids)?,
        empty_file: counted == 0 && !wanted.is_narrow(),
        ..Found::default()
    })
}

/// The attendee who had a blocked code, and why it is blocked.
fn blocked_code(connection: &Connection, typed: &str) -> Result<Option<(i64, String)>> {
    let scanned = DelegateSelector::Scanned(typed.to_owned());
    let Some(blocked) = blocked::meant(connection, &scanned)? else {
        return Ok(None);
    };
    let why = blocked::told(connection, &blocked)?;
    Ok(Some((blocked.delegate.0, why)))
}
