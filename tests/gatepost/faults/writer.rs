//! The one writer, without HTTP: a job that panics or fails does so alone, a transaction that is
//! gone takes its whole group along, and a queue that is full says so at once.

use gatepost::{
    db::{Durability, Priority, Store, Tx, counters},
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use std::{
    cell::Cell,
    os::unix::fs::FileExt,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc, Barrier, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll, Waker},
};
use tokio::runtime::{Builder, Runtime};

type Write<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

struct Fixture {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gatepost.db");
        let store = Store::open(&path, Durability::Normal).expect("a store");
        let made = store
            .write(|tx| Ok(tx.execute_batch("CREATE TABLE done (name TEXT)")?))
            .wait();
        made.expect("a table");
        Self {
            store,
            _folder: folder,
        }
    }

    /// Queues a job; its future has been polled, so that the writer has it.
    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Submitted<'_, T> {
        Submitted::new(Box::pin(self.store.write(job)))
    }

    /// As that, one that can be done again.
    fn submit_repeatable<T: Send + 'static>(
        &self,
        job: impl Fn(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Submitted<'_, T> {
        Submitted::new(Box::pin(
            self.store.write_repeatable(Priority::Interactive, job),
        ))
    }

    /// As that, a slice of bulk work.
    fn submit_bulk<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Submitted<'_, T> {
        Submitted::new(Box::pin(self.store.write_bulk(job)))
    }

    /// Keeps the writer busy until the sender is used or dropped.
    fn hold(&self) -> (Sender<()>, Submitted<'_, ()>) {
        self.hold_then(|_| Ok(()))
    }

    /// The first job of a group: it waits until the sender is used or dropped, and works then.
    fn hold_then(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<()> + Send + 'static,
    ) -> (Sender<()>, Submitted<'_, ()>) {
        held(work, |job| self.submit(job))
    }

    /// As [`Fixture::hold`], in a group of its own: what is queued meanwhile is in the next.
    fn hold_apart(&self) -> (Sender<()>, Submitted<'_, ()>) {
        held(|_| Ok(()), |job| self.submit_bulk(job))
    }

    /// What stands in the file, as a reader sees it.
    fn done(&self) -> Vec<String> {
        let read = self.store.look_up(|connection| {
            let mut statement = connection.prepare("SELECT name FROM done ORDER BY rowid")?;
            let names = statement.query_map([], |row| row.get(0))?;
            Ok(names.collect::<rusqlite::Result<_>>()?)
        });
        read.expect("a read")
    }
}

type Job = Box<dyn FnOnce(&Tx<'_>) -> Result<()> + Send>;

/// Submits a job that has begun when this returns, and works when the sender is used or dropped.
fn held<'a>(
    work: impl FnOnce(&Tx<'_>) -> Result<()> + Send + 'static,
    submit: impl FnOnce(Job) -> Submitted<'a, ()>,
) -> (Sender<()>, Submitted<'a, ()>) {
    let (release, released): (Sender<()>, Receiver<()>) = channel();
    let begun = Arc::new(Barrier::new(2));
    let has_begun = Arc::clone(&begun);
    let held = submit(Box::new(move |tx| {
        has_begun.wait();
        let _ = released.recv();
        work(tx)
    }));
    begun.wait();
    (release, held)
}

struct Submitted<'a, T> {
    write: Write<'a, T>,
    first: Poll<Result<T>>,
}

impl<'a, T> Submitted<'a, T> {
    fn new(mut write: Write<'a, T>) -> Self {
        let first = poll(&mut write);
        Self { write, first }
    }

    /// The outcome, if there was one at once.
    fn at_once(self) -> Option<Result<T>> {
        match self.first {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    fn outcome(self) -> Result<T> {
        match self.first {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => runtime().block_on(self.write),
        }
    }
}

/// Its clock is what refuses a job that waits too long.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_time().build();
        runtime.expect("a runtime")
    })
}

