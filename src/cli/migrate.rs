//! `gatepost migrate`

use super::{answer, progress::Progress};
use crate::{
    db::{Found, migrate::CURRENT, open},
    types::error::{Error, Result},
};
use serde_json::json;
use std::path::Path;

/// Bring the file to the current schema, after a copy of the old one beside it.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  gatepost migrate --check --db event.db || gatepost migrate --db event.db"
)]
pub struct Args {
    /// Only check whether the file is behind (exit code 1 when it is).
    #[arg(long)]
    check: bool,
}

/// Migrates, or checks whether that is needed.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    let found = match open::look(db)? {
        Found::Nothing | Found::Torn => {
            return Err(Error::invalid(format!("{} does not exist", db.display())));
        }
        Found::Version(version) | Found::Unindexed(version) => version,
    };
    if args.check {
        print_version(json, db, found)?;
        return if found < CURRENT {
            Err(Error::invalid(format!(
                "{} is behind: schema version {found}, current is {CURRENT}",
                db.display()
            )))
        } else {
            Ok(())
        };
    }
    if found < CURRENT {
        eprintln!(
            "gatepost: copying {} and migrating it from schema version {found} to {CURRENT}; with millions of interactions this takes a while",
            db.display()
        );
    }
    drop(Progress::during("Migrating the file", || super::open(db))?);
    print_version(json, db, CURRENT)
}

fn print_version(json: bool, db: &Path, version: i64) -> Result<()> {
    let value = json!({"version": version, "current": CURRENT});
    let text = format!("{}: schema version {version} of {CURRENT}", db.display());
    answer(json, &value, &text)
}
