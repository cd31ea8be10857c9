//! One thing that is done to many attendees at once: looked at first, with who would be refused and why, then written
//! in slices as a batch, which is taken back as an import is.

use super::import::{
    Batch, Stop, What,
    batches::{self, Options},
    kept::{self, Became, Before},
    slices::{self, Steps},
};
use crate::{
    core::{
        Context,
        records::write::{self, stored_text},
    },
    db::{Store, Tx, counters},
    domain::{
        delegates::{RESOURCE, blocked},
        devices,
        interactions::{
            draft::Draft,
            judge::{self, DeviceCache},
            presence::History,
            record::{self, Outcome},
            types::{CHECK_IN, CHECK_OUT, JOIN},
        },
        messages::{self, templates::Entry},
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    cell::Cell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// People that are named of those who are refused or left.
pub const NAMED_MAX: usize = 200;
/// The time that a preview may take: of more people it looks at the first.
const PREVIEW_MAX: Duration = Duration::from_secs(4);

/// What is done to each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "with")]
pub enum Action {
    Register(DeviceId),
    CheckIn(DeviceId),
    CheckOut(DeviceId),
    SetType(String),
    AddFlag(String),
    /// Blocks the codes on the badge, for a reason.
    Block(String),
    Unblock,
    Delete,
    /// Writes to each of them (see `mailing`).
    Message(Box<Entry>),
}

impl Action {
    /// The place that it is about.
    #[must_use]
    pub fn place(&self) -> Option<DeviceId> {
        match self {
            Self::Register(place) | Self::CheckIn(place) | Self::CheckOut(place) => Some(*place),
            _ => None,
        }
    }

    /// The kind of the rows that it leaves: interactions that it records, or attendees that it changes.
    fn what(&self) -> What {
        match self.place() {
            Some(_) => What::Interactions,
            None => What::Delegates,
        }
    }

    /// Its name for people, such as `Check in at Hall 2`.
    pub fn name(&self, connection: &Connection) -> Result<String> {
        let called = |place| devices::called(connection, place);
        match self {
            Self::Register(place) => Ok(format!("Register for {}", called(*place)?)),
            Self::CheckIn(place) => Ok(format!("Check in at {}", called(*place)?)),
            Self::CheckOut(place) => Ok(format!("Check out at {}", called(*place)?)),
            Self::SetType(name) if name.is_empty() => Ok("Remove the type".to_owned()),
            Self::SetType(name) => Ok(format!("Set the type {name}")),
            Self::AddFlag(flag) => Ok(format!("Add the flag {flag}")),
            Self::Block(reason) => Ok(format!("Block tickets: {reason}")),
            Self::Unblock => Ok("Unblock tickets".to_owned()),
            Self::Delete => Ok("Delete attendees".to_owned()),
            Self::Message(entry) => Ok(match (&entry.subject, &*entry.slug) {
                (Some(subject), _) if !subject.is_empty() => format!("Message “{subject}”"),
                (_, "") => format!("Message “{}”", text::shortened(&entry.content)),
                (_, slug) => format!("Message {slug}"),
            }),
        }
    }

    /// Checks that it can be done at all.
    ///
    /// # Errors
    /// [`Kind::Invalid`]; [`Kind::DeviceNotFound`].
    pub fn check(&self, connection: &Connection) -> Result<()> {
        if let Some(place) = self.place() {
            devices::find(connection, &DeviceSelector::Id(place))?;
        }
        match self {
            Self::Block(reason) => blocked::check_reason(reason),
            Self::AddFlag(flag) if flag.len() != 1 || !flag.as_bytes()[0].is_ascii_lowercase() => {
                Err(Error::field("flag", "must be one letter"))
            }
            _ => Ok(()),
        }
    }

    fn draft(&self, attendee: DelegateId) -> Option<Draft> {
        let kind = match self {
            Self::Register(_) => JOIN.name,
            Self::CheckIn(_) => CHECK_IN.name,
            Self::CheckOut(_) => CHECK_OUT.name,
            _ => return None,
        };
        Some(Draft {
            kind: kind.to_owned(),
            delegates: [Some(DelegateSelector::Id(attendee)), None, None],
            devices: [self.place().map(DeviceSelector::Id), None, None],
            ..Draft::default()
        })
    }

    /// Says why nothing is left to do for an attendee; none where it is to be done.
    fn settled(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        attendee: DelegateId,
    ) -> Result<Option<&'static str>> {
        let id = attendee.0;
        let said = |is_so: bool, words| Ok(is_so.then_some(words));
        let stored = |column| stored_text(connection, &RESOURCE, column, id);
        let alive = "SELECT 1 FROM delegates WHERE id = ?1 AND deleted_at IS NULL";
        if !connection.prepare_cached(alive)?.exists([id])? {
            return Ok(Some("deleted meanwhile"));
        }
        match self {
            Self::Register(place) => said(
                judge::is_joined_itself(connection, device_cache, attendee, *place)?,
                "registered already",
            ),
            Self::CheckIn(place) => {
                let history = History::of(connection, device_cache, attendee)?;
                let place = device_cache.place_of(connection, *place)?;
                let inside = history.inside(connection, device_cache)?;
                said(inside.contains(&place), "inside already")
            }
            Self::CheckOut(place) => {
                let history = History::of(connection, device_cache, attendee)?;
                let place = device_cache.place_of(connection, *place)?;
                let inside = history.inside(connection, device_cache)?;
                said(!inside.contains(&place), "not inside")
            }
            Self::SetType(name) => {
                let now = stored("delegate_type")?.unwrap_or_default();
                said(now == *name, "of this type already")
            }
            Self::AddFlag(flag) => {
                let now = stored("raw_flags")?.unwrap_or_default();
                said(now.contains(flag.as_str()), "has the flag already")
            }
            Self::Block(_) => said(!blocked::has_badge(connection, id)?, "no code to block"),
            Self::Unblock => said(blocked::of(connection, id)?.is_empty(), "not blocked"),
            Self::Delete | Self::Message(_) => Ok(None),
        }
    }

    /// Does it to an attendee: what came of it; an error where it is refused.
    fn apply(
        &self,
        tx: &Tx<'_>,
        ctx: &Context,
        batch: i64,
        attendee: DelegateId,
    ) -> Result<Became> {
        if let Some(draft) = self.draft(attendee) {
            return match record::record_or_tell(tx, ctx, &draft)? {
                Outcome::Created(made) => Ok(Became {
                    record: made.id.map_or(0, |id| id.0),
                    ..Became::default()
                }),
                Outcome::Refused(refusal) => Err(refusal),
                Outcome::Waiting(_) | Outcome::Replayed(_) => Err(Error::defect(batch)),
            };
        }
        let id = attendee.0;
        let mut before = Before::of(tx, &RESOURCE, id)?;
        match self {
            Self::SetType(name) => {
                let name = if name.is_empty() {
                    Value::Null
                } else {
                    name.as_str().into()
                };
                let body = Map::from_iter([("delegateType".to_owned(), name)]);
                write::patch(tx, ctx, &RESOURCE, id, body)?;
            }
            Self::AddFlag(flag) => {
                let now = stored_text(tx, &RESOURCE, "raw_flags", id)?.unwrap_or_default();
                let body = Map::from_iter([("rawFlags".to_owned(), format!("{now}{flag}").into())]);
                write::patch(tx, ctx, &RESOURCE, id, body)?;
            }
            Self::Block(reason) => {
                blocked::replace_badge(tx, ctx, attendee, reason, None)?;
                before.is_blocked = true;
            }
            Self::Unblock => {
                before.unblocked = blocked::of(tx, id)?;
                for code in &before.unblocked {
                    blocked::unblock(tx, ctx, &code.kind, &code.value, true)?;
                }
            }
            Self::Delete => write::delete(tx, ctx, &RESOURCE, id)?,
            Self::Register(_) | Self::CheckIn(_) | Self::CheckOut(_) | Self::Message(_) => {
                return Err(Error::defect("this changes no attendee"));
            }
        }
        Ok(Became {
            record: id,
            before: Some(before.kept(tx, &RESOURCE, id, true)?),
            ..Became::default()
        })
    }
}

/// An attendee to whom it is not done, and why.
#[derive(Debug, Clone)]
pub struct Refused {
    pub attendee: DelegateId,
    pub reason: String,
}

/// Counts of those to whom it is done, to whom it need not be, and who are refused.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub done: i64,
    /// By the reason, such as `registered already`.
    pub settled: BTreeMap<&'static str, i64>,
    /// By the code of the error.
    pub refused: BTreeMap<i64, i64>,
    /// The first of those who are refused.
    pub named: Vec<Refused>,
    /// Those who were looked at so far.
    pub looked_at: i64,
}

