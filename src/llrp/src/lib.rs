//! A client for UHF RFID readers that speak LLRP 1.0.1 or 1.1 over TCP, and an emulator of a reader.
//!
//! The client keeps a reader connected, corrects its clock, and passes on its reads. It knows tags by the numbers that
//! they send, and nothing of people or places.
//!
//! # Example
//!
//! An emulated reader reads a tag, and a client hears of it:
//!
//! ```
//! use llrp::{Event, ReaderConfig, State, emulator::{EmulatedRead, Emulator, EmulatorOptions}};
//! use tokio::sync::{mpsc, oneshot};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reader = Emulator::start("127.0.0.1:0".parse()?, EmulatorOptions::default()).await?;
//!
//! let config = ReaderConfig { address: reader.address().to_string(), antennas: Vec::new() };
//! let (sender, mut events) = mpsc::unbounded_channel();
//! let (stop, stopped) = oneshot::channel::<()>();
//! let client = tokio::spawn(llrp::run(
//!     config,
//!     |_address| Ok(()),
//!     move |event| drop(sender.send(event)),
//!     async move { drop(stopped.await) },
//! ));
//!
//! let epc = "303400000000000000000001".parse()?;
//! while let Some(event) = events.recv().await {
//!     match event {
//!         Event::State(State::Connected(_)) => {
//!             let read = EmulatedRead { antenna: 1, epc, rssi_dbm: -52.0, at_ms: 0 };
//!             assert!(reader.send(vec![read]).await);
//!         }
//!         Event::Reads(reads) => {
//!             assert_eq!((reads[0].antenna, reads[0].epc), (1, epc));
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//! drop(stop);
//! client.await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! - `client`: keeps one reader connected and gives its reads; `clock` corrects their times
//! - `request`: what we ask of a reader; `decode`: what a reader sends
//! - `wire`: messages and parameters as bytes; `kinds`: their numbers; `epc`: the number of a tag
//! - `emulator`: a reader for demos, load and tests

mod client;
mod clock;
mod decode;
pub mod emulator;
mod epc;
mod kinds;
mod request;
mod wire;

pub use client::{run, with_port};
pub use clock::Difference;
pub use epc::{EPC_MAX_BYTES, Epc, NotAnEpc};

use bytes::BytesMut;
use std::time::Duration;

/// The port of LLRP without TLS.
pub const PORT: u16 = 5084;
/// A middling signal strength, for readers that report none.
pub const RSSI_UNKNOWN_DBM: f32 = -60.0;

/// A reader and how it inventories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReaderConfig {
    /// A host name or an IP address; the port may follow after a colon.
    pub address: String,
    /// Empty for all antennas.
    pub antennas: Vec<AntennaConfig>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AntennaConfig {
    /// From 1.
    pub antenna: u16,
    /// Transmit power; the nearest that the reader offers is used. `None` leaves the reader's own.
    pub power_dbm: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    State(State),
    /// The reader's clock minus ours, in milliseconds. Sent by readers with a UTC clock only.
    ClockOffset(i64),
    Antenna {
        antenna: u16,
        connected: bool,
    },
    /// For operators, as a sentence.
    Warning(String),
    /// In the order in which they arrived. Never empty.
    Reads(Vec<Read>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Connecting,
    /// The inventory runs.
    Connected(Capabilities),
    /// `reason` is a sentence for operators.
    Down {
        reason: String,
        retry_in: Duration,
    },
}

/// A reader's description of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capabilities {
    pub manufacturer: String,
    /// The manufacturer's number of the model.
    pub model: u32,
    pub firmware: String,
    pub antennas: u16,
    /// True if it has a UTC clock; otherwise it counts from when it started.
    pub utc_clock: bool,
    pub powers: Vec<PowerLevel>,
    /// `1.0.1` or `1.1`, by the version of its messages.
    pub llrp_version: &'static str,
    /// The hop table that a transmitter's settings name besides the power.
    hop_table: u16,
    channel: u16,
}

/// A transmit power that a reader offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLevel {
    pub index: u16,
    pub dbm: f64,
}

/// One read of a tag, or several that the reader merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Read {
    /// From 1; 0 where the reader did not say.
    pub antenna: u16,
    pub epc: Epc,
    /// The strongest; [`RSSI_UNKNOWN_DBM`] where the reader did not say.
    pub rssi_dbm: f32,
    /// The time when the tag was last seen, in Unix milliseconds by our clock: never after its arrival, and at most ten
    /// seconds before.
    pub at_ms: i64,
    pub count: u32,
}

/// Decodes any bytes as a stream of messages, for fuzzing: as a client and as a reader. Never panics, and
/// holds little more than the bytes themselves.
pub fn fuzz(bytes: &[u8]) {
    let mut buffer = BytesMut::from(bytes);
    while let Ok(Some(message)) = wire::take_message(&mut buffer) {
        decode::anything(&message);
        emulator::decode_anything(&message);
    }
}

#[cfg(test)]
mod tests;
