//! The work behind the wizard, in the background: a list is looked through, written, or a batch is
//! taken back, and the upload store hears how far it came. Whoever began it may leave the page.

use super::{
    Choice, Glance, Upload, UploadStore,
    uploads::{BatchOutcome, Busy, Joined, Phase, TakenBack, Work},
};
use crate::{
    admin::{Console, RequestContext, answer::sentence},
    core::Context,
    domain::devices,
    ops::import::{
        BadRow, Batch, Job, Looked, Source, Stop, batches, job::Request, join::join_all, undo,
    },
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
        spreadsheet::guarded,
    },
};
use std::{io::Write, ops::ControlFlow, sync::Arc};
use tempfile::{NamedTempFile, TempPath};

/// Bad rows that a page tells one by one.
const TOLD_MAX: usize = 200;

/// What is to be done with a list.
#[derive(Clone)]
pub enum Go {
    /// It is looked through, and nothing is written.
    Try,
    /// It is imported.
    Import,
    /// An import that was interrupted is completed from it.
    Resume(Box<Batch>),
}

/// What a look through all of a list found.
#[derive(Default)]
pub struct Report {
    /// Rows that can be imported.
    pub good: i64,
    /// Those that mean a record which is there.
    pub known: i64,
    /// Rows that cannot be imported.
    pub bad: i64,
    /// The first of those.
    pub told: Vec<BadRow>,
    /// All of those, as CSV.
    pub file: Option<TempPath>,
    /// What is doubtful and keeps no row out.
    pub warnings: Vec<String>,
    /// The first e-mail addresses that are not valid.
    pub doubtful: Vec<BadRow>,
    /// It was to be imported, and was not because of them.
    pub in_vain: bool,
}

/// What came of an import.
#[derive(Clone)]
pub struct Outcome {
    /// The batch, where one was begun.
    pub batch: Option<i64>,
    /// Records that were made.
    pub created: i64,
    /// Records that were changed.
    pub updated: i64,
    /// Rows that were left out.
    pub left_out: i64,
    /// Rows that are done with, and all of them.
    pub done: i64,
    /// Rows in all.
    pub total: i64,
    /// Whether it came to its end.
    pub finished: bool,
    /// What ended it early.
    pub failure: Option<String>,
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Begins to deal with a list.
pub fn begin(request: &RequestContext, upload: &Upload, go: Go) -> Result<()> {
    let file = upload
        .file
        .clone()
        .ok_or_else(|| Error::invalid("the list is gone; upload it again"))?;
    let stop = Stop::default();
    let uploads = Arc::clone(&request.console.imports);
    let busy = uploads.begin(Work {
        by: request.current_user()?.email.clone(),
        upload: Some(upload.id),
        batch: None,
        name: upload.name.clone(),
        phase: Phase::Checking,
        done: 0,
        total: upload.glance.rows,
        stop: stop.clone(),
    })?;
    let mut ctx = request.context();
    ctx.source = "import";
    let list = List {
        console: Arc::clone(&request.console),
        uploads,
        file,
        id: upload.id,
        name: upload.name.clone(),
        what: upload.what,
        glance: Arc::clone(&upload.glance),
        choice: upload.choice.clone(),
        stop,
        _busy: busy,
    };
    tokio::task::spawn_blocking(move || list.deal(ctx, go));
    Ok(())
}

/// A list that is dealt with.
struct List {
    console: Arc<Console>,
    uploads: Arc<UploadStore>,
    file: Arc<TempPath>,
    id: i64,
    name: String,
    what: crate::ops::import::What,
    glance: Arc<Glance>,
    choice: Choice,
    stop: Stop,
    /// The last to go: whoever waits for the store then sees what came of it.
    _busy: Busy,
}

impl List {
    fn deal(self, ctx: Context, go: Go) {
        let writes = !matches!(go, Go::Try);
        let mut bad = Bad::new(&self.uploads);
        let job = match self.look(ctx, &go, &mut bad) {
            Ok(job) => job,
            Err(_) if self.stop.is_stopped() => return,
            Err(cause) => {
                let failure = Outcome::failed(&cause);
                return self
                    .uploads
                    .change(self.id, |upload| upload.outcome = Some(failure));
            }
        };
        let mut report = Report {
            good: count(job.checked.good()),
            known: count(job.checked.known),
            bad: count(job.checked.bad.count() as u64),
            warnings: job.warnings(),
            doubtful: job.checked.warnings.addresses().to_vec(),
            in_vain: writes && !job.is_good(),
            ..Report::default()
        };
        if !writes || report.in_vain {
            (report.told, report.file) = bad.end();
            return self
                .uploads
                .change(self.id, |upload| upload.report = Some(Arc::new(report)));
        }
        let outcome = self.write(job, &mut bad);
        (report.told, report.file) = bad.end();
        self.uploads.change(self.id, |upload| {
            upload.outcome = Some(outcome);
            upload.report = Some(Arc::new(report));
            // It holds personal data: once it is all written it has served its purpose. Of an
            // import that was stopped it holds the rest.
            if !upload.can_go_on() {
                upload.file = None;
            }
        });
    }

