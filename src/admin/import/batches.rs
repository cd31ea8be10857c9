//! The history of imports, and one of them: what it did, and taking it back.

use super::{Progress, batch_path, device_input, failure};
use crate::{
    admin::{
        Area, Layout, RequestContext, answer, engine::Input, interactions::activity::counts,
        layout::number,
    },
    core::{Context, audit, texts},
    db::Store,
    domain::{
        delegates::{self, overview},
        devices::{
            self, Offer,
            programme::{self, Session},
        },
        interactions::{log::Counts, rows},
        messages::{State as MessageState, list as outbox},
    },
    ops::import::{
        Batch, Stop, What,
        batches::{self, State},
        join::join_all,
        undo as take_back,
        uploads::{Outcome, Phase, Work},
    },
    ops::mailing,
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
    counts: Counts,
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
    outcome: Option<Outcome>,
    devices: Vec<Offer>,
    failure: Option<String>,
    left: Vec<LeftRecord>,
    /// How many of its messages are in each state.
    messages: Vec<(MessageState, i64)>,
    /// Attendees who were refused: names and reasons.
    refused: Vec<(i64, String, String)>,
    /// Imported sessions that share a room with others at the same time.
    overlapping: Vec<Session>,
}

impl BatchPage {
    /// Tells whether messages of the list wait.
    fn waits(&self) -> bool {
        let mut states = self.messages.iter();
        states.any(|(state, _)| matches!(state, MessageState::Waiting | MessageState::Sending))
    }

    fn may_undo(&self) -> bool {
        may_undo(&self.layout, &self.row.batch) && self.row.can_be_undone()
    }

    fn unnamed(&self) -> i64 {
        self.rows_left - i64::try_from(self.left.len()).unwrap_or(i64::MAX)
    }

