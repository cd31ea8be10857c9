//! `gatepost ticket`: signed tickets and their keys.

use super::{
    answer, context, print, print_json,
    user::{changed_by_command, first_line, zone},
};
use crate::{
    core::{
        scanned::Meaning,
        settings::{self, Settings},
        ticket_keys::{self, Signer, TicketKey, sealed},
    },
    db::{Store, open::folder_of},
    domain::{
        delegates::{scanned, signed},
        tickets,
    },
    ops::export::{What, Which},
    types::{
        DelegateId, Zone,
        error::{Error, Result},
        spreadsheet,
    },
};
use clap::{Args, Subcommand};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// Attendees whose tickets are signed at once.
const SLICE: usize = 500;
const HEAD: [&str; 6] = [
    "barcode",
    "firstName",
    "lastName",
    "email",
    "delegateType",
    "signedTicket",
];

/// Signed tickets, which gates verify without the server
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost ticket key new --first-day 2026-11-27")]
pub enum Command {
    /// Sign the tickets of attendees, as CSV for whoever sends or prints them
    ///
    /// Of all who have a barcode, or of those whom a search finds. Signed again they are as good as
    /// before: a ticket ends when its barcode is blocked or goes, or when its key is retired.
    #[command(after_help = "\
Examples:
  gatepost ticket sign --output tickets.csv
  gatepost ticket sign --search '{\"==\":[\"delegateType\",\"Press\"]}' > press.csv")]
    Sign(Sign),
    /// Tell what a code means (exit code 1 where nobody is meant)
    #[command(after_help = "Example:\n  gatepost ticket check 0G6V…")]
    Check {
        /// The code, as scanned or typed
        code: String,
    },
    /// Keys that tickets are signed by
    #[command(subcommand)]
    Key(KeyCommand),
}

