//! The begin of an import: a file is chosen and uploaded, or one that waits is taken up.

use super::{failure, list_path};
use crate::{
    admin::{Area, Layout, RequestContext, answer, upload::Upload as UploadedFile},
    ops::import::{
        Batch, What, batches,
        source::FILE_MAX_BYTES,
        uploads::{KEPT_MS, Preview, Upload, UploadStore, Work},
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::{Response, http::header};
use std::{io::Write, sync::Arc, time::Duration};
use tempfile::NamedTempFile;

/// A form without its file, at most.
const FORM_BYTES: u64 = 64 * 1024;
/// The space that stays free on the disk.
const FREE_MIN_BYTES: u64 = 256 * 1024 * 1024;
/// The bytes after which free space is checked again.
const FREE_EVERY_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Template)]
#[template(path = "import/upload.html")]
struct UploadPage {
    layout: Layout,
    failure: Option<String>,
    kind: What,
    kinds: [What; 3],
    /// The interrupted import that a file is to complete.
    batch: Option<Batch>,
    waiting: Vec<Upload>,
    full: bool,
    work: Option<Work>,
}

impl UploadPage {
    fn new(request: &RequestContext, failure: Option<String>, kind: What) -> Result<Self> {
        let uploads = &request.console.imports;
        uploads.forget_old(Timestamp::now());
        let batch = to_complete(request)?;
        Ok(Self {
            layout: request.layout("Import a list", Some(Area::Import)),
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
    let kind = what(request.query.text("kind"));
    answer::page(&UploadPage::new(&request, None, kind)?)
}

fn what(name: &str) -> What {
    let known = What::ALL.into_iter().find(|what| what.name() == name);
    known.unwrap_or(What::Delegates)
}

pub(super) async fn upload(mut request: RequestContext) -> Result<Response> {
    let received = match request.console.imports.check_room() {
        Ok(()) => receive(&mut request).await,
        Err(full) => Err(full),
    };
    let kind = what(request.form.text("kind"));
    let taken = match received {
        Ok((name, file)) => take(&request, name, file, kind).await,
        Err(cause) => Err(cause),
    };
    match taken {
        Ok(id) => Ok(answer::go(&list_path(id))),
        Err(cause) => {
            let failure = failure(cause)?;
            answer::form_again(&UploadPage::new(&request, Some(failure), kind)?)
        }
    }
}

async fn receive(request: &mut RequestContext) -> Result<(String, NamedTempFile)> {
    let declared = request
        .header(header::CONTENT_LENGTH.as_str())
        .and_then(|length| length.parse::<u64>().ok());
    if declared.is_some_and(|length| length > FILE_MAX_BYTES + FORM_BYTES) {
        return Err(too_large());
    }
    let none = || Error::invalid("choose a file");
    let mut upload = request.upload().ok_or_else(none)?;
    let name = upload.file_name().ok_or_else(none)?;
    let file = store(&request.console.imports, &mut upload).await?;
    Ok((name, file))
}

async fn store(uploads: &UploadStore, upload: &mut UploadedFile) -> Result<NamedTempFile> {
    let mut file = uploads.file()?;
    let (mut bytes, mut checked) = (0, None);
    while let Some(piece) = upload.piece().await? {
        bytes += piece.len() as u64;
        if bytes > FILE_MAX_BYTES {
            return Err(too_large());
        }
        if checked.is_none_or(|checked| bytes - checked > FREE_EVERY_BYTES) {
            checked = Some(bytes);
            let free = fs4::available_space(uploads.folder());
            if free.is_ok_and(|free| free < FREE_MIN_BYTES) {
                let message = "the server's disk has no room for this file";
                return Err(Error::unavailable(message));
            }
        }
        let written = tokio::task::spawn_blocking(move || {
            file.write_all(&piece).map_err(Error::unavailable)?;
            Ok::<_, Error>(file)
        });
        file = written.await.map_err(Error::defect)??;
    }
    Ok(file)
}

fn too_large() -> Error {
    let most = FILE_MAX_BYTES / 1024 / 1024;
    Error::new(
        Kind::TooLarge,
        format!("the file is larger than {most} MiB; split it"),
    )
}

fn to_complete(request: &RequestContext) -> Result<Option<Batch>> {
    let id = request.query.number("batch")?;
    id.map(|id| request.look_up(|connection| batches::find(connection, id)))
        .transpose()
}

/// Reads the list, and lets it wait.
async fn take(
    request: &RequestContext,
    name: String,
    file: NamedTempFile,
    what: What,
) -> Result<i64> {
    let file = file.into_temp_path();
    let begun = to_complete(request)?;
    let options = begun.as_ref().map(|batch| batch.options.clone());
    let options = options.unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || {
        let preview = Preview::read(&file, &name, what, options.reading())?;
        Ok::<_, Error>((file, name, preview))
    });
    let (file, name, (preview, choice)) = read.await.map_err(Error::defect)??;
    if let Some(batch) = begun.filter(|batch| batch.sha256 != preview.list.sha256) {
        return Err(Error::invalid(format!(
            "is not the file that import {} was made from; it was changed, or is another one",
            batch.id
        ))
        .at(name));
    }
    let id = request.console.imports.take(Upload {
        id: 0,
        what,
        name,
        by: request.current_user()?.email.clone(),
        at: Timestamp::now(),
        file: Some(Arc::new(file)),
        preview: Arc::new(preview),
        choice,
        report: None,
    });
    let uploads = Arc::downgrade(&request.console.imports);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(KEPT_MS.unsigned_abs() + 1_000)).await;
        if let Some(uploads) = uploads.upgrade() {
            uploads.forget_old(Timestamp::now());
        }
    });
    Ok(id)
}
