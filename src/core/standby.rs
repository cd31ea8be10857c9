//! The second machine that takes over (contract §14): the file's epoch with its proof, and how far the replica has come.
//!
//! A mark is the position of the change feed as one number. Epochs rise by a random step, so that two promotions at once
//! do not give the same one.

use super::{
    changes,
    keyed::{self, Key},
    litestream::Litestream,
};
use crate::{
    db::Tx,
    types::{error::Result, os, text::shortened},
};
use rusqlite::{Connection, OptionalExtension};
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The key that proves epochs.
const KEY: &str = "epochs";
/// The most by which an epoch rises.
const STEP_MAX: u32 = 1_000_000;
/// Ids and positions that a promotion leaves free, for what the machine before gave and did not replicate.
const LEFT_FREE: i64 = 1_000_000;
/// Gates are told of a replica that is further behind.
const LAG_TOLD: Duration = Duration::from_secs(10);

/// The row of `standby`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standby {
    pub epoch: i64,
    /// A higher epoch that was met with its proof.
    pub superseded_by: Option<i64>,
    /// The mark that `promote` restored.
    pub restored: Option<i64>,
    /// Where Litestream sends the log.
    pub replica: String,
    pub host: Option<String>,
    pub public_url: Option<String>,
}

impl Standby {
    /// Reads the row; `None` before `standby init`.
    pub fn find(connection: &Connection) -> Result<Option<Self>> {
        let mut statement = connection.prepare_cached(
            "SELECT epoch, superseded_by, restored, replica, host, public_url FROM standby",
        )?;
        let row = statement.query_row([], |row| {
            Ok(Self {
                epoch: row.get(0)?,
                superseded_by: row.get(1)?,
                restored: row.get(2)?,
                replica: row.get(3)?,
                host: row.get(4)?,
                public_url: row.get(5)?,
            })
        });
        Ok(row.optional()?)
    }

    /// The folder or address of the epoch's own replica: no machine writes into that of another epoch.
    pub fn replica_of_epoch(&self) -> String {
        format!(
            "{}/epoch-{}",
            self.replica.trim_end_matches('/'),
            self.epoch
        )
    }

    /// Says that another machine took over; `None` while this one is in charge.
    pub fn replaced(&self) -> Option<String> {
        let by = self.superseded_by.filter(|by| *by > self.epoch)?;
        Some(format!(
            "another machine took over (epoch {by}, here {}): nothing is stored here any more. Scan there; \"Standby\" in the \
             handbook says how to bring over what only this machine has",
            self.epoch
        ))
    }
}

/// Begins the first epoch, or sends the log elsewhere from now on.
pub fn begin(tx: &Tx<'_>, replica: &str) -> Result<()> {
    Key::named_or_make(tx, KEY)?;
    tx.execute(
        "INSERT INTO standby (id, epoch, replica) VALUES (1, 1, ?1)
         ON CONFLICT (id) DO UPDATE SET replica = excluded.replica",
        [replica],
    )?;
    Ok(())
}

/// Keeps what clients know this machine by. The name stays that of the first machine.
pub fn keep_names(tx: &Tx<'_>, host: &str, public_url: Option<&str>) -> Result<()> {
    tx.execute(
        "UPDATE standby SET host = coalesce(host, ?1), public_url = coalesce(?2, public_url)",
        (host, public_url),
    )?;
    Ok(())
}

/// Raises the epoch of a restored file; ids that the machine before may have given stay free.
pub fn raise(tx: &Tx<'_>) -> Result<()> {
    let step = 1 + i64::from(getrandom::u32().unwrap_or_default() % STEP_MAX);
    let restored = changes::newest(tx)?.mark();
    tx.execute(
        "UPDATE standby SET epoch = max(epoch, coalesce(superseded_by, 0)) + ?1, superseded_by = NULL, restored = ?2",
        (step, restored),
    )?;
    tx.execute_batch(
        "INSERT INTO sqlite_sequence (name, seq)
         SELECT column1, 0 FROM (VALUES ('interactions'), ('delegates'), ('devices'), ('audit'))
         WHERE column1 NOT IN (SELECT name FROM sqlite_sequence)",
    )?;
    tx.execute("UPDATE sqlite_sequence SET seq = seq + ?1", [LEFT_FREE])?;
    Ok(())
}