/// The tickets to sign.
#[derive(Debug, Args)]
pub struct Sign {
    /// Only those whom a search finds: the JSON expression that lists take
    #[arg(long, value_name = "JSON")]
    search: Option<String>,
    /// Write it to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost ticket key list")]
pub enum KeyCommand {
    /// Make a key, which signs every ticket from now on; the first one switches signed tickets on
    #[command(after_help = "Example:\n  gatepost ticket key new --first-day 2026-11-27")]
    New {
        /// The first of the 16 days that its tickets can be for; by default that of the next event
        #[arg(long, value_name = "YYYY-MM-DD")]
        first_day: Option<String>,
    },
    /// Show every key, the retired ones included
    #[command(after_help = "Example:\n  gatepost ticket key list --json")]
    List,
    /// Retire a key: no ticket that it signed is valid any more, which cannot be undone
    #[command(after_help = "Example:\n  gatepost ticket key retire 1")]
    Retire {
        /// The number of the key
        #[arg(value_name = "KEY")]
        kid: u8,
    },
    /// Write the keys that are in use to a file, sealed with a passphrase, for another server of the event
    #[command(after_help = "\
Example:
  gatepost ticket key export --output keys.json --passphrase-stdin < passphrase.txt")]
    Export {
        /// The file
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
        /// Read the passphrase, of at least 12 characters, from standard input
        #[arg(long, required = true)]
        passphrase_stdin: bool,
    },
    /// Take over the keys of such a file
    #[command(after_help = "\
Example:
  gatepost ticket key import keys.json --passphrase-stdin < passphrase.txt")]
    Import {
        /// The file
        file: PathBuf,
        /// Read its passphrase from standard input
        #[arg(long, required = true)]
        passphrase_stdin: bool,
    },
}

/// Runs a command; false where a code means nobody.
pub fn run(command: Command, store: &Store, json: bool) -> Result<bool> {
    match command {
        Command::Sign(args) => sign(store, &args, json)?,
        Command::Check { code } => return check(store, &code, json),
        Command::Key(command) => key(store, command, json)?,
    }
    Ok(true)
}

fn key(store: &Store, command: KeyCommand, json: bool) -> Result<()> {
    match command {
        KeyCommand::New { first_day } => {
            let ctx = context(store, "admin")?;
            let kid = signed::with_serials(store, move |tx| {
                let first_day = match first_day {
                    Some(day) => day,
                    None => tickets::first_day(tx, &ctx.settings, tx.now())?,
                };
                ticket_keys::make(tx, &ctx, &first_day)
            })?;
            let text = format!("Key {kid} signs tickets from now on.");
            answer(json, &json!({"kid": kid}), &text)
        }
        KeyCommand::List => list(store, json),
        KeyCommand::Retire { kid } => {
            changed_by_command(store, move |tx, ctx| ticket_keys::retire(tx, ctx, kid))?;
            answer(
                json,
                &json!({"retired": kid}),
                &format!("Key {kid} is retired."),
            )
        }
        KeyCommand::Export { output, .. } => {
            let passphrase = first_line(std::io::stdin().lock())?;
            let document = store.look_up(|connection| sealed::export(connection, &passphrase))?;
            write(&output, document.as_bytes())?;
            let output = output.display().to_string();
            answer(
                json,
                &json!({"output": output}),
                &format!("Keys in {output}"),
            )
        }
        KeyCommand::Import { file, .. } => {
            let document = std::fs::read_to_string(&file)
                .map_err(|cause| Error::field(file.display(), cause.to_string()))?;
            let keys = sealed::open(&document, &first_line(std::io::stdin().lock())?)?;
            let ctx = context(store, "admin")?;
            let stored = signed::with_serials(store, move |tx| keys.store(tx, &ctx))?;
            let text = match &stored[..] {
                [] => "This file had these keys already.".to_owned(),
                stored => format!("Stored: {stored:?}"),
            };
            answer(json, &json!({"stored": stored}), &text)
        }
    }
}

fn list(store: &Store, json: bool) -> Result<()> {
    let zone = zone(store)?;
    let keys = store.look_up(ticket_keys::all)?;
    if json {
        return print_json(&keys.iter().map(|key| described(key, &zone)).collect());
    }
    keys.iter().try_for_each(|key| {
        let state = match key.retired_at {
            Some(at) => format!("retired {}", zone.plain(at)),
            None => "in use".to_owned(),
        };
        print(&format!(
            "{}  {state}, made {}, for the days from {}",
            key.kid,
            zone.plain(key.created_at),
            key.first_day
        ))
    })
}

fn described(key: &TicketKey, zone: &Zone) -> Value {
    json!({
        "kid": key.kid, "publicKey": key.public_hex(), "firstDay": key.first_day,
        "createdAt": zone.iso(key.created_at), "retiredAt": key.retired_at.map(|at| zone.iso(at)),
    })
}

fn check(store: &Store, code: &str, json: bool) -> Result<bool> {
    store.look_up(|connection| {
        let meaning = scanned::meaning(connection, code)?;
        let (is_known, value, text) = match &meaning {
            Meaning::Match(found) if !found.is_blocked => (
                true,
                json!({"delegate": found.id, "barcode": found.code}),
                format!("delegate {}, {}", found.id, found.code),
            ),
            nobody => {
                let why = scanned::missing(connection, code, nobody)?;
                let value =
                    json!({"delegate": null, "reason": why.reason, "message": why.to_string()});
                (false, value, why.to_string())
            }
        };
        answer(json, &value, &text)?;
        Ok(is_known)
    })
}

fn sign(store: &Store, args: &Sign, json: bool) -> Result<()> {
    let settings = store.look_up(settings::load)?;
    let signer = store.look_up(|connection| Signer::find(connection, &settings))?;
    let signer = signer.ok_or_else(|| {
        Error::invalid("tickets are not signed here: make a key first (gatepost ticket key new)")
    })?;
    let search = args
        .search
        .as_deref()
        .unwrap_or("{\"!=\":[\"barcode\",null]}");
    let Which::Ids(ids) = Which::found(store, What::Delegates, search, &settings.zone)? else {
        return Err(Error::defect("a search without ids"));
    };
    let (mut out, mut count) = (spreadsheet::csv_bytes(Some(&HEAD), [])?, 0);
    for slice in ids.chunks(SLICE) {
        let rows = store.look_up(|connection| {
            let row = |id: &i64| row(connection, &settings, &signer, DelegateId(*id)).transpose();
            slice.iter().filter_map(row).collect::<Result<Vec<_>>>()
        })?;
        count += rows.len();
        out.extend(spreadsheet::csv_bytes(None, rows)?);
    }
    match &args.output {
        None => std::io::stdout()
            .write_all(&out)
            .map_err(|cause| Error::invalid(format!("standard output: {cause}"))),
        Some(output) => {
            write(output, &out)?;
            let output = output.display().to_string();
            let text = format!("{count} tickets in {output}");
            answer(json, &json!({"output": output, "signed": count}), &text)
        }
    }
}

/// The row of an attendee; none of one without a barcode.
fn row(
    connection: &Connection,
    settings: &Settings,
    signer: &Signer,
    id: DelegateId,
) -> Result<Option<[String; 6]>> {
    let Some(signed) = tickets::sign(connection, settings, signer, id)? else {
        return Ok(None);
    };
    let row = connection
        .prepare_cached(
            "SELECT coalesce(barcode, ''), coalesce(first_name, ''), coalesce(last_name, ''), coalesce(email, ''),
                 coalesce(delegate_type, '') FROM delegates WHERE id = ?1",
        )?
        .query_row([id], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, signed])
        })?;
    Ok(Some(row))
}

/// Writes a file that its owner alone can read.
fn write(output: &Path, content: &[u8]) -> Result<()> {
    let written = NamedTempFile::new_in(folder_of(output)).and_then(|mut file| {
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(file.persist(output)?)
    });
    written
        .map(drop)
        .map_err(|cause| Error::field(output.display(), cause.to_string()))
}
