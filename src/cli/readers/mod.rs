//! `gatepost readers`: tries readers, records what they read, and derives presence from a recording.

mod contact;
mod replay;
mod simulate;

use super::{context, open_existing, print, print_json};
use crate::{
    db::Store,
    domain::readers::{
        config::{Configuration, ReaderConfig},
        walks::Options,
    },
    types::error::Result,
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// UHF readers: list and test them, record and replay reads, simulate some
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost readers test 192.0.2.9")]
pub enum Command {
    /// List the readers that are set up in the file, with what is wrong with their setup
    List,
    /// Connect to a reader that speaks LLRP, and tell what it is and what it reads
    #[command(after_help = "Example:\n  gatepost readers test 192.0.2.9 --seconds 10")]
    Test {
        /// Host or IP address, with a port unless it is 5084
        address: String,
        #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3_600))]
        seconds: u64,
    },
    /// Record what a reader reads, a JSON object a line, as POST /reader/reads takes it
    #[command(
        after_help = "Example:\n  gatepost readers record 192.0.2.9 --output walk.ndjson --seconds 120"
    )]
    Record {
        /// Host or IP address, with a port unless it is 5084
        address: String,
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
        #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
        seconds: u64,
    },
    /// Derive presence from a recording, with the readers and settings of the file; writes nothing there
    #[command(
        after_help = "Example:\n  gatepost readers replay walk.ndjson --reader code:portal-1"
    )]
    Replay {
        /// A recording of one reader
        log: PathBuf,
        /// The reader, as an id or a selector
        #[arg(long, value_name = "READER")]
        reader: String,
    },
    /// Pretend to be readers that speak LLRP, with people who walk between their places
    ///
    /// Each reader has one antenna, and listens on the next port. The tags are those of attendees of the file that have a
    /// uhfId, where it has some; otherwise E7E7 and a number.
    #[command(after_help = "Example:\n  gatepost readers simulate --readers 3 --people 50")]
    Simulate {
        /// Where the first reader listens
        #[arg(long, default_value = "127.0.0.1:5084", value_name = "ADDRESS")]
        listen: SocketAddr,
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
        readers: u32,
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        people: u32,
        /// The share of inventory rounds in which a tag is read, in percent
        #[arg(long, default_value_t = 65, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
        read_rate: u8,
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
        /// End after so many seconds; never without it
        #[arg(long, value_name = "N")]
        seconds: Option<u64>,
    },
}

/// Runs a command; false where it has told itself what is wrong.
pub fn run(command: Command, db: &Path, json: bool) -> Result<bool> {
    match command {
        Command::List => list(db, json).map(|()| true),
        Command::Test { address, seconds } => contact::test(address, seconds, json),
        Command::Record {
            address,
            output,
            seconds,
        } => contact::record(address, &output, seconds, json),
        Command::Replay { log, reader } => replay::run(&log, &reader, db, json).map(|()| true),
        Command::Simulate {
            listen,
            readers,
            people,
            read_rate,
            seed,
            seconds,
        } => {
            let options = Options {
                people,
                places: readers,
                read_rate: f32::from(read_rate) / 100.0,
                stay_s: [20, 180],
                seed,
                ..Options::default()
            };
            simulate::run(listen, options, seconds, db).map(|()| true)
        }
    }
}

fn configuration(db: &Path) -> Result<(Store, Configuration)> {
    let store = open_existing(db)?;
    let settings = context(&store, "admin")?.settings;
    let configuration = store.look_up(|connection| Configuration::read(connection, &settings))?;
    Ok((store, configuration))
}

fn list(db: &Path, json: bool) -> Result<()> {
    let (_, configuration) = configuration(db)?;
    let line = |(id, reader): (&i64, &ReaderConfig)| {
        json!({
            "id": id, "name": reader.name, "protocol": reader.setup.protocol.name(), "address": reader.setup.address,
            "parent": reader.parent.and_then(|parent| configuration.place_name(parent)), "problems": reader.faults,
            "antennas": reader.antennas.iter().map(|(antenna, watched)| json!({
                "antenna": antenna, "place": configuration.place_name(watched.place), "zone": watched.zone,
            })).collect::<Vec<_>>(),
        })
    };
    if json {
        let off = configuration.switched_off.iter();
        let off = off.map(|(id, name)| json!({"id": id, "name": name, "switchedOff": true}));
        let lines = configuration.readers.iter().map(line).chain(off);
        return print_json(&Value::Array(lines.collect()));
    }
    if configuration.readers.is_empty() && configuration.switched_off.is_empty() {
        return print("No readers. The console adds some under Readers.");
    }
    for (id, reader) in &configuration.readers {
        let address = reader.setup.address.as_deref().unwrap_or("posts its reads");
        let protocol = reader.setup.protocol.name();
        print(&format!("{id}  {}  {protocol}  {address}", reader.name))?;
        if let Some(parent) = reader.parent.and_then(|it| configuration.place_name(it)) {
            print(&format!("    at {parent}"))?;
        }
        for (antenna, watched) in &reader.antennas {
            let place = configuration.place_name(watched.place).unwrap_or_default();
            print(&format!(
                "    antenna {antenna}: {place}, {}",
                watched.zone.name()
            ))?;
        }
        for fault in &reader.faults {
            print(&format!("    problem: {fault}"))?;
        }
    }
    for (id, name) in &configuration.switched_off {
        print(&format!("{id}  {name}  switched off"))?;
    }
    Ok(())
}
