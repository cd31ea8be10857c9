//! `gatepost export`

use super::{answer, context, open_existing, print, print_json, progress::Progress};
use crate::{
    core::settings,
    db::{
        Durability, Store,
        open::{beside, folder_of, is_served},
    },
    ops::{
        background::Background,
        export::{Counts, Export, Format, What, Which},
        standby,
    },
    types::{
        error::{Error, Result},
        os,
    },
};
use clap::builder::PossibleValuesParser;
use serde_json::json;
use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};
use tempfile::{NamedTempFile, TempDir};

/// Take records out of the file, as a list that people read and `import` takes back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  gatepost export delegates > delegates.csv
  gatepost export interactions --format xlsx --output scans.xlsx
  gatepost export transactions --output sales.xlsx
  gatepost export delegates --search '{\"fi\":[\"check-in\",{},\"== 0\"]}' --output no-shows.csv
  gatepost export all --output event-2026

It runs beside `serve`. Records name each other by their codes; to take everything into another
file, import devices first, then delegates, then interactions. Transactions are for the books: they
take no --search, and are not imported again.")]
pub struct Args {
    /// The list to export; all: a folder with a file each; changes: what this machine alone has, since a mark.
    #[arg(value_name = "WHAT", value_parser = PossibleValuesParser::new(CHOICES))]
    what: String,
    /// The format; by default as the end of --output says, otherwise csv.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Only what a search finds: the JSON expression that lists take, see the handbook.
    #[arg(long, value_name = "JSON")]
    search: Option<String>,
    /// With changes: the mark that `gatepost promote` told.
    #[arg(long, value_name = "MARK", required_if_eq("what", "changes"))]
    since: Option<i64>,
    /// Write it to a file (of all: a folder) instead of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const CHOICES: [&str; 7] = [
    "delegates",
    "devices",
    "interactions",
    "events",
    "transactions",
    "changes",
    "all",
];

/// Exports.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    if args.what == "changes" {
        return changes(args, db, json);
    }
    let what = What::ALL.into_iter().find(|what| what.name() == args.what);
    let Some(what) = what else {
        return all(args, db, json);
    };
    let format = match args.format {
        Some(format) => format,
        None => by_name(args.output.as_deref())?,
    };
    if format == Format::Xlsx && args.output.is_none() {
        return Err(Error::invalid("a spreadsheet needs --output FILE"));
    }
    let file = Readable::open(db)?;
    let export = of(&file.store, what, args.search.as_deref())?;
    let Some(output) = &args.output else {
        return to_standard_output(&export, format);
    };
    let written = Progress::during("Exporting", || to_file(&export, format, output))?;
    print_counts(json, output, &[(what, written)])
}

/// Exports what this machine alone has; another machine with the same file takes it over.
fn changes(args: &Args, db: &Path, json: bool) -> Result<()> {
    let Some(output) = &args.output else {
        return Err(Error::invalid("changes need --output FILE"));
    };
    let file = Readable::open(db)?;
    let zone = file.store.look_up(settings::load)?.zone;
    let (since, mut lines) = (args.since.unwrap_or_default(), Vec::new());
    let written = file
        .store
        .look_up(|connection| standby::changes::export(connection, since, &zone, &mut lines))?;
    let mut into = NamedTempFile::new_in(folder_of(output))
        .map_err(|cause| Error::field(output.display(), cause))?;
    into.write_all(&lines)
        .map_err(|cause| Error::field(output.display(), cause))?;
    into.persist(output)
        .map_err(|cause| Error::field(output.display(), cause))?;
    let value = json!({"file": output.to_string_lossy(), "changes": written});
    answer(
        json,
        &value,
        &format!("{}: {written} changes since mark {since}", output.display()),
    )
}

/// A file that is read.
struct Readable {
    store: Store,
    /// Goes after the store.
    _copy: Option<TempDir>,
}

impl Readable {
    /// Opens the file; where nothing can be written to its folder, a copy of it in a temporary one. SQLite needs files
    /// beside a database to read its log.
    fn open(db: &Path) -> Result<Self> {
        let can_write = || {
            let file = File::options().write(true).open(db);
            file.is_ok() && tempfile::tempfile_in(folder_of(db)).is_ok()
        };
        if !db.is_file() || can_write() {
            let store = open_existing(db)?;
            return Ok(Self { store, _copy: None });
        }
        let refused = |why: &dyn std::fmt::Display| {
            Error::unavailable(format!(
                "{}: nothing can be written there, and {why}",
                db.display()
            ))
        };
        if is_served(db) {
            return Err(refused(&"a server runs on it: export where that runs"));
        }
        let folder = tempfile::tempdir().map_err(|cause| refused(&cause))?;
        let copy = folder.path().join("gatepost.db");
        for suffix in ["", "-wal"] {
            let (from, to) = (beside(db, suffix), beside(&copy, suffix));
            if from.exists() {
                // Not its permissions: the copy is written to.
                let copied = File::open(&from)
                    .and_then(|mut from| io::copy(&mut from, &mut File::create(&to)?));
                copied.map_err(|cause| {
                    refused(&format!(
                        "no copy could be made at {}: {cause}",
                        to.display()
                    ))
                })?;
            }
        }
        let store = Store::open_existing(&copy, Durability::Normal)?;
        Ok(Self {
            store,
            _copy: Some(folder),
        })
    }
}