fn poll<T>(write: &mut Write<'_, T>) -> Poll<Result<T>> {
    let _entered = runtime().enter();
    write.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn insert(tx: &Tx<'_>, name: &str) -> Result<()> {
    tx.execute("INSERT INTO done (name) VALUES (?1)", [name])?;
    Ok(())
}

fn kind<T>(outcome: Result<T>) -> Option<Kind> {
    outcome.err().map(|cause| cause.kind)
}

/// Runs jobs that are sure to share a group: they are repeated until one of them saw what another
/// had written while no reader did.
fn in_one_group(bad: fn(&Tx<'_>) -> Result<()>, check: impl Fn(&Fixture, [Option<Kind>; 3])) {
    for _ in 0..50 {
        let fixture = Fixture::new();
        let path = fixture.store.path().to_owned();
        let (release, held) = fixture.hold();
        let first = fixture.submit(|tx| insert(tx, "first"));
        let failing = fixture.submit(bad);
        let last = fixture.submit(move |tx| {
            insert(tx, "last")?;
            let outside = rusqlite::Connection::open(&path)?;
            let committed: i64 =
                outside.query_row("SELECT count(*) FROM done", [], |row| row.get(0))?;
            Ok(committed == 0)
        });
        drop(release);
        let _ = held.outcome();
        let outcomes = (first.outcome(), failing.outcome(), last.outcome());
        // A last job that was lost with its group tells nothing, but then it shared it.
        let together = *outcomes.2.as_ref().unwrap_or(&true);
        if together {
            check(
                &fixture,
                [kind(outcomes.0), kind(outcomes.1), kind(outcomes.2)],
            );
            return;
        }
    }
    panic!("jobs that wait together are never committed together");
}

#[test]
fn a_job_that_panics_fails_alone_and_its_group_is_committed() {
    let bad = |tx: &Tx<'_>| {
        insert(tx, "bad")?;
        panic!("as a bug would");
    };
    in_one_group(bad, |fixture, outcomes| {
        assert_eq!(outcomes, [None, Some(Kind::Defect), None]);
        assert_eq!(fixture.done(), ["first", "last"]);
        // And the writer goes on.
        fixture
            .store
            .write(|tx| insert(tx, "later"))
            .wait()
            .expect("a write");
        assert_eq!(fixture.done(), ["first", "last", "later"]);
    });
}

#[test]
fn a_job_that_fails_is_undone_alone() {
    let bad = |tx: &Tx<'_>| {
        insert(tx, "bad")?;
        tx.nested(|tx| insert(tx, "nested in bad"))?;
        Err(Error::invalid("as a bad request would"))
    };
    in_one_group(bad, |fixture, outcomes| {
        assert_eq!(outcomes, [None, Some(Kind::Invalid), None]);
        assert_eq!(fixture.done(), ["first", "last"]);
    });
}

/// The first of a group runs without a savepoint.
#[test]
fn the_first_job_that_fails_is_undone_alone_too() {
    let fails: fn(&Tx<'_>) -> Result<()> = |tx| {
        insert(tx, "bad")?;
        Err(Error::invalid("as a bad request would"))
    };
    let panics: fn(&Tx<'_>) -> Result<()> = |tx| {
        insert(tx, "bad")?;
        panic!("as a bug would");
    };
    for (bad, expected) in [(fails, Kind::Invalid), (panics, Kind::Defect)] {
        let fixture = Fixture::new();
        let (release, failing) = fixture.hold_then(bad);
        let next = fixture.submit(|tx| insert(tx, "next"));
        drop(release);
        assert_eq!(kind(failing.outcome()), Some(expected));
        assert_eq!(kind(next.outcome()), None);
        assert_eq!(fixture.done(), ["next"]);
    }
}

#[test]
fn a_part_of_a_job_that_fails_is_undone_alone() {
    let bad = |tx: &Tx<'_>| {
        insert(tx, "kept")?;
        let failed = tx.nested(|tx| {
            insert(tx, "undone")?;
            Err::<(), _>(Error::invalid("as a bad item would"))
        });
        assert_eq!(failed.map_err(|cause| cause.kind), Err(Kind::Invalid));
        insert(tx, "kept too")
    };
    in_one_group(bad, |fixture, outcomes| {
        assert_eq!(outcomes, [None, None, None]);
        assert_eq!(fixture.done(), ["first", "kept", "kept too", "last"]);
    });
}

