//! `gatepost hub`

use super::{
    open_existing, print, print_json,
    serve::{self, HubStore},
};
use crate::{
    hub::Hub,
    identity::App,
    types::error::{Error, Result},
};
use std::path::Path;

/// Start a head office over many venues: a server on a file of its own, which takes in what venues push.
#[derive(clap::Args)]
#[group(id = "hub")]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  gatepost hub --db hub.db --listen 0.0.0.0:443 --tls-cert fullchain.pem --tls-key privkey.pem --public-url https://hub.example.org\n  gatepost hub --db hub.db --store postgres://gatepost@db1,db2/gatepost\n  gatepost hub venue add \"Hall North\" --db hub.db\n  gatepost hub report attendance --db hub.db --json\n\nIn the console, under Venues, add a venue; on the venue's machine hand its code in: gatepost head-office join URL CODE."
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Args,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(clap::Args)]
struct StoreArgs {
    /// Keep what venues push in PostgreSQL 15 or newer, in place of the file; several hubs may share it.
    #[arg(
        long,
        value_name = "postgres://HOST,HOST/DATABASE",
        env = "GATEPOST_HUB_STORE"
    )]
    store: Option<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Add venues.
    #[command(subcommand)]
    Venue(VenueCommand),
    /// Show a report over all venues: attendance, arrivals, no-shows, sales, leads or conflicts.
    Report {
        name: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(clap::Subcommand)]
enum VenueCommand {
    /// Add a venue and show its pairing code, once.
    Add {
        name: String,
        /// Send it the places and attendees of this event of the hub's file only.
        #[arg(long, value_name = "ID")]
        event: Option<i64>,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Serves until it is interrupted, or does what is asked of the store.
pub fn run(args: Args, db: &Path, json: bool) -> Result<()> {
    match args.command {
        None => serve::run_as(args.serve, db, json, Some(HubStore(args.store.store))),
        Some(Command::Venue(VenueCommand::Add { name, event, store })) => {
            let added = on_hub(db, store, async |hub| hub.add_venue(&name, event).await)?;
            if json {
                return print_json(
                    &serde_json::json!({"venue": added.0, "name": name, "code": added.1}),
                );
            }
            print(&format!(
                "{name}: pairing code {}, good once, for a day",
                added.1
            ))
        }
        Some(Command::Report { name, store }) => {
            let rows = on_hub(db, store, async |hub| hub.report(&name).await)?;
            if json {
                return print_json(&serde_json::json!(rows));
            }
            rows.iter().enumerate().try_for_each(|(at, row)| {
                let columns = row.as_object().into_iter().flatten();
                let (names, values): (Vec<_>, Vec<_>) = columns
                    .map(|(name, value)| (name.clone(), shown(value)))
                    .unzip();
                if at == 0 {
                    print(&names.join("\t"))?;
                }
                print(&values.join("\t"))
            })
        }
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn on_hub<T>(db: &Path, store: StoreArgs, work: impl AsyncFnOnce(&Hub) -> Result<T>) -> Result<T> {
    let app = App::new(open_existing(db)?, None);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.map_err(Error::defect)?.block_on(async {
        let hub = Hub::open(&app, store.store.as_deref()).await?;
        work(&hub).await
    })
}
