//! Between a report that is being made and a reader who may be slow: what is written waits in memory
//! as far as it is little, and otherwise in a file that has no name. So a slow reader holds neither a
//! state of the database, whose log could not be begun anew, nor the turn of the next report.

use crate::{
    db::sandbox::QueryLimits,
    types::error::{Error, Result},
};
use bytes::Bytes;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// What waits in memory, in bytes.
const MEMORY_BYTES: usize = 256 * 1024;
/// What is read of the file at once, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The longest report, in bytes.
const REPORT_MAX_BYTES: u64 = 2 << 30;

/// Both ends share this.
struct Shared {
    state: Mutex<State>,
    changed: Notify,
    folder: PathBuf,
}

#[derive(Default)]
struct State {
    /// What came first.
    head: Vec<u8>,
    /// What came after.
    file: Option<File>,
    /// How much there is in all.
    written: u64,
    end: Option<Result<()>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that is written to. Dropped before it is closed, it leaves a report that is not whole.
pub(super) struct Inlet {
    shared: Arc<Shared>,
    closed: bool,
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
        state: Mutex::default(),
        changed: Notify::new(),
        folder: folder.to_owned(),
    });
    let inlet = Inlet {
        shared: Arc::clone(&shared),
        closed: false,
    };
    let outlet = Outlet {
        shared,
        query_limits,
        read: 0,
    };
    (inlet, outlet)
}

impl Inlet {
    /// Writes some more.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut state = self.shared.state();
        if state.written + bytes.len() as u64 > REPORT_MAX_BYTES {
            return Err(Error::unavailable(
                "the report is larger than 2 GiB; narrow it",
            ));
        }
        if state.file.is_none() && state.head.len() + bytes.len() <= MEMORY_BYTES {
            state.head.extend_from_slice(bytes);
        } else {
            if state.file.is_none() {
                let file = tempfile::tempfile_in(&self.shared.folder);
                state.file = Some(file.map_err(Error::unavailable)?);
            }
            let at = state.written - state.head.len() as u64;
            if let Some(file) = &mut state.file {
                file.seek(SeekFrom::Start(at))
                    .and_then(|_| file.write_all(bytes))
                    .map_err(Error::unavailable)?;
            }
        }
        state.written += bytes.len() as u64;
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Ends it: it is whole, or it failed.
    pub(super) fn close(mut self, outcome: Result<()>) {
        self.end(outcome);
    }

    fn end(&mut self, outcome: Result<()>) {
        self.closed = true;
        self.shared.state().end = Some(outcome);
        self.shared.changed.notify_one();
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        if !self.closed {
            self.end(Err(Error::defect("a report ended without a word")));
        }
    }
}

/// What a reader finds.
enum Found {
    Piece(Bytes),
    InFile,
    Wait,
    End,
}

impl Outlet {
    /// Waits until the report is whole, or so long that what is left must be sent while it is made.
    /// All of it, where it is whole.
    pub(super) async fn begin(&mut self) -> Result<Option<Bytes>> {
        loop {
            {
                let mut state = self.shared.state();
                match state.end.take() {
                    Some(Err(cause)) => return Err(cause),
                    Some(Ok(())) => {
                        state.end = Some(Ok(()));
                        return Ok(state.file.is_none().then(|| {
                            self.read = state.written;
                            std::mem::take(&mut state.head).into()
                        }));
                    }
                    None if state.file.is_some() => return Ok(None),
                    None => {}
                }
            }
            self.shared.changed.notified().await;
        }
    }

    /// The next piece; `None` at the end of a report that is whole.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.find()? {
                Found::Piece(piece) => return Ok(Some(piece)),
                Found::End => return Ok(None),
                Found::Wait => self.shared.changed.notified().await,
                Found::InFile => {
                    let (shared, from) = (Arc::clone(&self.shared), self.read);
                    let piece = tokio::task::spawn_blocking(move || read(&shared, from));
                    let piece = piece.await.map_err(Error::defect)?;
                    let piece = piece.map_err(Error::unavailable)?;
                    self.read += piece.len() as u64;
                    return Ok(Some(piece));
                }
            }
        }
    }

    fn find(&mut self) -> Result<Found> {
        let mut state = self.shared.state();
        if matches!(state.end, Some(Err(_))) {
            return match state.end.take() {
                Some(Err(cause)) => Err(cause),
                _ => Ok(Found::End),
            };
        }
        let head = state.head.len() as u64;
        Ok(if self.read < head {
            let from = usize::try_from(self.read).unwrap_or_default();
            let piece = Bytes::copy_from_slice(&state.head[from..]);
            self.read = head;
            Found::Piece(piece)
        } else if self.read < state.written {
            Found::InFile
        } else if state.end.is_some() {
            Found::End
        } else {
            Found::Wait
        })
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.query_limits.pull();
    }
}

fn read(shared: &Shared, from: u64) -> io::Result<Bytes> {
    let mut state = shared.state();
    let (at, left) = (from - state.head.len() as u64, state.written - from);
    let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(left).unwrap_or(PIECE_BYTES))];
    if let Some(file) = &mut state.file {
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut piece)?;
    }
    Ok(piece.into())
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
        assert_eq!(outlet.begin().await.unwrap_err().message, "slow");
        // After its beginning was sent.
        let (inlet, mut outlet, _folder) = ends();
        inlet.write(&vec![b'x'; 2 * MEMORY_BYTES]).unwrap();
        assert_eq!(outlet.begin().await.unwrap(), None);
        assert!(outlet.next().await.unwrap().is_some());
        drop(inlet);
        assert!(all(&mut outlet).await.is_err());
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
