//! `gatepost import`

use super::{context, open, user::print};
use crate::{
    devices,
    error::{Error, Result},
    import::{
        self, BadRow, BadRows, Columns, Import, Mapping, Table,
        check::{Checked, TOLD_MAX},
    },
    store::Store,
    types::{DeviceId, DeviceSelector},
};
use serde_json::{Value, json};
use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    time::Instant,
};

/// Take a list into the file: all of it or, when anything in it is wrong, nothing.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a delegate of every row of a CSV file.
    ///
    /// Columns are separated by comma, semicolon or tab. Headers such as "First name", "Surname",
    /// "E-mail", "Company", "Ticket code" or "External ID" are known; any other column is kept in
    /// data.Data under its header.
    #[command(after_help = "\
Examples:
  gatepost import delegates attendees.csv --dry-run
  gatepost import delegates attendees.csv --map \"Order no.=externalId\" --map \"Notes=\" --join 1")]
    Delegates(Args),
}

/// What is imported, and how.
#[derive(clap::Args)]
pub struct Args {
    /// The CSV file, UTF-8, with a header.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What a column is: a property, data.Data.<key>, or nothing to skip it (may be repeated).
    #[arg(long = "map", value_name = "HEADER=PROPERTY", value_parser = Mapping::parse)]
    mappings: Vec<Mapping>,
    /// Join every imported delegate with a device, such as an event: its id, code:X or externalId:X.
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    join: Option<DeviceSelector>,
    /// Tell what would be imported, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Import the good rows even when others are bad.
    #[arg(long)]
    skip_bad: bool,
}

/// Imports, or tells what it would.
///
/// # Errors
/// A sentence for the operator; nothing is written then, unless it says so.
pub fn run(command: Command, db: &Path, json: bool) -> Result<()> {
    let Command::Delegates(args) = command;
    let begun = Instant::now();
    let told = |cause: Error| Error::invalid(format!("{}: {}", args.file.display(), cause.message));
    let table = Table::open(&args.file)?;
    let columns = Columns::new(table.header(), &args.mappings).map_err(told)?;
    // A dry run makes no file where there is none: nothing is taken then.
    let store = if args.dry_run && !db.exists() {
        None
    } else {
        Some(open(db)?)
    };
    let join = find_device(store.as_ref(), args.join.as_ref())?;
    let checked = import::check(&table, &columns, store.as_ref())?;
    let mut report = Report {
        file: &args.file,
        table: &table,
        columns: &columns,
        rows: checked.rows,
        bad: Vec::new(),
        written: !args.dry_run && (args.skip_bad || checked.bad.count() == 0),
        imported: 0,
        dry_run: args.dry_run,
        begun,
    };
    let bad = match store.filter(|_| report.written) {
        Some(store) => {
            let done = write(&store, &args.file, &table, &columns, checked, join)?;
            report.imported = done.written;
            vec![done.leave_out, done.late]
        }
        None => vec![checked.bad],
    };
    let bad_count: usize = bad.iter().map(BadRows::count).sum();
    report.bad = bad;
    report.show(json)?;
    if bad_count == 0 || args.skip_bad {
        return Ok(());
    }
    Err(Error::invalid(if report.imported > 0 {
        format!("{bad_count} of {} rows were not imported", report.rows)
    } else {
        format!(
            "{bad_count} of {} rows are bad: nothing was imported; mend them, or leave them out with --skip-bad",
            report.rows
        )
    }))
}

/// Reads a device as an operator names it: an id, or a selector.
fn device(text: &str) -> Result<DeviceSelector> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return DeviceSelector::parse(&format!("id:{text}"));
    }
    DeviceSelector::parse(text)
}

fn find_device(store: Option<&Store>, named: Option<&DeviceSelector>) -> Result<Option<DeviceId>> {
    let Some(selector) = named else {
        return Ok(None);
    };
    let found = match store {
        Some(store) => store.look_up(|connection| devices::find(connection, selector)),
        None => Err(devices::RESOURCE.missing(selector)),
    };
    found
        .map(Some)
        .map_err(|cause| Error::invalid(format!("--join: {}", cause.message)))
}

