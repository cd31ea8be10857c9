//! Moves the write-ahead log back into the file without making a gate wait.
//!
//! A thread of its own copies most of the log (`PASSIVE`, beside the writer) and syncs the file. It
//! can never quite catch up with a busy writer, so the writer itself copies the small rest between
//! two groups; then its next commit starts the log over and the log stays small.
//!
//! SQLite syncs the file only with a pass that reaches the log's end: with the writer's, that is.
//! It would wait for all that the thread copied, so the thread syncs that itself, through a handle
//! of its own. The handle is never closed: closing it would drop SQLite's locks on the file.

use crate::error::{Error, Result};
use rusqlite::Connection;
use std::{
    cell::Cell,
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

/// Log pages (2 KiB each) after which the thread is set to work: 32 MiB.
const START_PAGES: i64 = 16_384;
/// A rest that the writer copies itself, between two groups; a few milliseconds.
const REST_PAGES: i64 = 1_024;

thread_local! {
    /// Log pages after the last commit of this thread's connection.
    static LOG_PAGES: Cell<i64> = const { Cell::new(0) };
}

struct Shared {
    /// A pass of the thread is under way.
    running: AtomicBool,
    /// Log pages that the last finished pass had copied.
    copied: AtomicI64,
}

/// The writer's side of checkpointing.
pub struct Checkpointer {
    shared: Arc<Shared>,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread; `path` is the database file, and `file` a handle on it that is never
    /// closed.
    ///
    /// # Errors
    /// When the thread or its connection cannot be had.
    pub fn start(path: &Path, file: &'static File) -> Result<Self> {
        let shared = Arc::new(Shared {
            running: AtomicBool::new(false),
            copied: AtomicI64::new(0),
        });
        let (wake, woken) = sync_channel::<()>(1);
        let of_thread = Arc::clone(&shared);
        let connection = Connection::open(path)?;
        super::connection::prepare(&connection)?;
        let thread = std::thread::Builder::new()
            .name("checkpoint".into())
            .spawn(move || {
                while woken.recv().is_ok() {
                    // Not even a log that cannot be written ends the thread: without it the file's
                    // log would grow for ever.
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        match copy_and_sync(&connection, file) {
                            Ok(copied) => of_thread.copied.store(copied, Ordering::Release),
                            Err(cause) => tracing::warn!("checkpoint: {cause}"),
                        }
                    }));
                    of_thread.running.store(false, Ordering::Release);
                }
            })
            .map_err(Error::defect)?;
        Ok(Self {
            shared,
            wake: Some(wake),
            thread: Some(thread),
        })
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
        let pages = LOG_PAGES.get();
        if pages < START_PAGES || self.shared.running.load(Ordering::Acquire) {
            return;
        }
        let rest = pages - self.shared.copied.load(Ordering::Acquire);
        if (0..=REST_PAGES).contains(&rest) {
            let _ = pass(writer);
            self.shared.copied.store(0, Ordering::Release);
        } else {
            self.shared.running.store(true, Ordering::Release);
            if let Some(wake) = &self.wake {
                let _ = wake.try_send(());
            }
        }
    }

    /// To be called by the writer when nothing is to be done.
    pub fn idle(&self, writer: &Connection) {
        if LOG_PAGES.get() > 0 && !self.shared.running.load(Ordering::Acquire) {
            let _ = pass(writer);
            LOG_PAGES.set(0);
            self.shared.copied.store(0, Ordering::Release);
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn copy_and_sync(connection: &Connection, file: &File) -> Result<i64> {
    let copied = pass(connection)?;
    file.sync_data().map_err(Error::unavailable)?;
    Ok(copied)
}

/// Copies what can be copied without waiting for anybody; how many log pages are copied by then.
fn pass(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))
}
