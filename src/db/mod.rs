//! The one SQLite file: opening it, reading from it, and the single way to write to it.
//!
//! Writes are closures over a transaction on the writer thread ([`Store::write`] and the three other verbs, each awaited
//! or, without a runtime, waited for by [`Write::wait`]); reads are closures over a read-only connection. No SQL of a
//! feature stands here.

mod checkpoint;
pub mod connection;
pub mod counters;
pub mod error;
#[cfg(test)]
mod fixtures;
pub mod integrity;
mod job;
mod live_log;
pub mod migrate;
mod migrate_sections;
mod moments;
mod on_disk;
pub mod open;
pub mod salvage;
pub mod sandbox;
pub mod search_index;
pub mod second_path;
pub mod stats;
pub mod tables;
mod tx;
mod upgrade_copy;
pub mod usage;
mod wal;
mod watch;
mod writer;

pub use counters::newest_interaction;
pub use open::{Found, ServeLock};
pub use sandbox::HUB_VIEWS;
pub use tx::{Tx, in_transaction};

use crate::types::error::{Error, Kind, Result};
use checkpoint::{Checkpointer, Wiper};
use integrity::Integrity;
use job::{Once, Repeatable};
use on_disk::Roots;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};
use stats::Stats;
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, oneshot};
use usage::Usage;
use watch::Watch;
use writer::Writer;

pub use job::{ATTACHED, Priority, Write};

/// Marks a SQLite file as Gatepost's (`"GATE"`).
pub const APPLICATION_ID: i32 = 0x4741_5445;

/// The failures that an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Durability {
    /// Power loss and everything less.
    Full,
    /// The end of the process, but not power loss.
    Normal,
}

type Pool = r2d2::Pool<SqliteConnectionManager>;

/// The longest wait for a connection for lists: less than a browser or a gate waits for its answer.
const LISTS_WAIT_MAX: Duration = Duration::from_secs(10);

/// Reads at a time for those who follow changes.
const FOLLOWERS_AT_ONCE: u32 = 2;

/// The open file.
pub struct Store {
    path: PathBuf,
    writer: Writer,
    wiper: Wiper,
    lookups: Pool,
    lists: Pool,
    lists_turn: Arc<Semaphore>,
    followers: Pool,
    followers_turn: Arc<Semaphore>,
    durability: Durability,
    file: &'static File,
    was_copy: bool,
    lacks_index: bool,
    watch: Arc<Watch>,
    usage: Arc<Usage>,
    integrity: Arc<Integrity>,
    /// The last field: it goes when all others have closed the file.
    open: Arc<()>,
}

/// The database file, to be read as bytes.
#[derive(Clone)]
pub struct Source {
    /// The path of the file.
    pub path: PathBuf,
    /// An open handle. It is never closed: closing one drops SQLite's locks on the file.
    pub file: &'static File,
}

impl Store {
    /// Opens the file at `path`, makes a fresh one where there is none, and brings an older one to
    /// the current schema, after a copy of it was made beside it.
    pub fn open(path: &Path, durability: Durability) -> Result<Self> {
        Self::open_found(look(path)?, path, durability, None)
    }

    /// As [`Store::open`], for a server.
    pub fn open_to_serve(path: &Path, durability: Durability, lock: &ServeLock) -> Result<Self> {
        Self::open_found(look(path)?, path, durability, Some(lock))
    }

    /// As [`Store::open`], but makes no file.
    pub fn open_existing(path: &Path, durability: Durability) -> Result<Self> {
        match look(path)? {
            Found::Nothing => Err(Error::invalid(format!("{} does not exist", path.display()))),
            found => Self::open_found(found, path, durability, None),
        }
    }

    fn open_found(
        found: Found,
        path: &Path,
        durability: Durability,
        serving: Option<&ServeLock>,
    ) -> Result<Self> {
        Self::open_losing(
            found,
            path,
            durability,
            serving,
            usage::losses(path, serving),
        )
    }

