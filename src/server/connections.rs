//! Every open connection: how many there may be in all and from each address, how long each may keep the
//! server waiting, and the sweep that ends those that are overdue. The limits suit a venue's laptop on a Wi-Fi
//! that anybody may join.

use super::connection_state::{Clock, ConnectionState, Ended, Priority, TICK};
use std::{
    collections::HashMap,
    fmt,
    net::{IpAddr, Ipv6Addr},
    num::ParseIntError,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The time to wait for a closed connection to make room before closing the next.
const ROOM_WAIT: Duration = Duration::from_millis(100);

/// The open connections.
pub struct Connections {
    limits: Limits,
    clock: Arc<Clock>,
    room: Arc<Semaphore>,
    open: Mutex<Open>,
    /// Refused because their address had too many.
    refused: AtomicU64,
    /// Ended by the server, in the order of [`Connections::ENDED`].
    ended: [AtomicU64; 4],
}

#[derive(Default)]
struct Open {
    last: u64,
    states: HashMap<u64, Arc<ConnectionState>>,
    by_address: HashMap<IpAddr, u32>,
}

/// A connection's place among the others; given up when this goes.
pub struct Place {
    pub connection_state: Arc<ConnectionState>,
    number: u64,
    address: Option<IpAddr>,
    all: Arc<Connections>,
    _room: OwnedSemaphorePermit,
}

impl Connections {
    /// The reasons why connections are ended, as the metrics name them.
    pub const ENDED: [&'static str; 4] = ["head", "idle", "stalled", "room"];

    /// None yet.
    pub fn new(limits: Limits) -> Arc<Self> {
        let most = usize::try_from(limits.max_connections).unwrap_or(usize::MAX);
        Arc::new(Self {
            room: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            limits,
            clock: Arc::default(),
            open: Mutex::default(),
            refused: AtomicU64::new(0),
            ended: Default::default(),
        })
    }

    pub fn open(&self) -> usize {
        self.lock().states.len()
    }

    /// Counts the connections that were refused because their address had too many.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// Counts the connections that were ended by the server, by reason.
    pub fn ended(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.ended.iter().map(|count| count.load(Relaxed));
        Self::ENDED.into_iter().zip(counts)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a place for a connection, waiting for one if need be; `None` when its address has too
    /// many already.
    pub async fn admit(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let proxy = self.limits.trusted_proxies.contains(&from.to_canonical());
        let address = counted(from).filter(|_| !proxy);
        if let Some(address) = address {
            let most = self.limits.max_connections_per_address;
            let mut open = self.lock();
            let here = open.by_address.entry(address).or_default();
            if *here >= most {
                self.refused.fetch_add(1, Relaxed);
                return None;
            }
            *here += 1;
        }
        let mut pending = PendingAdmission { all: self, address };
        let room = self.room().await?;
        pending.address = None;
        let connection_state = Arc::new(ConnectionState::start(Arc::clone(&self.clock)));
        let mut open = self.lock();
        open.last += 1;
        let number = open.last;
        open.states.insert(number, Arc::clone(&connection_state));
        Some(Place {
            connection_state,
            number,
            address,
            all: Arc::clone(self),
            _room: room,
        })
    }

    async fn room(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
            return Some(room);
        }
        loop {
            self.make_room();
            let room = Arc::clone(&self.room).acquire_owned();
            if let Ok(room) = tokio::time::timeout(ROOM_WAIT, room).await {
                return room.ok();
            }
        }
    }

    /// Ends the connection that is the first to give way, if one has to: where some may be about to ask
    /// for the first time, those who were answered stay until that is known.
    pub fn make_room(&self) {
        let first = {
            let open = self.lock();
            let all = open.states.values();
            all.filter_map(|connection_state| {
                Some((connection_state.eviction_priority()?, connection_state))
            })
            .min_by_key(|(priority, _)| *priority)
            .map(|(priority, connection_state)| (priority, Arc::clone(connection_state)))
        };
        match first {
            Some((Priority::Silent(_) | Priority::Idle(_), connection_state)) => {
                self.end(&connection_state, Ended::Room);
            }
            Some((Priority::New(_), _)) | None => {}
        }
    }

    fn end(&self, connection_state: &ConnectionState, why: Ended) {
        self.ended[why as usize].fetch_add(1, Relaxed);
        tracing::debug!("a connection is ended: {}", Self::ENDED[why as usize]);
        connection_state.end();
    }

    /// Gives whoever has not sent a whole head no more time: the server stops.
    pub fn shut_down(&self) {
        self.clock.shut_down();
    }

    /// Ends connections that are overdue, for as long as it is polled.
    pub async fn sweep(&self) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.clock.tick();
            let overdue: Vec<_> = {
                let open = self.lock();
                let states = open.states.values();
                states
                    .filter_map(|connection_state| {
                        Some((
                            connection_state.overdue(&self.limits)?,
                            Arc::clone(connection_state),
                        ))
                    })
                    .collect()
            };
            for (why, connection_state) in overdue {
                self.end(&connection_state, why);
            }
        }
    }
}

