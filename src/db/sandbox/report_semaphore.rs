//! How many reports run at a time, and how many wait to be fetched: however many are asked for,
//! gates have the processors and the disk.

use crate::types::error::{Error, Result};
use std::{sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reports that run at a time.
const RUNNING_MAX: usize = 2;
/// Reports that are being fetched, those that still run included.
const FETCHED_MAX: usize = 8;
/// How long one waits for its turn.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Turns to be had.
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
    #[must_use]
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
