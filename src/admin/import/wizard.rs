//! An uploaded list: preview and choices, the check, the import, and the result.

use super::Progress;
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, answer,
        engine::{self, Input},
    },
    domain::devices::{self, Offer},
    ops::import::{
        Batch, What, batches,
        source::Reading,
        uploads::{Choice, Outcome, Preview, Report, Run, Upload},
    },
    types::error::{Error, Kind, Result},
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
    warnings: Vec<String>,
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
    outcome: Outcome,
    report: Option<Arc<Report>>,
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

fn progress_of(request: &RequestContext, id: i64) -> Option<Progress> {
    Progress::new(request, &path(id), |work| work.upload == Some(id))
}

fn path(upload: i64) -> String {
    format!("/console/import/{upload}")
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let upload = upload_of(&request)?;
    let layout = request.layout(&upload.name, Some(Area::Delegates));
    if let Some(part) = progress_of(&request, upload.id) {
        return answer::page(&WaitPage { layout, part });
    }
    let failure = match &upload.outcome {
        Some(outcome) if upload.file.is_none() || upload.can_go_on() => {
            return answer::page(&DonePage {
                layout,
                outcome: outcome.clone(),
                report: upload.report.clone(),
                upload,
            });
        }
        Some(outcome) => outcome.failure.clone(),
        None => None,
    };
    answer::page(&ListPage::read(&request, upload, failure).await?)
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
                Ok((
                    batches::of_list(connection, what, &list)?,
                    devices::offers(connection)?,
                ))
            })
            .await?;
        Ok(Self {
            layout: request.layout(&upload.name, Some(Area::Delegates)),
            failure,
            preview: Arc::clone(&upload.preview),
            report: upload.report.clone(),
            inputs: inputs(&upload, &devices, earlier.is_some()),
            earlier,
            warnings: upload.preview.warnings(what, &upload.choice),
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
fn inputs(upload: &Upload, devices: &[Offer], is_again: bool) -> Vec<Input> {
    let (what, choice) = (upload.what, &upload.choice);
    let options = &choice.options;
    let mut inputs = Vec::new();
    if !upload.preview.keys.is_empty() {
        let keys = upload.preview.keys.iter();
        let keys = keys.map(|(name, label)| (*name, format!("Match by {label} and update")));
        let key = options.key.as_deref().unwrap_or_default();
        inputs.push(
            Input::select("key", "Rows that exist already", {
                engine::choices(
                    [("", "Create every row".to_owned())]
                        .into_iter()
                        .chain(keys),
                    key,
                )
            })
            .help("Matched rows: empty cells change nothing. Rows without a match are created."),
        );
    }
    if what == What::Delegates {
        inputs.push(
            device_input(
                "join",
                "Register everybody for",
                "nothing",
                devices,
                options.join,
            )
            .help("For places that admit registered attendees only."),
        );
    }
    let help = match what {
        What::Interactions => {
            "Searches find the imported rows by this device. It is also the device of rows that name none."
        }
        _ => "Searches find the imported rows by this device.",
    };
    inputs.push(
        device_input(
            "device",
            "List is for",
            "no device in particular",
            devices,
            choice.device,
        )
        .help(help),
    );
    let skip =
        "Leave bad rows out and import the others. Otherwise a single bad row stops the import.";
    inputs.push(Input::flag("skip_bad", skip).on(options.skip_bad).wide());
    if what == What::Delegates {
        let make = "Generate a ticket code for everybody without a barcode";
        inputs.push(
            Input::flag("make_codes", make)
                .on(options.make_codes)
                .wide(),
        );
    }
    if is_again {
        let again = "Import again, although this file was imported before";
        inputs.push(Input::flag("again", again).on(false).wide());
    }
    inputs
}

fn device_input(
    name: &'static str,
    label: &'static str,
    none: &str,
    devices: &[Offer],
    chosen: Option<i64>,
) -> Input {
    let chosen = chosen.map_or_else(String::new, |id| id.to_string());
    let devices = devices.iter();
    let devices = devices.map(|device| (device.id.to_string(), device.with_type()));
    let all = [(String::new(), none.to_owned())]
        .into_iter()
        .chain(devices);
    Input::select(name, label, engine::choices(all, &chosen))
}

/// The list again, with what is wrong.
async fn again(request: &RequestContext, upload: Upload, cause: Error) -> Result<Response> {
    if cause.kind == Kind::Defect {
        return Err(cause);
    }
    let failure = answer::sentence(&cause.message);
    answer::form_again(&ListPage::read(request, upload, Some(failure)).await?)
}

/// Reads another sheet, or in another encoding.
pub(super) async fn sheet(request: RequestContext) -> Result<Response> {
    let upload = upload_of(&request)?;
    let (what, name) = (upload.what, upload.name.clone());
    let chosen = |name: &str| request.form.filled(name).map(ToOwned::to_owned);
    let (sheet, encoding) = (chosen("sheet"), chosen("encoding"));
    let Some(file) = upload.file.clone() else {
        return Ok(answer::go(&path(upload.id)));
    };
    let read = tokio::task::spawn_blocking(move || {
        let reading = Reading {
            sheet: sheet.as_deref(),
            encoding: encoding.as_deref(),
        };
        Preview::read(&file, &name, what, reading)
    });
    match read.await.map_err(Error::defect)? {
        Ok((preview, choice)) => {
            request.console.imports.change(upload.id, |upload| {
                upload.preview = Arc::new(preview);
                upload.choice = choice;
                upload.report = None;
            });
            Ok(answer::go(&path(upload.id)))
        }
        Err(cause) => again(&request, upload, cause).await,
    }
}

fn typed(known: &Choice, form: &Fields) -> Result<Choice> {
    let mut choice = known.clone();
    for (at, column) in choice.columns.iter_mut().enumerate() {
        if let Some(typed) = form.sent(&format!("column-{at}")) {
            typed.clone_into(column);
        }
    }
    choice.device = form.number("device")?;
    let options = &mut choice.options;
    options.key = form.filled("key").map(ToOwned::to_owned);
    options.join = form.number("join")?;
    options.skip_bad = form.ticked("skip_bad");
    options.make_codes = form.ticked("make_codes");
    Ok(choice)
}

pub(super) async fn check(request: RequestContext) -> Result<Response> {
    run(request, Run::Check).await
}

pub(super) async fn import(request: RequestContext) -> Result<Response> {
    run(request, Run::Import).await
}

async fn run(request: RequestContext, run: Run) -> Result<Response> {
    let mut upload = upload_of(&request)?;
    if progress_of(&request, upload.id).is_some() || upload.file.is_none() {
        return Ok(answer::go(&path(upload.id)));
    }
    match typed(&upload.choice, &request.form) {
        Ok(choice) => upload.choice = choice,
        Err(cause) => return again(&request, upload, cause).await,
    }
    let begun = upload
        .preview
        .check(upload.what, &upload.choice)
        .and_then(|()| match run {
            Run::Import => refuse_again(&request, &upload),
            _ => Ok(()),
        })
        .and_then(|()| begin(&request, &upload, run));
    match begun {
        Ok(()) => Ok(answer::go(&path(upload.id))),
        Err(cause) => again(&request, upload, cause).await,
    }
}

fn refuse_again(request: &RequestContext, upload: &Upload) -> Result<()> {
    let is_meant = request.form.ticked("again") || upload.choice.options.key.is_some();
    if is_meant || earlier(request, upload)?.is_none() {
        return Ok(());
    }
    Err(Error::invalid(
        "this file was imported before; tick \"Import again\" to create everybody in it a second time",
    ))
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
        stored.outcome = None;
    });
    let by = request.current_user()?.email.clone();
    let app = request.console.app().clone();
    uploads.run(app, request.context(), by, upload, run)
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
    match begun {
        Ok(()) => Ok(answer::go(&path(upload.id))),
        Err(cause) => again(&request, upload, cause).await,
    }
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

pub(super) async fn discard(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if progress_of(&request, id).is_some() {
        return Err(Error::invalid(
            "this list is being worked on; stop that first",
        ));
    }
    request.console.imports.forget(id);
    request.done("List discarded.", "/console/import")
}

pub(super) async fn bad_rows(request: RequestContext) -> Result<Response> {
    let upload = upload_of(&request)?;
    let file = upload
        .report
        .as_ref()
        .and_then(|report| report.file.as_ref());
    let file = file.ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no list of bad rows"))?;
    let file = std::fs::File::open(file).map_err(Error::unavailable)?;
    let name = upload.name.rsplit_once('.');
    let name = name.map_or(upload.name.as_str(), |(name, _)| name);
    Ok(answer::download(
        &format!("{name}-bad-rows.csv"),
        "text/csv; charset=utf-8",
        answer::file(file, None),
    ))
}
