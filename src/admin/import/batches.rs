//! The history of imports, and one of them: what it did, and taking it back.

use super::Progress;
use crate::{
    admin::{
        Area, Layout, RequestContext, answer,
        engine::{self, Input},
        layout::number,
    },
    core::{Context, audit},
    db::Store,
    domain::{
        delegates::overview,
        devices::{self, Offer},
        interactions::rows,
    },
    ops::import::{
        Batch, Left, Stop, What,
        batches::{self, State},
        join::join_all,
        undo as take_back,
        uploads::{BatchOutcome, OutcomeKind, Phase, Work},
    },
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
        text::label,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use std::sync::Arc;

/// Imports on a page.
const PAGE: u32 = 50;
/// Records that are named.
const NAMED_MAX: u32 = 100;
/// Reasons that are kept.
const LEFT_MAX: usize = 200;

#[derive(Template)]
#[template(path = "import/batches.html")]
struct ListPage {
    layout: Layout,
    rows: Vec<BatchRow>,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "import/batch.html")]
struct BatchPage {
    layout: Layout,
    row: BatchRow,
    settings: Vec<(&'static str, String)>,
    /// The upload that the rest can be written from.
    kept: Option<i64>,
    rows_left: i64,
    progress: Option<Progress>,
    outcome: Option<BatchOutcome>,
    devices: Vec<Offer>,
    failure: Option<String>,
    left: Vec<LeftRecord>,
}

impl BatchPage {
    fn unnamed(&self) -> i64 {
        self.rows_left - i64::try_from(self.left.len()).unwrap_or(i64::MAX)
    }

    fn join_input(&self) -> Input {
        let devices = self.devices.iter();
        let devices = devices.map(|device| (device.id.to_string(), device.with_type()));
        let choose = (String::new(), "Choose …".to_owned());
        let all = [choose].into_iter().chain(devices);
        Input::select("device", "Register for", engine::choices(all, "")).required()
    }

    fn notice(&self) -> &'static str {
        match self.outcome.as_ref().map(|outcome| outcome.kind) {
            Some(OutcomeKind::Failed) => "notice bad",
            Some(OutcomeKind::Partial) => "notice warn",
            _ => "notice good",
        }
    }
}

struct BatchRow {
    batch: Batch,
    who: String,
    done: i64,
    total: i64,
    state: State,
}

/// A record that was not taken back.
struct LeftRecord {
    name: String,
    path: Option<String>,
    reason: Option<String>,
}