/// As SQLite does by itself on some errors. Whoever wrote before in the group is told the truth.
#[test]
fn a_transaction_that_is_gone_takes_its_group_along() {
    let lost: fn(&Tx<'_>) -> Result<()> = |tx| {
        tx.execute_batch("ROLLBACK")?;
        Err(Error::unavailable("as a full disk would"))
    };
    // The same where the job does not notice.
    let unnoticed: fn(&Tx<'_>) -> Result<()> = |tx| Ok(tx.execute_batch("ROLLBACK")?);
    let unnoticed_within: fn(&Tx<'_>) -> Result<()> = |tx| {
        let _ = tx.nested(|tx| Ok(tx.execute_batch("ROLLBACK")?));
        Ok(())
    };
    for bad in [lost, unnoticed, unnoticed_within] {
        let fixture = Fixture::new();
        let (release, held) = fixture.hold();
        let first = fixture.submit(|tx| insert(tx, "first"));
        let failing = fixture.submit(bad);
        let last = fixture.submit(|tx| insert(tx, "last"));
        drop(release);
        let _ = held.outcome();
        let outcomes = [
            kind(first.outcome()),
            kind(failing.outcome()),
            kind(last.outcome()),
        ];
        assert_eq!(outcomes[1], Some(Kind::Unavailable));
        // Whichever group they were in: who was told "stored" is stored, nobody else.
        let mut told = Vec::new();
        told.extend(outcomes[0].is_none().then_some("first"));
        told.extend(outcomes[2].is_none().then_some("last"));
        assert_eq!(fixture.done(), told);
        fixture
            .store
            .write(|tx| insert(tx, "later"))
            .wait()
            .expect("a write");
    }
}

/// At the commit too: a constraint that is checked only then fails the whole group.
#[test]
fn a_commit_that_fails_is_answered_to_nobody_as_done() {
    let bad = |tx: &Tx<'_>| {
        let sql = "PRAGMA defer_foreign_keys = ON; INSERT INTO idempotency_parts VALUES (999, 0, 0, 0, '')";
        Ok(tx.execute_batch(sql)?)
    };
    in_one_group(bad, |fixture, outcomes| {
        assert_eq!(outcomes, [Some(Kind::Unavailable); 3]);
        assert_eq!(fixture.done(), Vec::<String>::new());
        fixture
            .store
            .write(|tx| insert(tx, "later"))
            .wait()
            .expect("a write");
        assert_eq!(fixture.done(), ["later"]);
    });
}

/// Inserts its name and counts as a check-in; tells how often it was run.
fn checks_in(
    name: &'static str,
) -> (
    Arc<AtomicUsize>,
    impl Fn(&Tx<'_>) -> Result<()> + Send + 'static,
) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let job = move |tx: &Tx<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        insert(tx, name)?;
        comes_in(tx)?;
        Ok(())
    };
    (runs, job)
}

const PLACE: DeviceId = DeviceId(7);

fn comes_in(tx: &Tx<'_>) -> Result<()> {
    tx.count_check_in();
    tx.add_people(PLACE, 1)
}

/// People inside as they stand in the file, when so many check-ins were done.
fn assert_came_in(fixture: &Fixture, check_ins: u64) {
    let people = fixture
        .store
        .look_up(|connection| counters::people(connection, PLACE));
    assert_eq!(people.ok(), i64::try_from(check_ins).ok());
    assert_eq!(fixture.store.stats().check_ins(), check_ins);
}

/// Does something with jobs that wait together, until they were in one group: a writer that is kept
/// waiting by the machine ends a group early.
fn until_together(attempt: impl Fn(&Fixture) -> bool) {
    let together = (0..50).any(|_| attempt(&Fixture::new()));
    assert!(
        together,
        "jobs that wait together are never committed together"
    );
}