/// Keeps that another machine took over.
pub fn supersede(tx: &Tx<'_>, by: i64) -> Result<()> {
    tx.execute(
        "UPDATE standby SET superseded_by = max(coalesce(superseded_by, 0), ?1)",
        [by],
    )?;
    Ok(())
}

/// An epoch with its proof, as clients send it back: `EPOCH.PROOF`.
pub fn proven(connection: &Connection, epoch: i64) -> Result<Option<String>> {
    let Some(key) = Key::named(connection, KEY)? else {
        return Ok(None);
    };
    let token = key.token(&epoch.to_string(), format!("epoch {epoch}").as_bytes())?;
    Ok(Some(token.replacen('-', ".", 1)))
}

/// The state of a server whose file has an epoch.
#[derive(Debug)]
pub struct Replication {
    pub epoch: i64,
    /// The epoch with its proof, as a header.
    pub header: String,
    /// Litestream, which is asked how far it is; without it there is nothing to wait for.
    pub litestream: Option<Litestream>,
    covered: AtomicI64,
    behind_since: Mutex<Option<Instant>>,
    trouble: Mutex<Option<String>>,
    /// The folder that the replica is in, and which one it was at first; an address is Litestream's own to watch.
    folder: Option<PathBuf>,
    first_folder: OnceLock<(u64, u64)>,
    lost_folder: AtomicBool,
}

/// The second machine's state. Keep what you sent until `covered` reaches its `mark`; when `epoch` rises, send what is not
/// covered again with the same nonce and `admitted: true`, and refuse a lower epoch from then on.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = serde_json::json!({"epoch": 1, "proof": "9b71d224bd62f3785d96d46ad3ea3d73", "mark": 51_234, "covered": 51_230}))]
pub struct Durable {
    /// Grows whenever another machine takes over.
    epoch: i64,
    /// Proves the epoch: send both back with each request, as header `Gatepost-Epoch: EPOCH.PROOF`.
    proof: String,
    /// Of a write: the position of the change feed behind it, or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<i64>,
    /// The position up to which the second machine has everything.
    covered: i64,
    /// Where the second machine is more than ten seconds behind: by how much.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_seconds: Option<u64>,
}

impl Replication {
    pub fn new(standby: &Standby, header: String, litestream: Option<Litestream>) -> Self {
        let litestream_is_missing = litestream.is_none().then(|| {
            "no second machine follows: the server was started without --replicated".to_owned()
        });
        Self {
            epoch: standby.epoch,
            header,
            litestream,
            // What was restored is in the replica of the epoch before.
            covered: AtomicI64::new(standby.restored.unwrap_or_default()),
            behind_since: Mutex::default(),
            trouble: Mutex::new(litestream_is_missing),
            folder: (!standby.replica.contains("://")).then(|| standby.replica_of_epoch().into()),
            first_folder: OnceLock::new(),
            lost_folder: AtomicBool::new(false),
        }
    }

