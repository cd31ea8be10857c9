//! Backups: made now, listed, checked, taken away in the browser, deleted.

use super::{
    layout,
    schedule::{self, SCHEDULE},
};
use crate::admin::prelude::*;
use crate::{
    admin::layout::bytes,
    core::settings,
    domain::erasure::noted,
    ops::backup::{
        files::{self, Download},
        ledger::{self, Entry, Purpose},
        run,
    },
};
use poem::http::header;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Backups on the page.
const LIST_MAX: i64 = 100;
/// A backup that takes longer goes on while the page is shown.
const WAIT_MAX: Duration = Duration::from_secs(8);
pub(super) const HERE: &str = "/console/settings/backups";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .get("/console/settings/backups/list", part)
        .post("/console/settings/backups/now", now)
        .post("/console/settings/backups/plan", schedule::save)
        .post("/console/settings/backups/download", make_download)
        .get("/console/settings/backups/:id/file", download)
        .post("/console/settings/backups/:id/check", check)
        .post("/console/settings/backups/:id/delete", delete)
}

#[derive(Template)]
#[template(path = "settings/backups.html")]
pub(super) struct Page {
    layout: Layout,
    list: List,
    pub(super) schedule: Form,
    /// The findings of a look at the folder of the schedule.
    pub(super) found: Option<String>,
    is_scheduled: bool,
    /// The folder of a backup by hand, as it was typed.
    folder: String,
    own_folder: String,
    /// The reason why the last scheduled backup failed.
    trouble: Option<String>,
    /// People who were erased since the file was compacted.
    erased: i64,
    checked: Option<Checked>,
}

/// The result of checking a backup, beside what there is now.
struct Checked {
    name: String,
    bytes: String,
    version: i64,
    is_current: bool,
    counts: Vec<(&'static str, i64, i64)>,
}

/// The list, which renews itself while a backup is being made.
#[derive(Template)]
#[template(path = "settings/backup_list.html")]
struct Part<'a> {
    layout: &'a Layout,
    list: &'a List,
}

pub(super) struct List {
    lines: Vec<Line>,
    busy: bool,
}

struct Line {
    entry: Entry,
    name: String,
    folder: String,
    purpose: &'static str,
    size: String,
    there: bool,
}

impl List {
    fn of(entries: Vec<Entry>) -> Self {
        Self {
            busy: entries.iter().any(|entry| entry.finished_at.is_none()),
            lines: entries.into_iter().map(Line::of).collect(),
        }
    }
}

impl Line {
    fn of(entry: Entry) -> Self {
        let folder = entry.path.parent().unwrap_or(Path::new(""));
        Self {
            name: entry.file_name(),
            folder: folder.display().to_string(),
            purpose: match entry.purpose {
                Purpose::Manual => "by hand",
                Purpose::Scheduled => "scheduled",
                Purpose::Rehearsal => "for the rehearsal",
            },
            size: entry.bytes.map(bytes).unwrap_or_default(),
            there: entry.is_sound() && entry.path.is_file(),
            entry,
        }
    }
}

impl Page {
    pub(super) async fn new(request: &RequestContext) -> Result<Self> {
        let (list, trouble) = look(request).await?;
        let own = run::own_folder(request.console.store.path());
        let (stored, erased) = request.look_up(|connection| {
            Ok((
                settings::stored(connection)?,
                noted::since_compacted(connection)?,
            ))
        })?;
        Ok(Self {
            layout: layout(request, "Backups"),
            list,
            schedule: SCHEDULE.form(&stored)?,
            found: None,
            is_scheduled: stored.contains_key("backups"),
            folder: request.form.text("folder").to_owned(),
            own_folder: own.display().to_string(),
            trouble,
            erased,
            checked: None,
        })
    }
}

