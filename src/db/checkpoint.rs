//! Moves the write-ahead log back into the file without making a gate wait.
//!
//! A thread of its own copies most of the log (`PASSIVE`, beside the writer) and syncs the file. It
//! can never quite catch up with a busy writer, so the writer itself copies the small rest between
//! two groups; then its next commit starts the log over and the log stays small.
//!
//! SQLite syncs the file only with a pass that reaches the log's end: with the writer's, that is.
//! It would wait for all that the thread copied, so the thread syncs that itself, through a handle
//! of its own. The handle is never closed: closing it would drop SQLite's locks on the file.
//!
//! Deleted rows are in the log until they are overwritten. Where they must not be (contract §8,
//! erasure) the thread empties the log (`TRUNCATE`), in tries so short that no gate notices.

use super::watch::Watch;
use crate::types::error::{Error, Result};
use rusqlite::Connection;
use std::{
    cell::Cell,
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Log pages (2 KiB each) after which the thread is set to work: 32 MiB. In smaller portions gates
/// wait less for its sync, but pages that change all the time are copied so much more often that
/// fewer gates are served in all.
const START_PAGES: i64 = 16_384;
/// A rest that the writer copies itself, between two groups; a few milliseconds.
const REST_PAGES: i64 = 1_024;

/// For how long emptying the log is tried: what still looks at an older state then has come to stay.
const EMPTY_MAX: Duration = Duration::from_mins(10);
/// The rest between two tries.
const EMPTY_AGAIN: Duration = Duration::from_millis(100);
/// The time that one try may wait, and the writer with it (contract §10: 50 ms at most).
const EMPTY_WAIT_MAX_MS: i32 = 20;

thread_local! {
    /// Log pages after the last commit of this thread's connection.
    static LOG_PAGES: Cell<i64> = const { Cell::new(0) };
}

struct Shared {
    watch: Arc<Watch>,
    /// A pass of the thread is under way.
    running: AtomicBool,
    /// Log pages that the last finished pass had copied.
    copied: AtomicI64,
    asked: Mutex<Asked>,
    wake: Condvar,
}

/// The work that the thread is asked for.
#[derive(Default)]
struct Asked {
    pass: bool,
    /// Until when it tries to empty the log.
    empty_until: Option<Instant>,
    end: bool,
}

impl Shared {
    fn ask(&self, change: impl FnOnce(&mut Asked)) {
        change(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_one();
    }

    /// Waits for something to do: whether a pass is asked for, and until when to empty the log. `None`
    /// at the end.
    fn next(&self) -> Option<(bool, Option<Instant>)> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.empty_until.is_some() && !asked.pass && !asked.end {
            let waited = self.wake.wait_timeout(asked, EMPTY_AGAIN);
            asked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        while !asked.pass && !asked.end && asked.empty_until.is_none() {
            let woken = self.wake.wait(asked);
            asked = woken.unwrap_or_else(PoisonError::into_inner);
        }
        (!asked.end).then(|| (std::mem::take(&mut asked.pass), asked.empty_until))
    }
}

/// Pages that the log has at least, by what the writer knows; to be called on its thread. The log may
/// have been emptied since.
pub fn log_pages() -> u64 {
    u64::try_from(LOG_PAGES.get()).unwrap_or_default()
}

/// The writer's side of checkpointing.
pub struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Log pages at which the next pass begins.
    due: Cell<i64>,
    /// Log pages that were copied when the thread was last set to work.
    copied_before: Cell<Option<i64>>,
}

/// Empties the log, for whoever must not leave in it what was deleted.
pub struct Wiper(Arc<Shared>);

impl Wiper {
    /// Empties the log as soon as nothing reads an older state of the file.
    pub fn wipe(&self) {
        let until = Instant::now() + EMPTY_MAX;
        self.0.ask(|asked| asked.empty_until = Some(until));
    }

    /// Returns whether nobody tries to empty the log any more.
    pub fn is_done(&self) -> bool {
        let asked = self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.empty_until.is_none()
    }
}

impl Checkpointer {
    /// Starts the thread; `path` is the database file, and `file` a handle on it that is never
    /// closed.
    pub fn start(path: &Path, file: &'static File, watch: Arc<Watch>) -> Result<Self> {
        let shared = Arc::new(Shared {
            watch,
            running: AtomicBool::new(false),
            copied: AtomicI64::new(0),
            asked: Mutex::default(),
            wake: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        let connection = Connection::open(path)?;
        super::connection::prepare(&connection)?;
        // Of what it does, emptying the log alone waits for anybody, and has the writer wait as long.
        connection.busy_handler(Some(wait_briefly))?;
        let thread = std::thread::Builder::new()
            .name("checkpoint".into())
            .spawn(move || {
                while let Some((pass, empty_until)) = of_thread.next() {
                    // Not even a log that cannot be written ends the thread: without it the file's
                    // log would grow for ever.
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        of_thread.work(&connection, file, pass, empty_until);
                    }));
                    if pass {
                        of_thread.running.store(false, Ordering::Release);
                    }
                }
            })
            .map_err(Error::defect)?;
        Ok(Self {
            shared,
            thread: Some(thread),
            due: Cell::new(START_PAGES),
            copied_before: Cell::new(None),
        })
    }

    /// Returns the handle that empties the log.
    pub fn wiper(&self) -> Wiper {
        Wiper(Arc::clone(&self.shared))
    }

    /// Hears of commits on the writing connection.
    pub fn attach(connection: &Connection) {
        connection.wal_hook(Some(|_, pages| {
            LOG_PAGES.set(i64::from(pages));
            Ok(())
        }));
    }

    /// To be called by the writer between two groups.
    pub fn after_commit(&self, writer: &Connection) {
        if self.shared.running.load(Ordering::Acquire) {
            return;
        }
        let pages = LOG_PAGES.get();
        let mut copied = self.shared.copied.load(Ordering::Acquire);
        if pages < copied || pages + START_PAGES < self.due.get() {
            // All of the log was copied, and this commit started it over.
            copied = 0;
            self.shared.copied.store(0, Ordering::Release);
            self.rest_until(START_PAGES);
        }
        if pages < self.due.get() {
            return;
        }
        if pages - copied <= REST_PAGES {
            let _ = self.shared.pass(writer);
            self.shared.copied.store(0, Ordering::Release);
            self.rest_until(pages + START_PAGES);
        } else if self.copied_before.replace(Some(copied)) == Some(copied) {
            // Somebody reads an old state, as Litestream does all the time: pass after pass would sync the file for nothing.
            self.rest_until(pages + START_PAGES);
        } else {
            self.shared.running.store(true, Ordering::Release);
            self.shared.ask(|asked| asked.pass = true);
        }
    }

    fn rest_until(&self, due: i64) {
        self.due.set(due);
        self.copied_before.set(None);
    }

    /// Empties the log from the writer's side, between two groups, if nobody reads an old state; the
    /// thread is to have copied most of it before.
    pub fn empty(&self, writer: &Connection) -> Result<()> {
        writer.busy_handler(Some(wait_briefly))?;
        // A log that is empty tells no more what was copied.
        let emptied = self
            .shared
            .pass(writer)
            .and_then(|_| self.shared.empty(writer));
        super::connection::wait_for_others(writer)?;
        if emptied? == 0 {
            LOG_PAGES.set(0);
            self.shared.copied.store(0, Ordering::Release);
        }
        Ok(())
    }

    /// Copies all of the log into the file, whose log is lost; whether all of it is there.
    pub fn copy_all(writer: &Connection) -> bool {
        let copied = writer.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok(row.get::<_, i64>(0)? == 0 && row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
        });
        copied.unwrap_or_else(|cause| {
            tracing::error!("checkpoint: {cause}");
            false
        })
    }

    /// To be called by the writer when nothing is to be done.
    pub fn idle(&self, writer: &Connection) {
        if LOG_PAGES.get() > 0 && !self.shared.running.load(Ordering::Acquire) {
            let _ = self.shared.pass(writer);
            LOG_PAGES.set(0);
            self.shared.copied.store(0, Ordering::Release);
        }
    }
}

