//! What the wizard has before it: lists that were uploaded and wait, and the one piece of work that
//! is done at a time. It lives in memory; of an import itself the file keeps a batch.

use super::{Choice, Glance, Outcome, Report};
use crate::{
    ops::import::{Left, Stop, What},
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tempfile::{NamedTempFile, TempPath};

/// How long an uploaded list waits, in milliseconds: it holds personal data.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// Lists that wait at a time.
const WAITING_MAX: usize = 5;
/// Results that are remembered, of uploads and of batches each.
const RESULTS_MAX: usize = 20;

/// The wizard's lists and its work.
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
    /// What came of work on batches.
    outcomes: BTreeMap<i64, BatchOutcome>,
}

/// What the last work on a batch came to.
#[derive(Clone)]
pub enum BatchOutcome {
    /// It was taken back.
    TakenBack(TakenBack),
    /// Its delegates were joined.
    Joined(Joined),
    /// Neither, and why.
    Failed(String),
}

/// A list that was uploaded.
#[derive(Clone)]
pub struct Upload {
    /// What it is called in addresses.
    pub id: i64,
    /// What its rows are.
    pub what: What,
    /// The file's name where it came from.
    pub name: String,
    /// Who uploaded it.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The file, as long as it is kept.
    pub file: Option<Arc<TempPath>>,
    /// What was recognised of it.
    pub glance: Arc<Glance>,
    /// How it is to be imported.
    pub choice: Choice,
    /// What the last look through all of it found.
    pub report: Option<Arc<Report>>,
    /// What came of it.
    pub outcome: Option<Outcome>,
}

impl Upload {
    /// Whether some of it was imported, and the rest can be.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        let begun = self.outcome.as_ref().filter(|outcome| !outcome.finished);
        self.file.is_some() && begun.is_some_and(|outcome| outcome.batch.is_some())
    }

    fn is_of(&self, batch: i64) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.batch == Some(batch))
    }
}

/// What is being done.
#[derive(Clone)]
pub struct Work {
    /// Whose work it is.
    pub by: String,
    /// The list that is looked through or imported.
    pub upload: Option<i64>,
    /// The batch that is written, or taken back.
    pub batch: Option<i64>,
    /// The file's name.
    pub name: String,
    /// What is done to it.
    pub phase: Phase,
    /// Rows that are done with.
    pub done: i64,
    /// Of how many.
    pub total: i64,
    /// Ends it.
    pub stop: Stop,
}

/// What is done to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Every row is looked at.
    Checking,
    /// The good rows are written.
    Writing,
    /// A batch is taken back.
    TakingBack,
    /// The delegates of a batch are joined with a device.
    Joining,
}

/// What joining the delegates of a batch came to.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The device's name.
    pub device: String,
    /// Delegates that were joined.
    pub joined: i64,
    /// Delegates that were joined before, or are deleted.
    pub skipped: i64,
    /// Whether it came to its end.
    pub finished: bool,
}

/// What taking a batch back came to.
#[derive(Clone)]
pub struct TakenBack {
    /// Records that were removed.
    pub removed: i64,
    /// Records that are what they were.
    pub restored: i64,
    /// Records that stay as they are.
    pub left: i64,
    /// The first of those, with reasons.
    pub told: Vec<Left>,
    /// Whether it came to its end.
    pub finished: bool,
}

impl UploadStore {
    /// The store beside a database; lists that an earlier run left behind are removed.
    #[must_use]
    pub fn new(database: &Path) -> Self {
        let folder = database
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned();
        let name = database.file_name().unwrap_or_default().to_string_lossy();
        let uploads = Self {
            folder,
            prefix: format!("{name}.upload-"),
            inner: Mutex::default(),
        };
        uploads.clear();
        uploads
    }

