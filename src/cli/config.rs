//! `gatepost config`: what an administrator sets up, as one JSON document (contract §10). So far it
//! holds `settings` and `statements`.

use super::context;
use crate::{
    error::{Error, Result},
    search::statements::{self, Statement},
    settings::{self, Settings},
    store::Store,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

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
        after_help = "Example:\n  echo '{\"settings\": {\"timeZone\": \"Europe/Berlin\", \"access\": {\"ruleSet\": \"simple\"}}}' > config.json\n  gatepost config apply config.json\n\nSettings: name, timeZone (IANA), access (default rules of entry), corsOrigins (list).\nStatements: [{\"name\", \"type\": \"delegate\" or \"device\", \"label\", \"sql\"}], each a read-only SELECT of one value over :id."
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

/// The configuration document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    statements: Vec<Statement>,
}

/// Exports or applies.
///
/// # Errors
/// A sentence for the operator; nothing is changed then.
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
    let document = json!({
        "settings": store.look_up(settings::stored)?,
        "statements": store.look_up(statements::all)?,
    });
    let text = serde_json::to_string_pretty(&document).map_err(Error::defect)?;
    match output {
        None => println!("{text}"),
        Some(path) => std::fs::write(&path, text + "\n")
            .map_err(|cause| Error::invalid(format!("{}: {cause}", path.display())))?,
    }
    Ok(())
}

fn apply(
    store: &Store,
    file: &std::path::Path,
    dry_run: bool,
    prune: bool,
    json: bool,
) -> Result<()> {
    let text = std::fs::read(file)
        .map_err(|cause| Error::invalid(format!("{}: {cause}", file.display())))?;
    let Document {
        mut settings,
        statements,
    } = crate::types::json::parse(&text)
        .map_err(|cause| Error::invalid(format!("{}: {}", file.display(), cause.message)))?;
    Settings::parse(&settings)?;
    if prune {
        for name in Settings::NAMES {
            settings.entry(*name).or_insert(Value::Null);
        }
    }
    for statement in &statements {
        statements::check(store.path(), statement)?;
    }
    let named = settings.len();
    let defined = statements.len();
    if !dry_run {
        let ctx = context(store, "admin")?;
        store.write_blocking(move |tx| {
            settings::save(tx, &ctx, &settings)?;
            statements::save(tx, &ctx, &statements, prune)
        })?;
    }
    if json {
        println!(
            "{}",
            json!({"settings": named, "statements": defined, "applied": !dry_run})
        );
    } else if dry_run {
        println!("{} is fine; nothing was changed", file.display());
    } else {
        println!("applied {}", file.display());
    }
    Ok(())
}
