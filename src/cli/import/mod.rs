//! `gatepost import`

mod args;
mod report;

pub use args::Args;

use super::{answer, context, open, open_existing, print, progress::Progress};
use crate::{
    db::Store,
    domain::{devices, interactions::late_codes},
    ops::{
        background::Background,
        import::{
            Batch, Job, Source, Stop, What,
            bad::LISTED_MAX,
            batches::{self, Options},
            job::Request,
            join::join_all,
            source::Reading,
            undo,
        },
        standby,
    },
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Result},
        os,
    },
};
use args::{Command, ListArgs};
use report::Report;
use serde_json::json;
use std::{
    fmt::Write,
    fs::File,
    io::{BufReader, IsTerminal},
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

/// Lines that are shown of many at a terminal.
const AT_A_TERMINAL: usize = 100;

/// Imports, or checks only; false where it has printed that not all was done that was asked.
pub fn run(args: Args, db: &Path, json: bool) -> Result<bool> {
    if let Some(command) = args.what {
        let (what, args) = match command {
            Command::Delegates(args) => (What::Delegates, args),
            Command::Devices(args) => (What::Devices, args),
            Command::Interactions(args) => (What::Interactions, args),
            Command::Changes { file } => return changes(&file, db, json).map(|()| true),
        };
        return import(what, args, db, json);
    }
    let store = open_existing(db)?;
    if let Some(id) = args.undo {
        return take_back(&indexed(store)?, id, json);
    }
    if let (Some(device), Some(id)) = (args.join, args.of) {
        return join(&store, id, &device, json);
    }
    if let Some(id) = args.resume {
        return resume(&indexed(store)?, id, args.file, args.skip_bad, json);
    }
    list(&store, json)?;
    Ok(true)
}

/// Takes over what another machine alone has.
fn changes(file: &Path, db: &Path, json: bool) -> Result<()> {
    let store = open_existing(db)?;
    let opened = File::open(file).map_err(|cause| Error::field(file.display(), cause))?;
    let mut ctx = context(&store, "import")?;
    standby::changes::ACTOR.clone_into(&mut ctx.actor);
    let taken = Progress::during("Taking over changes", || {
        standby::changes::import(&store, &ctx, BufReader::new(opened))
    })?;
    let mut text = format!(
        "{} taken over, {} here already, {} conflicts",
        taken.taken,
        taken.known,
        taken.conflicts.len()
    );
    for conflict in &taken.conflicts {
        let _ = write!(text, "\nConflict: {conflict}");
    }
    for (kind, count) in &taken.left_out {
        let _ = write!(
            text,
            "\nNot taken over: {count} changes of {kind}; make them again by hand"
        );
    }
    answer(json, &json!(taken), &text)
}

fn find_device(
    option: &str,
    store: Option<&Store>,
    named: Option<&DeviceSelector>,
) -> Result<Option<DeviceId>> {
    let Some(selector) = named else {
        return Ok(None);
    };
    let found = match store {
        Some(store) => store.look_up(|connection| devices::find(connection, selector)),
        None => Err(devices::RESOURCE.missing(selector)),
    };
    found.map(Some).map_err(|cause| Error::field(option, cause))
}

fn import(what: What, args: ListArgs, db: &Path, json: bool) -> Result<bool> {
    let begun = Instant::now();
    // Before the store: what is no list may be the database itself, which must not be opened by
    // others than SQLite once that has it.
    let reading = Reading {
        sheet: args.sheet.as_deref(),
        encoding: args.encoding.as_deref(),
        header_row: args.header_row,
    };
    let source = Source::open(&args.file, reading)?;
    // A dry run makes no file where there is none: nothing is taken then.
    let store = if args.dry_run && !db.exists() {
        None
    } else {
        Some(indexed(open(db)?)?)
    };
    let join = find_device("--join", store.as_ref(), args.join.as_ref())?;
    let device = find_device("--device", store.as_ref(), args.device.as_ref())?;
    let ctx = match &store {
        Some(store) => context(store, "import")?,
        None => crate::core::Context::of_command("import", std::sync::Arc::default()),
    };
    let path = std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone());
    let request = Request {
        what,
        options: Options {
            path: path.to_string_lossy().into_owned(),
            sheet: args.sheet,
            map: args.mappings,
            key: args.key,
            join: join.map(|device| device.0),
            skip_bad: args.skip_bad,
            make_codes: args.make_codes,
            encoding: args.encoding,
            header_row: args.header_row,
            set: args.set,
            dates: args.dates,
            numbers: args.numbers,
            hidden_rows: args.hidden_rows,
            status: args.status,
            action: None,
            after_message: None,
        },
        device,
        again: args.again,
    };
    let job = checked(|on_progress| {
        let background = Background::of(db);
        Job::check(
            store.as_ref(),
            source,
            ctx,
            request,
            &background,
            on_progress,
        )
    })?;
    let store = store.filter(|_| !args.dry_run);
    finish(&args.file, &job, store.as_ref(), begun, json)
}

