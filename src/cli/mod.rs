//! The command line (contract §10). Exit codes: 0 done, 1 failed, 2 usage.

mod backup;
mod barcode;
mod check;
mod client;
mod compact;
mod completions;
mod config;
mod demo;
mod export;
mod head_office;
mod hub;
mod import;
mod log;
mod migrate;
mod openapi;
mod progress;
mod readers;
mod restore;
mod serve;
mod standby;
mod ticket;
mod user;

use crate::{
    core::{audit, settings},
    db::{Durability, Store, open, usage},
    types::error::{Error, Result},
};
use clap::{Parser, Subcommand};
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// The on-site server for live events: one binary, one SQLite file.
/// The database file unless another is named.
const DEFAULT_DB: &str = "gatepost.db";

#[derive(Parser)]
#[command(name = "gatepost", version, about, max_term_width = 100)]
struct Cli {
    /// The database file.
    #[arg(
        long,
        global = true,
        env = "GATEPOST_DB",
        default_value = DEFAULT_DB,
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
    Hub(hub::Args),
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
    Restore(restore::Args),
    Compact(compact::Args),
    #[command(subcommand)]
    Standby(standby::StandbyCommand),
    Promote(standby::PromoteArgs),
    #[command(subcommand)]
    HeadOffice(head_office::Command),
    #[command(subcommand)]
    Readers(readers::Command),
    Check(check::Args),
    #[command(subcommand)]
    Barcode(barcode::BarcodeCommand),
    #[command(subcommand)]
    Ticket(ticket::Command),
    Openapi(openapi::Args),
    Completions(completions::Args),
    Demo(demo::Args),
}

impl Command {
    /// Returns whether it uses the file and does not report losses by itself.
    fn uses_file(&self) -> bool {
        matches!(
            self,
            Self::Migrate(_)
                | Self::Import(_)
                | Self::Export(_)
                | Self::Config(_)
                | Self::Client(_)
                | Self::User(_)
                | Self::Ticket(_)
                | Self::HeadOffice(_)
                | Self::Backup(_)
                | Self::Compact(_)
        )
    }
}

/// Runs the command that the arguments name.
#[must_use]
pub fn run() -> ExitCode {
    let mut cli = Cli::parse();
    // Lock and log are found beside the file itself, by whatever link it is named.
    cli.db = crate::db::open::resolved(&cli.db);
    if cli.command.uses_file() {
        for loss in usage::losses(&cli.db, None) {
            eprintln!("gatepost: {loss}");
        }
    }
    match run_command(cli.command, &cli.db, cli.json) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(cause) => {
            if cli.json {
                let _ = print_json(&json!({"error": cause.to_string()}));
            }
            eprintln!("gatepost: {cause}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command; false where it has printed itself what is wrong.
fn run_command(command: Command, db: &Path, json: bool) -> Result<bool> {
    match command {
        Command::Import(args) => return import::run(args, db, json),
        Command::Check(args) => return check::run(&args, db, json),
        Command::Barcode(command) => return barcode::run(command, json),
        Command::Ticket(command) => return ticket::run(command, &open_existing(db)?, json),
        Command::Standby(command) => return standby::run(command, db, json),
        Command::Readers(command) => return readers::run(command, db, json),
        Command::Serve(args) => serve::run(args, db, json),
        Command::Hub(args) => hub::run(args, db, json),
        Command::Migrate(args) => migrate::run(&args, db, json),
        Command::Export(args) => export::run(&args, db, json),
        Command::Config(command) => {
            let is_new = matches!(command, config::Command::Apply { .. });
            config::run(command, &open_or_create(db, is_new)?, json)
        }
        Command::Client(command) => {
            let is_new = matches!(command, client::ClientCommand::Add(_));
            client::run(command, &open_or_create(db, is_new)?, json)
        }
        Command::User(command) => {
            let is_new = matches!(command, user::UserCommand::Add(_));
            user::run(command, &open_or_create(db, is_new)?, json)
        }
        Command::HeadOffice(command) => head_office::run(command, &open_existing(db)?, json),
        Command::Backup(args) => backup::run(&args, db, json),
        Command::Restore(args) => restore::run(&args, db, json),
        Command::Compact(_) => compact::run(db, json),
        Command::Promote(args) => standby::promote(&args, db, json),
        Command::Openapi(args) => openapi::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Demo(args) => demo::run(&args, db, json),
    }
    .map(|()| true)
}

/// As [`open`], for a command that has nothing to do in a fresh file: a mistyped name makes none.
fn open_existing(db: &Path) -> Result<Store> {
    open_or_create(db, false)
}

/// Opens the file for a command, or makes it; `serve` may run on it meanwhile.
fn open(db: &Path) -> Result<Store> {
    open_or_create(db, true)
}

fn open_or_create(db: &Path, create: bool) -> Result<Store> {
    let open = if create {
        Store::open
    } else {
        Store::open_existing
    };
    let store = open(db, Durability::Full)?;
    tell_of_copy(&store)?;
    Ok(store)
}

/// Tells, once and in the audit for good, that somebody put a backup in the file's place by hand: that
/// brings back who was erased since.
fn tell_of_copy(store: &Store) -> Result<()> {
    let used = |connection: &rusqlite::Connection| -> Result<bool> {
        Ok(connection.prepare("SELECT 1 FROM audit")?.exists([])?)
    };
    if !store.was_copy() || !store.look_up(used)? {
        return Ok(());
    }
    user::changed_by_command(store, |tx, ctx| {
        let change = audit::Change {
            action: "restore",
            record_type: "file",
            record_id: None,
            before: None,
            after: Some(json!({"byHand": true})),
        };
        audit::append(tx, ctx, &change)
    })?;
    eprintln!(
        "gatepost: {} is a copy that was put here by hand, such as a backup: it has had no log yet. People who were \
         erased after it was made are in it again. `gatepost restore BACKUP --erased-in OLD_FILE` erases them again.",
        store.path().display()
    );
    Ok(())
}

/// The context of a command that writes.
fn context(store: &Store, source: &'static str) -> Result<crate::core::Context> {
    let settings = store.look_up(settings::load)?;
    Ok(crate::core::Context::of_command(source, Arc::new(settings)))
}

/// Prints a line of the answer. Whoever closes the pipe has seen enough.
fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => {
            Err(Error::invalid(format!("standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Prints an answer, as JSON or for people.
fn answer(json: bool, value: &Value, text: &str) -> Result<()> {
    if json { print_json(value) } else { print(text) }
}

/// Prints the answer as JSON.
fn print_json(value: &Value) -> Result<()> {
    print(&value.to_string())
}
