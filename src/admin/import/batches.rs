//! What was imported: each batch with who, when and how far, and taking it back.

use super::{
    Work,
    glance::words,
    uploads::{BatchOutcome, Joined, Phase, TakenBack},
    wizard::Progress,
    work,
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::audit,
    domain::{
        delegates::overview,
        devices::{self, Offer},
        interactions::rows,
    },
    ops::import::{
        Batch, What,
        batches::{self, State},
    },
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

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
    devices: Vec<Offer>,
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

/// A record that an undone import could not take back.
struct Left {
    name: String,
    path: Option<String>,
    reason: Option<String>,
}

impl Line {
    fn read(connection: &Connection, batch: Batch, work: Option<&Work>) -> Result<Self> {
        let work = work.filter(|work| work.batch == Some(batch.id));
        let state = match work.map(|work| work.phase) {
            Some(Phase::TakingBack) => State::BeingTakenBack,
            Some(Phase::Checking | Phase::Writing) => State::Running,
            Some(Phase::Joining) | None => batch.state(),
        };
        Ok(Self {
            who: audit::actor_name(connection, &batch.actor)?,
            done: i64::try_from(batch.done).unwrap_or(i64::MAX),
            total: i64::try_from(batch.total).unwrap_or(i64::MAX),
            state,
            batch,
        })
    }

    fn tag(&self) -> &'static str {
        match self.state {
            State::Complete => "tag good",
            State::Interrupted | State::PartlyTakenBack => "tag warn",
            _ => "tag",
        }
    }

    fn is(&self, state: State) -> bool {
        self.state == state
    }

    /// Whether there is something to take back, and nobody who does.
    fn can_be_undone(&self) -> bool {
        matches!(
            self.state,
            State::Complete | State::Interrupted | State::PartlyTakenBack
        )
    }
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let before = request.query.number("before")?.unwrap_or(i64::MAX);
    let work = request.console.imports.work();
    let rows = request
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
    let (taken_back, joined, failed) = match request.console.imports.outcome(id) {
        Some(BatchOutcome::TakenBack(taken_back)) => (Some(taken_back), None, None),
        Some(BatchOutcome::Joined(joined)) => (None, Some(joined), None),
        Some(BatchOutcome::Failed(failed)) => (None, None, Some(failed)),
        None => (None, None, None),
    };
    let reasons = taken_back.clone();
    let (line, rows_left, settings, left, devices) = request
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
                devices::offers(connection)?
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
        joined: joined.filter(|_| progress.is_none() && line.is(State::Complete)),
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
    let device = |id| devices::called(connection, DeviceId(id));
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

/// An attendee with the barcode.
fn named(line: overview::Line) -> String {
    match line.barcode {
        Some(barcode) => format!("{} ({barcode})", line.name),
        None => line.name,
    }
}

/// What could not be taken back, by name.
fn left(connection: &Connection, batch: &Batch, reasons: Option<&TakenBack>) -> Result<Vec<Left>> {
    let records = batches::records(connection, batch.id, NAMED_MAX)?;
    records
        .into_iter()
        .map(|id| {
            let (name, folder) = match batch.what {
                What::Delegates => {
                    let line = overview::lines(connection, &[id])?.pop();
                    (line.map(named), "delegates")
                }
                What::Devices => (devices::name_of(connection, DeviceId(id))?, "devices"),
                What::Interactions => {
                    let found = rows::find(connection, id)?;
                    (found.map(|found| found.kind), "interactions")
                }
            };
            let reason = reasons.and_then(|back| back.told.iter().find(|one| one.record == id));
            Ok(Left {
                path: name.as_ref().map(|_| format!("/console/{folder}/{id}")),
                name: name
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| format!("{} {id}", batch.what.name())),
                reason: reason.map(|one| one.reason.clone()),
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
    let begun = work::begin_undo(&request, id);
    after(&request, id, begun).await
}

pub(super) async fn join(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let device = request.form.number("device").and_then(|device| {
        device
            .map(DeviceId)
            .ok_or_else(|| Error::invalid("choose what the attendees are joined with"))
    });
    let begun = device.and_then(|device| work::begin_join(&request, id, device));
    after(&request, id, begun).await
}

/// The page once work was begun, or with what kept it from that.
async fn after(request: &RequestContext, id: i64, begun: Result<()>) -> Result<Response> {
    match begun {
        Ok(()) => Ok(answer::go(&path(id))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&page(request, Some(failure)).await?)
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
