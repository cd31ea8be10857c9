//! Limits of statements: time, and the memory and disk that they must leave to the gates; how many reports
//! run and are fetched at a time. A statement that nobody waits for any more is stopped.

use crate::types::error::{Error, Result};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most that the process may grow while it runs, in bytes. It sorts on disk, and what grows may be
/// something else, such as an import: it is there to keep the process from being killed.
const MEMORY_MAX: usize = 1 << 30;
/// The space that must stay free on disk, in bytes; a server that has less takes no check-ins before long.
const DISK_MIN: u64 = 512 << 20;
/// Disk that others may have taken meanwhile, in bytes.
const DISK_OTHERS: u64 = 64 << 20;
/// Memory and disk are looked at so often.
const LOOK: Duration = Duration::from_millis(10);

/// The reason why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// More time than this.
    Time(Duration),
    /// Too much memory.
    Memory,
    /// Too little room left on disk.
    Disk,
    /// Nobody waits for it any more.
    Unwanted,
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        Self::unavailable(match stopped {
            Stopped::Time(most) => {
                format!("it takes longer than {} s; narrow it", most.as_secs_f32())
            }
            Stopped::Memory => "it takes too much memory; narrow it".to_owned(),
            Stopped::Disk => "there is too little room on the disk for it".to_owned(),
            Stopped::Unwanted => "nobody waits for it any more".to_owned(),
        })
    }
}

/// Holds one statement.
#[derive(Debug, Clone, Default)]
pub struct QueryLimits(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    unwanted: AtomicBool,
    stopped: OnceLock<Stopped>,
}

impl QueryLimits {
    /// Stops the statement: nobody waits for it any more.
    pub fn pull(&self) {
        self.0.unwanted.store(true, Relaxed);
    }

    /// Returns whether nobody waits for the statement any more.
    pub fn is_pulled(&self) -> bool {
        self.0.unwanted.load(Relaxed)
    }

    /// Returns why the statement was stopped, if it was.
    pub fn stopped(&self) -> Option<Stopped> {
        self.0.stopped.get().copied()
    }

    /// Returns a function that tells, asked again and again, whether the statement has to stop; it has `most` from now on.
    pub(super) fn hold(
        &self,
        most: Duration,
        file: &Path,
    ) -> impl FnMut() -> bool + Send + 'static {
        let held = Arc::clone(&self.0);
        let begun = Instant::now();
        let mut looked = begun;
        let room = Room::before(file);
        move || {
            let now = Instant::now();
            let stopped = if held.unwanted.load(Relaxed) {
                Some(Stopped::Unwanted)
            } else if now - begun > most {
                Some(Stopped::Time(most))
            } else if now - looked > LOOK {
                let lacking = room.lacking();
                looked = Instant::now();
                lacking
            } else {
                None
            };
            if let Some(stopped) = stopped {
                let _ = held.stopped.set(stopped);
            }
            stopped.is_some()
        }
    }
}

/// Memory and disk as they were before.
struct Room {
    memory: usize,
    /// Folders where SQLite may put what it sorts, and what was free there.
    disks: Vec<(PathBuf, u64)>,
}

impl Room {
    fn before(file: &Path) -> Self {
        let own = file.parent().filter(|path| !path.as_os_str().is_empty());
        let folders = [
            own.unwrap_or(Path::new(".")).to_owned(),
            std::env::temp_dir(),
            PathBuf::from("/var/tmp"),
        ];
        let free = |folder: PathBuf| {
            let free = fs4::available_space(&folder).ok()?;
            Some((folder, free))
        };
        Self {
            memory: memory(),
            disks: folders.into_iter().filter_map(free).collect(),
        }
    }

    fn lacking(&self) -> Option<Stopped> {
        if memory().saturating_sub(self.memory) > MEMORY_MAX {
            return Some(Stopped::Memory);
        }
        let full = self.disks.iter().any(|(folder, before)| {
            let now = fs4::available_space(folder).unwrap_or(u64::MAX);
            now < DISK_MIN && before.saturating_sub(now) > DISK_OTHERS
        });
        full.then_some(Stopped::Disk)
    }
}

fn memory() -> usize {
    memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem)
}

/// Reports that run at a time.
const RUNNING_MAX: usize = 2;
/// Reports that are being fetched, those that still run included.
const FETCHED_MAX: usize = 8;
/// The time that one waits for its turn.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// The number of reports that may run and be fetched.
#[derive(Debug)]
pub struct ReportSemaphore {
    running: Arc<Semaphore>,
    fetched: Arc<Semaphore>,
}

impl Default for ReportSemaphore {
    fn default() -> Self {
        Self {
            running: Arc::new(Semaphore::new(RUNNING_MAX)),
            fetched: Arc::new(Semaphore::new(FETCHED_MAX)),
        }
    }
}

/// The right to run, until this goes.
#[derive(Debug)]
pub struct ReportPermit {
    _permit: OwnedSemaphorePermit,
}

impl ReportSemaphore {
    /// Reports that run now.
    pub fn running(&self) -> usize {
        RUNNING_MAX - self.running.available_permits()
    }

    /// The right to have a report fetched.
    pub fn fetch(&self) -> Result<ReportPermit> {
        let permit = Arc::clone(&self.fetched).try_acquire_owned();
        let permit = permit.map_err(|_| busy())?;
        Ok(ReportPermit { _permit: permit })
    }

    /// Waits for the right to run one.
    pub async fn run(&self) -> Result<ReportPermit> {
        let permit = Arc::clone(&self.running).acquire_owned();
        match tokio::time::timeout(WAIT_MAX, permit).await {
            Ok(Ok(permit)) => Ok(ReportPermit { _permit: permit }),
            _ => Err(busy()),
        }
    }
}

fn busy() -> Error {
    Error::unavailable("too many reports are being made; try again in a moment")
}
