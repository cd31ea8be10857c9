//! The wizard's first page: the form for a file, and what waits already.

use super::{Glance, Upload, Work, desk::KEPT_MS, receive::receive};
use crate::{
    admin::{Area, Shell, Visit, answer},
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
    shell: Shell,
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
    fn of(visit: &Visit, failure: Option<String>, kind: What) -> Result<Self> {
        let desk = &visit.console.imports;
        desk.forget_old(Timestamp::now());
        let batch = to_complete(visit)?;
        Ok(Self {
            shell: visit.shell("Import a list", Some(Area::Delegates)),
            failure,
            kind: batch.as_ref().map_or(kind, |batch| batch.what),
            kinds: What::ALL,
            batch,
            waiting: desk.waiting(),
            full: desk.check_room().is_err(),
            work: desk.work(),
        })
    }
}

pub(super) async fn show(visit: Visit) -> Result<Response> {
    let kind = what(visit.query.text("kind")).unwrap_or(What::Delegates);
    answer::page(&StartPage::of(&visit, None, kind)?)
}

fn what(name: &str) -> Option<What> {
    What::ALL.into_iter().find(|what| what.name() == name)
}

pub(super) async fn upload(mut visit: Visit) -> Result<Response> {
    let received = match visit.console.imports.check_room() {
        Ok(()) => receive(&mut visit).await,
        Err(full) => Err(full),
    };
    let kind = what(visit.form.text("kind")).unwrap_or(What::Delegates);
    let taken = match received {
        Ok((name, file)) => take(&visit, name, file, kind).await,
        Err(cause) => Err(cause),
    };
    match taken {
        Ok(id) => Ok(answer::go(&format!("/console/import/{id}"))),
        Err(cause) if cause.kind == Kind::Defect => Err(cause),
        Err(cause) => {
            let failure = told(&cause.message);
            answer::form_again(&StartPage::of(&visit, Some(failure), kind)?)
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
fn to_complete(visit: &Visit) -> Result<Option<Batch>> {
    let Some(id) = visit.query.number("batch")? else {
        return Ok(None);
    };
    let store = &visit.console.store;
    store
        .look_up(|connection| batches::find(connection, id))
        .map(Some)
}

/// Looks at what was uploaded and keeps it: its id.
async fn take(visit: &Visit, name: String, file: NamedTempFile, kind: What) -> Result<i64> {
    let file = file.into_temp_path();
    let begun = to_complete(visit)?;
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
    let id = visit.console.imports.take(Upload {
        id: 0,
        what: kind,
        name,
        by: visit.staff()?.email.clone(),
        at: Timestamp::now(),
        file: Some(Arc::new(file)),
        glance: Arc::new(glance),
        choice,
        report: None,
        outcome: None,
    });
    let desk = Arc::downgrade(&visit.console.imports);
    tokio::spawn(async move {
        // A second more, so that its day is over.
        let day = Duration::from_millis(KEPT_MS.unsigned_abs() + 1_000);
        tokio::time::sleep(day).await;
        if let Some(desk) = desk.upgrade() {
            desk.forget_old(Timestamp::now());
        }
    });
    Ok(id)
}
