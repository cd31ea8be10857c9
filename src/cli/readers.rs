//! `gatepost readers`: tries readers, records what they read, and derives presence from a recording.

use super::{answer, context, open_existing, print, print_json};
use crate::{
    domain::{
        devices,
        readers::{
            Epc,
            config::Configuration,
            ingest::Form,
            presence::{Presence, TagRead},
            recording,
            walks::{Options, Walks},
        },
    },
    types::{
        DeviceSelector, Timestamp, Zone,
        error::{Error, Result},
    },
};
use clap::Subcommand;
use llrp::{
    Event, ReaderConfig, State,
    emulator::{EmulatedRead, Emulator, EmulatorOptions},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
    fs::File,
    io::{BufWriter, ErrorKind, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
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
        Command::Test { address, seconds } => test(address, seconds, json),
        Command::Record {
            address,
            output,
            seconds,
        } => record(address, &output, seconds, json),
        Command::Replay { log, reader } => replay(&log, &reader, db, json).map(|()| true),
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
            simulate(listen, options, seconds, db).map(|()| true)
        }
    }
}

fn configuration(db: &Path) -> Result<(crate::db::Store, Configuration)> {
    let store = open_existing(db)?;
    let settings = context(&store, "admin")?.settings;
    let configuration = store.look_up(|connection| Configuration::read(connection, &settings))?;
    Ok((store, configuration))
}

fn list(db: &Path, json: bool) -> Result<()> {
    let (_, configuration) = configuration(db)?;
    let line = |(id, reader): (&i64, &crate::domain::readers::config::ReaderConfig)| {
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

/// How long a reader may take until it is connected.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// Connects, and hands over what happens in some seconds from then on. Where the first try fails, that is all.
fn connected(
    address: String,
    seconds: u64,
    mut happened: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(Error::defect)?;
    let (sender, events) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let config = ReaderConfig {
        address,
        antennas: Vec::new(),
    };
    let stopped = async {
        let _ = stopped.await;
    };
    let hand_over = move |event| {
        let _ = sender.send(event);
    };
    let client = runtime.spawn(llrp::run(config, |_| Ok(()), hand_over, stopped));
    let mut end = Instant::now() + CONNECT_MAX;
    let mut is_connected = false;
    let outcome = loop {
        match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(event) => {
                let is_over = matches!(event, Event::State(State::Down { .. })) && !is_connected;
                if matches!(event, Event::State(State::Connected(_))) && !is_connected {
                    is_connected = true;
                    end = Instant::now() + Duration::from_secs(seconds);
                }
                if let Err(cause) = happened(event) {
                    break Err(cause);
                }
                if is_over {
                    break Ok(());
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break Ok(()),
        }
    };
    drop(stop);
    let _ = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(2), client).await });
    outcome
}

fn test(address: String, seconds: u64, json: bool) -> Result<bool> {
    let (mut known, mut offset, mut reason) = (None, None, None);
    let mut warnings = Vec::new();
    let mut antennas: BTreeMap<u16, (u64, f32)> = BTreeMap::new();
    let mut tags = HashSet::new();
    connected(address.clone(), seconds, |event| {
        match event {
            Event::State(State::Connected(capabilities)) => known = Some(capabilities),
            Event::State(State::Down { reason: why, .. }) => reason = Some(why),
            Event::ClockOffset(ms) => offset = Some(ms),
            Event::Reads(reads) => {
                for read in reads {
                    let (count, best) = antennas.entry(read.antenna).or_insert((0, f32::MIN));
                    *count += 1;
                    *best = best.max(read.rssi_dbm);
                    tags.insert(read.epc);
                }
            }
            Event::Warning(warning) => warnings.push(warning),
            Event::State(State::Connecting) | Event::Antenna { .. } => {}
        }
        Ok(())
    })?;
    let Some(known) = known else {
        let reason = reason.unwrap_or_else(|| "it did not answer in time".to_owned());
        answer(
            json,
            &json!({"address": address, "connected": false, "reason": reason}),
            &format!("{address}: {reason}"),
        )?;
        return Ok(false);
    };
    let heard: Vec<Value> = antennas
        .iter()
        .map(|(antenna, (reads, best))| json!({"antenna": antenna, "reads": reads, "bestRssi": best}))
        .collect();
    let mut text = format!(
        "{address}: {} model {}, firmware {}, {} antennas, LLRP {}",
        known.manufacturer, known.model, known.firmware, known.antennas, known.llrp_version
    );
    if let Some(offset) = offset {
        let side = if offset < 0 { "behind" } else { "ahead of" };
        let _ = write!(text, "\nclock: {} ms {side} this machine", offset.abs());
    }
    let _ = write!(text, "\n{} tags in {seconds} s", tags.len());
    for (antenna, (reads, best)) in &antennas {
        let _ = write!(
            text,
            "\nantenna {antenna}: {reads} reads, at best {best:.0} dBm"
        );
    }
    if let Some(reason) = &reason {
        let _ = write!(text, "\nlost meanwhile: {reason}");
    }
    for warning in &warnings {
        let _ = write!(text, "\nwarning: {warning}");
    }
    let value = json!({
        "address": address, "connected": true, "lost": reason, "warnings": warnings, "manufacturer": known.manufacturer, "model": known.model,
        "firmware": known.firmware, "antennas": known.antennas, "clockOffsetMs": offset, "tags": tags.len(), "heard": heard,
    });
    answer(json, &value, &text)?;
    Ok(true)
}