    fn look(&self, ctx: Context, go: &Go, bad: &mut Bad) -> Result<Job> {
        let told = |looked: &Looked<'_>| {
            self.uploads.tell(|work| work.done = count(looked.rows));
            bad.take(looked.bad);
            if self.stop.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let store = &self.console.store;
        let reading = match go {
            Go::Resume(batch) => batch.options.reading(),
            _ => self.choice.reading(),
        };
        let source = Source::open_as(&self.file, &self.name, reading)?;
        match go {
            Go::Resume(batch) => {
                let skip_bad = self.choice.skip_bad;
                Job::resume(store, source, ctx, (**batch).clone(), skip_bad, told)
            }
            Go::Try | Go::Import => {
                let request: Request = self.choice.request(self.what, &self.name, &self.glance);
                Job::check(Some(store), source, ctx, request, told)
            }
        }
    }

    fn write(&self, job: Job, bad: &mut Bad) -> Outcome {
        let left_out = job.checked.bad.count() as u64;
        let mut outcome = Outcome {
            batch: None,
            created: 0,
            updated: 0,
            left_out: count(left_out),
            done: count(job.done_before()),
            total: count(job.checked.rows),
            finished: false,
            failure: None,
        };
        self.uploads.tell(|work| {
            work.phase = Phase::Writing;
            work.done = outcome.done;
        });
        let written = job.run(&self.console.store, self.stop.clone(), |import| {
            outcome.batch = Some(import.batch);
            outcome.done = count(import.done);
            outcome.created = count(import.created);
            outcome.updated = count(import.updated);
            self.uploads.tell(|work| {
                work.batch = Some(import.batch);
                work.done = outcome.done;
            });
        });
        match written {
            Ok(import) => {
                bad.take(import.late.listed());
                bad.take(import.unlinked.listed());
                outcome.left_out += count(import.late.count() as u64);
                outcome.finished = import.finished;
            }
            Err(cause) => outcome.failure = Some(told(&cause)),
        }
        outcome
    }
}

impl Outcome {
    fn failed(cause: &Error) -> Self {
        Self {
            batch: None,
            created: 0,
            updated: 0,
            left_out: 0,
            done: 0,
            total: 0,
            finished: false,
            failure: Some(told(cause)),
        }
    }
}

/// A failure as a sentence; what is wrong on our side goes to the log.
fn told(cause: &Error) -> String {
    if cause.kind == Kind::Defect {
        tracing::error!("import: {}", cause.message);
        return "Something is wrong on our side; the server's log has the details.".into();
    }
    sentence(&cause.message)
}

/// Bad rows as they come: the first for the page, all of them for a file.
struct Bad {
    told: Vec<BadRow>,
    file: Option<csv::Writer<NamedTempFile>>,
    any: bool,
}

impl Bad {
    fn new(uploads: &UploadStore) -> Self {
        let file = uploads.file().and_then(|mut file| {
            // So that spreadsheets know it for UTF-8.
            file.write_all("\u{feff}".as_bytes())
                .map_err(Error::unavailable)?;
            let mut writer = csv::WriterBuilder::new()
                .terminator(csv::Terminator::CRLF)
                .from_writer(file);
            writer
                .write_record(["line", "column", "reason"])
                .map_err(Error::unavailable)?;
            Ok(writer)
        });
        Self {
            told: Vec::new(),
            file: file.ok(),
            any: false,
        }
    }