    fn join_input(&self) -> Input {
        device_input("device", "Register for", "Choose …", &self.devices, None).required()
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
            Some(Phase::Checking | Phase::Writing | Phase::Acting) => State::Running,
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

    /// Tells whether something was done to many attendees, and nothing imported.
    fn is_action(&self) -> bool {
        self.batch.options.action.is_some()
    }

    fn is(&self, state: State) -> bool {
        self.state == state
    }

    fn can_be_undone(&self) -> bool {
        if self.batch.is_message() {
            return false;
        }
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
    let ctx = request.context();
    let (mut rows, counts) = request
        .read(move |connection| {
            let found = batches::older(connection, before, PAGE + 1)?.into_iter();
            let rows = found.map(|batch| BatchRow::read(connection, batch, work.as_ref()));
            Ok((rows.collect::<Result<Vec<_>>>()?, counts(connection, &ctx)?))
        })
        .await?;
    let more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    answer::page(&ListPage {
        layout: request.layout("Import history", Some(Area::Interactions)),
        before: rows.last().filter(|_| more).map(|last| last.batch.id),
        rows,
        counts,
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None).await?)
}

async fn page(request: &RequestContext, failure: Option<String>) -> Result<BatchPage> {
    let id = request.id("id")?;
    let progress = Progress::of(request, batch_path(id));
    let work = progress.as_ref().map(|progress| progress.work.clone());
    let uploads = &request.console.imports;
    let outcome = uploads.outcome(id).filter(|_| progress.is_none());
    let mut waiting = uploads.waiting().into_iter();
    let kept = waiting.find(|list| list.batch() == Some(id) && list.can_go_on());
    let layout = request.layout(&format!("Import {id}"), Some(Area::Interactions));
    let mut page = request
        .read(move |connection| {
            let batch = batches::find(connection, id).map_err(|cause| match cause.kind {
                Kind::Invalid => Error::new(Kind::NoSuchPath, cause.to_string()),
                _ => cause,
            })?;
            let row = BatchRow::read(connection, batch, work.as_ref())?;
            let can_join = row.batch.what == What::Delegates
                && row.is(State::Complete)
                && row.batch.options.action.is_none();
            let mut page = BatchPage {
                layout,
                settings: settings(connection, &row.batch)?,
                kept: kept.map(|list| list.id),
                rows_left: 0,
                left: Vec::new(),
                devices: Vec::new(),
                messages: messages(connection, &row.batch)?,
                refused: refused(connection, id)?,
                overlapping: Vec::new(),
                row,
                progress,
                outcome,
                failure,
            };
            if page.row.batch.undone_at.is_some() && work.is_none() {
                page.rows_left = count(batches::rows_left(connection, id)?);
                page.left = left(connection, &page.row.batch, page.outcome.as_ref())?;
            }
            if page.row.batch.what == What::Devices && page.row.is(State::Complete) {
                let made = batches::records(connection, id, u32::MAX)?;
                page.overlapping = programme::overlapping(connection, &made.into_iter().collect())?;
                page.overlapping.truncate(NAMED_MAX as usize);
            }
            if can_join && work.is_none() {
                page.devices = devices::offers(connection)?;
            }
            Ok(page)
        })
        .await?;
    page.layout.title = match &page.row.batch.options.action {
        Some(_) => texts::say(&page.row.batch.file_name),
        None => format!("Import {id}: {}", page.row.batch.file_name),
    };
    Ok(page)
}

fn settings(connection: &Connection, batch: &Batch) -> Result<Vec<(&'static str, String)>> {
    let device = |id: Option<i64>| {
        id.map(|id| devices::called(connection, DeviceId(id)))
            .transpose()
    };
    let options = &batch.options;
    let when = |is_set: bool, text: &str| is_set.then(|| texts::say(text));
    let for_device = device(batch.device.map(|device| device.0))?;
    let settings = [
        ("Rows matched by", options.key.as_deref().map(label)),
        ("Everybody registered for", device(options.join)?),
        ("For the device", for_device),
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

/// Counts the messages of a list in each state.
fn messages(connection: &Connection, batch: &Batch) -> Result<Vec<(MessageState, i64)>> {
    let Some(after) = batch.options.after_message else {
        return Ok(Vec::new());
    };
    let counts = outbox::counts_of_list(connection, &mailing::origin(batch.id), after)?;
    let all = MessageState::ALL.iter();
    let all = all.filter_map(|state| Some((*state, *counts.get(state)?)));
    Ok(all.collect())
}

/// Those who were refused, with their names.
fn refused(connection: &Connection, id: i64) -> Result<Vec<(i64, String, String)>> {
    let refused = batches::refusals(connection, id)?.into_iter();
    let named = refused.map(|(attendee, reason)| {
        let name = delegates::name_of(connection, attendee.0)?.unwrap_or_default();
        Ok((attendee.0, name, answer::capital(&reason)))
    });
    named.collect()
}

/// The records that were not taken back, with the reasons that are known.
fn left(
    connection: &Connection,
    batch: &Batch,
    outcome: Option<&Outcome>,
) -> Result<Vec<LeftRecord>> {
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
        let mut reasons = outcome.iter().flat_map(|outcome| &outcome.left);
        Ok(LeftRecord {
            path: name.as_ref().map(|_| format!("/console/{folder}/{id}")),
            name: name
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| format!("{} {id}", batch.what.name())),
            reason: reasons
                .find(|one| one.record == id)
                .map(|one| one.reason.clone()),
        })
    };
    let records = batches::records(connection, batch.id, NAMED_MAX)?;
    records.into_iter().map(record).collect()
}

/// Works on a batch in the background, and goes to its page; `work` tells how many rows are done.
pub(in crate::admin) fn work_on_batch<W>(
    request: &RequestContext,
    phase: Phase,
    (batch, rows): (Batch, u64),
    work: W,
) -> Result<Response>
where
    W: FnOnce(&Store, Context, Stop, &dyn Fn(u64)) -> Result<Outcome> + Send + 'static,
{
    let uploads = Arc::clone(&request.console.imports);
    let stop = Stop::default();
    let busy = uploads.begin(Work {
        by: request.current_user()?.email.clone(),
        upload: None,
        batch: Some(batch.id),
        name: batch.file_name,
        phase,
        done: 0,
        total: count(rows),
        stop: stop.clone(),
    })?;
    let (ctx, console) = (request.context(), Arc::clone(&request.console));
    tokio::task::spawn_blocking(move || {
        let _busy = busy;
        let on_rows = |done| uploads.progress(|work| work.done = count(done));
        let outcome = work(&console.store, ctx, stop, &on_rows);
        uploads.keep(
            batch.id,
            outcome.unwrap_or_else(|cause| Outcome::failed(&cause)),
        );
    });
    Ok(answer::go(&batch_path(batch.id)))
}

/// As [`work_on_batch`]; what keeps it from beginning is told on the page of the batch.
async fn begin<W>(
    request: &RequestContext,
    phase: Phase,
    begun: Result<(Batch, u64, W)>,
) -> Result<Response>
where
    W: FnOnce(&Store, Context, Stop, &dyn Fn(u64)) -> Result<Outcome> + Send + 'static,
{
    let begun =
        begun.and_then(|(batch, rows, work)| work_on_batch(request, phase, (batch, rows), work));
    match begun {
        Err(cause) => answer::form_again(&page(request, Some(failure(cause)?)).await?),
        begun => begun,
    }
}

/// Tells whether a user may take a batch back: an administrator all of them, an operator what they did to many
/// attendees themselves.
fn may_undo(layout: &Layout, batch: &Batch) -> bool {
    let user = layout.current_user.as_ref().map(|user| user.user);
    let is_own = user.is_some_and(|user| batch.actor == format!("user:{user}"));
    layout.administers() || (batch.options.action.is_some() && is_own && layout.operates())
}

pub(super) async fn undo(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let batch = request.look_up(|connection| batches::find(connection, id));
    if batch.is_ok_and(|batch| !may_undo(&request.layout("", None), &batch)) {
        return Err(Error::new(
            Kind::Forbidden,
            "this needs the role administrator, or to be your own work on many attendees",
        ));
    }
    let found = request.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        let rows = match batch.undone_at {
            Some(_) if !batch.has_rows => {
                return Err(Error::invalid(format!("import {id} is taken back already")));
            }
            Some(_) => batches::rows_left(connection, id)?,
            None => batch.done,
        };
        Ok((batch, rows))
    });
    let uploads = Arc::clone(&request.console.imports);
    let work = move |store: &Store, ctx, stop: Stop, on_rows: &dyn Fn(u64)| {
        let undo = take_back(store, ctx, id, stop.clone(), |undo| {
            on_rows(undo.removed + undo.restored + undo.left);
        })?;
        uploads.forget(|list| list.batch() == Some(id) && list.can_go_on());
        let stopped = stop.is_stopped();
        let message = format!(
            "{}{} removed permanently, {} put back to what they were, {} left as they are.",
            if stopped { "Stopped. So far: " } else { "" },
            number(count(undo.removed)),
            number(count(undo.restored)),
            number(count(undo.left)),
        );
        Ok(Outcome {
            left: undo.listed.into_iter().take(LEFT_MAX).collect(),
            ..Outcome::new(message, !stopped && undo.left == 0)
        })
    };
    let begun = found.map(|(batch, rows)| (batch, rows, work));
    begin(&request, Phase::TakingBack, begun).await
}

pub(super) async fn join(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let chosen = request.form.number("device").and_then(|device| {
        device
            .map(DeviceId)
            .ok_or_else(|| Error::invalid("choose what to register the attendees for"))
    });
    let found = chosen.and_then(|device| {
        request.look_up(|connection| {
            let batch = batches::find(connection, id)?;
            devices::find(connection, &DeviceSelector::Id(device))?;
            Ok((batch, device, devices::called(connection, device)?))
        })
    });
    let begun = found.map(|(batch, device, name)| {
        let rows = batch.done;
        let work = move |store: &Store, ctx, stop, on_rows: &dyn Fn(u64)| {
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
            let message = format!(
                "{}{} attendees registered for {name}{skipped}.",
                if join.finished { "" } else { "Stopped. " },
                number(count(join.joined)),
            );
            Ok(Outcome::new(message, join.finished))
        };
        (batch, rows, work)
    });
    begin(&request, Phase::Joining, begun).await
}
