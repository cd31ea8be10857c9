//! The wizard's pages of a list: what was recognised and how it is to be imported, how far it came,
//! and what came of it.

use super::{
    Choice, Glance, Outcome, Report, Upload, Work,
    choice::keys,
    uploads::Phase,
    work::{self, Go},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::devices::{self, Offer},
    ops::import::{Batch, What, batches, source::Reading},
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
    upload: Upload,
    glance: Arc<Glance>,
    choice: Choice,
    report: Option<Arc<Report>>,
    /// The same file, imported before.
    earlier: Option<Batch>,
    keys: Vec<(&'static str, String)>,
    devices: Vec<Offer>,
    /// What is doubtful about the columns.
    warnings: Vec<String>,
}

#[derive(Template)]
#[template(path = "import/wait.html")]
struct WaitPage {
    layout: Layout,
    part: Progress,
}

/// How far the work came; renewed by itself.
#[derive(Template)]
#[template(path = "import/progress.html")]
pub(super) struct Progress {
    pub(super) layout: Layout,
    pub(super) work: Work,
    /// The page whose part this is.
    pub(super) path: String,
    /// Whether the user may end it.
    pub(super) stoppable: bool,
}

#[derive(Template)]
#[template(path = "import/done.html")]
struct DonePage {
    layout: Layout,
    upload: Upload,
    outcome: Outcome,
    report: Option<Arc<Report>>,
}

impl Progress {
    /// What is being done, as a heading says it.
    fn title(&self) -> &'static str {
        match self.work.phase {
            Phase::Checking => "Every row is looked at",
            Phase::Writing => "Rows are written",
            Phase::TakingBack => "The import is taken back",
            Phase::Joining => "Attendees are being joined",
        }
    }

    /// How much of it is done.
    fn percent(&self) -> i64 {
        (self.work.done * 100)
            .checked_div(self.work.total)
            .unwrap_or(100)
            .min(100)
    }
}

/// The list of the address.
fn of_address(request: &RequestContext) -> Result<Upload> {
    let id = request.id("id")?;
    request.console.imports.upload(id).ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "this list is gone: it was imported or thrown away, is older than a day, or the server was started anew; upload it again",
        )
    })
}

/// The work on a list, if there is any.
fn work_on(request: &RequestContext, id: i64) -> Option<Work> {
    let work = request.console.imports.work();
    work.filter(|work| work.upload == Some(id))
}

