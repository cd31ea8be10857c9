//! An uploaded list: preview and choices, the check, the import, and the result.

use super::{Progress, device_input, failure, list_path};
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, answer,
        engine::{self, Input},
    },
    domain::{
        delegates::duplicates,
        devices::{self, Offer},
        interactions::{late_codes, unregistered::unregistered},
    },
    ops::import::{
        Batch, Constant, Findings, What,
        batches::{self, Options},
        choice::{HiddenRows, Numbers},
        dates::Order,
        findings::Question,
        source::Reading,
        status::{Rule, StatusRule},
        uploads::{Choice, Preview, Report, Run, Upload},
    },
    types::{
        error::{Error, Kind, Result},
        spreadsheet::csv_bytes,
        text,
    },
};
use askama::Template;
use poem::Response;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "import/list.html")]
struct ListPage {
    layout: Layout,
    failure: Option<String>,
    preview: Arc<Preview>,
    report: Option<Arc<Report>>,
    /// The import that was made of this file before.
    earlier: Option<Batch>,
    inputs: Vec<Input>,
    findings: Findings,
    upload: Upload,
}

#[derive(Template)]
#[template(path = "import/wait.html")]
struct WaitPage {
    layout: Layout,
    part: Progress,
}

#[derive(Template)]
#[template(path = "import/done.html")]
struct DonePage {
    layout: Layout,
    upload: Upload,
    report: Arc<Report>,
    /// Scans that gates refused before their codes were known.
    late: usize,
    /// Groups of attendees who are likely to be one, with somebody on this list.
    doubles: usize,
}

fn upload_of(request: &RequestContext) -> Result<Upload> {
    let id = request.id("id")?;
    request.console.imports.upload(id).ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "this list is gone: it was imported or discarded, is older than a day, or the server was restarted; upload it again",
        )
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    // Asked before the list is read: what ends in between has its report there.
    let progress = Progress::of(&request, list_path(request.id("id")?));
    let upload = upload_of(&request)?;
    let layout = request.layout(&upload.name, Some(Area::Import));
    if let Some(part) = progress {
        return answer::page(&WaitPage { layout, part });
    }
    match upload.report.clone() {
        Some(report) if report.batch.is_some() => answer::page(&DonePage {
            doubles: match report.batch.filter(|_| upload.what == What::Delegates) {
                Some(batch) => {
                    let find = move |connection: &_| duplicates::find(connection, Some(batch), 0);
                    request.read(find).await?.1
                }
                None => 0,
            },
            layout,
            upload,
            report,
            late: request.read(late_codes::find).await?.len(),
        }),
        report => {
            let failure = report.and_then(|report| report.failure.clone());
            answer::page(&ListPage::read(&request, upload, failure).await?)
        }
    }
}

