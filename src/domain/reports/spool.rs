//! Between a report that is being made and a reader who may be slow: what is written waits in memory
//! as long as it is short, and otherwise in a file without a name. So a slow reader holds neither a
//! snapshot of the database, which would keep its log from being reset, nor the permit of the next report.

use crate::{
    db::sandbox::QueryLimits,
    types::error::{Error, Result},
};
use bytes::Bytes;
use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tempfile::SpooledTempFile;
use tokio::sync::Notify;

/// The most that waits in memory, in bytes.
const MEMORY_BYTES: usize = 256 * 1024;
/// The most that is read at once, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The longest report, in bytes.
const REPORT_MAX_BYTES: u64 = 2 << 30;

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    spool: SpooledTempFile,
    written: u64,
    end: Option<Result<()>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(self.written))?;
        self.spool.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn read(&mut self, from: u64, most: usize) -> io::Result<Bytes> {
        let left = usize::try_from(self.written - from).unwrap_or(most);
        let mut piece = vec![0; left.min(most)];
        self.spool.seek(SeekFrom::Start(from))?;
        self.spool.read_exact(&mut piece)?;
        Ok(piece.into())
    }
}

/// The end that is written to. Dropped before it is closed, it leaves a report that is incomplete.
pub(super) struct Inlet {
    shared: Arc<Shared>,
}

/// The end that is read from. Dropped, it stops the report.
pub(super) struct Outlet {
    shared: Arc<Shared>,
    query_limits: QueryLimits,
    read: u64,
}

/// A spool whose file, if it needs one, is made in a folder; the limits are those of the report.
pub(super) fn spool(folder: &Path, query_limits: QueryLimits) -> (Inlet, Outlet) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            spool: tempfile::spooled_tempfile_in(MEMORY_BYTES, folder),
            written: 0,
            end: None,
        }),
        changed: Notify::new(),
    });
    let inlet = Inlet {
        shared: Arc::clone(&shared),
    };
    let outlet = Outlet {
        shared,
        query_limits,
        read: 0,
    };
    (inlet, outlet)
}

impl Inlet {
    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut state = self.shared.state();
        if state.written + bytes.len() as u64 > REPORT_MAX_BYTES {
            return Err(Error::unavailable(
                "the report is larger than 2 GiB; narrow it",
            ));
        }
        state.write(bytes).map_err(Error::unavailable)?;
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Ends the report: it is complete, or it failed.
    pub(super) fn close(self, outcome: Result<()>) {
        self.shared.state().end = Some(outcome);
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        let broken = || Err(Error::defect("a report ended unexpectedly"));
        self.shared.state().end.get_or_insert_with(broken);
        self.shared.changed.notify_one();
    }
}

impl Outlet {
    /// Waits until the report is complete, or so long that the rest must be sent while it is made.
    /// All of it, where it is complete and short.
    pub(super) async fn begin(&mut self) -> Result<Option<Bytes>> {
        loop {
            if self.is_complete()? {
                let mut state = self.shared.state();
                if state.spool.is_rolled() {
                    return Ok(None);
                }
                self.read = state.written;
                return state
                    .read(0, MEMORY_BYTES)
                    .map(Some)
                    .map_err(Error::unavailable);
            }
            if self.shared.state().spool.is_rolled() {
                return Ok(None);
            }
            self.shared.changed.notified().await;
        }
    }

    /// The next piece; `None` at the end of a report that is complete.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let complete = self.is_complete()?;
            if self.read < self.shared.state().written {
                break;
            } else if complete {
                return Ok(None);
            }
            self.shared.changed.notified().await;
        }
        let (shared, from) = (Arc::clone(&self.shared), self.read);
        let piece = tokio::task::spawn_blocking(move || shared.state().read(from, PIECE_BYTES));
        let piece = piece.await.map_err(Error::defect)?;
        let piece = piece.map_err(Error::unavailable)?;
        self.read += piece.len() as u64;
        Ok(Some(piece))
    }

    /// Returns whether everything is written. Fails once the report has failed.
    fn is_complete(&self) -> Result<bool> {
        let mut state = self.shared.state();
        match state.end.take_if(|end| end.is_err()) {
            Some(Err(cause)) => Err(cause),
            _ => Ok(state.end.is_some()),
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.query_limits.pull();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (Inlet, Outlet, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let (inlet, outlet) = spool(folder.path(), QueryLimits::default());
        (inlet, outlet, folder)
    }

    async fn all(outlet: &mut Outlet) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(piece) = outlet.next().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn a_short_report_is_there_as_a_whole() {
        let (inlet, mut outlet, folder) = ends();
        inlet.write(b"a").unwrap();
        inlet.write(b"b").unwrap();
        inlet.close(Ok(()));
        assert_eq!(outlet.begin().await.unwrap().unwrap(), "ab");
        assert_eq!(outlet.next().await.unwrap(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_long_report_comes_as_it_was_written_while_it_is() {
        let (inlet, mut outlet, _folder) = ends();
        let lines = 40_000;
        let writing = std::thread::spawn(move || {
            for line in 0..lines {
                inlet.write(format!("{line:020}\n").as_bytes()).unwrap();
            }
            inlet.close(Ok(()));
        });
        assert_eq!(outlet.begin().await.unwrap(), None);
        let text = String::from_utf8(all(&mut outlet).await.unwrap()).unwrap();
        writing.join().unwrap();
        assert_eq!(text.lines().count(), lines);
        for (number, line) in text.lines().enumerate() {
            assert_eq!(line.parse::<usize>().unwrap(), number);
        }
    }

    #[tokio::test]
    async fn a_report_that_fails_never_looks_whole() {
        let (inlet, mut outlet, _folder) = ends();
        inlet.write(b"a").unwrap();
        inlet.close(Err(Error::unavailable("slow")));
        assert_eq!(outlet.begin().await.unwrap_err().to_string(), "slow");
        // After its beginning was sent.
        let (inlet, mut outlet, _folder) = ends();
        inlet.write(&vec![b'x'; 2 * MEMORY_BYTES]).unwrap();
        assert_eq!(outlet.begin().await.unwrap(), None);
        assert!(outlet.next().await.unwrap().is_some());
        drop(inlet);
        assert!(all(&mut outlet).await.is_err());
    }

    #[test]
    fn a_report_of_more_than_2_gib_is_refused() {
        let (inlet, _outlet, _folder) = ends();
        // As if the rest was written: a file with a hole takes no room.
        inlet.shared.state().written = REPORT_MAX_BYTES - 4;
        inlet.write(b"last").unwrap();
        let refused = inlet.write(b"!").unwrap_err();
        assert!(refused.to_string().contains("2 GiB"), "{refused}");
    }

    #[tokio::test]
    async fn a_reader_who_goes_away_stops_the_report() {
        let folder = tempfile::tempdir().unwrap();
        let query_limits = QueryLimits::default();
        let (_inlet, outlet) = spool(folder.path(), query_limits.clone());
        assert!(!query_limits.is_pulled());
        drop(outlet);
        assert!(query_limits.is_pulled());
    }
}
