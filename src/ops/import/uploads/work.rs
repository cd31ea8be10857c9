//! Checks and imports of uploaded lists, in the background.

use super::{Busy, Phase, Upload, UploadStore, Work, failure};
use crate::{
    core::Context,
    identity::App,
    ops::background::Background,
    ops::import::{BadRow, Batch, Job, Source, Stop},
    types::error::{Error, Result},
};
use std::{ops::ControlFlow, sync::Arc};

/// Bad rows that a page shows; more can be downloaded.
const SHOWN_MAX: usize = 200;

/// The work to do with a list.
#[derive(Clone)]
pub enum Run {
    Check,
    Import,
    Resume(Box<Batch>),
}

/// The result of a check, and of the import after it.
#[derive(Default)]
pub struct Report {
    /// All of its rows; none where the list could not be checked.
    pub total: i64,
    pub good: i64,
    /// Rows of records that exist.
    pub known: i64,
    pub bad: i64,
    /// The first bad rows.
    pub bad_rows: Vec<BadRow>,
    /// Sentences on what was recognised and mended.
    pub recognised: Vec<String>,
    /// Questions without an answer.
    pub questions: Vec<String>,
    pub warnings: Vec<String>,
    /// Rows that are left out, as the list says, and the first of them.
    pub out: i64,
    pub out_rows: Vec<BadRow>,
    /// Rows whose e-mail addresses are not valid.
    pub doubtful: Vec<BadRow>,
    /// Nothing was imported because of the bad rows.
    pub in_vain: bool,
    /// The import, once that has begun.
    pub batch: Option<i64>,
    pub done: i64,
    pub created: i64,
    pub updated: i64,
    pub left_out: i64,
    pub finished: bool,
    pub failure: Option<String>,
}

impl Report {
    /// The bad rows that a page shows.
    #[must_use]
    pub fn shown(&self) -> &[BadRow] {
        &self.bad_rows[..self.bad_rows.len().min(SHOWN_MAX)]
    }
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
        upload: Upload,
        run: Run,
    ) -> Result<()> {
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
            upload,
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
    upload: Upload,
    stop: Stop,
    _busy: Busy,
}

impl List {
    fn run(self, ctx: Context, run: Run) {
        let writes = !matches!(run, Run::Check);
        let report = match self.check(ctx, run) {
            Ok(job) => self.report(job, writes),
            Err(_) if self.stop.is_stopped() => return,
            Err(cause) => Report {
                failure: Some(failure(&cause)),
                ..Report::default()
            },
        };
        self.uploads.change(self.upload.id, |upload| {
            upload.report = Some(Arc::new(report));
            if upload.batch().is_some() && !upload.can_go_on() {
                upload.file = None;
            }
        });
    }

    fn check(&self, ctx: Context, run: Run) -> Result<Job> {
        let on_rows = |rows| {
            self.uploads.progress(|work| work.done = count(rows));
            if self.stop.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let Upload {
            what, name, choice, ..
        } = &self.upload;
        let gone = || Error::invalid("the list is gone; upload it again");
        let file = self.upload.file.as_ref().ok_or_else(gone)?;
        let options = match &run {
            Run::Resume(batch) => &batch.options,
            Run::Check | Run::Import => &choice.options,
        };
        let source = Source::open_as(file, name, options.reading())?;
        let store = &self.app.store;
        if let Run::Resume(batch) = run {
            return Job::resume(
                store,
                source,
                ctx,
                *batch,
                choice.options.skip_bad,
                &Background::unchanged(),
                on_rows,
            );
        }
        let request = choice.request(*what, name, &self.upload.preview);
        Job::check(
            Some(store),
            source,
            ctx,
            request,
            &Background::unchanged(),
            on_rows,
        )
    }

    fn report(&self, job: Job, writes: bool) -> Report {
        let checked = &job.checked;
        let out = checked.left_out.listed().iter();
        let mut report = Report {
            total: count(checked.rows),
            good: count(checked.good()),
            known: count(checked.known),
            bad: count(checked.bad.count()),
            bad_rows: checked.bad.listed().to_vec(),
            recognised: job.findings.recognised.clone(),
            questions: job.findings.open_texts(),
            warnings: job.warnings(),
            out: count(checked.left_out.count()),
            out_rows: out.take(SHOWN_MAX).cloned().collect(),
            doubtful: checked.warnings.addresses().to_vec(),
            in_vain: writes && !job.is_good(),
            done: count(job.done_before()),
            left_out: count(checked.bad.count() + checked.left_out.count()),
            ..Report::default()
        };
        if !writes || !job.is_good() {
            return report;
        }
        self.uploads.progress(|work| {
            work.phase = Phase::Writing;
            work.done = report.done;
        });
        let written = job.run(&self.app.store, self.stop.clone(), |import| {
            report.batch = Some(import.batch);
            report.done = count(import.done);
            report.created = count(import.created);
            report.updated = count(import.updated);
            self.uploads.progress(|work| {
                work.batch = report.batch;
                work.done = report.done;
            });
        });
        match written {
            Ok(import) => {
                report.bad_rows.extend_from_slice(import.late.listed());
                report.bad_rows.extend_from_slice(import.unlinked.listed());
                report.left_out += count(import.late.count());
                report.finished = import.finished;
            }
            Err(cause) => report.failure = Some(failure(&cause)),
        }
        report
    }
}
