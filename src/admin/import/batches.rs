//! What was imported: each batch with who, when and how far, and taking it back.

use super::{
    Work,
    glance::words,
    uploads::{Joined, Phase, TakenBack},
    wizard::{Device, Progress, devices},
    work,
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    ops::import::{Batch, What, batches},
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};

/// Batches on a page.
const PAGE: u32 = 50;
/// Records that are named one by one.
const NAMED_MAX: u32 = 100;

#[derive(Template)]
#[template(path = "import/batches.html")]
struct ListPage {
    layout: Layout,
    rows: Vec<Line>,
    /// The page after this one begins below this batch.
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "import/batch.html")]
struct BatchPage {
    layout: Layout,
    line: Line,
    settings: Vec<(&'static str, String)>,
    /// The list that the rest can be written from, where it is kept.
    kept: Option<i64>,
    /// Rows that could not be taken back.
    rows_left: i64,
    progress: Option<Progress>,
    /// What taking it back came to.
    taken_back: Option<TakenBack>,
    /// What joining its delegates came to.
    joined: Option<Joined>,
    /// The devices that its delegates can be joined with.
    devices: Vec<Device>,
    failure: Option<String>,
    /// What could not be taken back, by name.
    left: Vec<Left>,
}

impl BatchPage {
    /// Of what could not be taken back, how much is not named.
    fn unnamed(&self) -> i64 {
        self.rows_left - i64::try_from(self.left.len()).unwrap_or(i64::MAX)
    }
}

/// A batch as it is shown.
struct Line {
    batch: Batch,
    who: String,
    done: i64,
    total: i64,
    state: State,
}

/// Where a batch stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Complete,
    Interrupted,
    BeingTakenBack,
    TakenBack,
    PartlyTakenBack,
}

/// A record that an undone import could not take back.
struct Left {
    name: String,
    path: Option<String>,
    reason: Option<&'static str>,
}

impl State {
    fn of(batch: &Batch, rows_left: u64, work: Option<&Work>) -> Self {
        let works = work.is_some_and(|work| work.batch == Some(batch.id));
        match (batch.undone_at, batch.finished_at) {
            _ if works && work.is_some_and(|work| work.phase == Phase::TakingBack) => {
                Self::BeingTakenBack
            }
            _ if works && work.is_some_and(|work| work.upload.is_some()) => Self::Running,
            (Some(_), _) if rows_left > 0 => Self::PartlyTakenBack,
            (Some(_), _) => Self::TakenBack,
            (None, Some(_)) => Self::Complete,
            (None, None) => Self::Interrupted,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::BeingTakenBack => "being taken back",
            Self::TakenBack => "taken back",
            Self::PartlyTakenBack => "taken back in part",
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Complete => "tag good",
            Self::Interrupted | Self::PartlyTakenBack => "tag warn",
            _ => "tag",
        }
    }

    fn is_interrupted(self) -> bool {
        self == Self::Interrupted
    }

    /// Whether there is something to take back, and nobody who does.
    fn can_be_undone(self) -> bool {
        matches!(
            self,
            Self::Complete | Self::Interrupted | Self::PartlyTakenBack
        )
    }

    fn is_complete(self) -> bool {
        self == Self::Complete
    }

    fn is_partly_undone(self) -> bool {
        self == Self::PartlyTakenBack
    }
}

impl Line {
    fn read(connection: &Connection, batch: Batch, work: Option<&Work>) -> Result<Self> {
        // Of a batch that stands, rows need not be counted: it has hundreds of thousands.
        let left = match batch.undone_at {
            Some(_) => u64::from(!batches::records(connection, batch.id, 1)?.is_empty()),
            None => 1,
        };
        Ok(Self {
            who: who(connection, &batch.actor)?,
            done: i64::try_from(batch.done).unwrap_or(i64::MAX),
            total: i64::try_from(batch.total).unwrap_or(i64::MAX),
            state: State::of(&batch, left, work),
            batch,
        })
    }
}