/// They have no savepoints: what is undone with one that fails is done again, once.
#[test]
fn what_is_undone_with_a_job_that_fails_is_done_again() {
    let fails: fn(&Tx<'_>) -> Result<()> = |tx| {
        insert(tx, "bad")?;
        comes_in(tx)?;
        Err(Error::invalid("as a bad request would"))
    };
    let panics: fn(&Tx<'_>) -> Result<()> = |tx| {
        insert(tx, "bad")?;
        comes_in(tx)?;
        panic!("as a bug would");
    };
    for (bad, expected) in [(fails, Kind::Invalid), (panics, Kind::Defect)] {
        until_together(|fixture| {
            let (release, held) = fixture.hold_apart();
            let (runs, first) = checks_in("first");
            let first = fixture.submit_repeatable(first);
            let failing = fixture.submit_repeatable(bad);
            let failing_too = fixture.submit_repeatable(bad);
            let (runs_of_last, last) = checks_in("last");
            let last = fixture.submit_repeatable(last);
            drop(release);
            held.outcome().expect("done");
            first.outcome().expect("done");
            assert_eq!(kind(failing.outcome()), Some(expected));
            assert_eq!(kind(failing_too.outcome()), Some(expected));
            last.outcome().expect("done");
            assert_eq!(fixture.done(), ["first", "last"]);
            assert_came_in(fixture, 2);
            assert_eq!(runs_of_last.load(Ordering::Relaxed), 1);
            runs.load(Ordering::Relaxed) == 2
        });
    }
}

#[test]
fn a_job_that_fails_before_it_wrote_undoes_nothing() {
    let fixture = Fixture::new();
    let (release, held) = fixture.hold_apart();
    let (runs, first) = checks_in("first");
    let first = fixture.submit_repeatable(first);
    let failing = fixture.submit_repeatable(|tx| {
        comes_in(tx)?;
        Err::<(), _>(Error::invalid("as a bad request would"))
    });
    drop(release);
    held.outcome().expect("done");
    first.outcome().expect("done");
    assert_eq!(kind(failing.outcome()), Some(Kind::Invalid));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    assert_came_in(&fixture, 1);
}

/// Work that can be done once is never undone with a neighbour's, nor undoes any.
#[test]
fn jobs_that_cannot_be_repeated_have_savepoints() {
    until_together(|fixture| {
        let path = fixture.store.path().to_owned();
        let (release, held) = fixture.hold_apart();
        let (runs, first) = checks_in("first");
        let first = fixture.submit_repeatable(first);
        let failing_once = fixture.submit(|tx| {
            insert(tx, "bad")?;
            Err::<(), _>(Error::invalid("as a bad request would"))
        });
        let once = fixture.submit(|tx| {
            insert(tx, "once")?;
            assert_eq!(
                counters::people(tx, PLACE)?,
                1,
                "stored before another kind of write"
            );
            comes_in(tx)
        });
        let failing = fixture.submit_repeatable(|tx| {
            insert(tx, "bad")?;
            comes_in(tx)?;
            assert_eq!(tx.people(PLACE)?, 3);
            Err::<(), _>(Error::invalid("as a bad request would"))
        });
        let last = fixture.submit_repeatable(move |_| {
            let outside = rusqlite::Connection::open(&path)?;
            let committed: i64 =
                outside.query_row("SELECT count(*) FROM done", [], |row| row.get(0))?;
            Ok(committed == 0)
        });
        drop(release);
        held.outcome().expect("done");
        first.outcome().expect("done");
        once.outcome().expect("done");
        assert_eq!(kind(failing_once.outcome()), Some(Kind::Invalid));
        assert_eq!(kind(failing.outcome()), Some(Kind::Invalid));
        assert_eq!(fixture.done(), ["first", "once"]);
        assert_came_in(fixture, 2);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        last.outcome().expect("an answer")
    });
}

/// A transaction that is gone while jobs are repeated takes them all along.
#[test]
fn what_cannot_be_done_again_is_told_as_lost() {
    until_together(|fixture| {
        let (release, held) = fixture.hold_apart();
        let runs = AtomicUsize::new(0);
        let first = fixture.submit_repeatable(move |tx| {
            insert(tx, "first")?;
            if runs.fetch_add(1, Ordering::Relaxed) > 0 {
                tx.execute_batch("ROLLBACK")?;
            }
            Ok(())
        });
        let failing = fixture.submit_repeatable(|tx| {
            insert(tx, "bad")?;
            Err::<(), _>(Error::invalid("as a bad request would"))
        });
        drop(release);
        held.outcome().expect("done");
        let together = kind(first.outcome()) == Some(Kind::Unavailable);
        let expected = if together {
            Kind::Unavailable
        } else {
            Kind::Invalid
        };
        assert_eq!(kind(failing.outcome()), Some(expected));
        assert_eq!(fixture.done().is_empty(), together);
        together
    });
}