    /// Opens a file in which `losses` were found.
    fn open_losing(
        found: Found,
        path: &Path,
        durability: Durability,
        serving: Option<&ServeLock>,
        losses: Vec<String>,
    ) -> Result<Self> {
        let mut was_copy = false;
        let lacks_index = matches!(found, Found::Unindexed(_));
        let mut connection = match found {
            Found::Nothing => {
                migrate::create_file(path)?;
                return match open::look(path)? {
                    made @ Found::Version(_) => {
                        Self::open_losing(made, path, durability, serving, losses)
                    }
                    _ => Err(Error::defect("a fresh file is none")),
                };
            }
            Found::Torn => {
                let connection = Connection::open(path)?;
                migrate::create(&connection)?;
                connection
            }
            Found::Version(version) | Found::Unindexed(version) => {
                let connection = Connection::open(path)?;
                was_copy = !connection::keeps_log(&connection)?;
                if version < migrate::CURRENT {
                    upgrade_copy::make(&connection, path, version)?;
                }
                connection
            }
        };
        connection::keep_log(&connection)?;
        connection::prepare_writer(&connection, durability)?;
        migrate::upgrade(&mut connection)?;
        Checkpointer::attach(&connection);
        let file = File::options().read(true).write(true).open(path);
        let file: &'static File = Box::leak(Box::new(file.map_err(Error::unavailable)?));
        // By now SQLite has all of them open.
        let watch = Arc::new(Watch::begin(path, file, Roots::read(&connection)?));
        let checkpointer = Checkpointer::start(path, file, Arc::clone(&watch))?;
        let usage = Arc::new(Usage::begin(path, &connection, serving, losses)?);
        watch.copying(|| usage.mark(&connection));
        Ok(Self {
            durability,
            file,
            was_copy,
            lacks_index,
            wiper: checkpointer.wiper(),
            writer: Writer::start(
                connection,
                checkpointer,
                Arc::clone(&watch),
                Arc::clone(&usage),
            )?,
            watch,
            usage,
            integrity: Arc::new(Integrity::new(path)),
            lookups: pool(path, POOL_SIZE, connection::prepare_look_ups)?,
            lists: pool(path, POOL_SIZE, connection::prepare_reader)?,
            lists_turn: Arc::new(Semaphore::new(POOL_SIZE as usize)),
            followers: pool(path, FOLLOWERS_AT_ONCE, connection::prepare_reader)?,
            followers_turn: Arc::new(Semaphore::new(FOLLOWERS_AT_ONCE as usize)),
            path: path.to_owned(),
            open: Arc::default(),
        })
    }

    /// Empties the log before the end, so that little is left to do when the file is closed.
    ///
    /// # Errors
    /// When the file or its log was lost, or cannot be written.
    pub fn finish(&self) -> Result<()> {
        self.write_exclusive(None, |_| Ok(())).wait()
    }

    /// Lives until the file is closed, whoever still holds the store.
    pub fn open_guard(&self) -> Weak<()> {
        Arc::downgrade(&self.open)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the file had no write-ahead log before it was opened: it is a copy that was put here, or
    /// its making was interrupted.
    pub fn was_copy(&self) -> bool {
        self.was_copy
    }

    /// Returns whether the index for searching was damaged when it was opened; it is to be made anew before a
    /// delegate is written.
    pub fn lacks_index(&self) -> bool {
        self.lacks_index
    }

    /// The file that was removed, renamed, replaced, overwritten or cut short while it was open: this one, its log, or the log's
    /// index. Nothing is stored from then on.
    pub fn lost(&self) -> Option<&Path> {
        self.watch.lost()
    }

    /// Returns the record of the file's use.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Returns the check of the file in use, which knows the result of the last one.
    pub fn integrity(&self) -> &Arc<Integrity> {
        &self.integrity
    }

    /// Returns the failures that an acknowledged write survives.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// The database file, to be copied by this process.
    pub fn source(&self) -> Source {
        Source {
            path: self.path.clone(),
            file: self.file,
        }
    }

    /// Returns the figures of writer and readers.
    pub fn stats(&self) -> &Stats {
        self.writer.stats()
    }

    /// Connections in use: of those for look-ups, and of those for lists.
    pub fn readers_in_use(&self) -> (u32, u32) {
        let used = |pool: &Pool| {
            let state = pool.state();
            state.connections - state.idle_connections
        };
        (used(&self.lookups), used(&self.lists))
    }

    /// Grows whenever settings, clients or tokens may have changed, by this process or by another;
    /// what was cached before is then out of date.
    pub fn epoch(&self) -> u64 {
        self.writer.epoch()
    }

    /// Writes one change: runs `work` in the writer's transaction, and answers after the commit. For everything that
    /// the three verbs below are not for.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Write<T> {
        self.writer.submit(Priority::Interactive, Once::new(work))
    }

    /// Writes check-ins and what else comes in numbers, one at a time ([`Priority::Interactive`]) or in slices
    /// ([`Priority::Background`]): such writes share transaction and cache, and so cost less. The work can be done again
    /// after it was undone: it has no effect outside its transaction, and what it writes leaves true what is in
    /// [`Tx::cache`], or takes it out of there.
    pub fn write_repeatable<T: Send + 'static>(
        &self,
        priority: Priority,
        work: impl Fn(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Write<T> {
        self.writer.submit(priority, Repeatable(work))
    }

    /// Writes a slice of long work, such as an import: it waits until nobody else does. It should not hold the writer
    /// for more than 10 ms.
    pub fn write_bulk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Write<T> {
        self.writer.submit(Priority::Background, Once::new(work))
    }

    /// Writes what no other write may share a transaction with, such as the return from a rehearsal: everybody else waits
    /// until it is done. Another database file can be `beside` this one, to be read under the name [`ATTACHED`]; without
    /// one, the log is emptied before, unless somebody reads an old state.
    pub fn write_exclusive<T: Send + 'static>(
        &self,
        beside: Option<PathBuf>,
        work: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Write<T> {
        let priority = beside.map_or(Priority::Exclusive, Priority::ExclusiveWith);
        self.writer.submit(priority, Once::new(work))
    }

    /// Empties the write-ahead log soon: it contains deleted rows until they are overwritten.
    pub fn wipe_log(&self) {
        self.wiper.wipe();
    }

    /// Returns whether the log was emptied since that was asked for, or is not tried any more.
    pub fn is_log_wiped(&self) -> bool {
        self.wiper.is_done()
    }

    /// Looks a few records up by index, right here: it takes microseconds, less than handing it
    /// to another thread would.
    pub fn look_up<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.noted(snapshot(&*self.lookups.get()?, work))
    }

