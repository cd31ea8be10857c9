//! The export of what the filters of a page find, as CSV: each by itself, read slice by slice while it is sent.

use super::filter::Filter;
use crate::admin::prelude::*;
use crate::{
    admin::export::slices,
    db::Store,
    domain::interactions::log::{find::Finder, lines::Line},
    types::spreadsheet::csv_bytes,
};
use std::io::Write;

const COLUMNS: [&str; 11] = [
    "at",
    "recordedAt",
    "type",
    "delegate",
    "delegateId",
    "scanned",
    "device",
    "deviceId",
    "code",
    "reason",
    "sentBy",
];

/// Finds the lines from a position on, and where the next ones begin.
pub(in crate::admin) type Look<F> =
    fn(&Connection, &Finder, Option<F>, &Zone) -> Result<(Vec<Line>, Option<F>)>;

/// Sends everything that the filters of a request find; `narrow` has the filters of the page itself.
pub(super) fn send<F: Send + 'static>(
    request: &RequestContext,
    name: &str,
    narrow: impl FnOnce(&mut Filter),
    look: Look<F>,
) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (mut filter, failure) = Filter::read(&request.query, &zone);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    narrow(&mut filter);
    let name = format!("{name}-{}.csv", zone.plain(Timestamp::now()));
    let rest = Rest {
        filter,
        zone,
        look,
        from: None,
        is_first: true,
        is_done: false,
    };
    Ok(slices(
        request.console.app(),
        &name,
        "text/csv; charset=utf-8",
        rest,
        Rest::next,
    ))
}

/// Writes everything that a look finds.
pub(in crate::admin) fn write_lines<F>(
    store: &Store,
    zone: &Zone,
    out: &mut dyn Write,
    look: Look<F>,
) -> Result<()> {
    let mut rest = Some(Rest {
        filter: Filter {
            single: true,
            ..Filter::default()
        },
        zone: zone.clone(),
        look,
        from: None,
        is_first: true,
        is_done: false,
    });
    while let Some(now) = rest.take() {
        if let Some((bytes, more)) = store.look_up(|connection| now.next(connection))? {
            out.write_all(&bytes).map_err(Error::unavailable)?;
            rest = Some(more);
        }
    }
    Ok(())
}

/// The part of the export that is not sent yet.
struct Rest<F> {
    filter: Filter,
    zone: Zone,
    look: Look<F>,
    from: Option<F>,
    is_first: bool,
    is_done: bool,
}

impl<F> Rest<F> {
    fn next(mut self, connection: &Connection) -> Result<Option<(Vec<u8>, Self)>> {
        if self.is_done {
            return Ok(None);
        }
        let finder = self.filter.prepare(connection, &self.zone)?;
        let (lines, next) = (self.look)(connection, &finder, self.from, &self.zone)?;
        let head = self.is_first.then_some(&COLUMNS);
        let bytes = csv_bytes(head, lines.into_iter().map(|line| cells(line, &self.zone)))?;
        self.is_first = false;
        self.is_done = next.is_none();
        self.from = next;
        Ok(Some((bytes, self)))
    }
}

fn cells(line: Line, zone: &Zone) -> [String; COLUMNS.len()] {
    let id = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    [
        zone.plain(line.at),
        zone.plain(line.recorded_at),
        line.kind,
        line.delegate,
        id(line.delegate_id),
        line.scanned,
        line.device,
        id(line.device_id),
        id(line.code),
        line.message.unwrap_or_default(),
        line.sender,
    ]
}