async fn look(request: &RequestContext) -> Result<(List, Option<String>)> {
    let is_scheduled = request.console.settings().backups.is_some();
    request
        .read(move |connection| {
            let entries = ledger::newest(connection, LIST_MAX)?;
            let last = ledger::last(connection, Purpose::Scheduled)?;
            let failure = last.filter(|_| is_scheduled).and_then(|last| last.failure);
            // Here, where a stick that does not answer makes nobody else wait.
            Ok((List::of(entries), failure))
        })
        .await
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request).await?)
}

async fn part(request: RequestContext) -> Result<Response> {
    let (list, _) = look(&request).await?;
    answer::page(&Part {
        layout: &layout(&request, "Backups"),
        list: &list,
    })
}

/// Makes a backup into the folder that was named, or our own.
async fn now(request: RequestContext) -> Result<Response> {
    let named = request.form.filled("folder").map(PathBuf::from);
    let folder = match named {
        Some(folder) if !folder.is_absolute() => {
            let cause = Error::invalid("the folder must be a whole path, such as /media/stick");
            return request.failed(cause, show).await;
        }
        Some(folder) => folder,
        None => run::own_folder(request.console.store.path()),
    };
    let (app, ctx) = (request.console.app().clone(), request.context());
    let made = tokio::spawn(run::on_thread(move || {
        run::into_folder(&app.store, &ctx, Purpose::Manual, &folder, Timestamp::now())
    }));
    match tokio::time::timeout(WAIT_MAX, made).await {
        Err(_) => request.done(
            "The backup is being made; the list shows when it is done.",
            HERE,
        ),
        Ok(Ok(Ok(entry))) => {
            let path = entry.path.display();
            request.done(format!("Backup made and checked: {path}."), HERE)
        }
        Ok(Ok(Err(cause))) => request.failed(cause, show).await,
        Ok(Err(panic)) => Err(Error::defect(panic)),
    }
}

/// Makes a backup for the browser alone.
async fn make_download(request: RequestContext) -> Result<Response> {
    let (app, ctx) = (request.console.app().clone(), request.context());
    let made = run::on_thread(move || files::for_download(&app.store, &ctx, Timestamp::now()));
    match made.await {
        Ok(download) => Ok(sent(download)),
        Err(cause) => request.failed(cause, show).await,
    }
}

async fn download(request: RequestContext) -> Result<Response> {
    let (entry, app) = (entry(&request)?, request.console.app().clone());
    let opened = run::on_thread(move || files::open(&app.store, &entry));
    opened.await.map(sent)
}

/// A file as a download, read as the browser takes it.
fn sent(download: Download) -> Response {
    let body = answer::file(download.file, download.folder);
    let mut response = answer::download(&download.name, "application/vnd.sqlite3", body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, download.bytes.into());
    response
}

fn entry(request: &RequestContext) -> Result<Entry> {
    let id = request.id("id")?;
    request.look_up(|connection| ledger::find(connection, id))
}

async fn check(request: RequestContext) -> Result<Response> {
    let (entry, app) = (entry(&request)?, request.console.app().clone());
    let name = entry.file_name();
    let found = run::on_thread(move || files::check(&app.store, &entry));
    match found.await {
        Ok((found, now)) => {
            let mut page = Page::new(&request).await?;
            let pairs = found.counts.iter().zip(now);
            let counts = pairs.map(|((name, then), (_, now))| (*name, *then, now));
            page.checked = Some(Checked {
                name,
                bytes: bytes(found.bytes),
                version: found.version,
                is_current: found.is_current(),
                counts: counts.collect(),
            });
            answer::page(&page)
        }
        Err(cause) => request.failed(cause, show).await,
    }
}

async fn delete(request: RequestContext) -> Result<Response> {
    let (entry, app, ctx) = (
        entry(&request)?,
        request.console.app().clone(),
        request.context(),
    );
    let name = entry.file_name();
    match run::on_thread(move || files::delete(&app.store, &ctx, entry)).await {
        Ok(()) => request.done(format!("{name} deleted."), HERE),
        Err(cause) => request.failed(cause, show).await,
    }
}