    /// Checks that the replica is still in the folder that it was in at first: where that went away for a while, such as a
    /// share that was not mounted, Litestream goes on in a new one, and the first has a gap for good.
    ///
    /// # Errors
    /// A sentence with what to do.
    pub fn check_folder(&self) -> std::result::Result<(), String> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let now = fs::metadata(folder).ok().as_ref().and_then(os::identity);
        match (self.first_folder.get(), now) {
            (None, Some(now)) => {
                let _ = self.first_folder.set(now);
                Ok(())
            }
            (Some(first), now) if now != Some(*first) => {
                self.lost_folder.store(true, Relaxed);
                Err(folder_was_lost(folder))
            }
            (Some(_), _) if self.lost_folder.load(Relaxed) => Err(folder_was_lost(folder)),
            _ => Ok(()),
        }
    }

    /// The newest mark that the replica has, where the file has reached `mark`.
    pub fn covered(&self, mark: i64) -> i64 {
        if self.litestream.is_some() {
            self.covered.load(Relaxed)
        } else {
            mark
        }
    }

    /// The replica has everything up to `mark`, or the reason why Litestream does not say so.
    pub fn heard(&self, heard: std::result::Result<i64, String>) {
        let trouble = match heard {
            Ok(mark) => {
                self.covered.fetch_max(mark, Relaxed);
                None
            }
            Err(why) => Some(why),
        };
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = trouble.as_ref().filter(|why| known.as_ref() != Some(*why)) {
            tracing::warn!("the replica: {why}");
        } else if known.is_some() && trouble.is_none() {
            tracing::info!("the replica follows again");
        }
        *known = trouble;
    }

    /// Notes since when the file is ahead of the replica; `mark` is what the file has reached.
    pub fn watch(&self, mark: i64) {
        let is_behind = mark > self.covered(mark);
        let mut since = self
            .behind_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *since = is_behind.then(|| since.unwrap_or_else(Instant::now));
    }

    /// How long something has been waiting for the replica.
    pub fn lag(&self) -> Duration {
        let since = self
            .behind_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The sentence about a replica that does not follow.
    pub fn warning(&self) -> Option<String> {
        let lag = self.lag();
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match &*trouble {
            Some(why) => Some(why.clone()),
            None if lag > LAG_TOLD => Some(format!("{} s behind", lag.as_secs())),
            None => None,
        }
    }

    /// The state as answers tell it; `mark` is that of a write.
    pub fn durable(&self, reached: i64, mark: Option<i64>) -> Durable {
        let lag = self.lag();
        Durable {
            epoch: self.epoch,
            proof: self
                .header
                .split_once('.')
                .map_or_else(String::new, |(_, proof)| proof.to_owned()),
            mark,
            covered: self.covered(reached),
            lag_seconds: (lag > LAG_TOLD).then_some(lag.as_secs()),
        }
    }

    /// Compares the epoch with one that somebody sent as `EPOCH.PROOF`; whatever has no valid proof counts for nothing.
    pub fn compare(&self, connection: &Connection, sent: &str) -> Result<Met> {
        if sent == self.header {
            return Ok(Met::Known);
        }
        let epoch: Option<i64> = sent
            .split_once('.')
            .and_then(|(epoch, _)| epoch.parse().ok());
        let right = match epoch {
            Some(epoch) => proven(connection, epoch)?,
            None => None,
        };
        let is_proven = right.is_some_and(|right| keyed::is_token(&right, sent));
        Ok(match epoch.filter(|_| is_proven) {
            None => {
                tell_unproven(sent);
                Met::Unproven
            }
            Some(epoch) if epoch > self.epoch => Met::Higher(epoch),
            Some(_) => Met::Known,
        })
    }
}

fn folder_was_lost(folder: &Path) -> String {
    format!(
        "the replica's folder went away for a while, and what was sent meanwhile is missing in it. Stop the server and Litestream, \
         remove {}, and start both: Litestream begins it anew",
        folder.display()
    )
}

/// An epoch that somebody sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// Ours, or one before it.
    Known,
    Higher(i64),
    Unproven,
}

/// Logs an epoch without a valid proof, once a minute at most.
fn tell_unproven(sent: &str) {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none_or(|last| last.elapsed() > Duration::from_mins(1)) {
        *last = Some(Instant::now());
        tracing::warn!(
            "an epoch without a valid proof was ignored: {}",
            shortened(sent)
        );
    }
}

/// The replication of a running server; empty where the file has no epoch.
pub type Cell = OnceLock<Replication>;
