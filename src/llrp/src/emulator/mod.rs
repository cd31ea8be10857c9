//! A reader of our own that speaks LLRP: for demos, load and tests. It knows one client at a time, as readers
//! do, runs one `ROSpec`, and reads what it is given. Faults make it misbehave.

mod connection;
pub(super) mod encode;
pub(super) mod ro_spec;

pub use ro_spec::decode_anything;

use crate::{clock::now_us, epc::Epc};
use connection::Connection;
use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    net::TcpListener,
    sync::mpsc,
    task::{JoinHandle, JoinSet},
};

/// Batches of reads that wait for a slow client.
const COMMANDS_MAX: usize = 64;
/// The time that the reader had run when it was started here: an hour.
const UPTIME_US: i64 = 3_600_000_000;

/// The reader's description of itself.
#[derive(Debug, Clone)]
pub struct EmulatorOptions {
    pub antennas: u16,
    /// Otherwise times are counted from when the reader was switched on.
    pub utc_clock: bool,
    /// Its UTC clock minus ours.
    pub clock_offset_ms: i64,
    pub firmware: String,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        Self {
            antennas: 4,
            utc_clock: true,
            clock_offset_ms: 0,
            firmware: "Emulator".into(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmulatedRead {
    pub antenna: u16,
    pub epc: Epc,
    pub rssi_dbm: f32,
    /// Unix milliseconds by our clock.
    pub at_ms: i64,
}

/// The reader's misbehaviour. Faults of reports act on the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Sends nothing at all.
    Silent,
    /// Ends the connection within a report.
    HalfMessage,
    /// A parameter that is longer than its message.
    WrongLength,
    /// A message that claims a gigabyte.
    HugeLength,
    /// EPCs of odd bit lengths, and beside them an empty one and one that is too long.
    OddEpc,
    /// The UTC clock stood at the start of 1970 when the reader was switched on.
    Clock1970,
    NoKeepalive,
    /// Refuses a `ROSpec` that sets the transmit power.
    RefusePower,
    /// Refuses a `ROSpec` with a report trigger of its own.
    RefuseReports,
    /// Tells clients that another one is connected.
    SecondClient,
    /// Ends the inventory by itself.
    EndInventory,
}

/// Stops, and ends its connection, when it is dropped.
pub struct Emulator {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    options: EmulatorOptions,
    started_us: i64,
    state: Mutex<EmulatorState>,
}

struct EmulatorState {
    fault: Fault,
    /// Antennas without a cable.
    disconnected: Vec<u16>,
    client: Option<Client>,
    next_client: u64,
}

/// The one client.
struct Client {
    number: u64,
    /// The connection ends when it is dropped.
    commands: mpsc::Sender<Command>,
    inventories: bool,
}

enum Command {
    Reads(Vec<EmulatedRead>),
    Antenna { antenna: u16, connected: bool },
}

impl Emulator {
    /// Listens for clients; port 0 takes a free one.
    pub async fn start(listen: SocketAddr, options: EmulatorOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let state = EmulatorState {
            fault: Fault::None,
            disconnected: Vec::new(),
            client: None,
            next_client: 0,
        };
        let shared = Arc::new(Shared {
            options,
            started_us: now_us() - UPTIME_US,
            state: Mutex::new(state),
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads tags. `false` if nobody inventories: then the reads are lost. Waits for a client that is slow.
    pub async fn send(&self, reads: Vec<EmulatedRead>) -> bool {
        let commands = {
            let state = self.shared.lock();
            let client = state.client.as_ref().filter(|client| client.inventories);
            client.map(|client| client.commands.clone())
        };
        match commands {
            Some(commands) => commands.send(Command::Reads(reads)).await.is_ok(),
            None => false,
        }
    }

    /// Plugs an antenna's cable in or out.
    pub async fn set_antenna(&self, antenna: u16, connected: bool) {
        let commands = {
            let mut state = self.shared.lock();
            state.disconnected.retain(|other| *other != antenna);
            if !connected {
                state.disconnected.push(antenna);
            }
            state.client.as_ref().map(|client| client.commands.clone())
        };
        if let Some(commands) = commands {
            // A client that is gone asks when it returns.
            let _ = commands.send(Command::Antenna { antenna, connected }).await;
        }
    }

    pub fn set_fault(&self, fault: Fault) {
        self.shared.lock().fault = fault;
    }

    /// Ends the connection without a word; clients may connect again.
    pub fn cut(&self) {
        self.shared.lock().client = None;
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, EmulatorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self) -> Fault {
        self.lock().fault
    }
}

/// Connections end with it: the set aborts its tasks when it is dropped.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // A connection that failed before it was accepted concerns nobody.
        if let Ok((stream, _)) = listener.accept().await {
            while connections.try_join_next().is_some() {}
            connections.spawn(Connection::serve(stream, shared.clone()));
        }
    }
}