impl Tally {
    /// As [`Tally::refuse`], of a batch, which keeps the first of them.
    pub(super) fn refuse_in(
        &mut self,
        tx: &Tx<'_>,
        batch: i64,
        attendee: DelegateId,
        cause: &Error,
    ) -> Result<()> {
        if self.named.len() < NAMED_MAX {
            batches::keep_refusal(tx, batch, attendee, &cause.to_string())?;
        }
        self.refuse(attendee, cause);
        Ok(())
    }

    fn refuse(&mut self, attendee: DelegateId, cause: &Error) {
        *self.refused.entry(cause.kind.code()).or_default() += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(Refused {
                attendee,
                reason: cause.to_string(),
            });
        }
    }

    pub(super) fn settle(&mut self, words: &'static str) {
        *self.settled.entry(words).or_default() += 1;
    }

    #[must_use]
    pub fn refused_in_all(&self) -> i64 {
        self.refused.values().sum()
    }

    #[must_use]
    pub fn settled_in_all(&self) -> i64 {
        self.settled.values().sum()
    }
}

/// Looks at what would come of it, without writing anything. Of very many attendees it looks at the first.
pub fn preview(
    connection: &Connection,
    ctx: &Context,
    action: &Action,
    attendees: &[i64],
) -> Result<Tally> {
    action.check(connection)?;
    let begun = Instant::now();
    let device_cache = DeviceCache::default();
    let place = match action.place() {
        Some(device) => Some(device_cache.place_of(connection, device)?),
        None => None,
    };
    let way = match action {
        Action::CheckOut(_) => -1,
        _ => 1,
    };
    let passed = Cell::new(0);
    let people = |device| {
        let inside = counters::people(connection, device)?;
        let more = if Some(device) == place {
            passed.get() * way
        } else {
            0
        };
        Ok(inside + more)
    };
    let mut tally = Tally::default();
    for attendee in attendees.iter().copied().map(DelegateId) {
        if begun.elapsed() > PREVIEW_MAX {
            break;
        }
        tally.looked_at += 1;
        if let Some(words) = action.settled(connection, &device_cache, attendee)? {
            tally.settle(words);
            continue;
        }
        let would = match action.draft(attendee) {
            None => action.would(connection, attendee)?,
            Some(draft) => {
                let now = Timestamp::now();
                let tested =
                    record::test_among(connection, ctx, &device_cache, &draft, now, &people)?;
                match tested.outcome {
                    Outcome::Refused(refusal) => Some(refusal),
                    _ => None,
                }
            }
        };
        if let Some(refusal) = would {
            tally.refuse(attendee, &refusal);
        } else {
            tally.done += 1;
            passed.set(passed.get() + 1);
        }
    }
    Ok(tally)
}