impl Shared {
    fn work(&self, connection: &Connection, file: &File, pass: bool, empty_until: Option<Instant>) {
        if pass {
            match self.copy_and_sync(connection, file) {
                Ok(copied) => self.copied.store(copied, Ordering::Release),
                Err(cause) => tracing::warn!("checkpoint: {cause}"),
            }
        }
        let Some(until) = empty_until else {
            return;
        };
        // What is copied and synced before need not be while the writer waits.
        let emptied = self
            .copy_and_sync(connection, file)
            .and_then(|_| Ok(self.empty(connection)? == 0));
        let emptied = emptied.unwrap_or_else(|cause| {
            tracing::debug!("emptying the log: {cause}");
            false
        });
        if !emptied && Instant::now() >= until {
            tracing::warn!(
                "the write-ahead log still has what was deleted: something reads an old state of the file; it is emptied when the server ends"
            );
        }
        if emptied || Instant::now() >= until {
            let done = |asked: &mut Asked| {
                // Unless it was asked for anew meanwhile.
                if asked.empty_until == Some(until) {
                    asked.empty_until = None;
                }
            };
            self.ask(done);
        }
    }

    fn copy_and_sync(&self, connection: &Connection, file: &File) -> Result<i64> {
        let copied = self.pass(connection)?;
        file.sync_data().map_err(Error::unavailable)?;
        Ok(copied)
    }

