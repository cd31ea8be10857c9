//! The queue of badges: what waits at which printer, what was printed, and what a person has to decide about.

use super::prelude::*;
use crate::{
    domain::{
        delegates::overview,
        printing::{
            Job, Printer, State,
            jobs::{self, Decision, NewJob},
            printers,
        },
    },
    types::{DelegateId, DeviceId},
};

const HERE: &str = "/console/printing";
const PAGE: usize = 50;
/// Usual reasons for another badge.
const REASONS: [&str; 4] = ["lost badge", "misprint", "corrected name", "damaged badge"];

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(HERE, list)
        .get("/console/printing/new", form)
        .action("/console/printing/print", print)
        .action("/console/printing/:id/decide", decide)
        .all()
}

struct Line {
    job: Job,
    who: String,
    printer: String,
}

impl Line {
    fn tone(&self) -> &'static str {
        match self.job.state {
            State::Sent => "good",
            State::Failed => "bad",
            State::Unknown => "warn",
            State::Queued | State::Sending => "",
        }
    }
}

#[derive(Template)]
#[template(path = "printing.html")]
struct Queue {
    layout: Layout,
    lines: Vec<Line>,
    /// Ids with names.
    printers: Vec<(i64, String)>,
    printer: Option<i64>,
    next: Option<i64>,
    is_newest: bool,
}

async fn list(request: RequestContext) -> Result<Response> {
    let printer = request.query.number("printer").ok().flatten();
    let from = request.query.number("from").ok().flatten();
    let read = move |connection: &Connection, layout| {
        let known = printers::all(connection)?.into_iter();
        let printers: Vec<(i64, String)> = known.map(|known| (known.id, known.is.name)).collect();
        let jobs = jobs::list(connection, printer, from, PAGE)?;
        let next = (jobs.len() == PAGE)
            .then(|| jobs.last().map(|job| job.id))
            .flatten();
        let ids: Vec<i64> = jobs.iter().map(|job| job.delegate.0).collect();
        let people = overview::lines(connection, &ids)?;
        let line = |job: Job| Line {
            who: people
                .iter()
                .find(|person| person.id == job.delegate.0)
                .map_or_else(String::new, |person| person.name.clone()),
            printer: printers
                .iter()
                .find(|(id, _)| *id == job.printer)
                .map_or_else(String::new, |(_, name)| name.clone()),
            job,
        };
        Ok(Queue {
            lines: jobs.into_iter().map(line).collect(),
            layout,
            printers: printers.clone(),
            printer,
            next,
            is_newest: from.is_none(),
        })
    };
    request.page("Printing", Area::Desk, read).await
}

/// Puts the badge of an attendee into the queue of a printer, or of the one for a place; returns the printer.
pub(super) fn ask(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    place: Option<DeviceId>,
    (printer, reason): (Option<&str>, Option<&str>),
) -> Result<Printer> {
    let printer = match printer {
        Some(name) => Some(printers::named(tx, name)?),
        None => printers::assigned(tx, None, place)?,
    };
    let printer = printer.ok_or_else(printers::none_here)?;
    let job = NewJob {
        delegate,
        place,
        trigger: None,
        reason: reason.map(ToOwned::to_owned),
    };
    jobs::add(tx, ctx, &printer, &job)?;
    Ok(printer)
}

/// The form that prints a badge: where, and why once more.
async fn form(request: RequestContext) -> Result<Response> {
    let id = request.query.number("delegate").ok().flatten();
    let id = DelegateId(id.unwrap_or_default());
    let read = move |connection: &Connection| {
        let person = overview::lines(connection, &[id.0])?.pop();
        let person = person
            .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such attendee any more"))?;
        let earlier = jobs::of_delegate(connection, id)?;
        let printers = printers::all(connection)?;
        let usual = printers::assigned(connection, None, None)?;
        Ok((person, earlier, printers, usual))
    };
    let (person, earlier, printers, usual) = request.read(read).await?;
    let usual = usual.map(|printer| printer.is.name).unwrap_or_default();
    let names = printers.into_iter().map(|printer| printer.is.name);
    let names = names.map(|name| Choice::named(name.clone(), name.clone(), name == usual));
    let printed = earlier.iter().find(|job| job.state == State::Sent);
    let help = match printed {
        Some(job) => {
            let layout = request.layout("", None);
            format!("A badge was printed at {}.", layout.clock(&job.created_at))
        }
        None => "No badge was printed yet.".to_owned(),
    };
    let inputs = vec![
        Input::hidden("delegate", &id.to_string()),
        Input::select("printer", "Printer", names),
        Input::text("reason", "Reason for another one")
            .max(jobs::REASON_MAX_CHARS)
            .offered(REASONS),
    ];
    let form = Form {
        action: "/console/printing/print".to_owned(),
        cancel: format!("/console/delegates/{id}"),
        submit: "Print".to_owned(),
        groups: vec![Group::new("", inputs).help(help)],
        ..Form::default()
    };
    engine::form_page(
        &request,
        &format!("Print the badge of {}", person.name),
        Area::Delegates,
        form,
    )
}

/// Prints the badge of an attendee.
fn print(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let delegate = action.form.number("delegate").ok().flatten();
    let delegate = DelegateId(delegate.unwrap_or_default());
    let (printer, reason) = (action.form.filled("printer"), action.form.filled("reason"));
    let printer = ask(tx, ctx, delegate, None, (printer, reason))?;
    let told = match printers::trouble(tx, &printer)? {
        Some(why) => format!(
            "The badge waits, since {} does not work now: {why}.",
            printer.is.name
        ),
        None => format!("The badge goes to {}.", printer.is.name),
    };
    Ok(Done::new(told, format!("/console/delegates/{delegate}")))
}

fn decide(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let job = jobs::get(tx, action.id)?;
    let (decision, told) = match action.form.text("do") {
        "cancel" => (Decision::Cancel, "The badge is not printed."),
        "printed" => (Decision::Printed, "Recorded as printed."),
        _ => {
            let printer = action.form.number("printer").ok().flatten();
            (
                Decision::Print(printer.unwrap_or(job.printer)),
                "The badge is in the queue.",
            )
        }
    };
    jobs::decide(tx, ctx, action.id, decision)?;
    Ok(Done::new(told, HERE))
}
