//! Checks and imports of uploaded lists, in the background.

use super::{Busy, Choice, Phase, Preview, Upload, UploadStore, Work, failure};
use crate::{
    core::Context,
    identity::App,
    ops::import::{BadRow, Batch, Job, Looked, Source, Stop, What},
    types::{
        error::{Error, Result},
        spreadsheet::csv_bytes,
    },
};
use std::{io::Write, ops::ControlFlow, sync::Arc};
use tempfile::{NamedTempFile, TempPath};

/// Bad rows that a page shows; the file has all of them.
const SHOWN_MAX: usize = 200;

/// What is done with a list.
#[derive(Clone)]
pub enum Run {
    Check,
    Import,
    Resume(Box<Batch>),
}

/// What the rows of a list are like.
#[derive(Default)]
pub struct Report {
    pub good: i64,
    /// Rows of records that exist.
    pub known: i64,
    pub bad: i64,
    /// The first bad rows.
    pub shown: Vec<BadRow>,
    /// All bad rows, as CSV.
    pub file: Option<TempPath>,
    pub warnings: Vec<String>,
    /// Rows whose e-mail addresses are not valid.
    pub doubtful: Vec<BadRow>,
    /// Nothing was imported because of the bad rows.
    pub in_vain: bool,
}

/// What an import came to.
#[derive(Clone, Default)]
pub struct Outcome {
    pub batch: Option<i64>,
    pub created: i64,
    pub updated: i64,
    pub left_out: i64,
    pub done: i64,
    pub total: i64,
    pub finished: bool,
    pub failure: Option<String>,
}

fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

impl UploadStore {
    /// Begins to check or import a list; `by` is the e-mail address of the user.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] while other work is done.
    pub fn run(
        self: &Arc<Self>,
        app: App,
        mut ctx: Context,
        by: String,
        upload: &Upload,
        run: Run,
    ) -> Result<()> {
        let file = upload
            .file
            .clone()
            .ok_or_else(|| Error::invalid("the list is gone; upload it again"))?;
        let stop = Stop::default();
        let busy = self.begin(Work {
            by,
            upload: Some(upload.id),
            batch: None,
            name: upload.name.clone(),
            phase: Phase::Checking,
            done: 0,
            total: upload.preview.rows,
            stop: stop.clone(),
        })?;
        ctx.source = "import";
        let list = List {
            app,
            uploads: Arc::clone(self),
            file,
            id: upload.id,
            name: upload.name.clone(),
            what: upload.what,
            preview: Arc::clone(&upload.preview),
            choice: upload.choice.clone(),
            stop,
            _busy: busy,
        };
        tokio::task::spawn_blocking(move || list.run(ctx, run));
        Ok(())
    }
}

struct List {
    app: App,
    uploads: Arc<UploadStore>,
    file: Arc<TempPath>,
    id: i64,
    name: String,
    what: What,
    preview: Arc<Preview>,
    choice: Choice,
    stop: Stop,
    _busy: Busy,
}

impl List {
    fn run(self, ctx: Context, run: Run) {
        let mut bad = BadRowsFile::new(&self.uploads);
        let job = match self.check(ctx, &run, &mut bad) {
            Ok(job) => job,
            Err(_) if self.stop.is_stopped() => return,
            Err(cause) => {
                let failed = Outcome {
                    failure: Some(failure(&cause)),
                    ..Outcome::default()
                };
                return self
                    .uploads
                    .change(self.id, |upload| upload.outcome = Some(failed));
            }
        };
        let writes = !matches!(run, Run::Check);
        let mut report = Report {
            good: count(job.checked.good()),
            known: count(job.checked.known),
            bad: count(job.checked.bad.count()),
            warnings: job.warnings(),
            doubtful: job.checked.warnings.addresses().to_vec(),
            in_vain: writes && !job.is_good(),
            ..Report::default()
        };
        let outcome = (writes && job.is_good()).then(|| self.write(job, &mut bad));
        (report.shown, report.file) = bad.finish();
        self.uploads.change(self.id, |upload| {
            upload.report = Some(Arc::new(report));
            if outcome.is_some() {
                upload.outcome = outcome;
                if !upload.can_go_on() {
                    upload.file = None;
                }
            }
        });
    }

    fn check(&self, ctx: Context, run: &Run, bad: &mut BadRowsFile) -> Result<Job> {
        let on_row = |looked: &Looked<'_>| {
            self.uploads.progress(|work| work.done = count(looked.rows));
            bad.take(looked.bad);
            if self.stop.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = match run {
            Run::Resume(batch) => &batch.options,
            Run::Check | Run::Import => &self.choice.options,
        };
        let source = Source::open_as(&self.file, &self.name, options.reading())?;
        match run {
            Run::Resume(batch) => {
                let skip_bad = self.choice.options.skip_bad;
                Job::resume(
                    &self.app.store,
                    source,
                    ctx,
                    (**batch).clone(),
                    skip_bad,
                    on_row,
                )
            }
            Run::Check | Run::Import => {
                let request = self.choice.request(self.what, &self.name, &self.preview);
                Job::check(Some(&self.app.store), source, ctx, request, on_row)
            }
        }
    }

    fn write(&self, job: Job, bad: &mut BadRowsFile) -> Outcome {
        let mut outcome = Outcome {
            left_out: count(job.checked.bad.count()),
            done: count(job.done_before()),
            total: count(job.checked.rows),
            ..Outcome::default()
        };
        self.uploads.progress(|work| {
            work.phase = Phase::Writing;
            work.done = outcome.done;
        });
        let written = job.run(&self.app.store, self.stop.clone(), |import| {
            outcome.batch = Some(import.batch);
            outcome.done = count(import.done);
            outcome.created = count(import.created);
            outcome.updated = count(import.updated);
            self.uploads.progress(|work| {
                work.batch = Some(import.batch);
                work.done = outcome.done;
            });
        });
        match written {
            Ok(import) => {
                bad.take(import.late.listed());
                bad.take(import.unlinked.listed());
                outcome.left_out += count(import.late.count());
                outcome.finished = import.finished;
            }
            Err(cause) => outcome.failure = Some(failure(&cause)),
        }
        outcome
    }
}

/// Bad rows as they are found: the first to show, all of them in a file.
struct BadRowsFile {
    shown: Vec<BadRow>,
    file: Option<NamedTempFile>,
}

impl BadRowsFile {
    fn new(uploads: &UploadStore) -> Self {
        let mut rows = Self {
            shown: Vec::new(),
            file: uploads.file().ok(),
        };
        rows.write(csv_bytes(Some(&["line", "column", "reason"]), []));
        rows
    }

    fn write(&mut self, lines: Result<Vec<u8>>) {
        let Some(file) = &mut self.file else {
            return;
        };
        let written = lines.and_then(|lines| file.write_all(&lines).map_err(Error::unavailable));
        if let Err(cause) = written {
            tracing::warn!("the list of bad rows cannot be written: {cause}");
            self.file = None;
        }
    }

    fn take(&mut self, rows: &[BadRow]) {
        let more = SHOWN_MAX - self.shown.len();
        self.shown.extend(rows.iter().take(more).cloned());
        let cells = rows.iter().map(|row| {
            let problem = row.problem.clone();
            let column = problem.column.unwrap_or_default();
            [row.line.to_string(), column, problem.reason]
        });
        self.write(csv_bytes(None, cells));
    }

    fn finish(self) -> (Vec<BadRow>, Option<TempPath>) {
        let file = self.file.filter(|_| !self.shown.is_empty());
        (self.shown, file.map(NamedTempFile::into_temp_path))
    }
}
