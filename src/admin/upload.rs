//! A form with a file (RFC 7578). Its fields come before its file: the guard reads them, because the CSRF
//! token is among them, and leaves the file to the page, which reads it piece by piece. What comes after
//! the file is ignored.

use crate::admin::prelude::*;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::BoxStream};
use multer::{Field, Multipart};
use poem::Body;
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

/// The longest value of a field that is no file, in bytes.
const FIELD_MAX_BYTES: usize = 8 * 1024;
/// Fields before the file.
const FIELDS_MAX: usize = 20;
/// Bytes that are read without a field or a piece of the file, at most.
const HELD_MAX_BYTES: usize = 64 * 1024;

/// The file of a form that is being received.
pub struct Upload {
    form: Multipart<'static>,
    file: Option<Field<'static>>,
    held: Arc<AtomicUsize>,
}

impl Upload {
    /// Reads a form as far as its file, or to its end where it has none; its fields have at most so many
    /// bytes together.
    pub(super) async fn begin(
        body: Body,
        content_type: &str,
        most: usize,
    ) -> Result<(Fields, Self)> {
        let boundary = multer::parse_boundary(content_type)
            .map_err(|_| Error::invalid("the form cannot be read; open the page again"))?;
        let held = Arc::new(AtomicUsize::new(0));
        let pieces = Pieces {
            body: body.into_bytes_stream().boxed(),
            held: Arc::clone(&held),
            gave: false,
        };
        let mut upload = Self {
            form: Multipart::new(pieces, boundary),
            file: None,
            held,
        };
        let (mut fields, mut left) = (Vec::new(), most);
        while let Some(field) = upload.next().await? {
            if field.file_name().is_some() {
                upload.file = Some(field);
                break;
            }
            if fields.len() == FIELDS_MAX {
                return Err(too_large());
            }
            let name = field.name().unwrap_or_default().to_owned();
            let value = upload.text(field, left.min(FIELD_MAX_BYTES)).await?;
            left = left
                .checked_sub(name.len() + value.len())
                .ok_or_else(too_large)?;
            fields.push((name, value));
        }
        Ok((Fields(fields), upload))
    }

    async fn next(&mut self) -> Result<Option<Field<'static>>> {
        let next = self.form.next_field().await;
        let next = next.map_err(|cause| self.cut_off(&cause))?;
        self.held.store(0, Relaxed);
        Ok(next)
    }

    async fn text(&self, mut field: Field<'static>, most: usize) -> Result<String> {
        let mut value = Vec::new();
        while let Some(piece) = self.of(&mut field).await? {
            value.extend_from_slice(&piece);
            if value.len() > most {
                return Err(too_large());
            }
        }
        Ok(String::from_utf8_lossy(&value).into_owned())
    }

    async fn of(&self, field: &mut Field<'static>) -> Result<Option<Bytes>> {
        let piece = field.chunk().await.map_err(|cause| self.cut_off(&cause))?;
        self.held.store(0, Relaxed);
        Ok(piece)
    }

    /// The file's name without folders; none where no file was chosen.
    #[must_use]
    pub fn file_name(&self) -> Option<String> {
        let name = base_name(self.file.as_ref()?.file_name()?);
        Some(name).filter(|name| !name.is_empty())
    }

    /// The file's next piece; none at its end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>> {
        let Some(mut file) = self.file.take() else {
            return Ok(None);
        };
        if let Some(piece) = self.of(&mut file).await? {
            self.file = Some(file);
            return Ok(Some(piece));
        }
        drop(file);
        // Read to the end of the form, so that the connection can be used again.
        self.next().await?;
        Ok(None)
    }

    /// A small file as a whole; empty where none was chosen.
    pub async fn small(mut self, most: usize) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        while let Some(piece) = self.piece().await? {
            if content.len() + piece.len() > most {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!("the file may have at most {} KiB", most / 1024),
                ));
            }
            content.extend_from_slice(&piece);
        }
        Ok(content)
    }

    fn cut_off(&self, cause: &multer::Error) -> Error {
        if self.held.load(Relaxed) > HELD_MAX_BYTES {
            return too_large();
        }
        tracing::info!("an upload ended early: {cause}");
        Error::invalid("the upload was cut off before its end; try again")
    }
}

fn too_large() -> Error {
    Error::new(Kind::TooLarge, "the form is too large")
}

/// The name without the folders of any system.
fn base_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = last.chars().filter(|letter| !letter.is_control());
    plain.take(200).collect::<String>().trim().to_owned()
}

/// A body piece by piece. The multipart reader reads everything that is ready before it parses; after each
/// piece this says that nothing is ready, so that a fast sender does not fill the memory.
struct Pieces {
    body: BoxStream<'static, io::Result<Bytes>>,
    /// Bytes that the multipart reader has not parsed yet.
    held: Arc<AtomicUsize>,
    gave: bool,
}

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.gave) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.held.load(Relaxed) > HELD_MAX_BYTES {
            return Poll::Ready(Some(Err(io::Error::other("nothing can be made of it"))));
        }
        let piece = ready!(self.body.poll_next_unpin(cx));
        if let Some(Ok(piece)) = &piece {
            self.held.fetch_add(piece.len(), Relaxed);
            self.gave = true;
        }
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=edge";
    const FILE: &str =
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n";

    fn field(name: &str, value: &str) -> String {
        format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    }

    fn body(text: String, piece: usize) -> Body {
        let pieces: Vec<_> = text
            .into_bytes()
            .chunks(piece)
            .map(|piece| Ok::<_, io::Error>(Bytes::copy_from_slice(piece)))
            .collect();
        Body::from_bytes_stream(futures_util::stream::iter(pieces))
    }

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

    #[tokio::test]
    async fn fields_come_first_and_the_file_as_it_was_sent() {
        let text = field("csrf", "abc") + &field("kind", "devices") + FILE + "a,b\r\n--edg\r\n";
        for size in [1, 7, 4096] {
            let whole = format!("{text}\r\n--edge--\r\n");
            let (fields, upload) = Upload::begin(body(whole, size), KIND, 4096).await.unwrap();
            assert_eq!(fields.text("csrf"), "abc");
            assert_eq!(fields.text("kind"), "devices");
            assert_eq!(upload.file_name().as_deref(), Some("a.csv"));
            assert_eq!(upload.small(100).await.unwrap(), b"a,b\r\n--edg\r\n");
        }
        let (_, cut) = Upload::begin(body(text, 7), KIND, 4096).await.unwrap();
        assert!(
            cut.small(100)
                .await
                .unwrap_err()
                .to_string()
                .contains("cut off")
        );
    }

    #[tokio::test]
    async fn what_never_comes_to_an_end_is_not_gathered() {
        let endless = "x".repeat(4 << 20);
        for text in [
            endless.clone(),
            format!("--edge\r\nX: {endless}"),
            field("csrf", &endless),
            field("a", "b").repeat(FIELDS_MAX + 1),
            field("a", &"b".repeat(2_000)).repeat(4),
        ] {
            let Err(refused) = Upload::begin(body(text, 8192), KIND, 4096).await else {
                panic!("taken");
            };
            assert_eq!(refused.kind, Kind::TooLarge, "{refused}");
        }
        let (_, file) = Upload::begin(body(FILE.to_owned() + &endless, 8192), KIND, 4096)
            .await
            .unwrap();
        assert_eq!(file.small(1000).await.unwrap_err().kind, Kind::TooLarge);
    }
}
