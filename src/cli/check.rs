//! `gatepost check` (contract §10).

use super::{print, print_json, progress::Progress};
use crate::{
    db::open,
    ops::check::{self, Mended, Report},
    types::{error::Result, os},
};
use serde_json::json;
use std::path::Path;

/// Check the whole file, and say what to do about what is wrong (exit code 1 when anything is).
///
/// Every page, index and reference is looked at, and whether what is kept follows from what was
/// recorded. It reads only, also while the server runs, and also a file that is damaged.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gatepost check --db event.db\n  gatepost check --repair --json"
)]
pub struct Args {
    /// Correct what follows from the rest: how many are inside and, with the server
    /// stopped, the index for searching. Nothing else is written.
    #[arg(long)]
    repair: bool,
}

/// Checks, and repairs where asked to; whether the file is clean.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<bool> {
    // The log cannot be begun anew while it looks: it had better get on, so it is not idle beside a server.
    if open::is_served(db) {
        os::nice();
    }
    let look = || look(db, json);
    let mut report = look()?;
    let mut mended = Mended::default();
    // Only where nothing worse is wrong: what is mended must follow from something sound.
    if args.repair && report.is_repairable() {
        let store = super::open_existing(db)?;
        mended = check::repair(&store, &report)?;
        drop(store);
        report = look()?;
    }
    if json {
        let findings: Vec<_> = report
            .findings
            .iter()
            .map(|finding| json!({"what": finding.what, "advice": finding.advice}))
            .collect();
        print_json(&json!({
            "clean": findings.is_empty(),
            "findings": findings,
            "lastBackup": report.last_backup,
            "mended": {"effects": mended.effects, "occupancies": mended.occupancies, "searchIndex": mended.index},
        }))?;
    } else {
        print_report(&report, db, &mended)?;
    }
    Ok(report.findings.is_empty())
}

fn look(db: &Path, json: bool) -> Result<Report> {
    let progress = Progress::of_steps(json);
    let report = check::look(db, &mut |step| {
        progress.step(step.number, step.of, step.what);
    });
    progress.clear();
    report
}

fn print_report(report: &Report, db: &Path, mended: &Mended) -> Result<()> {
    if mended.index {
        print("made the index for searching anew")?;
    }
    if mended.effects > 0 {
        print(&format!(
            "corrected the effects of {} interactions on presence",
            mended.effects
        ))?;
    }
    if mended.occupancies > 0 {
        print(&format!(
            "mended {} counts of those inside",
            mended.occupancies
        ))?;
    }
    for finding in &report.findings {
        print(&format!("{}\n  → {}", finding.what, finding.advice))?;
    }
    let backup = match &report.last_backup {
        Some(at) => format!("the last backup was made at {at}"),
        None => "no backup is on record".to_owned(),
    };
    match report.findings.len() {
        0 => print(&format!("{} is sound; {backup}", db.display())),
        1 => print(&format!("{}: 1 finding", db.display())),
        count => print(&format!("{}: {count} findings", db.display())),
    }
}
