//! `gatepost restore`: a backup in the file's place.

use super::{print, print_json, progress::Progress};
use crate::{
    ops::backup::restore::{self, Restored},
    types::{Timestamp, error::Result},
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Put a backup in the place of the file, while no server runs on it.
///
/// The backup is checked in full and brought to the current schema. Who was erased from the file since
/// is erased from the backup again, and ids that were given since are not given twice; so do not copy
/// it there by hand. The file that was in place is put aside, whole: what was recorded since the backup
/// is only there.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gatepost restore backups/gatepost-20261121-090000.db\n  gatepost restore /media/stick/gatepost.db --erased-in gatepost.db.old --json"
)]
pub struct Args {
    /// The backup; it stays as it is.
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// Another file that knows who was erased, such as the one that was in place before (may be
    /// repeated).
    #[arg(long, value_name = "FILE")]
    erased_in: Vec<PathBuf>,
}

/// Restores a backup.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    let done = Progress::during("Checking and restoring the backup", || {
        restore::restore(&args.backup, db, &args.erased_in, Timestamp::now())
    })?;
    for (file, why) in &done.unread {
        eprintln!(
            "gatepost: {} does not show who was erased ({why}): people who were erased since the backup was made may be in it again",
            file.display()
        );
    }
    for loss in &done.losses {
        eprintln!("gatepost: {loss}");
    }
    if json {
        return print_json(&in_json(args, db, &done));
    }
    print(&format!(
        "{} is in place as {}, checked, {} bytes",
        args.backup.display(),
        db.display(),
        done.bytes
    ))?;
    if done.erased > 0 {
        print(&format!(
            "erased from it again: {} (delegates and users)",
            done.erased
        ))?;
    }
    match &done.put_aside {
        Some(aside) => print(&format!(
            "the file that was there is {}; it alone has what was recorded since the backup",
            aside.display()
        )),
        None => print(
            "there was no file there that knew who was erased since the backup; --erased-in names one",
        ),
    }
}

fn in_json(args: &Args, db: &Path, done: &Restored) -> serde_json::Value {
    let unread = done.unread.iter();
    let unread: Vec<_> = unread
        .map(|(file, why)| json!({"file": file.to_string_lossy(), "reason": why}))
        .collect();
    json!({
        "file": db.to_string_lossy(),
        "backup": args.backup.to_string_lossy(),
        "putAside": done.put_aside.as_ref().map(|path| path.to_string_lossy()),
        "bytes": done.bytes,
        "schemaVersion": done.version,
        "erasedAgain": done.erased,
        "notAskedWhoWasErased": unread,
        "losses": done.losses,
    })
}