impl ListPage {
    async fn read(
        request: &RequestContext,
        upload: Upload,
        failure: Option<String>,
    ) -> Result<Self> {
        let (what, list) = (upload.what, upload.preview.list.clone());
        let (earlier, devices) = request
            .read(move |connection| {
                let earlier = batches::of_list(connection, what, &list)?;
                Ok((earlier, devices::offers(connection)?))
            })
            .await?;
        let report = upload.report.clone();
        let findings = upload.preview.findings(&upload.choice);
        Ok(Self {
            layout: request.layout(&upload.name, Some(Area::Import)),
            failure,
            preview: Arc::clone(&upload.preview),
            report: report.filter(|report| report.failure.is_none()),
            inputs: inputs(&upload, &findings, &devices, earlier.is_some()),
            earlier,
            findings,
            upload,
        })
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    fn is_chosen(&self, at: &usize, value: &str) -> bool {
        let chosen = self.upload.choice.columns.get(*at);
        chosen.map_or("", String::as_str) == value
    }
}

/// The options of an import.
fn inputs(upload: &Upload, findings: &Findings, devices: &[Offer], is_again: bool) -> Vec<Input> {
    let choice = &upload.choice;
    let options = &choice.options;
    let is_of_delegates = upload.what == What::Delegates;
    let mut inputs: Vec<_> = findings.questions.iter().map(question_input).collect();
    if !upload.preview.keys.is_empty() {
        let keys = upload.preview.keys.iter();
        let keys = keys.map(|(name, label)| (*name, format!("Match by {label} and update")));
        let all = [("", "Create every row".to_owned())]
            .into_iter()
            .chain(keys);
        let all = engine::choices(all, options.key.as_deref().unwrap_or_default());
        let help = "Matched rows: empty cells change nothing. Rows without a match are created.";
        inputs.push(Input::select("key", "Rows that exist already", all).help(help));
    }
    if is_of_delegates {
        let (label, none) = ("Register everybody for", "Choose …");
        let mut input = device_input("join", label, none, devices, options.join)
            .help("For places that admit registered attendees only.");
        input
            .choices
            .insert(1, engine::Choice::new("0", "nothing", false));
        inputs.push(input);
    }
    let help = match upload.what {
        What::Interactions => {
            "Searches find the imported rows by this device. It is also the device of rows that name none."
        }
        _ => "Searches find the imported rows by this device.",
    };
    let none = "no device in particular";
    inputs.push(device_input("device", "List is for", none, devices, choice.device).help(help));
    let set = options.set.iter().map(|one| format!("{}={}", one.0, one.1));
    inputs.push(
        Input::area("set", "Values for every row", 2)
            .value(set.collect::<Vec<_>>().join("\n"))
            .help("One a line, such as interactionType=check-in. A row that says it itself keeps its own."),
    );
    let flags = [
        (
            true,
            "skip_bad",
            "Leave bad rows out and import the others. Otherwise a single bad row stops the import.",
            options.skip_bad,
        ),
        (
            is_of_delegates,
            "make_codes",
            "Generate a ticket code for everybody without a barcode",
            options.make_codes,
        ),
        (
            is_again,
            "again",
            "Import again, although this file was imported before",
            false,
        ),
    ];
    let flags = flags.into_iter().filter(|(is_offered, ..)| *is_offered);
    inputs.extend(flags.map(|(_, name, label, is_on)| Input::flag(name, label).on(is_on).wide()));
    inputs
}

/// The choice of an answer; none is chosen where it must be given.
fn question_input(question: &Question) -> Input {
    let open = question.is_open().then(|| ("", "Choose …".to_owned()));
    let answers = question.choices.iter();
    let answers = answers.map(|(name, label)| (*name, text::capital(label)));
    let all = engine::choices(
        open.into_iter().chain(answers),
        question.answer.unwrap_or_default(),
    );
    Input::select(question.field.clone(), text::capital(&question.text), all).wide()
}

/// The page of the list once work is begun; the list again where it is not, with what is wrong.
async fn after(request: &RequestContext, upload: Upload, begun: Result<()>) -> Result<Response> {
    match begun {
        Ok(()) => Ok(answer::go(&list_path(upload.id))),
        Err(cause) => {
            let failure = failure(cause)?;
            answer::form_again(&ListPage::read(request, upload, Some(failure)).await?)
        }
    }
}

/// Reads another sheet, or in another encoding.
pub(super) async fn sheet(request: RequestContext) -> Result<Response> {
    let upload = upload_of(&request)?;
    let (what, name) = (upload.what, upload.name.clone());
    let chosen = |name: &str| request.form.filled(name).map(ToOwned::to_owned);
    let options = &upload.choice.options;
    let sheet = chosen("sheet").or(options.sheet.clone());
    let encoding = chosen("encoding").or(options.encoding.clone());
    let header_row = request.form.number("header_row")?;
    let header_row = header_row.and_then(|row: i64| u64::try_from(row).ok());
    let Some(file) = upload.file.clone() else {
        return Ok(answer::go(&list_path(upload.id)));
    };
    let read = tokio::task::spawn_blocking(move || {
        let reading = Reading {
            sheet: sheet.as_deref(),
            encoding: encoding.as_deref(),
            header_row,
        };
        Preview::read(&file, &name, what, reading)
    });
    let read = read.await.map_err(Error::defect)?;
    let read = read.map(|(preview, choice)| {
        request.console.imports.change(upload.id, |upload| {
            upload.preview = Arc::new(preview);
            upload.choice = choice;
            upload.report = None;
        });
    });
    after(&request, upload, read).await
}

/// Reads the choices from the form of a list.
fn typed(upload: &Upload, form: &Fields) -> Result<Choice> {
    let mut choice = upload.choice.clone();
    for (at, column) in choice.columns.iter_mut().enumerate() {
        if let Some(typed) = form.sent(&format!("column-{at}")) {
            typed.clone_into(column);
        }
    }
    choice.device = form.number("device")?;
    let options = &mut choice.options;
    options.key = form.filled("key").map(ToOwned::to_owned);
    options.join = form.number("join")?.filter(|join| *join != 0);
    answer(&upload.preview, options, form)?;
    options.skip_bad = form.ticked("skip_bad");
    options.make_codes = form.ticked("make_codes");
    Ok(choice)
}

/// Reads the answers to questions, and values for every row.
fn answer(preview: &Preview, options: &mut Options, form: &Fields) -> Result<()> {
    fn of<T>(form: &Fields, name: &str, parse: fn(&str) -> Result<T>) -> Result<Option<T>> {
        form.filled(name).map(parse).transpose()
    }
    options.dates = of(form, "dates", Order::parse)?;
    options.numbers = of(form, "numbers", Numbers::parse)?;
    options.hidden_rows = of(form, "hidden_rows", HiddenRows::parse)?;
    options.status.clear();
    for (at, column) in preview.columns.iter().enumerate() {
        if let Some(rule) = of(form, &format!("status-{at}"), Rule::parse)? {
            options.status.push(StatusRule(column.header.clone(), rule));
        }
    }
    let lines = form
        .text("set")
        .lines()
        .filter(|line| !line.trim().is_empty());
    options.set = lines
        .map(Constant::parse)
        .collect::<Result<_>>()
        .map_err(|cause| Error::field("set", cause))?;
    Ok(())
}

pub(super) async fn check(request: RequestContext) -> Result<Response> {
    run(request, Run::Check).await
}

pub(super) async fn import(request: RequestContext) -> Result<Response> {
    run(request, Run::Import).await
}

async fn run(request: RequestContext, run: Run) -> Result<Response> {
    let path = list_path(request.id("id")?);
    let is_busy = Progress::of(&request, path.clone()).is_some();
    let mut upload = upload_of(&request)?;
    if upload.file.is_none() || is_busy {
        return Ok(answer::go(&path));
    }
    let begun = typed(&upload, &request.form).and_then(|choice| {
        upload.choice = choice;
        upload.preview.check(&upload.choice)?;
        let open = upload.preview.findings(&upload.choice).open_texts();
        if let Some(question) = open.first().filter(|_| matches!(run, Run::Import)) {
            return Err(Error::invalid(format!("{question}; choose an answer under Options")));
        }
        if matches!(run, Run::Import) && upload.what == What::Delegates && request.form.sent("join") == Some("") {
            let settings = request.console.settings();
            let closed = request.look_up(|connection| unregistered(connection, &settings))?;
            if let Some(place) = closed.first() {
                return Err(Error::invalid(format!(
                    "{} admits registered attendees only, and nobody is registered: choose under Options what everybody on this list is registered for, or \"nothing\"",
                    place.name
                )));
            }
        }
        let is_meant = request.form.ticked("again") || upload.choice.options.key.is_some();
        if matches!(run, Run::Import) && !is_meant && earlier(&request, &upload)?.is_some() {
            return Err(Error::invalid(
                "this file was imported before; tick \"Import again\" to create everybody in it a second time",
            ));
        }
        begin(&request, &upload, run)
    });
    after(&request, upload, begun).await
}

/// The import that was made of a list before.
fn earlier(request: &RequestContext, upload: &Upload) -> Result<Option<Batch>> {
    request.look_up(|connection| batches::of_list(connection, upload.what, &upload.preview.list))
}

fn begin(request: &RequestContext, upload: &Upload, run: Run) -> Result<()> {
    let uploads = &request.console.imports;
    uploads.change(upload.id, |stored| {
        stored.choice = upload.choice.clone();
        stored.report = None;
    });
    let by = request.current_user()?.email.clone();
    let app = request.console.app().clone();
    uploads.run(app, request.context(), by, upload.clone(), run)
}

pub(super) async fn resume(request: RequestContext) -> Result<Response> {
    let mut upload = upload_of(&request)?;
    upload.choice.options.skip_bad = request.form.ticked("skip_bad");
    let begun = earlier(&request, &upload).and_then(|batch| {
        let batch = batch
            .filter(|batch| batch.finished_at.is_none())
            .ok_or_else(|| Error::invalid("there is no interrupted import of this file"))?;
        begin(&request, &upload, Run::Resume(Box::new(batch)))
    });
    after(&request, upload, begun).await
}

pub(super) async fn discard(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if Progress::of(&request, list_path(id)).is_some() {
        return Err(Error::invalid(
            "this list is being worked on; stop that first",
        ));
    }
    request.console.imports.forget(|upload| upload.id == id);
    request.done("List discarded.", "/console/import")
}

pub(super) async fn bad_rows(request: RequestContext) -> Result<Response> {
    let upload = upload_of(&request)?;
    let report = upload.report.as_ref();
    let report = report.filter(|report| !report.bad_rows.is_empty());
    let report =
        report.ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no list of bad rows"))?;
    let cells = report.bad_rows.iter().map(|row| {
        let column = row.problem.column.clone().unwrap_or_default();
        [row.line.to_string(), column, row.problem.reason.clone()]
    });
    let lines = csv_bytes(Some(&["line", "column", "reason"]), cells)?;
    let name = upload.name.rsplit_once('.');
    let name = name.map_or(upload.name.as_str(), |(name, _)| name);
    Ok(answer::download(
        &format!("{name}-bad-rows.csv"),
        "text/csv; charset=utf-8",
        lines,
    ))
}
