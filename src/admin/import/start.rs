//! The wizard's first page: the form for a file, and what waits already.

use super::{Glance, Upload, Work, receive::receive, uploads::KEPT_MS};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    ops::import::{Batch, What, batches},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use std::{sync::Arc, time::Duration};
use tempfile::NamedTempFile;

#[derive(Template)]
#[template(path = "import/start.html")]
struct StartPage {
    layout: Layout,
    failure: Option<String>,
    kind: What,
    kinds: [What; 3],
    batch: Option<Batch>,
    waiting: Vec<Upload>,
    /// No other list may wait.
    full: bool,
    work: Option<Work>,
}

impl StartPage {
    fn of(request: &RequestContext, failure: Option<String>, kind: What) -> Result<Self> {
        let uploads = &request.console.imports;
        uploads.forget_old(Timestamp::now());
        let batch = to_complete(request)?;
        Ok(Self {
            layout: request.layout("Import a list", Some(Area::Delegates)),
            failure,
            kind: batch.as_ref().map_or(kind, |batch| batch.what),
            kinds: What::ALL,
            batch,
            waiting: uploads.waiting(),
            full: uploads.check_room().is_err(),
            work: uploads.work(),
        })
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let kind = what(request.query.text("kind")).unwrap_or(What::Delegates);
    answer::page(&StartPage::of(&request, None, kind)?)
}

fn what(name: &str) -> Option<What> {
    What::ALL.into_iter().find(|what| what.name() == name)
}

pub(super) async fn upload(mut request: RequestContext) -> Result<Response> {
    let received = match request.console.imports.check_room() {
        Ok(()) => receive(&mut request).await,
        Err(full) => Err(full),
    };
    let kind = what(request.form.text("kind")).unwrap_or(What::Delegates);
    let taken = match received {
        Ok((name, file)) => take(&request, name, file, kind).await,
        Err(cause) => Err(cause),
    };
    match taken {
        Ok(id) => Ok(answer::go(&format!("/console/import/{id}"))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = told(&cause.message);
            answer::form_again(&StartPage::of(&request, Some(failure), kind)?)
        }
    }
}

/// A failure as a sentence; one that begins with a file's name keeps that as it is.
fn told(message: &str) -> String {
    match message.split_once(": ") {
        Some((name, rest)) if name.contains('.') => format!("{name}: {rest}."),
        _ => answer::sentence(message),
    }
}

/// The interrupted import that the file is to complete, if it is for one.
fn to_complete(request: &RequestContext) -> Result<Option<Batch>> {
    let Some(id) = request.query.number("batch")? else {
        return Ok(None);
    };
    let store = &request.console.store;
    store
        .look_up(|connection| batches::find(connection, id))
        .map(Some)
}

/// Looks at what was uploaded and keeps it: its id.
async fn take(
    request: &RequestContext,
    name: String,
    file: NamedTempFile,
    kind: What,
) -> Result<i64> {
    let file = file.into_temp_path();
    let begun = to_complete(request)?;
    let options = begun.as_ref().map(|batch| batch.options.clone());
    let options = options.unwrap_or_default();
    let looked = tokio::task::spawn_blocking(move || {
        let glance = Glance::at(&file, &name, kind, options.reading())?;
        Ok::<_, Error>((file, name, glance))
    });
    let (file, name, (glance, choice)) = looked.await.map_err(Error::defect)??;
    if let Some(batch) = begun.filter(|batch| batch.sha256 != glance.list.sha256) {
        return Err(Error::invalid(format!(
            "{name}: is not the file that import {} was made from; it was changed, or is another one",
            batch.id
        )));
    }
    let id = request.console.imports.take(Upload {
        id: 0,
        what: kind,
        name,
        by: request.current_user()?.email.clone(),
        at: Timestamp::now(),
        file: Some(Arc::new(file)),
        glance: Arc::new(glance),
        choice,
        report: None,
        outcome: None,
    });
    let uploads = Arc::downgrade(&request.console.imports);
    tokio::spawn(async move {
        // A second more, so that its day is over.
        let day = Duration::from_millis(KEPT_MS.unsigned_abs() + 1_000);
        tokio::time::sleep(day).await;
        if let Some(uploads) = uploads.upgrade() {
            uploads.forget_old(Timestamp::now());
        }
    });
    Ok(id)
}