impl Action {
    /// Says why a change of a record would be refused.
    fn would(&self, connection: &Connection, attendee: DelegateId) -> Result<Option<Error>> {
        if *self != Self::Unblock {
            return Ok(None);
        }
        for code in blocked::of(connection, attendee.0)? {
            if write::holder(connection, &RESOURCE, &code.kind, &code.value)?.is_some() {
                let message = format!("\"{}\" is another attendee's by now", code.value);
                return Ok(Some(Error::new(Kind::CodeTaken, message).at(&code.kind)));
            }
        }
        Ok(None)
    }
}

/// Many attendees to whom something is done.
pub struct Bulk {
    pub batch: i64,
    action: Action,
    attendees: Vec<i64>,
    ctx: Context,
    stop: Stop,
    next: usize,
    pub tally: Tally,
    pub finished: bool,
}

/// Begins a batch of an action on so many attendees: its id.
///
/// # Errors
/// As [`Action::check`].
pub fn begin(tx: &Tx<'_>, ctx: &Context, action: &Action, attendees: usize) -> Result<Batch> {
    action.check(tx)?;
    let after_message = match action {
        Action::Message(_) => Some(messages::list::newest(tx)?),
        _ => None,
    };
    let options = Options {
        action: Some(action.clone()),
        after_message,
        ..Options::default()
    };
    let name = action.name(tx)?;
    let id = batches::begin_action(tx, ctx, (action.what(), &name), &options, attendees)?;
    batches::find(tx, id)
}

