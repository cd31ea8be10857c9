//! `gatepost compact`: the file without what deleted content left in it.

use super::{answer, progress::Progress};
use crate::{
    ops::backup::compact,
    types::{Timestamp, error::Result},
};
use serde_json::json;
use std::path::Path;

/// Write the file anew without what deleted content left in it, while no server runs on it.
///
/// Deleting overwrites a record where it is stored, but copies of it may be left where it was stored
/// earlier. Run this after the event, when the last people are erased. The file is checked in full
/// first. It needs as much free space again, both beside the file and for temporary files. No copy of
/// the file is kept, and backups stay as they are.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  gatepost compact --db event.db --json")]
pub struct Args {}

/// Compacts the file.
pub fn run(db: &Path, json: bool) -> Result<()> {
    let done = Progress::during("Compacting the file", || {
        compact::compact(db, Timestamp::now())
    })?;
    let value = json!({
        "file": db.to_string_lossy(),
        "bytesBefore": done.bytes_before,
        "bytes": done.bytes,
        "erased": done.erased,
    });
    let text = format!(
        "{} is compacted: {} bytes, {} before; {} records were erased since it was compacted last",
        db.display(),
        done.bytes,
        done.bytes_before,
        done.erased
    );
    answer(json, &value, &text)
}
