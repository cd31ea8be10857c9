//! The file of a form, as it comes: it goes to disk piece by piece and is never in memory.

use super::UploadStore;
use crate::{
    admin::{RequestContext, upload::Upload},
    ops::import::source::FILE_MAX_BYTES,
    types::error::{Error, Kind, Result},
};
use bytes::Bytes;
use poem::http::header;
use std::io::Write;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

/// What the form has around the file, at the most.
const FORM_BYTES: u64 = 64 * 1024;
/// Pieces of a file that wait to be written.
const PIECES: usize = 16;
/// What the disk must keep free: gates write, too.
const FREE_MIN_BYTES: u64 = 256 * 1024 * 1024;
/// How often the disk is asked, in bytes.
const FREE_EVERY_BYTES: u64 = 16 * 1024 * 1024;

/// Takes the file of a form: its name, and where it is now.
pub async fn receive(request: &mut RequestContext) -> Result<(String, NamedTempFile)> {
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

/// Writes a file as it comes, on a thread that may wait for the disk.
async fn store(uploads: &UploadStore, upload: &mut Upload) -> Result<NamedTempFile> {
    let file = uploads.file()?;
    let folder = uploads.folder().to_owned();
    let (pieces, came) = mpsc::channel::<Bytes>(PIECES);
    let written = tokio::task::spawn_blocking(move || write(file, &folder, came));
    let outcome = async {
        while let Some(piece) = upload.piece().await? {
            if pieces.send(piece).await.is_err() {
                // Why is what the writing thread says.
                break;
            }
        }
        Ok(())
    }
    .await;
    drop(pieces);
    let file = written.await.map_err(Error::defect)??;
    outcome.map(|()| file)
}

fn write(
    mut file: NamedTempFile,
    folder: &std::path::Path,
    mut came: mpsc::Receiver<Bytes>,
) -> Result<NamedTempFile> {
    let (mut bytes, mut asked) = (0, None);
    while let Some(piece) = came.blocking_recv() {
        bytes += piece.len() as u64;
        if bytes > FILE_MAX_BYTES {
            return Err(too_large());
        }
        if asked.is_none_or(|asked| bytes - asked > FREE_EVERY_BYTES) {
            asked = Some(bytes);
            if fs4::available_space(folder).is_ok_and(|free| free < FREE_MIN_BYTES) {
                return Err(Error::unavailable(
                    "the server's disk has no room for this file",
                ));
            }
        }
        file.write_all(&piece).map_err(Error::unavailable)?;
    }
    file.flush().map_err(Error::unavailable)?;
    Ok(file)
}

fn too_large() -> Error {
    Error::new(
        Kind::TooLarge,
        format!(
            "the file is larger than {} MiB; split it",
            FILE_MAX_BYTES / 1024 / 1024
        ),
    )
}