fn path(upload: i64) -> String {
    format!("/console/import/{upload}")
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    // The work before the list: when that ends, what came of it stands in the list.
    let id = request.id("id")?;
    let work = work_on(&request, id);
    let upload = of_address(&request)?;
    if let Some(work) = work {
        let part = Progress {
            layout: request.layout("", None),
            work,
            path: path(id),
            stoppable: true,
        };
        return answer::page(&WaitPage {
            layout: request.layout(&upload.name, Some(Area::Delegates)),
            part,
        });
    }
    match &upload.outcome {
        Some(outcome) if upload.file.is_none() || upload.can_go_on() => answer::page(&DonePage {
            layout: request.layout(&upload.name, Some(Area::Delegates)),
            outcome: outcome.clone(),
            report: upload.report.clone(),
            upload,
        }),
        Some(outcome) => {
            let failure = outcome.failure.clone();
            answer::page(&ListPage::of(&request, upload, failure).await?)
        }
        None => answer::page(&ListPage::of(&request, upload, None).await?),
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl ListPage {
    async fn of(request: &RequestContext, upload: Upload, failure: Option<String>) -> Result<Self> {
        let (kind, list) = (upload.what, upload.glance.list.clone());
        let (earlier, devices) = request
            .read(move |connection| {
                Ok((
                    batches::of_list(connection, kind, &list)?,
                    devices::offers(connection)?,
                ))
            })
            .await?;
        Ok(Self {
            layout: request.layout(&upload.name, Some(Area::Delegates)),
            failure,
            glance: Arc::clone(&upload.glance),
            choice: upload.choice.clone(),
            report: upload.report.clone(),
            earlier,
            keys: keys(kind, &upload.glance),
            warnings: upload.choice.warnings(kind, &upload.glance),
            devices,
            upload,
        })
    }

    /// What column `at` is to be.
    fn chosen(&self, at: &usize) -> &str {
        self.choice.columns.get(*at).map_or("", String::as_str)
    }

    fn is_chosen(&self, at: &usize, value: &str) -> bool {
        self.chosen(at) == value
    }

    fn is_key(&self, name: &str) -> bool {
        self.choice.key.as_deref() == Some(name)
    }

    fn is_join(&self, id: &i64) -> bool {
        self.choice.join == Some(*id)
    }

    fn is_device(&self, id: &i64) -> bool {
        self.choice.device == Some(*id)
    }

    fn delegates(&self) -> bool {
        self.upload.what == What::Delegates
    }
}

/// Shows the list again with what is wrong.
async fn again(request: &RequestContext, upload: Upload, cause: Error) -> Result<Response> {
    if cause.kind == Kind::Defect {
        return Err(cause);
    }
    let failure = answer::sentence(&cause.message);
    answer::form_again(&ListPage::of(request, upload, Some(failure)).await?)
}

pub(super) async fn sheet(request: RequestContext) -> Result<Response> {
    let upload = of_address(&request)?;
    let (kind, name) = (upload.what, upload.name.clone());
    let chosen = |name: &str| request.form.filled(name).map(ToOwned::to_owned);
    let (sheet, encoding) = (chosen("sheet"), chosen("encoding"));
    let Some(file) = upload.file.clone() else {
        return Ok(answer::go(&path(upload.id)));
    };
    let looked = tokio::task::spawn_blocking(move || {
        let reading = Reading {
            sheet: sheet.as_deref(),
            encoding: encoding.as_deref(),
        };
        Glance::at(&file, &name, kind, reading)
    });
    match looked.await.map_err(Error::defect)? {
        Ok((glance, choice)) => {
            request.console.imports.change(upload.id, |upload| {
                upload.glance = Arc::new(glance);
                upload.choice = choice;
                upload.report = None;
            });
            Ok(answer::go(&path(upload.id)))
        }
        Err(cause) => again(&request, upload, cause).await,
    }
}

pub(super) async fn try_out(request: RequestContext) -> Result<Response> {
    deal(request, Go::Try).await
}

pub(super) async fn import(request: RequestContext) -> Result<Response> {
    deal(request, Go::Import).await
}

async fn deal(request: RequestContext, go: Go) -> Result<Response> {
    let mut upload = of_address(&request)?;
    if work_on(&request, upload.id).is_some() || upload.file.is_none() {
        return Ok(answer::go(&path(upload.id)));
    }
    let choice = match upload.choice.read(&request.form) {
        Ok(choice) => choice,
        Err(cause) => return again(&request, upload, cause).await,
    };
    upload.choice = choice.clone();
    let again_anyway = request.form.ticked("again") || choice.key.is_some();
    let outcome = choice
        .check(upload.what, &upload.glance)
        .and_then(|()| match &go {
            Go::Import if !again_anyway => refuse_again(&request, &upload),
            _ => Ok(()),
        });
    let outcome = outcome.and_then(|()| {
        request.console.imports.change(upload.id, |upload| {
            upload.choice = choice;
            upload.report = None;
            upload.outcome = None;
        });
        work::begin(&request, &upload, go)
    });
    match outcome {
        Ok(()) => Ok(answer::go(&path(upload.id))),
        Err(cause) => again(&request, upload, cause).await,
    }
}

/// A list that is imported twice by mistake would make everybody twice.
fn refuse_again(request: &RequestContext, upload: &Upload) -> Result<()> {
    let earlier = request
        .look_up(|connection| batches::of_list(connection, upload.what, &upload.glance.list))?;
    match earlier {
        Some(_) => Err(Error::invalid(
            "this file was imported before; tick \"Import it once more\" if everybody in it is really to be made a second time",
        )),
        None => Ok(()),
    }
}

pub(super) async fn resume(request: RequestContext) -> Result<Response> {
    let mut upload = of_address(&request)?;
    upload.choice.skip_bad = request.form.ticked("skip_bad");
    let begun = batch_to_resume(&request, &upload).and_then(|batch| {
        request.console.imports.change(upload.id, |upload| {
            upload.report = None;
            upload.outcome = None;
        });
        work::begin(&request, &upload, Go::Resume(Box::new(batch)))
    });
    match begun {
        Ok(()) => Ok(answer::go(&path(upload.id))),
        Err(cause) => again(&request, upload, cause).await,
    }
}

fn batch_to_resume(request: &RequestContext, upload: &Upload) -> Result<Batch> {
    request
        .look_up(|connection| batches::of_list(connection, upload.what, &upload.glance.list))?
        .filter(|batch| batch.finished_at.is_none())
        .ok_or_else(|| Error::invalid("there is no interrupted import of this file"))
}

pub(super) async fn progress(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    match work_on(&request, id) {
        Some(work) => answer::page(&Progress {
            layout: request.layout("", None),
            work,
            path: path(id),
            stoppable: true,
        }),
        None => Ok(answer::go_whole(&request, &path(id))),
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

pub(super) async fn discard(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if work_on(&request, id).is_some() {
        return Err(Error::invalid("it is being dealt with; cancel that first"));
    }
    request.console.imports.forget(id);
    request.done(
        "The list is thrown away; nothing of it was kept.",
        "/console/import",
    )
}

/// All bad rows, as CSV.
pub(super) async fn bad(request: RequestContext) -> Result<Response> {
    let upload = of_address(&request)?;
    let report = upload.report.clone();
    let gone = || Error::new(Kind::NoSuchPath, "there is no list of bad rows");
    let report = report.ok_or_else(gone)?;
    let path = report.file.as_ref().ok_or_else(gone)?;
    let file = std::fs::File::open(path).map_err(Error::unavailable)?;
    let name = upload
        .name
        .rsplit_once('.')
        .map_or(upload.name.as_str(), |(name, _)| name);
    Ok(answer::download(
        &format!("{name}-bad-rows.csv"),
        "text/csv; charset=utf-8",
        answer::file(file, None),
    ))
}