fn write(
    store: &Store,
    file: &Path,
    table: &Table,
    columns: &Columns,
    checked: Checked,
    join: Option<DeviceId>,
) -> Result<Import> {
    let mut ctx = context(store, "import")?;
    let name = file.file_name().unwrap_or_default();
    ctx.actor = format!("import:{}", name.to_string_lossy());
    let total = checked.rows - checked.bad.count();
    let mut progress = Progress::new(total);
    let work = Import {
        rows: table.rows(),
        columns: columns.clone(),
        leave_out: checked.bad,
        ctx,
        join,
        written: 0,
        late: BadRows::default(),
    };
    let mut written = 0;
    let outcome = import::write(store, work, |import| {
        written = import.written;
        progress.show(written);
    });
    progress.clear();
    outcome.map_err(|cause| {
        Error::new(
            cause.kind,
            format!(
                "stopped after {written} of {total} delegates were imported: {}; import the file again with --skip-bad for the rest",
                cause.message
            ),
        )
    })
}

/// A line that grows on a terminal, and is nowhere else.
struct Progress {
    total: usize,
    shown: bool,
}

impl Progress {
    fn new(total: usize) -> Self {
        Self {
            total,
            shown: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, done: usize) {
        if self.shown {
            eprint!("\r{done} of {} delegates", self.total);
            let _ = std::io::stderr().flush();
        }
    }

    fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}

/// What an import found and did.
struct Report<'a> {
    file: &'a Path,
    table: &'a Table,
    columns: &'a Columns,
    rows: usize,
    bad: Vec<BadRows>,
    /// Rows were written, or there were none to write.
    written: bool,
    imported: usize,
    dry_run: bool,
    begun: Instant,
}

impl Report<'_> {
    fn show(&self, json: bool) -> Result<()> {
        if json {
            print(&self.to_json().to_string())
        } else {
            print(&self.to_text())
        }
    }

    fn told(&self) -> impl Iterator<Item = &BadRow> {
        self.bad.iter().flat_map(BadRows::told).take(TOLD_MAX)
    }

    fn bad_count(&self) -> usize {
        self.bad.iter().map(BadRows::count).sum()
    }

    fn to_json(&self) -> Value {
        let columns = self.columns.iter();
        let columns: Vec<_> = columns
            .map(|column| json!({"header": column.header, "property": column.target.name()}))
            .collect();
        let bad: Vec<_> = self
            .told()
            .map(|row| {
                json!({"line": row.line, "column": row.problem.column, "reason": row.problem.reason})
            })
            .collect();
        json!({
            "file": self.file.display().to_string(),
            "delimiter": self.table.delimiter(),
            "columns": columns,
            "rows": self.rows,
            "badRows": self.bad_count(),
            "bad": bad,
            "dryRun": self.dry_run,
            "imported": self.imported,
            "seconds": self.begun.elapsed().as_secs_f64(),
        })
    }

    fn to_text(&self) -> String {
        let delimiter = match self.table.delimiter() {
            '\t' => "tabs".to_owned(),
            other => format!("\"{other}\""),
        };
        let mut lines = vec![format!(
            "{}: {} rows, columns separated by {delimiter}",
            self.file.display(),
            self.rows
        )];
        let widest = self
            .columns
            .iter()
            .map(|column| column.header.chars().count());
        let width = widest.max().unwrap_or(0).min(40);
        for column in self.columns.iter() {
            let target = column
                .target
                .name()
                .unwrap_or_else(|| "(not imported)".into());
            lines.push(format!("  {:width$}  {target}", column.header));
        }
        lines.extend(self.told().map(|row| format!("bad: {row}")));
        let untold = self.bad_count() - self.told().count();
        if untold > 0 {
            lines.push(format!("bad: … and {untold} more"));
        }
        if self.dry_run {
            lines.push(format!(
                "good rows: {}, bad rows: {}; nothing was changed",
                self.rows - self.bad_count(),
                self.bad_count()
            ));
        } else if self.written {
            lines.push(format!(
                "imported {}, skipped {}, in {:.1} s",
                self.imported,
                self.rows - self.imported,
                self.begun.elapsed().as_secs_f64()
            ));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_id_or_selector() {
        for (text, shown) in [
            ("17", "id:17"),
            ("id:17", "id:17"),
            ("code:hall", "code:hall"),
        ] {
            assert_eq!(device(text).unwrap().to_string(), shown);
        }
        for bad in ["", "hall", "1.5", "name:hall", "99999999999999999999"] {
            assert!(device(bad).is_err(), "{bad}");
        }
    }
}
