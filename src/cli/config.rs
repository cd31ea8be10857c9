//! `gatepost config`: what an administrator sets up, as one JSON document (contract §10).

use super::{context, print, print_json};
use crate::{
    db::Store,
    ops::config::{self, PARTS, plans},
    types::error::{Error, Result},
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Take the instance's configuration out of the file, or put it in.
#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  gatepost config export --output event-config.json")]
pub enum Command {
    /// Write the configuration as JSON.
    #[command(after_help = "Example:\n  gatepost config export --output event-config.json")]
    Export {
        /// Write it to a file instead of standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Put a configuration in force: all of it or, when anything in it is wrong, nothing.
    #[command(
        after_help = apply_help()
    )]
    Apply {
        /// The JSON document.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Check it and change nothing.
        #[arg(long)]
        dry_run: bool,
        /// Put back to its default what the document does not name.
        #[arg(long)]
        prune: bool,
    },
}

/// An example, and what each part holds.
fn apply_help() -> String {
    let mut help = String::from(
        "Example:\n  echo '{\"settings\": {\"timeZone\": \"Europe/Berlin\", \"access\": {\"ruleSet\": \"simple\"}}}' > config.json\n  gatepost config apply config.json\n",
    );
    for part in PARTS {
        help.push('\n');
        help.push_str(part.help);
    }
    help
}

/// Exports or applies.
pub fn run(command: Command, store: &Store, json: bool) -> Result<()> {
    match command {
        Command::Export { output } => export(store, output),
        Command::Apply {
            file,
            dry_run,
            prune,
        } => apply(store, &file, dry_run, prune, json),
    }
}

fn export(store: &Store, output: Option<PathBuf>) -> Result<()> {
    // One state of the file for all parts.
    let document = store.look_up(config::export)?;
    let text = serde_json::to_string_pretty(&document).map_err(Error::defect)?;
    match output {
        None => print(&text),
        Some(path) => {
            std::fs::write(&path, text + "\n").map_err(|cause| Error::field(path.display(), cause))
        }
    }
}

fn apply(store: &Store, file: &Path, dry_run: bool, prune: bool, json: bool) -> Result<()> {
    let in_file = |cause: Error| cause.at(file.display());
    let text = std::fs::read(file).map_err(|cause| in_file(Error::invalid_cause(cause)))?;
    let document: Map<String, Value> = crate::types::json::parse(&text).map_err(in_file)?;
    let plans = plans(store, document, prune)?;
    let mut counts: Map<String, Value> = plans
        .iter()
        .map(|(key, (named, _))| ((*key).to_owned(), json!(named)))
        .collect();
    if !dry_run {
        let ctx = context(store, "admin")?;
        store
            .write(move |tx| {
                plans
                    .into_iter()
                    .try_for_each(|(_, (_, apply))| apply(tx, &ctx))
            })
            .wait()?;
    }
    if json {
        counts.insert("applied".into(), json!(!dry_run));
        print_json(&Value::Object(counts))
    } else if dry_run {
        print(&format!("{} is fine; nothing was changed", file.display()))
    } else {
        print(&format!("applied {}", file.display()))
    }
}