impl Open {
    /// Uncounts a connection of an address.
    fn leave(&mut self, address: Option<IpAddr>) {
        if let Some(address) = address
            && let Some(here) = self.by_address.get_mut(&address)
        {
            *here -= 1;
            if *here == 0 {
                self.by_address.remove(&address);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.all.lock();
        open.states.remove(&self.number);
        open.leave(self.address);
    }
}

/// Uncounts a connection that stops waiting for its place.
struct PendingAdmission<'a> {
    all: &'a Connections,
    address: Option<IpAddr>,
}

impl Drop for PendingAdmission<'_> {
    fn drop(&mut self) {
        if self.address.is_some() {
            self.all.lock().leave(self.address);
        }
    }
}

/// The address by which a connection is counted; none for loopback. Who has one IPv6 address has
/// the 2⁶⁴ beside it.
fn counted(from: IpAddr) -> Option<IpAddr> {
    let address = from.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            Ipv6Addr::from_bits(network).into()
        }
    })
}

/// Files that the process keeps for itself when it counts how many connections it can have: the
/// database many times over, its log, the listener, and what the system opens beside.
const FILES_KEPT: u64 = 96;
/// However few files there may be, so many connections are tried.
const CONNECTIONS_MIN: u32 = 16;

/// A duration in whole seconds, as the command line takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds(pub u32);

impl Seconds {
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text
            .parse()
            .map_err(|cause: ParseIntError| cause.to_string())?;
        if (1..=86_400).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err("must be 1 to 86400 seconds".into())
        }
    }
}

/// Limits of connections.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Connections in all; where there are as many, the one idle for longest makes room, and when
    /// none is idle a new one waits.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_connections,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// Connections from one address (an IPv6 /64 counts as one). A whole venue may stand behind
    /// one; loopback and trusted proxies have no such limit.
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.max_connections_per_address,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections_per_address: u32,
    /// A request's head, or a TLS handshake, must be there after so long.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.header_time)]
    pub header_time: Seconds,
    /// A request's body must be there after so long, and a second more for every 64 KiB of it.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.body_time)]
    pub body_time: Seconds,
    /// A connection is kept open between two requests for so long.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.idle_time)]
    pub idle_time: Seconds,
    /// A client that takes nothing of its answer for so long is cut off.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.send_time)]
    pub send_time: Seconds,
    /// A stop waits so long for the requests that were accepted.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::DEFAULT.stop_time)]
    pub stop_time: Seconds,
    /// A reverse proxy in front (may be repeated). Only from these `X-Forwarded-For` counts: the
    /// rightmost address in it that is not theirs is the client's.
    #[arg(
        long = "trusted-proxy",
        value_name = "ADDRESS",
        help_heading = "Options"
    )]
    pub trusted_proxies: Vec<IpAddr>,
}

impl Limits {
    const DEFAULT: Self = Self {
        max_connections: 8192,
        max_connections_per_address: 1024,
        header_time: Seconds(10),
        body_time: Seconds(30),
        idle_time: Seconds(75),
        send_time: Seconds(60),
        stop_time: Seconds(10),
        trusted_proxies: Vec::new(),
    };