    fn take(&mut self, rows: &[BadRow]) {
        for row in rows {
            self.any = true;
            let column = row.problem.column.as_deref().unwrap_or_default();
            let written = self.file.as_mut().map(|file| {
                file.write_record([
                    row.line.to_string().as_str(),
                    &guarded(column),
                    &guarded(&row.problem.reason),
                ])
            });
            if let Some(Err(cause)) = written {
                tracing::warn!("the list of bad rows cannot be written: {cause}");
                self.file = None;
            }
            if self.told.len() < TOLD_MAX {
                self.told.push(row.clone());
            }
        }
    }

    fn end(self) -> (Vec<BadRow>, Option<TempPath>) {
        let file = self.file.filter(|_| self.any);
        let file = file.and_then(|file| file.into_inner().ok());
        (self.told, file.map(NamedTempFile::into_temp_path))
    }
}

fn failed(cause: Error) -> BatchOutcome {
    BatchOutcome::Failed(told(&cause))
}

/// Begins to take a batch back.
pub fn begin_undo(request: &RequestContext, id: i64) -> Result<()> {
    let (batch, rows) = request.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        let rows = match batch.undone_at {
            Some(_) => batches::rows_left(connection, id)?,
            None => batch.done,
        };
        Ok((batch, rows))
    })?;
    if batch.undone_at.is_some() && rows == 0 {
        return Err(Error::invalid(format!("import {id} is taken back already")));
    }
    let stop = Stop::default();
    let uploads = Arc::clone(&request.console.imports);
    let busy = uploads.begin(Work {
        by: request.current_user()?.email.clone(),
        upload: None,
        batch: Some(id),
        name: batch.file_name,
        phase: Phase::TakingBack,
        done: 0,
        total: count(rows),
        stop: stop.clone(),
    })?;
    let (ctx, console) = (request.context(), Arc::clone(&request.console));
    tokio::task::spawn_blocking(move || {
        let _busy = busy;
        let undone = undo(&console.store, ctx, id, stop.clone(), |undo| {
            uploads.tell(|work| work.done = count(undo.removed + undo.restored + undo.left));
        });
        if undone.is_ok() {
            uploads.forget_batch(id);
        }
        let outcome = undone.map(|undo| {
            BatchOutcome::TakenBack(TakenBack {
                removed: count(undo.removed),
                restored: count(undo.restored),
                left: count(undo.left),
                told: undo.listed.into_iter().take(TOLD_MAX).collect(),
                finished: !stop.is_stopped(),
            })
        });
        uploads.keep(id, outcome.unwrap_or_else(failed));
    });
    Ok(())
}

/// Begins to join all delegates of a batch with a device.
pub fn begin_join(request: &RequestContext, id: i64, device: DeviceId) -> Result<()> {
    let (batch, name) = request.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        devices::find(connection, &DeviceSelector::Id(device))?;
        Ok((batch, devices::called(connection, device)?))
    })?;
    let stop = Stop::default();
    let uploads = Arc::clone(&request.console.imports);
    let busy = uploads.begin(Work {
        by: request.current_user()?.email.clone(),
        upload: None,
        batch: Some(id),
        name: batch.file_name,
        phase: Phase::Joining,
        done: 0,
        total: count(batch.done),
        stop: stop.clone(),
    })?;
    let (ctx, console) = (request.context(), Arc::clone(&request.console));
    tokio::task::spawn_blocking(move || {
        let _busy = busy;
        let joined = join_all(&console.store, ctx, id, device, stop, |join| {
            uploads.tell(|work| work.done = count(join.joined + join.skipped));
        });
        let outcome = joined.map(|join| {
            BatchOutcome::Joined(Joined {
                device: name,
                joined: count(join.joined),
                skipped: count(join.skipped),
                finished: join.finished,
            })
        });
        uploads.keep(id, outcome.unwrap_or_else(failed));
    });
    Ok(())
}