/// Checks a file, with its progress shown.
fn checked(
    check: impl FnOnce(&mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Job>,
) -> Result<Job> {
    let progress = Progress::new();
    let job = check(&mut |rows| {
        progress.rows(rows, "checked");
        ControlFlow::Continue(())
    });
    progress.clear();
    job
}

fn resume(
    store: &Store,
    id: i64,
    file: Option<PathBuf>,
    skip_bad: bool,
    json: bool,
) -> Result<bool> {
    let begun = Instant::now();
    let batch: Batch = store.look_up(|connection| batches::find(connection, id))?;
    let file = file.unwrap_or_else(|| PathBuf::from(&batch.options.path));
    // A handle on the database beside SQLite's own would drop SQLite's locks when it is closed.
    if os::is_same(&file, store.path()) {
        return Err(Error::invalid(format!(
            "{} is a database, no list",
            file.display()
        )));
    }
    let source = Source::open(&file, batch.options.reading())?;
    let ctx = context(store, "import")?;
    let job = checked(|on_progress| {
        let background = Background::of(store.path());
        Job::resume(
            store,
            source,
            ctx,
            batch,
            skip_bad,
            &background,
            on_progress,
        )
    })?;
    finish(&file, &job, Some(store), begun, json)
}

/// Writes what was checked, where it is good and there is a store to write to, and prints a report.
fn finish(
    file: &Path,
    job: &Job,
    store: Option<&Store>,
    begun: Instant,
    json: bool,
) -> Result<bool> {
    let mut done = None;
    if let Some(store) = store.filter(|_| job.is_good()) {
        let progress = Progress::new();
        let mut batch = None;
        let outcome = job.run(store, Stop::default(), |import| {
            batch = Some(import.batch);
            progress.written(import.batch, import.done, job.checked.rows);
        });
        progress.clear();
        done = Some(outcome.map_err(|cause| match batch {
            Some(batch) => Error::new(
                cause.kind,
                format!(
                    "{cause}; complete it with `gatepost import --resume {batch}`, or take it back with `gatepost import --undo {batch}`"
                ),
            ),
            None => cause,
        })?);
    }
    let dry_run = store.is_none();
    let late_scans = match store.filter(|_| done.is_some()) {
        Some(store) => Some(store.look_up(late_codes::find)?.len()),
        None => None,
    };
    let report = Report {
        file,
        job,
        dry_run,
        begun,
        done,
        late_scans,
    };
    let failure = report.verdict().err();
    print_answer(report.to_json(), || report.to_text(), failure, json)
}

/// Prints an answer, and what failed where something did; whether nothing did.
fn print_answer(
    mut answer: serde_json::Value,
    text: impl FnOnce() -> String,
    failure: Option<Error>,
    json: bool,
) -> Result<bool> {
    if let Some(failure) = &failure {
        answer["error"] = json!(failure.to_string());
    }
    print(&if json { answer.to_string() } else { text() })?;
    if let Some(failure) = &failure {
        eprintln!("gatepost: {failure}");
    }
    Ok(failure.is_none())
}

/// The file, where its index for searching is sound: nobody is written whom searches would not find.
fn indexed(store: Store) -> Result<Store> {
    if store.lacks_index() {
        return Err(Error::field(
            store.path().display(),
            "its index for searching is damaged, and no record is lost; stop the server and run `gatepost check --repair`, or start the server anew",
        ));
    }
    Ok(store)
}

fn take_back(store: &Store, id: i64, json: bool) -> Result<bool> {
    let ctx = context(store, "import")?;
    let progress = Progress::new();
    let undone = undo(store, ctx, id, Stop::default(), |undo| {
        progress.rows(undo.removed + undo.restored, "taken back");
    });
    progress.clear();
    let undone = undone?;
    let (removed, restored, left) = (undone.removed, undone.restored, undone.left);
    let lines: Vec<_> = undone.listed.iter().map(ToString::to_string).collect();
    let failure = (left > 0).then(|| {
        Error::invalid(format!(
            "{left} of import {id} were changed or used since and stay as they are"
        ))
    });
    let answer = json!({"batch": id, "removed": removed, "restored": restored, "left": left, "leftAsTheyAre": lines});
    let text = || {
        let mut lines = shown(lines, left);
        lines.push(format!(
            "import {id} taken back: {removed} removed, {restored} put back, {left} left as they are"
        ));
        lines.join("\n")
    };
    print_answer(answer, text, failure, json)
}

fn join(store: &Store, id: i64, device: &DeviceSelector, json: bool) -> Result<bool> {
    let device = find_device("--join", Some(store), Some(device))?
        .ok_or_else(|| Error::defect("no device"))?;
    let ctx = context(store, "import")?;
    let progress = Progress::new();
    let joined = join_all(store, ctx, id, device, Stop::default(), |join| {
        progress.rows(join.joined + join.skipped, "joined");
    });
    progress.clear();
    let joined = joined?;
    let (made, skipped) = (joined.joined, joined.skipped);
    let answer = json!({"batch": id, "joined": made, "skipped": skipped});
    let text = || {
        format!(
            "import {id}: {made} delegates joined, {skipped} skipped because they were joined before or are deleted"
        )
    };
    print_answer(answer, text, None, json)
}

/// Lines of so many, as they are shown: to a person at a terminal the first of them.
fn shown(mut lines: Vec<String>, all: u64) -> Vec<String> {
    if std::io::stdout().is_terminal() {
        lines.truncate(AT_A_TERMINAL);
    }
    let unlisted = all - lines.len() as u64;
    if unlisted > 0 {
        lines.push(format!(
            "… and {unlisted} more; a pipe or a file gets up to {LISTED_MAX}"
        ));
    }
    lines
}

fn list(store: &Store, json: bool) -> Result<()> {
    let newest = store.look_up(|connection| batches::older(connection, i64::MAX, 100))?;
    let zone = context(store, "import")?.settings.zone.clone();
    if json {
        let shown: Vec<_> = newest.iter().map(|batch| batch.to_json(&zone)).collect();
        return print(&serde_json::Value::Array(shown).to_string());
    }
    if newest.is_empty() {
        return print("no imports");
    }
    let lines = newest.iter().map(|batch| {
        format!(
            "{:>5}  {}  {:<12}  {:<11}  {} of {} rows  {}",
            batch.id,
            zone.plain(batch.created_at),
            batch.what.name(),
            batch.state().name(),
            batch.done,
            batch.total,
            batch.file_name
        )
    });
    print(&lines.collect::<Vec<_>>().join("\n"))
}
