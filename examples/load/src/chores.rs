//! The evening's work as the command line does it (import, export, backup), timed alone and while
//! gates check people in.

use crate::{Result, measure, people, report::Report, run::Plan, server::Server, setup::Venue};
use std::{
    fs::File,
    io::{BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// Rows of the list that is imported.
pub const ROWS: u64 = 100_000;
/// Where the people in the list begin, so that none of them is in a prepared file.
const FIRST: u64 = 5_000_000;
/// Gates that check people in beside the chores.
const GATES: usize = 64;
/// Rows of each list that is imported until a moment.
const LIST_ROWS: u64 = 20_000;
/// How often the log's size is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Writes the list.
pub fn write_list(path: &Path) -> Result<()> {
    write_people(path, FIRST..FIRST + ROWS)
}

fn write_people(path: &Path, numbers: Range<u64>) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(
        file,
        "Barcode,First name,Last name,E-mail,Company,Job title,Diet"
    )?;
    for number in numbers {
        let person = people::person(number);
        writeln!(
            file,
            "N{number},{},{},{},\"{}\",{},vegan",
            person.first_name, person.last_name, person.email, person.company, person.job_title
        )?;
    }
    Ok(file.flush()?)
}

/// The commands on one file.
pub struct Chores<'a> {
    /// The program.
    pub binary: &'a Path,
    /// The database file.
    pub db: &'a Path,
    /// Where to put what they write.
    pub dir: &'a Path,
}

impl Chores<'_> {
    /// Imports the list.
    pub async fn import(&self, list: &Path) -> Result<Duration> {
        let list = list.display().to_string();
        self.timed(&["import", "delegates", &list]).await
    }

    /// Exports a kind of record as CSV.
    pub async fn export(&self, kind: &str) -> Result<Duration> {
        let output = self.file(&format!("{kind}.csv"));
        let shown = output.display().to_string();
        let took = self
            .timed(&["export", kind, "--format", "csv", "--output", &shown])
            .await?;
        std::fs::remove_file(output)?;
        Ok(took)
    }

    /// Backs the file up.
    pub async fn backup(&self) -> Result<Duration> {
        let output = self.file("backup.db");
        let _ = std::fs::remove_file(&output);
        let shown = output.display().to_string();
        let took = self.timed(&["backup", "--output", &shown]).await?;
        std::fs::remove_file(output)?;
        Ok(took)
    }

    /// Imports new people, one list after another, until a moment; `before` lists were imported by
    /// then. Returns how many more were.
    pub async fn import_until(&self, until: Instant, before: u64) -> Result<u64> {
        let list = self.file("people.csv");
        let mut lists = 0;
        while Instant::now() < until {
            let first = FIRST + (before + lists) * LIST_ROWS;
            write_people(&list, first..first + LIST_ROWS)?;
            self.import(&list).await?;
            lists += 1;
        }
        if lists > 0 {
            std::fs::remove_file(list)?;
        }
        Ok(lists)
    }

    /// Exports all interactions again and again until a moment; how many times.
    pub async fn export_until(&self, until: Instant) -> Result<u64> {
        let mut times = 0;
        while Instant::now() < until {
            self.export("interactions").await?;
            times += 1;
        }
        Ok(times)
    }

    /// Backs up again and again until a moment; how many times.
    pub async fn backup_until(&self, until: Instant) -> Result<u64> {
        let mut times = 0;
        while Instant::now() < until {
            self.backup().await?;
            times += 1;
        }
        Ok(times)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    async fn timed(&self, arguments: &[&str]) -> Result<Duration> {
        let begun = Instant::now();
        let mut command = Command::new(self.binary);
        command.args(arguments).arg("--db").arg(self.db);
        let output = tokio::task::spawn_blocking(move || command.output()).await??;
        if output.status.success() {
            return Ok(begun.elapsed());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        Err(format!("gatepost {}: {told}", arguments.join(" ")).into())
    }
}

/// What check-ins see while all of it is done at once.
pub struct Beside {
    /// The check-ins.
    pub check_ins: Report,
    /// How long import, export and backup took.
    pub took: [Duration; 3],
    /// The write-ahead log at its largest, in bytes.
    pub log_bytes: u64,
    /// Resident memory afterwards, in KiB.
    pub memory_kib: u64,
    /// Resident memory at its largest since the server began, in KiB.
    pub memory_max_kib: u64,
}

/// Runs all three at once, and check-ins at a rate for as many seconds as are given; the chores
/// have to be done by then.
pub async fn beside(
    chores: &Chores<'_>,
    list: &Path,
    venue: &Venue,
    server: &Server,
    rate_per_s: u32,
    seconds: u64,
) -> Result<Beside> {
    let plan = Plan::seconds(seconds, 1).at_rate(rate_per_s);
    let log = chores.db.with_extension("db-wal");
    let mut log_bytes = 0;
    let watch = async {
        loop {
            log_bytes = log_bytes.max(std::fs::metadata(&log).map_or(0, |log| log.len()));
            tokio::time::sleep(LOOK).await;
        }
    };
    let work = async {
        tokio::try_join!(
            measure::check_ins(venue, GATES, false, plan),
            chores.import(list),
            chores.export("interactions"),
            chores.backup(),
        )
    };
    let (check_ins, import, export, backup) = tokio::select! {
        done = work => done?,
        () = watch => return Err("nobody watches for ever".into()),
    };
    let took = [import, export, backup];
    if took.iter().any(|took| took.as_secs() >= seconds) {
        return Err(format!("the chores took {took:?}: give the check-ins more seconds").into());
    }
    Ok(Beside {
        check_ins,
        took,
        log_bytes,
        memory_kib: server.memory_kib("VmRSS")?,
        memory_max_kib: server.memory_kib("VmHWM")?,
    })
}