fn record(address: String, output: &Path, seconds: u64, json: bool) -> Result<bool> {
    let failed = |cause: std::io::Error| Error::field(output.display(), cause);
    let made = File::create_new(output).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => {
            let message = format!("{} is there already; name another file", output.display());
            Error::invalid(message)
        }
        _ => failed(cause),
    });
    let mut file = BufWriter::new(made?);
    let (mut count, mut reason, mut is_connected) = (0_u64, None, false);
    let mut warnings = Vec::new();
    connected(address.clone(), seconds, |event| {
        match event {
            Event::State(State::Connected(_)) => is_connected = true,
            Event::State(State::Down { reason: why, .. }) => reason = Some(why),
            Event::Warning(warning) => warnings.push(warning),
            Event::Reads(reads) => {
                for read in reads {
                    #[expect(clippy::cast_precision_loss, reason = "exact for 100,000 years")]
                    let at = read.at_ms as f64 / 1000.0;
                    let rssi = (f64::from(read.rssi_dbm) * 10.0).round() / 10.0;
                    let line = json!({"epc": read.epc.to_string(), "antenna": read.antenna, "rssi": rssi, "at": at});
                    writeln!(file, "{line}").map_err(failed)?;
                    count += 1;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    file.flush().map_err(failed)?;
    if !is_connected {
        let _ = std::fs::remove_file(output);
        let reason = reason.unwrap_or_else(|| "it did not answer in time".to_owned());
        return Err(Error::field(address, reason));
    }
    let mut text = format!("{count} reads in {}", output.display());
    if let Some(reason) = &reason {
        let _ = write!(text, "\nlost meanwhile, so reads are missing: {reason}");
    }
    for warning in &warnings {
        let _ = write!(text, "\nwarning: {warning}");
    }
    let value = json!({"reads": count, "output": output, "lost": reason, "warnings": warnings});
    answer(json, &value, &text).map(|()| true)
}

fn replay(log: &Path, reader: &str, db: &Path, json: bool) -> Result<()> {
    let (store, configuration) = configuration(db)?;
    let selector = if reader.contains(':') {
        DeviceSelector::parse(reader)?
    } else {
        DeviceSelector::parse(&format!("id:{reader}"))?
    };
    let reader = store
        .look_up(|connection| devices::find(connection, &selector))?
        .0;
    let Some(config) = configuration.readers.get(&reader) else {
        let message =
            format!("--reader: device {reader} is not an available device of the type rfidreader");
        return Err(Error::invalid(message));
    };
    let failed = |cause: std::io::Error| Error::field(log.display(), cause);
    let text = std::fs::read(log).map_err(failed)?;
    let mut presence = Presence::new(configuration.layout());
    let mut names: Vec<(Epc, Option<String>)> = Vec::new();
    let mut tags: HashMap<Epc, i64> = HashMap::new();
    let (mut derived, mut any) = (Vec::new(), false);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    for slice in lines.chunks(crate::domain::readers::ingest::READS_MAX) {
        let reads = Form::Lines
            .parse(&slice.join(&b'\n'), Timestamp::now(), &Zone::default())
            .map_err(|cause| Error::field(log.display(), cause))?
            .reads;
        for read in reads {
            any = true;
            if !config.takes(&read.epc) {
                continue;
            }
            let tag = if let Some(tag) = tags.get(&read.epc) {
                *tag
            } else {
                let tag = i64::try_from(names.len()).map_err(Error::defect)?;
                let epc = read.epc.to_string();
                let name = store.look_up(|connection| {
                    crate::domain::readers::calibration::whose(connection, &epc)
                })?;
                names.push((read.epc, name));
                tags.insert(read.epc, tag);
                tag
            };
            presence.push(TagRead {
                tag,
                reader,
                antenna: read.antenna,
                rssi_dbm: read.rssi_dbm,
                at_ms: read.at_ms,
            });
            presence.advance(read.at_ms, &mut derived);
        }
    }
    presence.finish(&mut derived);
    if !any {
        let message = format!("{}: there are no reads in it", log.display());
        return Err(Error::invalid(message));
    }
    if derived.is_empty() && !json {
        return print("Nothing follows from these reads.");
    }
    let zone = context(&store, "admin")?.settings.zone.clone();
    for one in derived {
        let kind = recording::name(one.kind);
        let at = zone.iso(Timestamp(one.at_ms));
        let known = usize::try_from(one.tag).ok().and_then(|at| names.get(at));
        let (epc, name) = known
            .map(|(epc, name)| (epc.to_string(), name.clone()))
            .unwrap_or_default();
        let place = configuration.place_name(one.place).unwrap_or_default();
        if json {
            print_json(
                &json!({"at": at, "type": kind, "place": place, "epc": epc, "attendee": name, "reads": one.reads}),
            )?;
        } else {
            let who = name.unwrap_or(epc);
            print(&format!("{at}  {kind:8}{who}  {place}"))?;
        }
    }
    Ok(())
}

fn simulate(listen: SocketAddr, options: Options, seconds: Option<u64>, db: &Path) -> Result<()> {
    let mut tags: Vec<Epc> = Vec::new();
    if db.exists() {
        let store = open_existing(db)?;
        tags = store.look_up(|connection| {
            let mut statement = connection.prepare(
                "SELECT uhf_id FROM delegates WHERE uhf_id IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT ?1",
            )?;
            let found = statement.query_map([options.people], |row| row.get::<_, String>(0))?;
            let found: Vec<String> = found.collect::<rusqlite::Result<_>>()?;
            Ok(found.iter().filter_map(|epc| epc.parse().ok()).collect())
        })?;
    }
    for number in tags.len()..options.people as usize {
        let epc = format!("E7E7{number:020X}");
        tags.push(epc.parse().map_err(Error::defect)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::defect)?;
    runtime.block_on(async move {
        let mut readers = Vec::new();
        for number in 0..options.places {
            let port = if listen.port() == 0 {
                0
            } else {
                let port = u32::from(listen.port()) + number;
                u16::try_from(port).map_err(|_| {
                    Error::invalid(format!("--listen {listen}: there is no port {port}"))
                })?
            };
            let address = SocketAddr::new(listen.ip(), port);
            let about = EmulatorOptions {
                firmware: "Gatepost emulator".to_owned(),
                ..EmulatorOptions::default()
            };
            let emulator = Emulator::start(address, about)
                .await
                .map_err(|cause| Error::invalid(format!("--listen {address}: {cause}")))?;
            print(&format!("reader {}: {}", number + 1, emulator.address()))?;
            readers.push(emulator);
        }
        let mut walks = Walks::new(options);
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        for _ in 0..seconds.unwrap_or(u64::MAX) {
            ticks.tick().await;
            let mut reads = Vec::new();
            walks.second(Timestamp::now().0 - 1000, &mut reads);
            reads.sort_by_key(|read| read.at_ms);
            for (number, reader) in (0..).zip(&readers) {
                let of_reader = reads.iter().filter(|read| read.reader == number);
                let batch: Vec<EmulatedRead> = of_reader
                    .filter_map(|read| {
                        Some(EmulatedRead {
                            antenna: 1,
                            epc: *tags.get(usize::try_from(read.tag).ok()?)?,
                            rssi_dbm: read.rssi_dbm,
                            at_ms: read.at_ms,
                        })
                    })
                    .collect();
                if !batch.is_empty() {
                    reader.send(batch).await;
                }
            }
        }
        Ok(())
    })
}