/// SQLite commits nothing after it came upon a damaged page, until all is rolled back. Whoever needs
/// that page is told so, and nobody else.
#[test]
fn a_damaged_page_costs_its_neighbours_nothing() {
    let fixture = Fixture::new();
    let outside = rusqlite::Connection::open(fixture.store.path()).expect("the file");
    let sql =
        "CREATE TABLE damaged (x); INSERT INTO damaged VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)";
    outside.execute_batch(sql).expect("a table");
    let page: i64 = outside
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'damaged'",
            [],
            |row| row.get(0),
        )
        .expect("its page");
    let source = fixture.store.source();
    let page_bytes = 2048;
    let offset = u64::try_from(page - 1).expect("a page") * page_bytes;
    source
        .file
        .write_all_at(&[0xAA; 2048], offset)
        .expect("damage");
    let needs_it =
        |tx: &Tx<'_>| Ok(tx.query_row("SELECT x FROM damaged", [], |row| row.get::<_, i64>(0))?);
    for alone in [true, false] {
        let (release, held) = fixture.hold_apart();
        let first = (!alone).then(|| fixture.submit_repeatable(|tx| insert(tx, "first")));
        let failing = fixture.submit_repeatable(needs_it);
        let last = fixture.submit_repeatable(|tx| insert(tx, "last"));
        drop(release);
        held.outcome().expect("done");
        if let Some(first) = first {
            first.outcome().expect("done");
        }
        assert_eq!(kind(failing.outcome()), Some(Kind::Damaged));
        last.outcome().expect("done");
    }
    assert_eq!(fixture.done(), ["last", "first", "last"]);
    assert_eq!(fixture.store.stats().groups_lost(), 0);
}

/// Counts who used it since it was forgotten.
#[derive(Default)]
struct Uses(Cell<u32>);

fn uses_before(tx: &Tx<'_>) -> u32 {
    let uses: Rc<Uses> = tx.cache();
    uses.0.replace(uses.0.get() + 1)
}

#[test]
fn what_is_remembered_is_forgotten_with_every_other_write() {
    let fixture = Fixture::new();
    let next = || {
        let next = fixture.submit_repeatable(|tx| Ok(uses_before(tx)));
        next.outcome().expect("a write")
    };
    assert_eq!([next(), next(), next()], [0, 1, 2]);
    fixture.store.write(|_| Ok(())).wait().expect("a write");
    assert_eq!([next(), next()], [0, 1], "another kind of write");
    let other = fixture.submit(|tx| Ok([uses_before(tx), uses_before(tx)]));
    assert_eq!(other.outcome().expect("a write"), [0, 0], "of its own");
    assert_eq!([next(), next()], [0, 1]);
    let outside = rusqlite::Connection::open(fixture.store.path()).expect("the file");
    let write = outside.execute("INSERT INTO done (name) VALUES ('outside')", []);
    write.expect("a write");
    assert_eq!([next(), next()], [0, 1], "another process");
    let failing = fixture.submit_repeatable(|tx| {
        insert(tx, "bad")?;
        Err::<(), _>(Error::invalid("as a bad request would"))
    });
    assert_eq!(kind(failing.outcome()), Some(Kind::Invalid));
    assert_eq!([next(), next()], [0, 1], "what was undone");
}