    /// Reads more than a few records, on a thread that may wait. Whoever comes first is first: a page that many
    /// dashboards ask for again and again does not keep a gate's search from its turn.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.lists_turn).acquire_owned();
        let turn = tokio::time::timeout(LISTS_WAIT_MAX, turn).await;
        let turn = turn.map_err(|_| Error::unavailable("all reading connections are busy"))?;
        let turn = turn.map_err(Error::defect)?;
        let pool = self.lists.clone();
        let read = tokio::task::spawn_blocking(move || {
            let read = snapshot(&*pool.get()?, work);
            drop(turn);
            read
        });
        let read = read.await;
        self.noted(read.map_err(Error::defect)?)
    }

    /// As [`Store::read`], for those who follow changes. Thousands may ask at once: they queue for as long
    /// as it takes, leave connections to others, and as much processor time as they take.
    pub async fn read_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.followers_turn).acquire_owned().await;
        let turn = turn.map_err(Error::defect)?;
        let pool = self.followers.clone();
        let (answer, answered) = oneshot::channel();
        // The turn ends here, not with whoever asked: they may have left.
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let read = pool.get().map_err(Error::from);
            let _ = answer.send(read.and_then(|connection| snapshot(&connection, work)));
            std::thread::sleep(begun.elapsed());
            drop(turn);
        });
        self.noted(answered.await.map_err(Error::defect)?)
    }

    /// Notes whether a read came upon damage.
    fn noted<T>(&self, read: Result<T>) -> Result<T> {
        read.inspect_err(|cause| {
            if cause.kind == Kind::Damaged {
                self.stats().found_damage();
            }
        })
    }
}

/// Looks at a file that is to be written to.
fn look(path: &Path) -> Result<Found> {
    open::refuse_links(path)?;
    salvage::refuse_damaged(path)?;
    open::look(path)
}

/// Runs `work` on one state of the file, whatever is committed meanwhile.
fn snapshot<T>(connection: &Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    struct Ended<'a>(&'a Connection);

    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            let end = || self.0.prepare_cached("COMMIT")?.execute([]);
            if let Err(cause) = end() {
                tracing::error!("a read could not be ended: {cause}");
            }
        }
    }

    connection.prepare_cached("BEGIN DEFERRED")?.execute([])?;
    // Ended even by a panic: the connection goes back to its pool.
    let _ended = Ended(connection);
    work(connection)
}

/// Connections of each pool.
const POOL_SIZE: u32 = 4;

fn pool(path: &Path, size: u32, prepare: fn(&Connection) -> Result<()>) -> Result<Pool> {
    let manager = SqliteConnectionManager::file(path)
        // One thread at a time has it: no need for a lock around every value of every row.
        .with_flags(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .with_init(move |connection| {
            prepare(connection)
                .map_err(|cause| rusqlite::Error::InvalidParameterName(cause.to_string()))
        });
    Ok(r2d2::Pool::builder()
        .max_size(size)
        .connection_timeout(Duration::from_secs(2))
        // A local file does not go away; asking it before each use would double a look-up's cost.
        .test_on_check_out(false)
        .build(manager)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// Thirty dashboards that read a slow page, each again as soon as it has it, and a gate's search among them.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_reads_a_list_has_a_turn_among_many_who_read_slow_pages() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        let (store, is_over) = (Arc::new(store), Arc::new(AtomicBool::new(false)));
        let dashboard = || {
            let (store, is_over) = (Arc::clone(&store), Arc::clone(&is_over));
            async move {
                while !is_over.load(Relaxed) {
                    let slow = |_: &Connection| {
                        std::thread::sleep(Duration::from_millis(300));
                        Ok(())
                    };
                    store.read(slow).await?;
                }
                Ok(())
            }
        };
        let dashboards: Vec<_> = (0..30).map(|_| tokio::spawn(dashboard())).collect();
        while store.readers_in_use().1 < POOL_SIZE {
            tokio::task::yield_now().await;
        }
        for _ in 0..2 {
            store.read(|_| Ok(())).await.unwrap();
        }
        is_over.store(true, Relaxed);
        for dashboard in dashboards {
            let read: Result<()> = dashboard.await.unwrap();
            read.unwrap();
        }
    }
}
