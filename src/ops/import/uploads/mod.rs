//! Uploaded lists that wait for their import, beside the database; and the one piece of work on them
//! that is done at a time.

mod preview;
mod work;

pub use preview::{Choice, Preview};
pub use work::{Report, Run};

use super::{Left, Stop, What};
use crate::types::{
    Timestamp,
    error::{Error, Kind, Result},
    text::sentence,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tempfile::{NamedTempFile, TempPath};

/// The time that a list waits.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// Lists that wait at most.
const WAITING_MAX: usize = 5;
/// Results of finished imports, and of work on batches, that are kept.
const RESULTS_MAX: usize = 20;

pub struct UploadStore {
    folder: PathBuf,
    prefix: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: i64,
    uploads: BTreeMap<i64, Upload>,
    work: Option<Work>,
    outcomes: BTreeMap<i64, Outcome>,
}

/// The result of work on a batch, such as taking it back.
#[derive(Clone)]
pub struct Outcome {
    pub message: String,
    /// The kind of notice that the message is: good, warn or bad.
    pub tone: &'static str,
    /// Records that could not be taken back, with the reasons.
    pub left: Vec<Left>,
}

impl Outcome {
    pub fn new(message: String, is_complete: bool) -> Self {
        Self {
            message,
            tone: if is_complete { "good" } else { "warn" },
            left: Vec::new(),
        }
    }

    pub fn failed(cause: &Error) -> Self {
        Self {
            tone: "bad",
            ..Self::new(failure(cause), false)
        }
    }
}

/// The message of a failure that happened in the background.
fn failure(cause: &Error) -> String {
    if cause.kind == Kind::Defect {
        tracing::error!("import: {cause}");
        return "Something is wrong on our side; the server's log has the details.".into();
    }
    sentence(&cause.to_string())
}

/// An uploaded list.
#[derive(Clone)]
pub struct Upload {
    pub id: i64,
    pub what: What,
    /// The name of the file.
    pub name: String,
    /// The e-mail address of the user who uploaded it.
    pub by: String,
    pub at: Timestamp,
    /// Removed with its last owner; `None` once it is imported.
    pub file: Option<Arc<TempPath>>,
    pub preview: Arc<Preview>,
    pub choice: Choice,
    /// The result of the last check or import.
    pub report: Option<Arc<Report>>,
}

impl Upload {
    /// The batch of its import, once that has begun.
    #[must_use]
    pub fn batch(&self) -> Option<i64> {
        self.report.as_ref().and_then(|report| report.batch)
    }

    /// Returns whether an import was begun whose rest can be written from the file.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        let is_finished = self.report.as_ref().is_some_and(|report| report.finished);
        self.file.is_some() && self.batch().is_some() && !is_finished
    }
}

/// The work in progress.
#[derive(Clone)]
pub struct Work {
    /// The e-mail address of the user who began it.
    pub by: String,
    pub upload: Option<i64>,
    pub batch: Option<i64>,
    /// The name of the file.
    pub name: String,
    pub phase: Phase,
    pub done: i64,
    pub total: i64,
    pub stop: Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Checking,
    Writing,
    TakingBack,
    Joining,
    /// Doing something to many attendees.
    Acting,
}