/// A slice waits for whoever does, be they later; and nobody who came before it waits for it.
#[test]
fn a_slice_of_bulk_work_begins_when_what_waited_is_committed() {
    let fixture = Fixture::new();
    let (release, held) = fixture.hold_then(|tx| insert(tx, "held"));
    let slice = |name: &'static str| {
        let path = fixture.store.path().to_owned();
        fixture.submit_bulk(move |tx| {
            let outside = rusqlite::Connection::open(&path)?;
            let committed: i64 =
                outside.query_row("SELECT count(*) FROM done", [], |row| row.get(0))?;
            insert(tx, name)?;
            Ok(committed)
        })
    };
    let slices = [slice("slice"), slice("another slice")];
    let soon = fixture.submit(|tx| insert(tx, "soon"));
    drop(release);
    held.outcome().expect("done");
    soon.outcome().expect("done");
    let committed = slices.map(|slice| slice.outcome().expect("done"));
    assert_eq!(committed, [2, 3]);
    assert_eq!(fixture.done(), ["held", "soon", "slice", "another slice"]);
}

#[test]
fn a_slice_that_fails_is_undone_and_the_next_is_not() {
    for panics in [false, true] {
        let fixture = Fixture::new();
        let (release, held) = fixture.hold();
        let bad = fixture.submit_bulk(move |tx| {
            insert(tx, "bad")?;
            assert!(!panics, "as a bug would");
            Err::<(), _>(Error::invalid("as a bad item would"))
        });
        let good = fixture.submit_bulk(|tx| insert(tx, "good"));
        drop(release);
        held.outcome().expect("done");
        let expected = if panics { Kind::Defect } else { Kind::Invalid };
        assert_eq!(kind(bad.outcome()), Some(expected));
        assert_eq!(kind(good.outcome()), None);
        assert_eq!(fixture.done(), ["good"]);
    }
}

/// What was given is written down with its transaction: the next one goes on behind it, be the
/// interaction gone and the store another.
#[test]
fn an_id_is_not_given_again_by_a_later_write_or_start() {
    let Fixture { store, _folder } = Fixture::new();
    let add = |tx: &Tx<'_>| {
        let id = tx.new_interaction_id()?;
        tx.execute(
            "INSERT INTO interactions (id, interaction_type, recorded_at, created_at) VALUES (?1, 'x', 0, 0)",
            [id],
        )?;
        Ok(id)
    };
    let clear = |tx: &Tx<'_>| Ok(tx.execute("DELETE FROM interactions", [])?);
    assert_eq!(store.write(add).wait().expect("an id"), 1);
    store.write(clear).wait().expect("a write");
    assert_eq!(store.write(add).wait().expect("an id"), 2);
    store.write(clear).wait().expect("a write");
    let path = store.path().to_owned();
    drop(store);
    let store = Store::open(&path, Durability::Normal).expect("a store");
    assert_eq!(store.write(add).wait().expect("an id"), 3);
}

#[test]
fn a_full_queue_refuses_at_once_and_what_is_in_it_is_done() {
    let fixture = Fixture::new();
    let (release, held) = fixture.hold();
    let mut waiting = Vec::new();
    let refused = loop {
        let submitted = fixture.submit(|tx| insert(tx, "waited"));
        if submitted.first.is_ready() {
            break submitted.at_once().expect("an outcome");
        }
        waiting.push(submitted);
        assert!(waiting.len() < 100_000, "the queue has no end");
    };
    assert_eq!(kind(refused), Some(Kind::Unavailable));
    assert!(waiting.len() >= 1000, "{} find a place", waiting.len());
    // Reading goes on meanwhile.
    assert_eq!(fixture.done(), Vec::<String>::new());
    drop(release);
    held.outcome().expect("done");
    let count = waiting.len();
    for write in waiting {
        write.outcome().expect("done");
    }
    assert_eq!(fixture.done().len(), count);
}

/// Ending the store does what was accepted, so that a stop loses nothing.
#[test]
fn a_store_that_closes_finishes_its_queue() {
    let fixture = Fixture::new();
    let (release, held) = fixture.hold();
    let waiting: Vec<_> = (0..100)
        .map(|_| fixture.submit(|tx| insert(tx, "waited")))
        .collect();
    drop(waiting);
    drop(release);
    drop(held);
    let Fixture {
        store,
        _folder: folder,
    } = fixture;
    let path = store.path().to_owned();
    drop(store);
    let file = rusqlite::Connection::open(path).expect("the file");
    let done: i64 = file
        .query_row("SELECT count(*) FROM done", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(done, 100);
    drop(folder);
}