    fn clear(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(&self.prefix)
                && let Err(cause) = fs::remove_file(entry.path())
            {
                tracing::warn!("{} cannot be removed: {cause}", entry.path().display());
            }
        }
    }

    /// An empty file beside the database that nobody else may read.
    pub fn file(&self) -> Result<NamedTempFile> {
        // Mode 0600 wherever there are modes.
        tempfile::Builder::new()
            .prefix(&self.prefix)
            .tempfile_in(&self.folder)
            .map_err(Error::unavailable)
    }

    /// Where those files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another list may be uploaded.
    pub fn check_room(&self) -> Result<()> {
        let inner = self.inner();
        let waiting = inner.uploads.values().filter(|one| one.file.is_some());
        if waiting.count() < WAITING_MAX {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{WAITING_MAX} lists are waiting already; import one of them, or throw one away"
        )))
    }

    /// Takes a list: its id.
    pub fn take(&self, mut upload: Upload) -> i64 {
        let mut inner = self.inner();
        inner.last += 1;
        upload.id = inner.last;
        let id = upload.id;
        inner.uploads.insert(id, upload);
        while let Some(oldest) = inner.oldest_result() {
            inner.uploads.remove(&oldest);
        }
        id
    }

    /// A list.
    #[must_use]
    pub fn upload(&self, id: i64) -> Option<Upload> {
        self.inner().uploads.get(&id).cloned()
    }

    /// The lists that wait.
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

    /// Throws a list away, unless it is being worked on.
    pub fn forget(&self, id: i64) {
        let mut inner = self.inner();
        if !inner.is_worked_on(id) {
            inner.uploads.remove(&id);
        }
    }

    /// The list that an interrupted import can be completed from.
    #[must_use]
    pub fn rest_of(&self, batch: i64) -> Option<i64> {
        let inner = self.inner();
        let mut lists = inner.uploads.values();
        lists
            .find(|one| one.is_of(batch) && one.can_go_on())
            .map(|one| one.id)
    }

    /// Throws away the list of an import that is taken back.
    pub fn forget_batch(&self, batch: i64) {
        if let Some(id) = self.rest_of(batch) {
            self.forget(id);
        }
    }

    /// Throws away what has waited for too long.
    pub fn forget_old(&self, now: Timestamp) {
        let mut inner = self.inner();
        let old: Vec<i64> = inner
            .uploads
            .values()
            .filter(|one| now.0 - one.at.0 >= KEPT_MS && !inner.is_worked_on(one.id))
            .map(|one| one.id)
            .collect();
        for id in old {
            inner.uploads.remove(&id);
        }
    }

    /// What is being done.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        self.inner().work.clone()
    }

    /// Begins a piece of work. What it gives back ends the work when it goes.
    pub fn begin(self: &Arc<Self>, work: Work) -> Result<Busy> {
        let mut inner = self.inner();
        if let Some(other) = &inner.work {
            return Err(Error::invalid(format!(
                "one list is dealt with at a time, and {} is {} {} just now; try again when that is done",
                other.by,
                match other.phase {
                    Phase::Checking => "trying",
                    Phase::Writing => "importing",
                    Phase::TakingBack => "taking back",
                    Phase::Joining => "joining the attendees of",
                },
                other.name
            )));
        }
        inner.work = Some(work);
        Ok(Busy(Arc::clone(self)))
    }

    /// Tells how far the work came.
    pub fn tell(&self, tell: impl FnOnce(&mut Work)) {
        if let Some(work) = &mut self.inner().work {
            tell(work);
        }
    }

    /// Ends the work that goes on, such as when the server stops.
    pub fn stop(&self) {
        if let Some(work) = &self.inner().work {
            work.stop.stop();
        }
    }

    /// Keeps what work on a batch came to.
    pub fn keep(&self, batch: i64, outcome: BatchOutcome) {
        let mut inner = self.inner();
        inner.outcomes.insert(batch, outcome);
        while inner.outcomes.len() > RESULTS_MAX {
            inner.outcomes.pop_first();
        }
    }

    /// What the last work on a batch came to, if it is remembered.
    #[must_use]
    pub fn outcome(&self, batch: i64) -> Option<BatchOutcome> {
        self.inner().outcomes.get(&batch).cloned()
    }
}

impl Inner {
    fn is_worked_on(&self, upload: i64) -> bool {
        self.work
            .as_ref()
            .is_some_and(|work| work.upload == Some(upload))
    }

    /// The oldest result, when there are more than are remembered.
    fn oldest_result(&self) -> Option<i64> {
        let results = self.uploads.values().filter(|one| one.file.is_none());
        let ids: Vec<i64> = results.map(|one| one.id).collect();
        ids.first().copied().filter(|_| ids.len() > RESULTS_MAX)
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
            glance: Arc::default(),
            choice: Choice::default(),
            report: None,
            outcome: None,
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
        uploads.forget(second);
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
        let _desk = UploadStore::new(&database);
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
        uploads.forget(id);
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
