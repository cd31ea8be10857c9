//! What a long run tells: on the terminal as it goes, and in a file to keep.

use crate::{Result, prepare, server};
use std::{
    fmt::Display,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

/// Prints lines, and writes them to a file where one was asked for.
pub struct Output(Option<File>);

impl Output {
    pub fn to(path: Option<&Path>) -> Result<Self> {
        let file = path
            .map(|path| File::create(path).map_err(|cause| format!("{}: {cause}", path.display())));
        Ok(Self(file.transpose()?))
    }

    pub fn line(&mut self, line: impl Display) -> Result<()> {
        print(&line)?;
        if let Some(file) = &mut self.0 {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

/// Prints a line; an error when nobody reads any more.
pub fn print(line: impl Display) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// Options of the runs that start the server themselves.
#[derive(clap::Args, Clone)]
pub struct OwnServer {
    /// Directory for the database files; on the disk that is to be measured
    #[arg(long, default_value = "target/load")]
    pub dir: PathBuf,
    /// The server [default: the one built beside this example]
    #[arg(long)]
    pub server: Option<PathBuf>,
    /// Keep everything printed in this file too
    #[arg(long)]
    pub output: Option<PathBuf>,
}

impl OwnServer {
    /// The server to measure.
    pub fn binary(&self) -> PathBuf {
        self.server.clone().unwrap_or_else(server::binary_beside)
    }

    /// Makes a file anew, with so many delegates, sessions and interactions.
    pub fn fresh(
        &self,
        name: &str,
        (delegates, sessions, interactions): (i64, i64, i64),
    ) -> Result<PathBuf> {
        std::fs::create_dir_all(&self.dir)?;
        let db = self.dir.join(name);
        prepare::remove(&db)?;
        prepare::prepare(&prepare::Options {
            db: db.clone(),
            delegates,
            sessions,
            interactions,
        })?;
        Ok(db)
    }
}

/// One line on the machine, where it says; takes a second to see what else it does.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kernel = read("/proc/sys/kernel/osrelease");
    let (busy, all) = processor_time();
    std::thread::sleep(Duration::from_secs(1));
    let (busy_later, all_later) = processor_time();
    let others_percent =
        100 * busy_later.saturating_sub(busy) / all_later.saturating_sub(all).max(1);
    format!(
        "machine: {cores} cores ({model}), Linux {}; {others_percent} % busy beforehand",
        kernel.trim()
    )
}

/// Time that all processors have spent working, and in all, since the machine started.
fn processor_time() -> (u64, u64) {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let times: Vec<u64> = line
        .split_whitespace()
        .filter_map(|time| time.parse().ok())
        .collect();
    // The fourth and fifth are idle and waiting for a disk.
    let idle: u64 = times.iter().skip(3).take(2).sum();
    let all: u64 = times.iter().take(8).sum();
    (all.saturating_sub(idle), all)
}
