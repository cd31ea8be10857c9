//! A form with a file, as it comes: the file goes to disk piece by piece and is never in memory.

use super::Desk;
use crate::{
    console::Visit,
    error::{Error, Kind, Result},
    import::source::FILE_MAX_BYTES,
};
use bytes::Bytes;
use multer::{Field, Multipart};
use poem::http::header;
use std::io::Write;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

/// The longest value of a field that is no file, in bytes.
const FIELD_MAX_BYTES: usize = 1024;
/// What the form has around the file, at the most.
const FORM_BYTES: u64 = 64 * 1024;
/// Pieces of a file that wait to be written.
const PIECES: usize = 16;
/// What the disk must keep free: gates write, too.
const FREE_MIN_BYTES: u64 = 256 * 1024 * 1024;
/// How often the disk is asked, in bytes.
const FREE_EVERY_BYTES: u64 = 16 * 1024 * 1024;

/// What a form brought.
#[derive(Default)]
pub struct Received {
    /// Its fields.
    pub fields: Vec<(String, String)>,
    /// Its file: its name, and where it is now.
    pub file: Option<(String, NamedTempFile)>,
}

impl Received {
    /// A field; empty where it was not sent.
    pub fn text(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.trim())
    }
}

/// Reads a form with a file.
///
/// # Errors
/// A sentence for whoever sent it: too large, cut off, no room.
pub async fn receive(visit: &mut Visit) -> Result<Received> {
    let declared = visit
        .header(header::CONTENT_LENGTH.as_str())
        .and_then(|length| length.parse::<u64>().ok());
    if declared.is_some_and(|length| length > FILE_MAX_BYTES + FORM_BYTES) {
        return Err(too_large());
    }
    let boundary = visit
        .header(header::CONTENT_TYPE.as_str())
        .and_then(|kind| multer::parse_boundary(kind).ok())
        .ok_or_else(|| Error::invalid("choose a file"))?;
    let body = visit.upload().into_bytes_stream();
    let mut form = Multipart::new(body, boundary);
    let mut received = Received::default();
    while let Some(field) = form.next_field().await.map_err(cut_off)? {
        let name = field.name().unwrap_or_default().to_owned();
        match field.file_name().map(base_name) {
            Some(file) if name == "file" && !file.is_empty() => {
                let stored = store(&visit.console.imports, field).await?;
                received.file = Some((file, stored));
            }
            Some(_) => {}
            None => {
                let value = text(field).await?;
                received.fields.push((name, value));
            }
        }
    }
    Ok(received)
}

/// The name without folders, of whatever system.
fn base_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = last.chars().filter(|letter| !letter.is_control());
    plain.take(200).collect::<String>().trim().to_owned()
}

async fn text(mut field: Field<'_>) -> Result<String> {
    let mut value = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(cut_off)? {
        value.extend_from_slice(&piece);
        if value.len() > FIELD_MAX_BYTES {
            return Err(Error::invalid("the form is too large"));
        }
    }
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Writes a file as it comes, on a thread that may wait for the disk.
async fn store(desk: &Desk, mut field: Field<'_>) -> Result<NamedTempFile> {
    let file = desk.file()?;
    let folder = desk.folder().to_owned();
    let (pieces, came) = mpsc::channel::<Bytes>(PIECES);
    let written = tokio::task::spawn_blocking(move || write(file, &folder, came));
    let outcome = async {
        while let Some(piece) = field.chunk().await.map_err(cut_off)? {
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

fn cut_off(cause: multer::Error) -> Error {
    tracing::info!("an upload ended early: {cause}");
    Error::invalid("the upload was cut off before its end; try again")
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn a_name_has_no_folder() {
        for (sent, name) in [
            ("list.csv", "list.csv"),
            ("C:\\Users\\ada\\list.csv", "list.csv"),
            ("../../etc/passwd", "passwd"),
            ("a\nb.csv", "ab.csv"),
            ("folder/", ""),
        ] {
            assert_eq!(base_name(sent), name, "{sent:?}");
        }
    }
}