    /// Lowers the number of connections to what a process with so many files can have.
    pub fn fit_into(&mut self, files: u64) {
        let room = u32::try_from(files.saturating_sub(FILES_KEPT)).unwrap_or(u32::MAX);
        self.max_connections = self.max_connections.min(room.max(CONNECTIONS_MIN));
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(all: u32, per_address: u32) -> Arc<Connections> {
        Connections::new(Limits {
            max_connections: all,
            max_connections_per_address: per_address,
            ..Limits::default()
        })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn an_address_has_its_share() {
        let all = connections(100, 2);
        let first = all.admit(address("10.0.0.1")).await;
        let _second = all.admit(address("10.0.0.1")).await.unwrap();
        assert!(all.admit(address("10.0.0.1")).await.is_none());
        assert!(all.admit(address("::ffff:10.0.0.1")).await.is_none());
        assert!(all.admit(address("10.0.0.2")).await.is_some());
        assert_eq!((all.open(), all.refused()), (2, 2));
        drop(first);
        assert!(all.admit(address("10.0.0.1")).await.is_some());
    }

    #[tokio::test]
    async fn loopback_is_not_counted_and_a_network_counts_as_one() {
        let all = connections(100, 1);
        let mut places = Vec::new();
        for _ in 0..3 {
            places.push(all.admit(address("127.0.0.1")).await.unwrap());
            places.push(all.admit(address("::1")).await.unwrap());
        }
        places.push(all.admit(address("2001:db8::1")).await.unwrap());
        assert!(all.admit(address("2001:db8::2")).await.is_none());
        assert!(all.admit(address("2001:db8:0:1::2")).await.is_some());
    }

    #[tokio::test]
    async fn who_was_idle_for_longest_makes_room() {
        let all = connections(2, 2);
        let busy = all.admit(address("10.0.0.1")).await.unwrap();
        busy.connection_state.serving();
        let idle = all.admit(address("10.0.0.1")).await.unwrap();
        idle.connection_state.answered();
        let waits = all.admit(address("10.0.0.2"));
        let eviction_priority = async {
            idle.connection_state.ended().await;
            drop(idle);
        };
        let (place, ()) = tokio::join!(waits, eviction_priority);
        assert!(place.is_some());
        assert_eq!(all.ended().last(), Some(("room", 1)));
        drop(busy);
    }

    #[tokio::test]
    async fn a_gate_between_two_scans_gives_way_after_who_never_asked() {
        let all = connections(2, 2);
        let gate = all.admit(address("10.0.0.1")).await.unwrap();
        gate.connection_state.serving();
        gate.connection_state.answered();
        let mute = all.admit(address("10.0.0.9")).await.unwrap();
        all.make_room();
        assert_eq!(all.ended().last(), Some(("room", 0)), "it has its moment");
        (0..8).for_each(|_| all.clock.tick());
        all.make_room();
        mute.connection_state.ended().await;
        drop(mute);
        // Among those who were answered it is who was idle for longest.
        all.make_room();
        gate.connection_state.ended().await;
        assert_eq!(all.ended().last(), Some(("room", 2)));
    }

    #[tokio::test]
    async fn who_stops_waiting_for_a_place_is_not_counted() {
        let all = connections(1, 1);
        let busy = all.admit(address("10.0.0.1")).await.unwrap();
        busy.connection_state.serving();
        for _ in 0..2 {
            let waits = all.admit(address("10.0.0.2"));
            let waited = tokio::time::timeout(Duration::from_millis(1), waits).await;
            // Not refused for its address: it only found no room.
            assert!(waited.is_err());
        }
    }
}

#[cfg(test)]
mod limits_tests {
    use super::*;

    #[test]
    fn few_files_mean_few_connections() {
        let fitted = |files| {
            let mut limits = Limits::default();
            limits.fit_into(files);
            limits.max_connections
        };
        assert_eq!(fitted(1_048_576), 8192);
        assert_eq!(fitted(1024), 928);
        assert_eq!(fitted(0), 16);
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!("10".parse(), Ok(Seconds(10)));
        for wrong in ["0", "-1", "1.5", "86401", ""] {
            assert!(wrong.parse::<Seconds>().is_err(), "{wrong}");
        }
    }
}