    /// Copies what can be copied without waiting for anybody; how many log pages are copied by then.
    fn pass(&self, connection: &Connection) -> rusqlite::Result<i64> {
        self.checkpoint(connection, "PASSIVE", 2)
    }

    /// Empties the log; not 0 when somebody looks at an older state of the file.
    fn empty(&self, connection: &Connection) -> rusqlite::Result<i64> {
        self.checkpoint(connection, "TRUNCATE", 0)
    }

    /// Copies the log into the file; a column of what SQLite says of it.
    fn checkpoint(
        &self,
        connection: &Connection,
        mode: &str,
        column: usize,
    ) -> rusqlite::Result<i64> {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        self.watch
            .copying(|| connection.query_row(&sql, [], |row| row.get(column)))
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.shared.ask(|asked| asked.end = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn wait_briefly(asked: i32) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    asked < EMPTY_WAIT_MAX_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(path: &Path) -> (Connection, Checkpointer) {
        let writer = Connection::open(path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
            .unwrap();
        let file: &'static File = Box::leak(Box::new(File::open(path).unwrap()));
        let roots = crate::db::on_disk::Roots::read(&writer).unwrap();
        let watch = Arc::new(Watch::begin(path, file, roots));
        let checkpointer = Checkpointer::start(path, file, watch).unwrap();
        (writer, checkpointer)
    }

    /// The thread may copy all there is. The next commit starts the log over then, and what was copied
    /// before must not count for it: the writer would be left with all of the copying.
    #[test]
    fn a_log_that_was_started_over_is_not_copied_yet() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, checkpointer) = begin(&folder.path().join("a.db"));
        checkpointer
            .shared
            .copied
            .store(START_PAGES, Ordering::Release);
        LOG_PAGES.set(3);
        checkpointer.after_commit(&writer);
        assert_eq!(checkpointer.shared.copied.load(Ordering::Acquire), 0);
    }

    /// A reader of an old state holds the log; the file is not synced again and again meanwhile.
    #[test]
    fn a_log_that_somebody_holds_is_copied_seldom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (writer, checkpointer) = begin(&path);
        let reader = Connection::open(&path).unwrap();
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM t")
            .unwrap();
        writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        let mut passes = 0;
        for pages in START_PAGES..2 * START_PAGES {
            LOG_PAGES.set(pages);
            checkpointer.after_commit(&writer);
            if checkpointer.shared.running.load(Ordering::Acquire) {
                passes += 1;
            }
            while checkpointer.shared.running.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
        assert_eq!(passes, 2);
    }
}
