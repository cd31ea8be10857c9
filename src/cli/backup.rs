//! `gatepost backup` (contract §10).

use super::{answer, progress::Progress, user::changed_by_command};
use crate::{
    db::migrate::CURRENT,
    ops::{
        background::Background,
        backup::{
            self, Backup,
            ledger::{self, Purpose},
        },
    },
    types::error::Result,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Copy the file while it is in use, and check the copy.
///
/// Gates go on meanwhile: no write waits for it. To a slow disk while thousands check in each
/// second, copy to the server's own disk first and carry that copy over. To restore: stop the
/// server, and `gatepost restore` the copy.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gatepost backup\n  gatepost backup --output /media/stick/\n  gatepost backup --output last-night.db --force --json"
)]
pub struct Args {
    /// The copy, or the folder to put it in [default: gatepost-YYYYMMDD-HHMMSS.db beside the file].
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a copy of that name, once the new one is checked.
    #[arg(long)]
    force: bool,
}

/// Makes a backup.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    let target = target(args.output.as_deref(), db);
    let made = Progress::during("Copying and checking the file", || {
        backup::make(db, &target, args.force, &Background::of(db))
    })?;
    // A file of an older version would be migrated by being opened to write.
    if made.version == CURRENT {
        note(db, &made);
    }
    let seconds = (made.copied_in + made.checked_in).as_secs_f64();
    let value = json!({
        "file": made.path.to_string_lossy(),
        "bytes": made.bytes,
        "schemaVersion": made.version,
        "seconds": seconds,
        "logHeldSeconds": made.held_for.as_secs_f64(),
    });
    let text = format!(
        "{}: {:.1} MB, copied in {:.1} s and found sound in {:.1} s",
        made.path.display(),
        mega(made.bytes),
        made.copied_in.as_secs_f64(),
        made.checked_in.as_secs_f64()
    );
    answer(json, &value, &text)
}

fn target(output: Option<&Path>, db: &Path) -> PathBuf {
    let name = jiff::Zoned::now().strftime("gatepost-%Y%m%d-%H%M%S.db");
    match output {
        Some(folder) if folder.is_dir() => folder.join(name.to_string()),
        Some(file) => file.to_owned(),
        None => db.with_file_name(name.to_string()),
    }
}

/// The copy is good whether or not the file can take a note of it.
fn note(db: &Path, made: &Backup) {
    let made = Backup {
        path: std::path::absolute(&made.path).unwrap_or_else(|_| made.path.clone()),
        ..*made
    };
    let noted = super::open(db).and_then(|store| {
        changed_by_command(&store, move |tx, ctx| {
            let id = ledger::begin(tx, Purpose::Manual, &made.path, tx.now())?;
            ledger::done(tx, ctx, id, &made, tx.now())
        })
    });
    if let Err(cause) = noted {
        eprintln!(
            "gatepost: the backup is made, but {} could not take a note of it: {}",
            db.display(),
            cause
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