impl UploadStore {
    /// The store beside a database; lists that an earlier run left behind are removed.
    #[must_use]
    pub fn new(database: &Path) -> Self {
        let folder = crate::db::open::folder_of(database).to_owned();
        let name = database.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!("{name}.upload-");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_left = entry.file_name().to_string_lossy().starts_with(&prefix);
            if is_left && let Err(cause) = fs::remove_file(entry.path()) {
                tracing::warn!("{} cannot be removed: {cause}", entry.path().display());
            }
        }
        Self {
            folder,
            prefix,
            inner: Mutex::default(),
        }
    }

    /// An empty file beside the database that nobody else may read.
    pub fn file(&self) -> Result<NamedTempFile> {
        tempfile::Builder::new()
            .prefix(&self.prefix)
            .tempfile_in(&self.folder)
            .map_err(Error::unavailable)
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// [`Kind::Invalid`] where too many lists wait.
    pub fn check_room(&self) -> Result<()> {
        if self.waiting().len() < WAITING_MAX {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{WAITING_MAX} lists are waiting already; import or discard one of them"
        )))
    }

    /// Stores a list and returns its id.
    pub fn take(&self, upload: Upload) -> i64 {
        let mut inner = self.inner();
        inner.last += 1;
        let id = inner.last;
        inner.uploads.insert(id, Upload { id, ..upload });
        let done = inner.uploads.values().filter(|one| one.file.is_none());
        let done: Vec<i64> = done.map(|one| one.id).collect();
        for oldest in &done[..done.len().saturating_sub(RESULTS_MAX)] {
            inner.uploads.remove(oldest);
        }
        id
    }

    #[must_use]
    pub fn upload(&self, id: i64) -> Option<Upload> {
        self.inner().uploads.get(&id).cloned()
    }

    #[must_use]
    pub fn waiting(&self) -> Vec<Upload> {
        let inner = self.inner();
        let waiting = inner.uploads.values().filter(|one| one.file.is_some());
        waiting.cloned().collect()
    }

    /// Changes a list, if it is still there.
    pub fn change(&self, id: i64, change: impl FnOnce(&mut Upload)) {
        if let Some(upload) = self.inner().uploads.get_mut(&id) {
            change(upload);
        }
    }

    /// Discards lists, but for the one that is worked on.
    pub fn forget(&self, which: impl Fn(&Upload) -> bool) {
        let mut inner = self.inner();
        let busy = inner.work.as_ref().and_then(|work| work.upload);
        inner
            .uploads
            .retain(|id, upload| busy == Some(*id) || !which(upload));
    }

    /// Discards what has waited for too long.
    pub fn forget_old(&self, now: Timestamp) {
        self.forget(|upload| now.0 - upload.at.0 >= KEPT_MS);
    }

    #[must_use]
    pub fn work(&self) -> Option<Work> {
        self.inner().work.clone()
    }

    /// Begins a piece of work, which ends when what is returned is dropped.
    ///
    /// # Errors
    /// [`Kind::Invalid`] while another is done.
    pub fn begin(self: &Arc<Self>, work: Work) -> Result<Busy> {
        let mut inner = self.inner();
        if let Some(other) = &inner.work {
            return Err(Error::invalid(format!(
                "only one list is worked on at a time, and {} is {} {}; try again when that is done",
                other.by,
                match other.phase {
                    Phase::Acting => "doing:",
                    Phase::Checking => "checking",
                    Phase::Writing => "importing",
                    Phase::TakingBack => "taking back",
                    Phase::Joining => "registering the attendees of",
                },
                other.name
            )));
        }
        inner.work = Some(work);
        Ok(Busy(Arc::clone(self)))
    }

    /// # Errors
    /// [`Kind::Invalid`] while work is done.
    pub fn check_free(self: &Arc<Self>) -> Result<()> {
        let nothing = Work {
            by: String::new(),
            upload: None,
            batch: None,
            name: String::new(),
            phase: Phase::Checking,
            done: 0,
            total: 0,
            stop: Stop::default(),
        };
        self.begin(nothing).map(drop)
    }

    /// Records the progress of the work.
    pub fn progress(&self, change: impl FnOnce(&mut Work)) {
        if let Some(work) = &mut self.inner().work {
            change(work);
        }
    }

    /// Ends the work that is done, such as when the server stops.
    pub fn stop(&self) {
        self.progress(|work| work.stop.stop());
    }

    /// Keeps the result of work on a batch.
    pub fn keep(&self, batch: i64, outcome: Outcome) {
        let mut inner = self.inner();
        inner.outcomes.insert(batch, outcome);
        while inner.outcomes.len() > RESULTS_MAX {
            inner.outcomes.pop_first();
        }
    }

    /// The result of the last work on a batch.
    #[must_use]
    pub fn outcome(&self, batch: i64) -> Option<Outcome> {
        self.inner().outcomes.get(&batch).cloned()
    }
}

/// The store is busy while this lives.
pub struct Busy(Arc<UploadStore>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.inner().work = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(uploads: &UploadStore, at: i64) -> (i64, PathBuf) {
        let file = uploads.file().unwrap().into_temp_path();
        let path = file.to_path_buf();
        let id = uploads.take(Upload {
            id: 0,
            what: What::Delegates,
            name: "list.csv".into(),
            by: "ada@example.com".into(),
            at: Timestamp(at),
            file: Some(Arc::new(file)),
            preview: Arc::default(),
            choice: Choice::default(),
            report: None,
        });
        (id, path)
    }

    #[test]
    fn a_list_is_gone_with_its_day_or_when_it_is_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Arc::new(UploadStore::new(&folder.path().join("a.db")));
        let (first, path) = upload(&uploads, 0);
        let (second, thrown) = upload(&uploads, 1);
        uploads.forget_old(Timestamp(KEPT_MS - 1));
        assert!(path.exists() && thrown.exists());
        uploads.forget_old(Timestamp(KEPT_MS));
        assert!(!path.exists() && uploads.upload(first).is_none());
        uploads.forget(|one| one.id == second);
        assert!(!thrown.exists());
    }

    #[test]
    fn what_a_run_left_behind_is_removed_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let left = folder.path().join("a.db.upload-x1");
        let others = folder.path().join("b.db.upload-x1");
        fs::write(&left, "x").unwrap();
        fs::write(&others, "x").unwrap();
        let _store = UploadStore::new(&database);
        assert!(!left.exists() && others.exists());
    }

    #[test]
    fn a_list_that_is_worked_on_stays_and_nothing_else_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Arc::new(UploadStore::new(&folder.path().join("a.db")));
        let (id, path) = upload(&uploads, 0);
        let work = Work {
            by: "ada@example.com".into(),
            upload: Some(id),
            batch: None,
            name: "list.csv".into(),
            phase: Phase::Checking,
            done: 0,
            total: 1,
            stop: Stop::default(),
        };
        let busy = uploads.begin(work.clone()).ok().unwrap();
        assert!(uploads.begin(work.clone()).is_err());
        uploads.forget(|one| one.id == id);
        uploads.forget_old(Timestamp(KEPT_MS));
        assert!(path.exists());
        drop(busy);
        assert!(uploads.begin(work).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_a_list() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let uploads = UploadStore::new(&folder.path().join("a.db"));
        let file = uploads.file().unwrap();
        let mode = file.as_file().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
