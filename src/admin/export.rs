//! Files that are written while they are sent: a slow browser neither fills the memory nor delays a
//! gate.

use crate::admin::prelude::*;
use crate::{
    identity::App,
    ops::background::Background,
    ops::export::{Export, Format, What, Which},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use poem::Body;
use std::io::{self, BufWriter, Write};
use tokio::sync::mpsc;

/// Pieces that wait for the browser.
const WAITING_MAX: usize = 4;
const PIECE_BYTES: usize = 64 * 1024;

/// The requested format; CSV by default.
pub fn format(asked: &str) -> Result<Format> {
    match asked {
        "xlsx" => Ok(Format::Xlsx),
        "json" => Ok(Format::Json),
        "csv" | "" => Ok(Format::Csv),
        _ => Err(Error::field("format", "must be csv, xlsx or json")),
    }
}

/// A part of a file, and what to read the next one from.
pub type Slice<S> = (Vec<u8>, S);

/// A file that is read slice by slice while it is sent; `next` reads one, and is given what it returned
/// the last time.
pub fn slices<S: Send + 'static>(
    app: &App,
    name: &str,
    content_type: &str,
    begin: S,
    next: fn(S, &Connection) -> Result<Option<Slice<S>>>,
) -> Response {
    let rest = (app.clone(), begin);
    let pieces = stream::try_unfold(rest, move |(app, mut rest)| async move {
        loop {
            let slice = app.store.read(move |connection| next(rest, connection));
            match slice
                .await
                .map_err(|cause| io::Error::other(cause.to_string()))?
            {
                None => return Ok(None),
                Some((bytes, more)) if bytes.is_empty() => rest = more,
                Some((bytes, more)) => return Ok(Some((bytes, (app, more)))),
            }
        }
    });
    answer::download(
        name,
        content_type,
        Body::from_bytes_stream::<_, Vec<u8>, io::Error>(pieces),
    )
}

/// A list as a file; times are in the instance's zone.
#[must_use]
pub fn sent(app: &App, what: What, which: Which, zone: Zone, format: Format) -> Response {
    let content_type = match format {
        Format::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Format::Json | Format::Ndjson => "application/json",
        Format::Csv => "text/csv; charset=utf-8",
    };
    let app = app.clone();
    let body = pieces(move |out| {
        let export = Export {
            store: &app.store,
            zone,
            what,
            which,
            background: Background::unchanged(),
        };
        export.write(format, out).map(drop)
    });
    let name = format!("{}.{}", what.name(), format.extension());
    answer::download(&name, content_type, body)
}

/// What is written on a thread of its own, as a body that is sent meanwhile.
pub fn pieces(write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()> + Send + 'static) -> Body {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, Pieces(sender.clone()));
        let written = write(&mut out);
        let written = written.and_then(|()| out.flush().map_err(Error::unavailable));
        if let Err(cause) = written
            && !sender.is_closed()
        {
            tracing::warn!("an export broke off: {cause}");
            // The browser shall see that the file is incomplete.
            let _ = sender.blocking_send(Err(io::Error::other("the export broke off")));
        }
    });
    let pieces = stream::unfold(receiver, |mut receiver| async move {
        Some((receiver.recv().await?, receiver))
    });
    // What compresses it asks once more after the end.
    Body::from_bytes_stream(pieces.fuse())
}

/// The channel of pieces on their way to the browser.
struct Pieces(mpsc::Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .blocking_send(Ok(Bytes::copy_from_slice(bytes)))
            .map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