impl BatchRow {
    fn read(connection: &Connection, batch: Batch, work: Option<&Work>) -> Result<Self> {
        let work = work.filter(|work| work.batch == Some(batch.id));
        let state = match work.map(|work| work.phase) {
            Some(Phase::TakingBack) => State::BeingTakenBack,
            Some(Phase::Checking | Phase::Writing) => State::Running,
            Some(Phase::Joining) | None => batch.state(),
        };
        Ok(Self {
            who: audit::actor_name(connection, &batch.actor)?,
            done: count(batch.done),
            total: count(batch.total),
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

    fn can_be_undone(&self) -> bool {
        let states = [State::Complete, State::Interrupted, State::PartlyTakenBack];
        states.contains(&self.state)
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let before = request.query.number("before")?.unwrap_or(i64::MAX);
    let work = request.console.imports.work();
    let mut rows = request
        .read(move |connection| {
            let found = batches::older(connection, before, PAGE + 1)?;
            found
                .into_iter()
                .map(|batch| BatchRow::read(connection, batch, work.as_ref()))
                .collect::<Result<Vec<_>>>()
        })
        .await?;
    let more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    answer::page(&ListPage {
        layout: request.layout("Import history", Some(Area::Interactions)),
        before: rows.last().filter(|_| more).map(|last| last.batch.id),
        rows,
    })
}

fn path(id: i64) -> String {
    format!("/console/import/batches/{id}")
}

fn progress_of(request: &RequestContext, id: i64) -> Option<Progress> {
    Progress::new(request, &path(id), |work| work.batch == Some(id))
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None).await?)
}

async fn page(request: &RequestContext, failure: Option<String>) -> Result<BatchPage> {
    let id = request.id("id")?;
    let progress = progress_of(request, id);
    let work = progress.as_ref().map(|progress| progress.work.clone());
    let outcome = request.console.imports.outcome(id);
    let outcome = outcome.filter(|_| progress.is_none());
    let reasons = outcome.as_ref().map(|outcome| outcome.left.clone());
    let layout = request.layout(&format!("Import {id}"), Some(Area::Interactions));
    let kept = request.console.imports.rest_of(id);
    let mut page = request
        .read(move |connection| {
            let batch = batches::find(connection, id).map_err(|cause| match cause.kind {
                Kind::Invalid => Error::new(Kind::NoSuchPath, cause.message),
                _ => cause,
            })?;
            let is_undone = batch.undone_at.is_some();
            let can_join = batch.what == What::Delegates && batch.finished_at.is_some();
            Ok(BatchPage {
                rows_left: if is_undone {
                    count(batches::rows_left(connection, id)?)
                } else {
                    0
                },
                settings: settings(connection, &batch)?,
                left: if is_undone && work.is_none() {
                    left(connection, &batch, &reasons.unwrap_or_default())?
                } else {
                    Vec::new()
                },
                devices: if can_join && work.is_none() {
                    devices::offers(connection)?
                } else {
                    Vec::new()
                },
                row: BatchRow::read(connection, batch, work.as_ref())?,
                layout,
                kept,
                progress,
                outcome,
                failure,
            })
        })
        .await?;
    page.layout.title = format!("Import {id}: {}", page.row.batch.file_name);
    Ok(page)
}

fn settings(connection: &Connection, batch: &Batch) -> Result<Vec<(&'static str, String)>> {
    let device = |id: Option<i64>| {
        id.map(|id| devices::called(connection, DeviceId(id)))
            .transpose()
    };
    let options = &batch.options;
    let when = |is_set: bool, text: &str| is_set.then(|| text.to_owned());
    let settings = [
        ("Rows matched by", options.key.as_deref().map(label)),
        ("Everybody registered for", device(options.join)?),
        (
            "For the device",
            device(batch.device.map(|device| device.0))?,
        ),
        ("Sheet", options.sheet.clone()),
        ("Encoding", options.encoding.clone()),
        (
            "Ticket codes",
            when(options.make_codes, "generated where missing"),
        ),
        ("Bad rows", when(options.skip_bad, "left out")),
    ];
    let settings = settings.into_iter();
    Ok(settings
        .filter_map(|(name, value)| Some((name, value?)))
        .collect())
}

/// The records that were not taken back, with the reasons that are known.
fn left(connection: &Connection, batch: &Batch, reasons: &[Left]) -> Result<Vec<LeftRecord>> {
    let records = batches::records(connection, batch.id, NAMED_MAX)?;
    let record = |id| {
        let (name, folder) = match batch.what {
            What::Delegates => {
                let line = overview::lines(connection, &[id])?.pop();
                let name = line.map(|line| match line.barcode {
                    Some(barcode) => format!("{} ({barcode})", line.name),
                    None => line.name,
                });
                (name, "delegates")
            }
            What::Devices => (devices::name_of(connection, DeviceId(id))?, "devices"),
            What::Interactions => {
                let found = rows::find(connection, id)?;
                (found.map(|found| found.kind), "interactions")
            }
        };
        let reason = reasons.iter().find(|one| one.record == id);
        Ok(LeftRecord {
            path: name.as_ref().map(|_| format!("/console/{folder}/{id}")),
            name: name
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| format!("{} {id}", batch.what.name())),
            reason: reason.map(|one| one.reason.clone()),
        })
    };
    records.into_iter().map(record).collect()
}

pub(super) async fn progress(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    super::progress(&request, progress_of(&request, id), &path(id))
}

pub(super) async fn cancel(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    Ok(super::cancel(
        &request,
        progress_of(&request, id),
        &path(id),
    ))
}

/// Works on a batch in the background; `work` tells how many rows are done.
fn begin<W>(request: &RequestContext, batch: Batch, phase: Phase, total: i64, work: W) -> Result<()>
where
    W: FnOnce(&Store, Context, Stop, &dyn Fn(u64)) -> Result<BatchOutcome> + Send + 'static,
{
    let stop = Stop::default();
    let uploads = Arc::clone(&request.console.imports);
    let busy = uploads.begin(Work {
        by: request.current_user()?.email.clone(),
        upload: None,
        batch: Some(batch.id),
        name: batch.file_name,
        phase,
        done: 0,
        total,
        stop: stop.clone(),
    })?;
    let (ctx, console) = (request.context(), Arc::clone(&request.console));
    tokio::task::spawn_blocking(move || {
        let _busy = busy;
        let on_rows = |done| uploads.progress(|work| work.done = count(done));
        let outcome = work(&console.store, ctx, stop, &on_rows);
        let outcome = outcome.unwrap_or_else(|cause| BatchOutcome::failed(&cause));
        uploads.keep(batch.id, outcome);
    });
    Ok(())
}

pub(super) async fn undo(request: RequestContext) -> Result<Response> {
    let begun = begin_undo(&request);
    after(&request, begun).await
}

fn begin_undo(request: &RequestContext) -> Result<()> {
    let id = request.id("id")?;
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
    let uploads = Arc::clone(&request.console.imports);
    begin(
        request,
        batch,
        Phase::TakingBack,
        count(rows),
        move |store, ctx, stop, on_rows| {
            let undo = take_back(store, ctx, id, stop.clone(), |undo| {
                on_rows(undo.removed + undo.restored + undo.left);
            })?;
            uploads.forget_batch(id);
            let stopped = stop.is_stopped();
            Ok(BatchOutcome {
                message: format!(
                    "{}{} removed permanently, {} put back to what they were, {} left as they are.",
                    if stopped { "Stopped. So far: " } else { "" },
                    number(count(undo.removed)),
                    number(count(undo.restored)),
                    number(count(undo.left)),
                ),
                kind: if stopped || undo.left > 0 {
                    OutcomeKind::Partial
                } else {
                    OutcomeKind::Done
                },
                left: undo.listed.into_iter().take(LEFT_MAX).collect(),
            })
        },
    )
}

pub(super) async fn join(request: RequestContext) -> Result<Response> {
    let begun = begin_join(&request);
    after(&request, begun).await
}

fn begin_join(request: &RequestContext) -> Result<()> {
    let id = request.id("id")?;
    let device = request.form.number("device")?.map(DeviceId);
    let device =
        device.ok_or_else(|| Error::invalid("choose what to register the attendees for"))?;
    let (batch, name) = request.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        devices::find(connection, &DeviceSelector::Id(device))?;
        Ok((batch, devices::called(connection, device)?))
    })?;
    let total = count(batch.done);
    begin(
        request,
        batch,
        Phase::Joining,
        total,
        move |store, ctx, stop, on_rows| {
            let join = join_all(store, ctx, id, device, stop, |join| {
                on_rows(join.joined + join.skipped);
            })?;
            let skipped = match join.skipped {
                0 => String::new(),
                skipped => format!(
                    "; {} skipped: registered before, or deleted",
                    number(count(skipped))
                ),
            };
            Ok(BatchOutcome {
                message: format!(
                    "{}{} attendees registered for {name}{skipped}.",
                    if join.finished { "" } else { "Stopped. " },
                    number(count(join.joined)),
                ),
                kind: if join.finished {
                    OutcomeKind::Done
                } else {
                    OutcomeKind::Partial
                },
                left: Vec::new(),
            })
        },
    )
}

async fn after(request: &RequestContext, begun: Result<()>) -> Result<Response> {
    match begun {
        Ok(()) => Ok(answer::go(&path(request.id("id")?))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = answer::sentence(&cause.message);
            answer::form_again(&page(request, Some(failure)).await?)
        }
    }
}
