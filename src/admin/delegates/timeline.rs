//! The timeline of an attendee: what they did, what was refused, and what was taken back. What readers repeat is
//! folded.

use crate::admin::prelude::*;
use crate::domain::interactions::{
    history::{self, Happening},
    log::lines::{self, Line},
    refusals::{self, Refused},
    rows, types,
    undo::{Caller, Page, may_undo},
};

/// Rows on a page, and interactions that are looked at for them.
const PAGE: usize = 20;
const LOOKED_MAX: usize = 200;
/// Refusals and undone interactions that are looked at.
const BESIDE_MAX: usize = 100;

pub(super) struct Timeline {
    pub rows: Vec<Row>,
    /// The next page begins before this interaction.
    pub next: Option<i64>,
}

pub(super) enum Row {
    Done {
        done: Box<Happening>,
        can_undo: bool,
    },
    Many {
        words: &'static str,
        all: Vec<Happening>,
    },
    Refused(Refused),
    /// Undone; `just`: by the button that led here.
    Undone {
        line: Box<Line>,
        just: bool,
    },
}

impl Row {
    fn at(&self) -> Timestamp {
        match self {
            Self::Done { done, .. } => done.at,
            Self::Many { all, .. } => all.first().map_or(Timestamp(0), |newest| newest.at),
            Self::Refused(refused) => refused.at,
            Self::Undone { line, .. } => line.recorded_at,
        }
    }

    /// Makes one that was not repeated a row of its own.
    fn unfold_single(&mut self) {
        if let Self::Many { all, .. } = self
            && all.len() == 1
            && let Some(done) = all.pop()
        {
            *self = Self::Done {
                can_undo: false,
                done: Box::new(done),
            };
        }
    }
}

/// Returns the words with which the timeline begins the row of an interaction, and the word before the place.
pub fn told(kind: &str) -> (String, &'static str) {
    let (told, at) = types::find(kind).map_or((kind, "at"), |known| known.told);
    (crate::types::text::capital(told), at)
}

/// The places of some interactions, each once, as words to follow.
pub fn places(all: &[Happening]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in all.iter().flat_map(|one| &one.places) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    format!(
        " {}",
        tx("common-at-device").with("device", names.join(", "))
    )
}

/// The moment of the first of some interactions, which are the newest first.
pub fn first(all: &[Happening]) -> &Timestamp {
    all.last().map_or(&Timestamp(0), |first| &first.at)
}

impl Timeline {
    /// Reads what happened before an interaction; `undone` was taken back just now.
    pub fn read(
        connection: &Connection,
        id: i64,
        before: Option<i64>,
        undone: Option<i64>,
        caller: Caller,
        zone: &Zone,
    ) -> Result<Self> {
        let found = history::of_delegate(connection, id, before, LOOKED_MAX + 1)?;
        let Folded { mut rows, rest } = fold(found, caller);
        let since = rest.map_or(i64::MIN, |(_, at)| at.0);
        let until = match before {
            Some(before) => {
                rows::find_stored(connection, before)?.map_or(i64::MAX, |one| one.recorded_at.0)
            }
            None => i64::MAX,
        };
        let refused = refusals::of_delegate(connection, id, BESIDE_MAX)?;
        let taken_back = lines::undone_by_delegate(connection, id, BESIDE_MAX, zone)?;
        let beside = refused.into_iter().map(Row::Refused);
        let beside = beside.chain(taken_back.into_iter().map(|line| Row::Undone {
            just: undone.is_some() && line.taken_back() == undone,
            line: Box::new(line),
        }));
        rows.extend(beside.filter(|row| (since..until).contains(&row.at().0)));
        rows.sort_by_key(|row| std::cmp::Reverse(row.at()));
        Ok(Self {
            rows,
            next: rest.map(|(id, _)| id),
        })
    }
}

/// Interactions as rows.
struct Folded {
    rows: Vec<Row>,
    /// The last one on the page, where there are more.
    rest: Option<(i64, Timestamp)>,
}

/// Makes rows of interactions, the newest first, as many as fit a page. What readers repeat becomes one row.
fn fold(found: Vec<Happening>, caller: Caller) -> Folded {
    let now = Timestamp::now();
    let mut has_more = found.len() > LOOKED_MAX;
    let (mut rows, mut last) = (Vec::<Row>::new(), None);
    for done in found.into_iter().take(LOOKED_MAX) {
        let is_full = rows.len() == PAGE;
        let moment = Some((done.id, done.at));
        match (types::repeated(&done.recorded.kind), rows.last_mut()) {
            (Some(words), Some(Row::Many { words: same, all })) if words == *same => all.push(done),
            _ if is_full => {
                has_more = true;
                break;
            }
            (Some(words), _) => rows.push(Row::Many {
                words,
                all: vec![done],
            }),
            (None, _) => rows.push(Row::Done {
                can_undo: may_undo(caller, Page::Activity, &done.recorded, now),
                done: Box::new(done),
            }),
        }
        last = moment;
    }
    rows.iter_mut().for_each(Row::unfold_single);
    Folded {
        rows,
        rest: last.filter(|_| has_more),
    }
}