/// Who an actor of the audit is.
fn who(connection: &Connection, actor: &str) -> Result<String> {
    let Some(user) = actor.strip_prefix("user:") else {
        return Ok("the command line".into());
    };
    let email: Option<String> = connection
        .prepare_cached("SELECT email FROM users WHERE id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    Ok(email.unwrap_or_else(|| format!("user {user}, who is gone")))
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let before = request.query.number("before")?.unwrap_or(i64::MAX);
    let work = request.console.imports.work();
    let rows = request
        .console
        .store
        .read(move |connection| {
            let found = batches::older(connection, before, PAGE + 1)?;
            found
                .into_iter()
                .map(|batch| Line::read(connection, batch, work.as_ref()))
                .collect::<Result<Vec<_>>>()
        })
        .await?;
    let page = PAGE as usize;
    let more = rows.len() > page;
    let rows: Vec<Line> = rows.into_iter().take(page).collect();
    answer::page(&ListPage {
        layout: request.layout("Import history", Some(Area::Interactions)),
        before: rows.last().filter(|_| more).map(|last| last.batch.id),
        rows,
    })
}

fn path(id: i64) -> String {
    format!("/console/import/batches/{id}")
}

fn work_on(request: &RequestContext, id: i64) -> Option<Work> {
    let work = request.console.imports.work();
    work.filter(|work| work.batch == Some(id))
}

fn progress_of(request: &RequestContext, id: i64) -> Option<Progress> {
    let operates = request.layout("", None).operates();
    let work = work_on(request, id)?;
    Some(Progress {
        layout: request.layout("", None),
        path: path(id),
        stoppable: operates,
        work,
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None).await?)
}

async fn page(request: &RequestContext, failure: Option<String>) -> Result<BatchPage> {
    let id = request.id("id")?;
    let progress = progress_of(request, id);
    let work = progress.as_ref().map(|progress| progress.work.clone());
    let remembered = request.console.imports.taken_back(id);
    let (taken_back, failed) = match remembered {
        Some(Ok(taken_back)) => (Some(taken_back), None),
        Some(Err(failed)) => (None, Some(failed)),
        None => (None, None),
    };
    let (joined, not_joined) = match request.console.imports.joined(id) {
        Some(Ok(joined)) => (Some(joined), None),
        Some(Err(failed)) => (None, Some(failed)),
        None => (None, None),
    };
    let failed = failed.or(not_joined);
    let reasons = taken_back.clone();
    let (line, rows_left, settings, left, devices) = request
        .console
        .store
        .read(move |connection| {
            let batch = batches::find(connection, id).map_err(|cause| match cause.kind {
                Kind::Invalid => Error::new(Kind::NoSuchPath, cause.message),
                _ => cause,
            })?;
            // Those of a batch that stands need not be counted: they may be very many.
            let rows_left = match batch.undone_at {
                Some(_) => batches::rows_left(connection, id)?,
                None => 0,
            };
            let settings = settings(connection, &batch)?;
            let undone = batch.undone_at.is_some() && work.is_none();
            let left = if undone {
                left(connection, &batch, reasons.as_ref())?
            } else {
                Vec::new()
            };
            let can_join = batch.what == What::Delegates && batch.finished_at.is_some();
            let devices = if can_join && work.is_none() {
                devices(connection)?
            } else {
                Vec::new()
            };
            let line = Line::read(connection, batch, work.as_ref())?;
            Ok((line, rows_left, settings, left, devices))
        })
        .await?;
    let title = format!("Import {id}: {}", line.batch.file_name);
    Ok(BatchPage {
        layout: request.layout(&title, Some(Area::Interactions)),
        kept: request.console.imports.rest_of(id),
        rows_left: i64::try_from(rows_left).unwrap_or(i64::MAX),
        failure: failure.or(failed.filter(|_| progress.is_none())),
        taken_back: taken_back.filter(|_| progress.is_none()),
        joined: joined.filter(|_| progress.is_none() && line.state.is_complete()),
        devices,
        line,
        settings,
        progress,
        left,
    })
}

/// How it was asked for.
fn settings(connection: &Connection, batch: &Batch) -> Result<Vec<(&'static str, String)>> {
    let mut settings = Vec::new();
    let device = |id: i64| -> Result<String> {
        let name: Option<String> = connection
            .prepare_cached("SELECT coalesce(name, code) FROM devices WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(name.unwrap_or_else(|| id.to_string()))
    };
    if let Some(key) = &batch.options.key {
        settings.push(("Rows matched by", words(key)));
    }
    if let Some(id) = batch.options.join {
        settings.push(("Everybody joined with", device(id)?));
    }
    if let Some(id) = batch.device {
        settings.push(("For the device", device(id.0)?));
    }
    if let Some(sheet) = &batch.options.sheet {
        settings.push(("Sheet", sheet.clone()));
    }
    if let Some(encoding) = &batch.options.encoding {
        settings.push(("Encoding", encoding.clone()));
    }
    if batch.options.make_codes {
        settings.push(("Ticket codes", "made where there was none".into()));
    }
    if batch.options.skip_bad {
        settings.push(("Bad rows", "left out".into()));
    }
    Ok(settings)
}

/// What could not be taken back, by name.
fn left(connection: &Connection, batch: &Batch, reasons: Option<&TakenBack>) -> Result<Vec<Left>> {
    let (sql, folder) = match batch.what {
        What::Delegates => (
            "SELECT trim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')
                 || coalesce(' (' || barcode || ')', '')) FROM delegates WHERE id = ?1",
            "delegates",
        ),
        What::Devices => (
            "SELECT coalesce(name, code) FROM devices WHERE id = ?1",
            "devices",
        ),
        What::Interactions => (
            "SELECT interaction_type FROM interactions WHERE id = ?1",
            "interactions",
        ),
    };
    let mut statement = connection.prepare_cached(sql)?;
    let records = batches::records(connection, batch.id, NAMED_MAX)?;
    records
        .into_iter()
        .map(|id| {
            let name: Option<String> = statement.query_row([id], |row| row.get(0)).optional()?;
            let reason = reasons.and_then(|back| back.told.iter().find(|one| one.record == id));
            Ok(Left {
                path: name.as_ref().map(|_| format!("/console/{folder}/{id}")),
                name: name
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| format!("{} {id}", batch.what.name())),
                reason: reason.map(|one| one.reason),
            })
        })
        .collect()
}

pub(super) async fn progress(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    match progress_of(&request, id) {
        Some(progress) => answer::page(&progress),
        None => Ok(answer::go_whole(&request, &path(id))),
    }
}

pub(super) async fn undo(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    match work::begin_undo(&request, id) {
        Ok(()) => Ok(answer::go(&path(id))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&page(&request, Some(failure)).await?)
        }
    }
}

pub(super) async fn join(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let device = request.form.number("device").and_then(|device| {
        device
            .map(DeviceId)
            .ok_or_else(|| Error::invalid("choose what the attendees are joined with"))
    });
    match device.and_then(|device| work::begin_join(&request, id, device)) {
        Ok(()) => Ok(answer::go(&path(id))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&page(&request, Some(failure)).await?)
        }
    }
}

pub(super) async fn cancel(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if let Some(work) = work_on(&request, id) {
        work.stop.stop();
        request.flash("It stops at the next row.");
    }
    Ok(answer::go(&path(id)))
}
