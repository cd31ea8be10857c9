//! Every open connection: how many there are in all and from each address, and the sweep that ends
//! those that are overdue.

use super::{
    connection_state::{Clock, ConnectionState, Ended, Priority, TICK},
    limits::Limits,
};
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a connection that was asked to make room is waited for before the next one is asked.
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
    pulses: HashMap<u64, Arc<ConnectionState>>,
    by_address: HashMap<IpAddr, u32>,
}

/// A connection's place among the others; given up when this goes.
pub struct Place {
    /// What the connection is doing.
    pub connection_state: Arc<ConnectionState>,
    number: u64,
    address: Option<IpAddr>,
    all: Arc<Connections>,
    _room: OwnedSemaphorePermit,
}

impl Connections {
    /// Why connections are ended, as the metrics name it.
    pub const ENDED: [&'static str; 4] = ["head", "idle", "stalled", "room"];

    /// None yet.
    #[must_use]
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

    /// How many are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.lock().pulses.len()
    }

    /// How many were refused because their address had too many.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// How many were ended by the server, by reason.
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
        let mut leaving = Leaving { all: self, address };
        let room = self.room().await?;
        leaving.address = None;
        let connection_state = Arc::new(ConnectionState::start(Arc::clone(&self.clock)));
        let mut open = self.lock();
        open.last += 1;
        let number = open.last;
        open.pulses.insert(number, Arc::clone(&connection_state));
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
            let all = open.pulses.values();
            all.filter_map(|connection_state| {
                Some((connection_state.gives_way()?, connection_state))
            })
            .min_by_key(|(priority, _)| *priority)
            .map(|(priority, connection_state)| (priority, Arc::clone(connection_state)))
        };
        match first {
            Some((Priority::Mute(_) | Priority::Idle(_), connection_state)) => {
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
                let pulses = open.pulses.values();
                pulses
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
        open.pulses.remove(&self.number);
        open.leave(self.address);
    }
}

/// Uncounts a connection that stops waiting for its place.
struct Leaving<'a> {
    all: &'a Connections,
    address: Option<IpAddr>,
}

impl Drop for Leaving<'_> {
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
        let gives_way = async {
            idle.connection_state.ended().await;
            drop(idle);
        };
        let (place, ()) = tokio::join!(waits, gives_way);
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
