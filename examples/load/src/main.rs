//! Load generator and figures for Gatepost: rates and latencies of check-ins, batches, look-ups
//! and lists, the machine's own limits beside them, and files to measure on.
//!
//! # Layout
//! `measure` runs what `workloads` send through `run` and `client`; `prepare` makes files; `hostile`
//! burdens the server with bad connections; `limits`, `figures`, `paced`, `growth`, `data`, `console`,
//! `bulk`, `pings`, `waiting`, `badges`, `peers`, `rules`, `readers`, `standby` and `hub` are the longer runs that start the
//! server themselves; `names` finds people.

mod badges;
mod bulk;
mod chores;
mod client;
mod console;
mod data;
mod figures;
mod growth;
mod histogram;
mod hostile;
#[cfg(unix)]
mod hub;
mod limits;
mod measure;
mod names;
mod noop;
mod output;
mod paced;
mod pages;
mod pairs;
mod peers;
mod people;
mod pings;
mod prepare;
mod readers;
mod report;
mod rules;
mod run;
mod schedule;
mod searches;
mod server;
mod setup;
mod standby;
mod waiting;
mod workloads;

use clap::{Args, Parser, Subcommand};
use measure::{BatchOptions, ListOptions};
use report::Report;
use run::Plan;
use setup::{Access, Venue};
use std::{path::PathBuf, process::ExitCode, time::Instant};

/// Whatever stops a run; told to the user as it is.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
/// A shorthand.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

const EXAMPLES: &str = "Example, in two terminals:
  cargo run --release -p load -- prepare --db load.db
  cargo run --release -- serve --db load.db
  cargo run --release -p load -- check-ins --seconds 20
The handbook's figures (starts the server itself):
  cargo build --release
  cargo run --release -p load -- figures --output figures.txt
  cargo run --release -p load -- paced
  cargo run --release -p load -- growth --output growth.txt
  cargo run --release -p load -- data --output data.txt
  cargo run --release -p load -- console --output console.txt
  cargo run --release -p load -- pings --output pings.txt
  cargo run --release -p load -- waiting --output waiting.txt
  cargo run --release -p load -- peers --output peers.txt
  cargo run --release -p load -- badges --output badges.txt
  cargo run --release -p load -- bulk --output bulk.txt
  cargo run --release -p load -- rules
  cargo run --release -p load -- standby --output standby.txt
  cargo run --release -p load -- hub --output hub.txt
  cargo run --release -p load -- readers --output readers.txt
  cargo run --release -p load -- walks --output walks.txt
  cargo run --release -p load -- search";

