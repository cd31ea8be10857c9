//! `gatepost config`: what an administrator sets up, as one JSON document (contract §10).
//!
//! The document is a list of parts; a part knows how to write down what is in force, and
//! how to check and store what a document says. All parts are checked before any is stored, and are
//! stored in one transaction.

mod gateways;
mod parts;
mod regions;
mod settings;

use super::{context, print, print_json};
use crate::{
    core::Context,
    db::{Store, Tx},
    types::error::{Error, Result},
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Every part, in the order of the document.
const PARTS: &[Part] = &[
    settings::PART,
    parts::SECTIONS,
    parts::STATEMENTS,
    parts::REPORTS,
    parts::BADGES,
    parts::PRINTERS,
    parts::APP_CONFIG,
    regions::PART,
    // What automations send stands before them.
    parts::TEMPLATES,
    gateways::PART,
    parts::AUTOMATIONS,
    parts::WEBHOOKS,
];

/// A part of the document.
struct Part {
    /// Its key.
    key: &'static str,
    /// Its help for people who write a document.
    help: &'static str,
    /// Exports the settings in force.
    export: fn(&Connection) -> Result<Value>,
    /// Checks what a document says; where the rest is pruned, what it does not name goes.
    plan: fn(&Store, Option<Value>, bool) -> Result<Plan>,
}

/// The plan for a checked part of a document: how many entries it has, and what stores them.
type Plan = (
    usize,
    Box<dyn FnOnce(&Tx<'_>, &Context) -> Result<()> + Send>,
);

#[expect(
    clippy::unnecessary_wraps,
    reason = "it ends the functions that plan a part"
)]
fn planned(
    named: usize,
    apply: impl FnOnce(&Tx<'_>, &Context) -> Result<()> + Send + 'static,
) -> Result<Plan> {
    Ok((named, Box::new(apply)))
}

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
    let document: Map<String, Value> = store.look_up(|connection| {
        let part = |part: &Part| Ok((part.key.to_owned(), (part.export)(connection)?));
        PARTS.iter().map(part).collect()
    })?;
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

/// Plans all parts of a document, each of them checked.
fn plans(
    store: &Store,
    mut document: Map<String, Value>,
    prune: bool,
) -> Result<Vec<(&'static str, Plan)>> {
    let known = |key: &String| PARTS.iter().any(|part| part.key == key);
    if let Some(key) = document.keys().find(|key| !known(key)) {
        let keys: Vec<_> = PARTS.iter().map(|part| part.key).collect();
        return Err(Error::invalid(format!(
            "a configuration has no such part; it has {}",
            keys.join(", ")
        ))
        .at(key));
    }
    PARTS
        .iter()
        .map(|part| {
            let plan = (part.plan)(store, document.shift_remove(part.key), prune)?;
            Ok((part.key, plan))
        })
        .collect()
}

/// Reads the value of a document under a key, as a `T`; the default where there is none.
fn read<T: serde::de::DeserializeOwned + Default>(key: &str, said: Option<Value>) -> Result<T> {
    let Some(said) = said else {
        return Ok(T::default());
    };
    serde_path_to_error::deserialize(&said).map_err(|cause| {
        let path = cause.path().to_string();
        let path = if path == "." {
            key.to_owned()
        } else if path.starts_with('[') {
            format!("{key}{path}")
        } else {
            format!("{key}.{path}")
        };
        Error::field(path, cause.into_inner())
    })
}