/// Does it to each of them; `on_progress` is called after each slice. What is done stays when it is stopped.
///
/// # Errors
/// What keeps the store from writing; earlier slices stay.
pub fn run(
    store: &Store,
    ctx: Context,
    batch: &Batch,
    attendees: Vec<i64>,
    stop: Stop,
    on_progress: impl FnMut(&Bulk),
) -> Result<Bulk> {
    let action = batch.options.action.clone();
    let work = Bulk {
        batch: batch.id,
        action: action.ok_or_else(|| Error::invalid("this is an import"))?,
        attendees,
        ctx,
        stop,
        next: 0,
        tally: Tally::default(),
        finished: false,
    };
    slices::write(store, work, on_progress)
}

impl Steps for Bulk {
    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        let done = u64::try_from(self.tally.done).unwrap_or_default();
        batches::take_up(tx, self.batch, done)
    }

    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        let next = self.attendees.get(self.next).copied().map(DelegateId);
        let Some(attendee) = next.filter(|_| !self.stop.is_stopped()) else {
            self.finished = true;
            return Ok(false);
        };
        self.next += 1;
        self.tally.looked_at += 1;
        let device_cache = tx.cache::<DeviceCache>();
        if let Some(words) = self.action.settled(tx, &device_cache, attendee)? {
            self.tally.settle(words);
            return Ok(true);
        }
        let applied = tx.nested(|tx| self.action.apply(tx, &self.ctx, self.batch, attendee));
        match applied {
            Ok(became) => {
                kept::keep_row(
                    tx,
                    self.batch,
                    i64::try_from(self.next).map_err(Error::defect)?,
                    &became,
                )?;
                self.tally.done += 1;
            }
            Err(cause) if cause.kind.is_of_store() || cause.kind == Kind::Defect => {
                return Err(cause);
            }
            Err(refusal) => self.tally.refuse_in(tx, self.batch, attendee, &refusal)?,
        }
        Ok(true)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        let done = u64::try_from(self.tally.done).unwrap_or_default();
        batches::advance(tx, self.batch, done, self.finished)?;
        if !self.finished {
            return Ok(());
        }
        let Tally { done, .. } = self.tally;
        let counts = json!({"done": done, "settled": self.tally.settled_in_all(), "refused": self.tally.refused_in_all()});
        batches::audit_change(tx, &self.ctx, self.batch, "complete", counts)
    }
}

impl Tally {
    /// What came of it, in a sentence.
    #[must_use]
    pub fn told(&self, done: &'static str, number: impl Fn(i64) -> String) -> String {
        let first = done;
        let done = [(done, self.done)];
        let settled = self.settled.iter().map(|(words, count)| (*words, *count));
        let refused = [("refused", self.refused_in_all())];
        let all = done.into_iter().chain(settled).chain(refused);
        let told = all.filter(|(words, count)| *count > 0 || *words == first);
        let told: Vec<_> = told
            .map(|(words, count)| format!("{} {words}", number(count)))
            .collect();
        format!("{}.", told.join(", "))
    }
}
