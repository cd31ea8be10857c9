//! The frame of a write: an open transaction, and savepoints that keep the failure of one write from
//! its neighbours.

use super::{
    counters::{self, Ids},
    search_index,
};
use crate::types::{
    DeviceId, Timestamp,
    error::{Error, Result, panic_text},
};
use rusqlite::Connection;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

/// The state of a transaction while its jobs run.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Caches are out of date once it is committed.
    pub stale: Cell<bool>,
    /// Check-ins that it holds.
    pub check_ins: Cell<u64>,
    /// The ids of its interactions.
    pub ids: Ids,
    /// People who came into a device or left it and are not counted in the file yet.
    pub people: RefCell<Vec<(DeviceId, i64)>>,
    /// Kept for the next transaction, unless this one is rolled back.
    pub cache: WriterCache,
}

impl Group {
    /// Counts in the file who came in or left; to be called before anything else counts them, and
    /// before the commit.
    pub fn count_people(&self, connection: &Connection) -> Result<()> {
        let mut people = self.people.take();
        people.sort_unstable_by_key(|(device, _)| *device);
        for at_one in people.chunk_by(|(one, _), (other, _)| one == other) {
            let more = at_one.iter().map(|(_, more)| more).sum();
            if more != 0 {
                counters::add_people(connection, at_one[0].0, more)?;
            }
        }
        Ok(())
    }
}

/// One value of what repeatable writes read that others will need, for as long as nobody else writes.
#[derive(Debug, Default)]
pub(super) struct WriterCache(RefCell<Option<Rc<dyn Any>>>);

impl WriterCache {
    pub fn forget(&self) {
        self.0.take();
    }

    fn get<T: Default + 'static>(&self) -> Rc<T> {
        let mut kept = self.0.borrow_mut();
        let known = kept.clone().and_then(|kept| kept.downcast().ok());
        known.unwrap_or_else(|| {
            let fresh: Rc<T> = Rc::default();
            *kept = Some(Rc::clone(&fresh) as Rc<dyn Any>);
            fresh
        })
    }
}

/// The frame of a write: the open transaction and the one time of this group.
pub struct Tx<'a> {
    pub(super) connection: &'a Connection,
    pub(super) now: Timestamp,
    pub(super) group: &'a Group,
    /// The cache of the group, for writes that may use it.
    pub(super) cache: Option<&'a WriterCache>,
}

impl Tx<'_> {
    /// The time at which this write was begun; `created_at` and `updated_at` of all it writes.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Tells, once this write is committed, every cache of settings, clients and tokens that it is
    /// out of date (see [`super::Store::epoch`]).
    pub fn outdate_caches(&self) {
        self.group.stale.set(true);
    }

    /// An id for a new interaction, which none had before.
    pub fn new_interaction_id(&self) -> Result<i64> {
        self.group.ids.next(self.connection)
    }

    /// The newest interaction by now, be it deleted since.
    pub fn newest_interaction(&self) -> Result<i64> {
        self.group.ids.newest(self.connection)
    }

    /// The position of what arrives now in the order of events: this time, but never before the
    /// position that was given last, so that a corrected clock changes no order.
    pub fn arrival(&self) -> Result<Timestamp> {
        self.group.ids.arrival(self.connection, self.now)
    }

    /// Returns what repeatable writes ([`super::Store::write_repeatable`]) read before this one, to be added to,
    /// so that each need not read it again. It is forgotten whenever another kind of write was done, here
    /// or by another process, and when a transaction was rolled back; not with a savepoint: what stands in
    /// it must do no harm whether such writes are kept or not. Other writes get an empty one. There is one
    /// value: what is asked for as another type begins anew.
    pub fn cache<T: Default + 'static>(&self) -> Rc<T> {
        self.cache.map_or_else(Rc::default, WriterCache::get)
    }

    /// Counts a check-in, should this write be committed.
    pub fn count_check_in(&self) {
        let check_ins = &self.group.check_ins;
        check_ins.set(check_ins.get() + 1);
    }

    /// Adds to how many people are inside a device. Repeatable writes are added up and counted in the
    /// file once a transaction: each check-in changes the numbers of the place, of those above it and of
    /// the venue.
    pub fn add_people(&self, device: DeviceId, more: i64) -> Result<()> {
        if self.cache.is_none() {
            return counters::add_people(self.connection, device, more);
        }
        self.group.people.borrow_mut().push((device, more));
        Ok(())
    }

    /// People inside a device now, with those of this transaction.
    pub fn people(&self, device: DeviceId) -> Result<i64> {
        let people = self.group.people.borrow();
        let more = people.iter().filter(|(at, _)| *at == device);
        Ok(counters::people(self.connection, device)? + more.map(|(_, more)| more).sum::<i64>())
    }

    /// Runs `work` in a savepoint of its own: what it wrote is undone when it fails.
    pub fn nested<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.counting(|| savepoint(self.connection, "nested", || work(self)))
    }

    /// Runs `work`, whose check-ins and people do not count when it fails.
    pub(super) fn counting<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let check_ins = self.group.check_ins.get();
        let people = self.group.people.borrow().len();
        let outcome = work();
        if outcome.is_err() {
            self.group.check_ins.set(check_ins);
            self.group.people.borrow_mut().truncate(people);
        }
        outcome
    }
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

/// Runs `work` as the only job of a transaction on a connection that nobody else uses, such as the
/// one of a test.
pub fn in_transaction<T>(
    connection: &Connection,
    now: Timestamp,
    work: impl FnOnce(&Tx<'_>) -> Result<T>,
) -> Result<T> {
    let group = Group::default();
    savepoint(connection, "alone", || {
        let outcome = work(&Tx {
            connection,
            now,
            group: &group,
            cache: None,
        })?;
        group.ids.keep(connection)?;
        search_index::settle(connection, usize::MAX)?;
        Ok(outcome)
    })
}

/// The statement with which the writer opens a transaction.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Runs `work` in a savepoint, which is undone when it fails.
pub(super) fn savepoint<T>(
    connection: &Connection,
    name: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    execute(connection, &format!("SAVEPOINT {name}"))?;
    let outcome = caught(connection, work)?;
    let close = || {
        if outcome.is_err() {
            execute(connection, &format!("ROLLBACK TO {name}"))?;
        }
        execute(connection, &format!("RELEASE {name}"))
    };
    if let Err(cause) = close() {
        // What the work wrote can no longer be separated from its neighbours': roll all of it back.
        connection.execute_batch("ROLLBACK")?;
        return Err(cause);
    }
    outcome
}

/// The error of the jobs of a group whose transaction is gone.
pub(super) fn undone() -> Error {
    Error::unavailable("the store could not take it; nothing of the group was written")
}

/// Returns the result of `work`, a panic as its error; what it wrote stays.
pub(super) fn caught<T>(
    connection: &Connection,
    work: impl FnOnce() -> Result<T>,
) -> Result<Result<T>> {
    let outcome = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::defect(panic_text(panic.as_ref()))));
    if connection.is_autocommit() {
        return Err(match outcome {
            Err(cause) if cause.kind.is_of_store() => cause,
            Err(cause) => {
                tracing::error!("a transaction was rolled back: {cause}");
                undone()
            }
            Ok(_) => undone(),
        });
    }
    Ok(outcome)
}

/// Runs a statement that is prepared once.
pub(super) fn execute(connection: &Connection, statement: &str) -> Result<()> {
    connection.prepare_cached(statement)?.execute([])?;
    Ok(())
}
