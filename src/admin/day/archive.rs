//! Lists and reports of the file as one archive, written while it is sent.

use crate::admin::{answer, export::pieces, interactions, prelude::*};
use crate::{
    domain::{
        interactions::log,
        reports::{self, Format as ReportFormat, Output, Report, Values},
    },
    identity::App,
    ops::{
        background::Background,
        export::{Export, Format, What, Which},
    },
};
use futures_util::StreamExt;
use std::io::Write;
use tokio::runtime::Handle;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// The lists, with the texts that name their files.
const LISTS: [(What, &str); 3] = [
    (What::Delegates, "day-file-attendees"),
    (What::Devices, "day-file-places"),
    (What::Transactions, "day-file-purchases"),
];
/// Lines of activity that are read at a time.
const SLICE: usize = 1_000;

pub(super) async fn download(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let stored = request.look_up(reports::all)?.into_iter();
    // What asks for something cannot be answered here.
    let made = stored.map(|stored| stored.report);
    let made: Vec<_> = made
        .filter(|report| report.asked().all(|asked| asked.optional))
        .collect();
    let day = zone.plain(Timestamp::now());
    let day = day.get(..10).unwrap_or_default();
    let app = request.console.app().clone();
    let names = Names::now();
    let body = pieces(move |out| write(&app, &zone, &made, &names, out));
    Ok(answer::download(
        &format!("{}-{day}.zip", t("day-file-day")),
        "application/zip",
        body,
    ))
}

/// The names of files in the language of the request.
struct Names {
    lists: Vec<(What, String)>,
    activity: String,
    refusals: String,
    reports: String,
}

impl Names {
    fn now() -> Self {
        let table = |key: &str| format!("{}.csv", t(key));
        Self {
            lists: LISTS.map(|(what, key)| (what, table(key))).into(),
            activity: table("day-file-activity"),
            refusals: table("day-file-refusals"),
            reports: t("day-file-reports"),
        }
    }
}

fn write(
    app: &App,
    zone: &Zone,
    reports: &[Report],
    names: &Names,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut archive = ZipWriter::new_stream(out);
    // Sizes are not known before; past 4 GiB they need more room.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true);
    for (what, name) in &names.lists {
        archive
            .start_file(name.as_str(), options)
            .map_err(Error::unavailable)?;
        let export = Export {
            store: &app.store,
            zone: zone.clone(),
            what: *what,
            which: Which::All,
            background: Background::unchanged(),
        };
        export.write(Format::Csv, &mut archive)?;
    }
    archive
        .start_file(names.activity.as_str(), options)
        .map_err(Error::unavailable)?;
    interactions::write_activity(&app.store, zone, &mut archive)?;
    archive
        .start_file(names.refusals.as_str(), options)
        .map_err(Error::unavailable)?;
    interactions::write_lines(
        &app.store,
        zone,
        &mut archive,
        |connection, finder, from, _| log::find_refusals(connection, finder, from, SLICE),
    )?;
    for report in reports {
        let name = format!("{}/{}-{}.csv", names.reports, report.dashboard, report.id);
        archive
            .start_file(name, options)
            .map_err(Error::unavailable)?;
        if let Err(cause) = write_report(app, report, &mut archive) {
            // The others are worth having.
            let told = format!("This report could not be made: {cause}\n");
            archive
                .write_all(told.as_bytes())
                .map_err(Error::unavailable)?;
        }
    }
    archive.finish().map_err(Error::unavailable)?;
    Ok(())
}

fn write_report(app: &App, report: &Report, out: &mut dyn Write) -> Result<()> {
    let sent: Vec<_> = report
        .asked()
        .map(|asked| (asked.name.clone(), String::new()))
        .collect();
    let values = Values::read(&report.parameters, &report.fixed, &sent)?;
    let handle = Handle::current();
    match handle.block_on(reports::run(app, report, values, ReportFormat::Csv))? {
        Output::Whole(bytes) => out.write_all(&bytes).map_err(Error::unavailable),
        Output::Coming(rest) => {
            let mut pieces = std::pin::pin!(rest.pieces());
            while let Some(piece) = handle.block_on(pieces.next()) {
                out.write_all(&piece.map_err(Error::unavailable)?)
                    .map_err(Error::unavailable)?;
            }
            Ok(())
        }
    }
}
