//! Connects to a reader for some seconds: `test` tells what it is and hears, `record` keeps what it reads.

use super::super::answer;
use crate::{
    domain::readers::Epc,
    types::error::{Error, Result},
};
use llrp::{Capabilities, Event, ReaderConfig, State};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write as _,
    fs::File,
    io::{BufWriter, ErrorKind, Write},
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

/// The longest time until a reader is connected.
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

/// Everything that a reader tells of itself, beside its reads.
#[derive(Default)]
struct Contact {
    /// None before it is connected.
    known: Option<Capabilities>,
    clock_offset_ms: Option<i64>,
    /// The reason why the connection failed or was lost last.
    lost: Option<String>,
    warnings: Vec<String>,
}

impl Contact {
    fn note(&mut self, event: Event) {
        match event {
            Event::State(State::Connected(known)) => self.known = Some(known),
            Event::State(State::Down { reason, .. }) => self.lost = Some(reason),
            Event::ClockOffset(ms) => self.clock_offset_ms = Some(ms),
            Event::Warning(warning) => self.warnings.push(warning),
            Event::State(State::Connecting) | Event::Antenna { .. } | Event::Reads(_) => {}
        }
    }

    /// The reason why it was never connected.
    fn failure(self) -> String {
        self.lost
            .unwrap_or_else(|| "it did not answer in time".to_owned())
    }

    /// Adds to a text what went wrong; `lost` says what a loss means.
    fn add_problems(&self, text: &mut String, lost: &str) {
        if let Some(reason) = &self.lost {
            let _ = write!(text, "\n{lost}: {reason}");
        }
        for warning in &self.warnings {
            let _ = write!(text, "\nwarning: {warning}");
        }
    }
}

/// Reads, counted by antennas and by tags.
#[derive(Default)]
struct Heard {
    /// Reads of each antenna, and the level of the best of them, in dBm.
    antennas: BTreeMap<u16, (u64, f32)>,
    tags: HashSet<Epc>,
}

impl Heard {
    fn count(&mut self, reads: &[llrp::Read]) {
        for read in reads {
            let (count, best) = self.antennas.entry(read.antenna).or_insert((0, f32::MIN));
            *count += 1;
            *best = best.max(read.rssi_dbm);
            self.tags.insert(read.epc);
        }
    }

    fn to_json(&self) -> Vec<Value> {
        self.antennas
            .iter()
            .map(|(antenna, (reads, best))| json!({"antenna": antenna, "reads": reads, "bestRssi": best}))
            .collect()
    }
}

/// Tells what a reader is, and what it hears in some seconds; false where it cannot be connected to.
pub fn test(address: String, seconds: u64, json: bool) -> Result<bool> {
    let (mut contact, mut heard) = (Contact::default(), Heard::default());
    connected(address.clone(), seconds, |event| {
        if let Event::Reads(reads) = &event {
            heard.count(reads);
        }
        contact.note(event);
        Ok(())
    })?;
    let Some(known) = &contact.known else {
        let reason = contact.failure();
        answer(
            json,
            &json!({"address": address, "connected": false, "reason": reason}),
            &format!("{address}: {reason}"),
        )?;
        return Ok(false);
    };
    let mut text = format!(
        "{address}: {} model {}, firmware {}, {} antennas, LLRP {}",
        known.manufacturer, known.model, known.firmware, known.antennas, known.llrp_version
    );
    if let Some(offset) = contact.clock_offset_ms {
        let side = if offset < 0 { "behind" } else { "ahead of" };
        let _ = write!(text, "\nclock: {} ms {side} this machine", offset.abs());
    }
    let _ = write!(text, "\n{} tags in {seconds} s", heard.tags.len());
    for (antenna, (reads, best)) in &heard.antennas {
        let _ = write!(
            text,
            "\nantenna {antenna}: {reads} reads, at best {best:.0} dBm"
        );
    }
    contact.add_problems(&mut text, "lost meanwhile");
    let value = json!({
        "address": address, "connected": true, "lost": contact.lost, "warnings": contact.warnings,
        "manufacturer": known.manufacturer, "model": known.model, "firmware": known.firmware, "antennas": known.antennas,
        "clockOffsetMs": contact.clock_offset_ms, "tags": heard.tags.len(), "heard": heard.to_json(),
    });
    answer(json, &value, &text)?;
    Ok(true)
}

/// Writes what a reader reads in some seconds into a new file.
pub fn record(address: String, output: &Path, seconds: u64, json: bool) -> Result<bool> {
    let failed = |cause: std::io::Error| Error::field(output.display(), cause);
    let made = File::create_new(output).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => {
            let message = format!("{} is there already; name another file", output.display());
            Error::invalid(message)
        }
        _ => failed(cause),
    });
    let mut file = BufWriter::new(made?);
    let (mut contact, mut count) = (Contact::default(), 0_u64);
    connected(address.clone(), seconds, |event| {
        if let Event::Reads(reads) = &event {
            for read in reads {
                writeln!(file, "{}", recorded(read)).map_err(failed)?;
                count += 1;
            }
        }
        contact.note(event);
        Ok(())
    })?;
    file.flush().map_err(failed)?;
    if contact.known.is_none() {
        let _ = std::fs::remove_file(output);
        return Err(Error::field(address, contact.failure()));
    }
    let mut text = format!("{count} reads in {}", output.display());
    contact.add_problems(&mut text, "lost meanwhile, so reads are missing");
    let value = json!({"reads": count, "output": output, "lost": contact.lost, "warnings": contact.warnings});
    answer(json, &value, &text).map(|()| true)
}

/// A read as `POST /reader/reads` takes it.
fn recorded(read: &llrp::Read) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "exact for 100,000 years")]
    let at = read.at_ms as f64 / 1000.0;
    let rssi = (f64::from(read.rssi_dbm) * 10.0).round() / 10.0;
    json!({"epc": read.epc.to_string(), "antenna": read.antenna, "rssi": rssi, "at": at})
}