#[derive(Parser)]
#[command(about = "Load generator and figures for Gatepost", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Check-ins and check-outs in turn, one a request
    CheckIns(Load),
    /// The same at one connection
    One(Load),
    /// Batches of check-ins and check-outs, with single check-ins beside them
    Batches {
        #[command(flatten)]
        load: Load,
        #[command(flatten)]
        batches: BatchOptions,
    },
    /// Look-ups of a delegate by barcode
    LookUps(Load),
    /// Pages of the delegate list
    Lists {
        #[command(flatten)]
        load: Load,
        #[command(flatten)]
        lists: ListOptions,
    },
    /// Look-ups of a delegate beside connections that are opened to be kept open
    Hostile {
        #[command(flatten)]
        options: hostile::Options,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Make a database file to measure on
    Prepare(prepare::Options),
    /// What the machine itself can do
    Limits {
        /// Directory for files; on the disk that is to be measured
        #[arg(long, default_value = "target/load")]
        dir: PathBuf,
        /// Seconds for each limit
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
    /// Limits and all runs, as a table against the targets
    Figures(figures::Options),
    /// Searches, long pages, import, export and backup of a large file
    Data(data::Options),
    /// Latency of check-ins at a fixed rate, alone and beside import, export and backup
    Paced(paced::Options),
    /// Check-ins on files of several sizes
    Growth(growth::Options),
    /// The console's pages beside check-ins, and check-ins beside open dashboards
    Console(console::Options),
    /// One thing done to many attendees in the console, and check-ins beside it
    Bulk(bulk::Options),
    /// Check-ins beside a thousand devices that ping
    Pings(pings::Options),
    /// Check-ins beside thousands of gates that wait for changes
    Waiting(waiting::Options),
    /// A head office over simulated venues: what it has against the sum, how fast, and what a venue pays
    #[cfg(unix)]
    Hub(hub::Options),
    /// Badges printed by themselves beside check-ins, on printers that are played
    Badges(badges::Options),
    /// Check-ins against the inserts of PocketBase, in pairs
    Peers(peers::Options),
    /// Check-ins at doors with rules against check-ins at places without, in pairs
    Rules(peers::Options),
    /// A second machine takes over from one that is killed, and what replication costs, in pairs
    Standby(standby::Options),
    /// Check-ins beside UHF readers, with people who walk from hall to hall
    Readers(readers::Options),
    /// Finding attendees by what people type, and an import of 100,000
    Search(names::Options),
    /// How right presence is about simulated walks
    Walks(readers::AccuracyOptions),
}

#[derive(Args)]
struct Load {
    #[command(flatten)]
    access: Access,
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seconds before the measurement, which do not count
    #[arg(long, default_value_t = 2)]
    warm_up: u64,
    /// Send a nonce with every interaction
    #[arg(long)]
    nonce: bool,
    /// So many requests a second, all connections together; without it as many as go
    #[arg(long, value_name = "PER_SECOND", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl Load {
    fn plan(&self) -> Plan {
        let plan = Plan::seconds(self.seconds, self.warm_up);
        match self.rate {
            Some(rate_per_s) => plan.at_rate(rate_per_s),
            None => plan,
        }
    }

    fn connections(&self) -> usize {
        usize::try_from(self.connections).unwrap_or(1)
    }

    /// Whether there was no error answer.
    fn print(&self, reports: &[Report]) -> Result<bool> {
        print(reports, self.json)
    }
}

/// Whether there was no error answer.
fn print(reports: &[Report], json: bool) -> Result<bool> {
    for report in reports {
        if json {
            output::print(report.to_json())?;
        } else {
            output::print(report)?;
        }
    }
    Ok(reports.iter().all(|report| report.failures() == 0))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match perform(Arguments::parse().what).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(cause) => {
            eprintln!("load: {cause}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything went without an error answer.
async fn perform(what: What) -> Result<bool> {
    match what {
        What::CheckIns(load) => check_ins(&load, load.connections).await,
        What::One(load) => check_ins(&load, 1).await,
        What::Batches { load, batches } => {
            let venue = Venue::enter(&load.access).await?;
            let (sent, beside) = measure::batches(&venue, batches, load.nonce, load.plan()).await?;
            load.print(&[sent, beside])
        }
        What::LookUps(load) => {
            let venue = Venue::enter(&load.access).await?;
            let report = measure::look_ups(&venue, load.connections(), load.plan()).await?;
            load.print(&[report])
        }
        What::Lists { load, lists } => {
            let venue = Venue::enter(&load.access).await?;
            let report = measure::lists(&venue, &lists, load.connections(), load.plan()).await?;
            load.print(&[report])
        }
        What::Hostile { options, json } => {
            let (alone, beside, told) = hostile::hostile(&options).await?;
            let fine = print(&[alone, beside], json)?;
            if !json {
                output::print(told)?;
            }
            Ok(fine)
        }
        What::Prepare(options) => {
            let begun = Instant::now();
            prepare::prepare(&options)?;
            let took = begun.elapsed();
            output::print(format!("{} made in {took:.1?}", options.db.display()))?;
            Ok(true)
        }
        What::Limits { dir, seconds } => {
            output::print(output::machine())?;
            output::print(limits::measure(&dir, seconds).await?)?;
            Ok(true)
        }
        #[cfg(unix)]
        What::Hub(options) => hub::figures(&options).await,
        What::Figures(options) => figures::figures(&options).await.map(|()| true),
        What::Data(options) => data::figures(&options).await.map(|()| true),
        What::Bulk(options) => bulk::figures(&options).await.map(|()| true),
        What::Paced(options) => paced::figures(&options).await.map(|()| true),
        What::Growth(options) => growth::growth(&options).await.map(|()| true),
        What::Console(options) => console::figures(&options).await.map(|()| true),
        What::Pings(options) => pings::figures(&options).await.map(|()| true),
        What::Waiting(options) => waiting::figures(&options).await.map(|()| true),
        What::Badges(options) => badges::figures(&options).await.map(|()| true),
        What::Peers(options) => peers::figures(&options).await.map(|()| true),
        What::Standby(options) => standby::figures(&options).await.map(|()| true),
        What::Rules(options) => rules::figures(&options).await.map(|()| true),
        What::Readers(options) => readers::figures(&options).await,
        What::Search(options) => names::search(&options).map(|()| true),
        What::Walks(options) => readers::accuracy(&options),
    }
}

async fn check_ins(load: &Load, connections: u32) -> Result<bool> {
    let venue = Venue::enter(&load.access).await?;
    let gates = usize::try_from(connections)?;
    let report = measure::check_ins(&venue, gates, load.nonce, load.plan()).await?;
    load.print(&[report])
}
