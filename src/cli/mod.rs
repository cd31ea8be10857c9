//! The command line (contract §10). Exit codes: 0 done, 1 failed, 2 usage.

mod backup;
mod barcode;
mod check;
mod client;
mod config;
mod demo;
mod export;
mod import;
mod log;
mod migrate;
mod openapi;
mod serve;
mod user;

use crate::{
    error::Result,
    settings,
    store::{Durability, Store},
};
use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode, sync::Arc};

/// The on-site server for live events: one binary, one SQLite file.
#[derive(Parser)]
#[command(name = "gatepost", version, about, max_term_width = 100)]
struct Cli {
    /// The database file.
    #[arg(
        long,
        global = true,
        env = "GATEPOST_DB",
        default_value = "gatepost.db",
        value_name = "FILE"
    )]
    db: PathBuf,
    /// Machine-readable output.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Migrate(migrate::Args),
    Import(import::Args),
    Export(export::Args),
    #[command(subcommand)]
    Config(config::Command),
    #[command(subcommand)]
    Client(client::ClientCommand),
    #[command(subcommand)]
    User(user::UserCommand),
    Backup(backup::Args),
    Check(check::Args),
    #[command(subcommand)]
    Barcode(barcode::BarcodeCommand),
    Openapi(openapi::Args),
    Demo(demo::Args),
}

/// Runs the command that the arguments name.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Serve(args) => serve::run(args, &cli.db, cli.json),
        Command::Migrate(args) => migrate::run(&args, &cli.db, cli.json),
        Command::Import(args) => match import::run(args, &cli.db, cli.json) {
            // It has told what was not done.
            Ok(false) => return ExitCode::FAILURE,
            imported => imported.map(|_| ()),
        },
        Command::Export(args) => export::run(&args, &cli.db, cli.json),
        Command::Config(command) => {
            open(&cli.db).and_then(|store| config::run(command, &store, cli.json))
        }
        Command::Client(command) => {
            open(&cli.db).and_then(|store| client::run(command, &store, cli.json))
        }
        Command::User(command) => {
            open(&cli.db).and_then(|store| user::run(command, &store, cli.json))
        }
        Command::Backup(args) => backup::run(&args, &cli.db, cli.json),
        Command::Check(args) => match check::run(&args, &cli.db, cli.json) {
            Ok(false) => return ExitCode::FAILURE,
            checked => checked.map(|_| ()),
        },
        Command::Barcode(command) => match barcode::run(command, cli.json) {
            // It has told what is wrong.
            Ok(false) => return ExitCode::FAILURE,
            checked => checked.map(|_| ()),
        },
        Command::Openapi(args) => openapi::run(&args),
        Command::Demo(args) => demo::run(&args, &cli.db, cli.json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            if cli.json {
                println!("{}", serde_json::json!({"error": cause.message}));
            }
            eprintln!("gatepost: {}", cause.message);
            ExitCode::FAILURE
        }
    }
}

/// Opens the file for a command; `serve` may run on it meanwhile.
fn open(db: &std::path::Path) -> Result<Store> {
    Store::open(db, Durability::Full)
}

/// The context of a command that writes.
fn context(store: &Store, source: &'static str) -> Result<crate::auth::Context> {
    let settings = store.look_up(settings::load)?;
    Ok(crate::auth::Context::of_command(source, Arc::new(settings)))
}

/// Whenever a gate's request needs the processor, it goes first: checking a large copy takes as
/// much of it as there is.
fn step_back() {
    #[cfg(unix)]
    let _ = rustix::process::nice(15);
}
