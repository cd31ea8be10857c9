//! One report as JSON or CSV, sent while it is made.

use super::{
    Format, Report, Values,
    spool::{Inlet, Outlet, spool},
    write::Writer,
};
use crate::{
    db::sandbox::{QueryLimits, ReportPermit, Sandbox},
    identity::App,
    types::error::{Error, Result},
};
use bytes::Bytes;
use futures_util::{Stream, stream};
use rusqlite::types::ValueRef;
use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::Instant;

/// The longest time of a report (contract §8).
pub(super) const RUN_MAX: Duration = Duration::from_secs(30);
/// The longest time of a reader.
const FETCH_MAX: Duration = Duration::from_mins(30);
/// Rows are handed over in pieces of so many bytes.
const PIECE_BYTES: usize = 32 * 1024;

/// A report that is being made.
pub enum Output {
    Whole(Bytes),
    /// The rest comes; it ends with a failure where the report does.
    Coming(Coming),
}

/// The rest of a report.
pub struct Coming {
    outlet: Outlet,
    until: Instant,
    _fetched: ReportPermit,
}

impl Coming {
    /// The pieces. After a failure nothing more comes: the connection must be broken off, so that what
    /// was sent does not look whole.
    pub fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        stream::try_unfold(self, |mut rest| async move {
            let next = tokio::time::timeout_at(rest.until, rest.outlet.next());
            match next.await {
                Ok(Ok(Some(piece))) => Ok(Some((piece, rest))),
                Ok(Ok(None)) => Ok(None),
                Ok(Err(cause)) => {
                    tracing::warn!("a report broke off: {cause}");
                    Err(io::Error::other(cause.to_string()))
                }
                Err(_) => Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the report was not fetched in time",
                )),
            }
        })
    }
}

/// Runs a report. A failure within the first 256 KiB is an error; a later one breaks the answer off.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when the statement fails with these values,
/// [`crate::types::error::Kind::Unavailable`] when it takes too long or too many run already.
pub async fn run(app: &App, report: &Report, values: Values, format: Format) -> Result<Output> {
    let fetched = app.report_semaphore.fetch()?;
    let permit = app.report_semaphore.run().await?;
    let query_limits = QueryLimits::default();
    let path = app.store.path().to_owned();
    let (inlet, mut outlet) = spool(&folder(&path), query_limits.clone());
    let job = Job {
        path,
        query: report.query.clone(),
        values,
        format,
        query_limits,
    };
    let named = format!("{}/{}", report.dashboard, report.id);
    tokio::task::spawn_blocking(move || {
        let begun = std::time::Instant::now();
        let outcome = job.run(&inlet);
        tracing::debug!(report = named, took = ?begun.elapsed(), failed = outcome.is_err(), "a report");
        inlet.close(outcome);
        // Only now: whoever waits gets the processor when this one needs it no more.
        drop(permit);
    });
    Ok(match outlet.begin().await? {
        Some(whole) => Output::Whole(whole),
        None => Output::Coming(Coming {
            outlet,
            until: Instant::now() + FETCH_MAX,
            _fetched: fetched,
        }),
    })
}

/// The folder of what waits: on the disk of the database, for which room is looked at.
pub(super) fn folder(database: &Path) -> PathBuf {
    let folder = database
        .parent()
        .filter(|path| !path.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

struct Job {
    path: PathBuf,
    query: String,
    values: Values,
    format: Format,
    query_limits: QueryLimits,
}

impl Job {
    fn run(&self, inlet: &Inlet) -> Result<()> {
        let mut piece = String::with_capacity(2 * PIECE_BYTES);
        let mut writer = None;
        let begun = std::cell::RefCell::new((&mut piece, &mut writer));
        read_rows(
            &self.path,
            &self.query,
            &self.values,
            &self.query_limits,
            |columns| {
                let mut begun = begun.borrow_mut();
                let (head, writer) = Writer::begin(self.format, columns)?;
                begun.0.push_str(&head);
                *begun.1 = Some(writer);
                Ok(())
            },
            |row| {
                let mut begun = begun.borrow_mut();
                let (piece, writer) = &mut *begun;
                if let Some(writer) = writer {
                    piece.push_str(&writer.row(row)?);
                }
                if piece.len() >= PIECE_BYTES {
                    inlet.write(piece.as_bytes())?;
                    piece.clear();
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        if let Some(writer) = writer {
            piece.push_str(writer.end());
        }
        inlet.write(piece.as_bytes())
    }
}

/// Runs a statement in the sandbox: its columns, then row after row.
pub(super) fn read_rows(
    path: &Path,
    query: &str,
    values: &Values,
    query_limits: &QueryLimits,
    columns: impl FnOnce(&[String]) -> Result<()>,
    row: impl FnMut(&[ValueRef<'_>]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let sandbox = Sandbox::open(path)?;
    sandbox.hold(RUN_MAX, query_limits)?;
    let ran = sandbox.rows(query, |name| values.get(name), columns, row);
    ran.map_err(|cause| query_limits.stopped().map_or(cause, Error::from))
}
