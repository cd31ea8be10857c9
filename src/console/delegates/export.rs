//! What was found, as a file to take along. It is written while it is sent: a slow browser makes
//! neither the memory grow nor a gate wait.

use super::{
    super::{Route, Visit, answer, route},
    list::Filters,
};
use crate::{
    error::{Error, Result},
    export::{Export, Format, What, Which},
};
use bytes::Bytes;
use futures_util::stream;
use poem::{Body, Response};
use std::{
    io::{self, BufWriter, Read, Seek, Write},
    ops::ControlFlow,
    time::Duration,
};
use tokio::sync::mpsc;

/// How long the search may take: nobody at a gate waits for it.
const SEARCH_MAX: Duration = Duration::from_mins(2);
/// Pieces that wait for the browser.
const WAITING_MAX: usize = 4;
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get(
        "/console/delegates/export",
        route::VIEWER,
        export,
    )]
}

async fn export(visit: Visit) -> Result<Response> {
    let (format, content_type) = match visit.query.text("format") {
        "xlsx" => (
            Format::Xlsx,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        "json" => (Format::Json, "application/json"),
        "csv" | "" => (Format::Csv, "text/csv; charset=utf-8"),
        _ => return Err(Error::invalid("format: must be csv, xlsx or json")),
    };
    let filters = Filters::read(&visit.query);
    let zone = visit.console.settings().zone.clone();
    let which = if filters.narrow() {
        let search = filters.search(&zone)?;
        let found = visit
            .console
            .store
            .read(move |connection| search.ids(connection, SEARCH_MAX))
            .await?;
        Which::Ids(found)
    } else {
        Which::All
    };
    let app = visit.console.app().clone();
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, Pieces(sender.clone()));
        let export = Export {
            store: &app.store,
            zone,
            what: What::Delegates,
            which,
        };
        let written = write(&export, format, &mut out);
        if let Err(cause) = written
            && !sender.is_closed()
        {
            tracing::warn!("an export broke off: {cause}");
            // The browser is to see that it is not whole.
            let _ = sender.blocking_send(Err(io::Error::other("the export broke off")));
        }
    });
    let body = Body::from_bytes_stream(stream::unfold(receiver, |mut receiver| async move {
        Some((receiver.recv().await?, receiver))
    }));
    let name = format!("delegates.{}", format.extension());
    Ok(answer::download(&name, content_type, body))
}

fn write(export: &Export<'_>, format: Format, out: &mut impl Write) -> Result<()> {
    let on = |_| ControlFlow::Continue(());
    if format == Format::Xlsx {
        // A spreadsheet is put together at its end.
        let mut file = tempfile::tempfile().map_err(Error::unavailable)?;
        export.write_xlsx(&mut file, on)?;
        file.rewind().map_err(Error::unavailable)?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let read = file.read(&mut piece).map_err(Error::unavailable)?;
            if read == 0 {
                break;
            }
            out.write_all(&piece[..read]).map_err(Error::unavailable)?;
        }
    } else {
        export.write(format, out, on)?;
    }
    out.flush().map_err(Error::unavailable)
}

/// Where pieces go on their way to the browser.
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