/// The format that the end of a name says; CSV where it has none.
fn by_name(output: Option<&Path>) -> Result<Format> {
    let Some(end) = output.and_then(Path::extension) else {
        return Ok(Format::Csv);
    };
    let known = [Format::Csv, Format::Json, Format::Ndjson, Format::Xlsx];
    let named = known
        .into_iter()
        .find(|format| end.eq_ignore_ascii_case(format.extension()));
    named.ok_or_else(|| {
        Error::invalid(format!(
            "--output: .{} is none of .csv, .json, .ndjson and .xlsx; name the file so, or the format with --format",
            end.display()
        ))
    })
}

fn of<'a>(store: &'a Store, what: What, search: Option<&str>) -> Result<Export<'a>> {
    let zone = context(store, "admin")?.settings.zone.clone();
    let which = match search {
        Some(search) => Which::found(store, what, search, &zone)?,
        None => Which::All,
    };
    Ok(Export {
        store,
        zone,
        what,
        which,
        background: Background::of(store.path()),
    })
}

fn to_standard_output(export: &Export<'_>, format: Format) -> Result<()> {
    let mut out = Watched {
        inner: std::io::stdout(),
        closed: false,
    };
    let written = export.write(format, &mut out);
    // Whoever reads it may have seen enough.
    if out.closed {
        return Ok(());
    }
    written.map(|_| ())
}

/// Notices that nobody reads any more.
struct Watched<W> {
    inner: W,
    closed: bool,
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes);
        if let Err(cause) = &written {
            self.closed |= cause.kind() == std::io::ErrorKind::BrokenPipe;
        }
        written
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// Is synced a little at a time, while gates sync theirs.
struct Synced<'a> {
    file: &'a File,
    unsynced: usize,
}

impl Write for Synced<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        os::write_gently(self.file, bytes, &mut self.unsynced)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes beside the file under another name; it takes the file's place when it is whole.
fn to_file(export: &Export<'_>, format: Format, output: &Path) -> Result<Counts> {
    let refused = |cause: &dyn std::fmt::Display| {
        Error::unavailable(format!("{}: {cause}", output.display()))
    };
    let file =
        NamedTempFile::new_in(existing_folder_of(output)?).map_err(|cause| refused(&cause))?;
    let mut synced = Synced {
        file: file.as_file(),
        unsynced: 0,
    };
    let written = export.write(format, &mut synced)?;
    file.as_file().sync_all().map_err(|cause| refused(&cause))?;
    file.persist(output)
        .map_err(|cause| refused(&cause.error))?;
    // A temporary file is its owner's alone; an export is as any file that a command writes.
    let _ = os::readable(output);
    Ok(written)
}

/// The folder that an output goes into, which nobody makes for a mistyped name.
fn existing_folder_of(output: &Path) -> Result<&Path> {
    let folder = folder_of(output);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::field(
        output.display(),
        format!("there is no folder {}", folder.display()),
    ))
}

/// A folder with a file of each; events are among the devices.
fn all(args: &Args, db: &Path, json: bool) -> Result<()> {
    if args.search.is_some() {
        return Err(Error::invalid(
            "--search: name what to search; all takes none",
        ));
    }
    let Some(output) = &args.output else {
        return Err(Error::field("all", "name a folder with --output"));
    };
    let refused =
        |cause: std::io::Error| Error::unavailable(format!("{}: {cause}", output.display()));
    if output.exists() {
        let mut inside = std::fs::read_dir(output).map_err(refused)?;
        if inside.next().is_some() {
            return Err(Error::invalid(format!(
                "{} is there already; name a new folder",
                output.display()
            )));
        }
    }
    let format = args.format.unwrap_or(Format::Csv);
    let file = Readable::open(db)?;
    let folder = tempfile::tempdir_in(existing_folder_of(output)?).map_err(refused)?;
    let mut counts = Vec::new();
    for what in [
        What::Devices,
        What::Delegates,
        What::Interactions,
        What::Transactions,
    ] {
        let name = format!("{}.{}", what.name(), format.extension());
        let (export, path) = (of(&file.store, what, None)?, folder.path().join(name));
        let written = Progress::during("Exporting", || to_file(&export, format, &path))?;
        counts.push((what, written));
    }
    if output.exists() {
        std::fs::remove_dir(output).map_err(refused)?;
    }
    std::fs::rename(folder.keep(), output).map_err(refused)?;
    let _ = os::readable(output);
    print_counts(json, output, &counts)
}

fn print_counts(json: bool, output: &Path, written: &[(What, Counts)]) -> Result<()> {
    for (what, counts) in written {
        if let Some(warning) = counts.warning() {
            eprintln!("{}: {warning}", what.name());
        }
    }
    let output = output.display().to_string();
    if json {
        let of_each = |count: fn(&Counts) -> u64| -> serde_json::Map<_, _> {
            let each = written.iter();
            each.map(|(what, counts)| (what.name().to_owned(), json!(count(counts))))
                .collect()
        };
        let (exported, cut) = (of_each(|counts| counts.rows), of_each(|counts| counts.cut));
        return print_json(&json!({"output": output, "exported": exported, "cut": cut}));
    }
    written.iter().try_for_each(|(what, counts)| {
        print(&format!("{} {} in {output}", counts.rows, what.name()))
    })
}
