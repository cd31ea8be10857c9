//! The state of a connection and since when, so that one sweep over all of them finds those that are
//! overdue. A timer for every request would cost look-ups more than the few stores that this does.

use super::connections::Limits;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed},
};
use std::time::Duration;
use tokio::sync::Notify;

/// The interval of the clock: the precision of every limit.
pub const TICK: Duration = Duration::from_millis(250);
/// Ticks after which a head that is not there counts as not sent where there is no more time for it:
/// while the server stops, and where another connection needs the room.
const HURRIED_TICKS: u32 = 4;

/// Counts ticks; 0 is never a time.
#[derive(Debug)]
pub struct Clock {
    ticks: AtomicU32,
    shut_down: AtomicBool,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            ticks: AtomicU32::new(1),
            shut_down: AtomicBool::new(false),
        }
    }
}

impl Clock {
    /// Moves on by a tick. A server would have to run for 34 years to see it stop.
    pub fn tick(&self) {
        self.ticks.fetch_add(1, Relaxed);
    }

    /// From now on whoever has not sent a whole head is given no more time: the server stops.
    pub fn shut_down(&self) {
        self.shut_down.store(true, Relaxed);
    }

    fn now(&self) -> u32 {
        self.ticks.load(Relaxed)
    }
}

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// Shaking hands, or sending a request's head.
    Arriving,
    /// Its request is being answered.
    Served,
    /// Idle between two requests.
    Idle,
}

/// The reason why a connection is ended by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its head, or its handshake, took too long.
    Head,
    /// Idle for too long.
    Idle,
    /// Its client takes nothing of the answer.
    Stalled,
    /// Idle while another needed the room.
    Room,
}

/// Which connection is closed first when there is no more room, with its tick: a gate between two
/// scans does after whoever never asked for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Without the head that was due by now.
    Silent(u32),
    /// Accepted a moment ago, and still entitled to that moment.
    New(u32),
    /// Answered, and idle since.
    Idle(u32),
}

/// One connection's doings.
#[derive(Debug)]
pub struct ConnectionState {
    clock: Arc<Clock>,
    phase: AtomicU8,
    since: AtomicU32,
    /// The time when its client last stopped taking what is sent; 0 while it takes it.
    stalled: AtomicU32,
    /// A request was answered on it, or is being.
    served: AtomicBool,
    /// A body on it was given up.
    must_close: AtomicBool,
    end: Notify,
}

impl ConnectionState {
    /// A connection that was just accepted.
    pub fn start(clock: Arc<Clock>) -> Self {
        let now = clock.now();
        Self {
            clock,
            phase: AtomicU8::new(Phase::Arriving as u8),
            since: AtomicU32::new(now),
            stalled: AtomicU32::new(0),
            served: AtomicBool::new(false),
            must_close: AtomicBool::new(false),
            end: Notify::new(),
        }
    }

    fn enter(&self, phase: Phase) {
        self.since.store(self.clock.now(), Relaxed);
        self.phase.store(phase as u8, Relaxed);
    }

    fn is(&self, phase: Phase) -> bool {
        self.phase.load(Relaxed) == phase as u8
    }

    /// Bytes came in.
    pub fn received(&self) {
        if self.is(Phase::Idle) {
            self.enter(Phase::Arriving);
        }
    }

    /// The handshake is done: the first head may take its time.
    pub fn handshake_done(&self) {
        self.enter(Phase::Arriving);
    }

    /// A request's head is there.
    pub fn serving(&self) {
        if !self.served.load(Relaxed) {
            self.served.store(true, Relaxed);
        }
        self.enter(Phase::Served);
    }

    /// The answer was handed over, if not yet taken.
    pub fn answered(&self) {
        self.enter(Phase::Idle);
    }

    /// The client took bytes.
    pub fn sent(&self) {
        if self.stalled.load(Relaxed) != 0 {
            self.stalled.store(0, Relaxed);
        }
    }

    /// The client takes nothing just now.
    pub fn blocked(&self) {
        if self.stalled.load(Relaxed) == 0 {
            self.stalled.store(self.clock.now(), Relaxed);
        }
    }

    /// Returns why the connection is to be ended now, if it is.
    pub fn overdue(&self, limits: &Limits) -> Option<Ended> {
        let now = self.clock.now();
        let ticks = |limit: super::connections::Seconds| limit.0.saturating_mul(4);
        let waited = now.saturating_sub(self.since.load(Relaxed));
        let stalled = self.stalled.load(Relaxed);
        if stalled != 0 && now.saturating_sub(stalled) > ticks(limits.send_time) {
            return Some(Ended::Stalled);
        }
        let head = if self.clock.shut_down.load(Relaxed) {
            HURRIED_TICKS
        } else {
            ticks(limits.header_time)
        };
        if self.is(Phase::Arriving) && waited > head {
            Some(Ended::Head)
        } else if self.is(Phase::Idle) && waited > ticks(limits.idle_time) {
            Some(Ended::Idle)
        } else {
            None
        }
    }

    /// Returns how soon it is to give way to another, the least first; `None` while somebody waits for an answer
    /// on it, or may be about to send a request.
    pub fn eviction_priority(&self) -> Option<Priority> {
        let since = self.since.load(Relaxed);
        let given_up = self.clock.now().saturating_sub(since) > HURRIED_TICKS;
        let served = self.served.load(Relaxed);
        match (self.is(Phase::Idle), self.is(Phase::Arriving)) {
            (true, _) => Some(Priority::Idle(since)),
            (_, true) if given_up => Some(Priority::Silent(since)),
            (_, true) if !served => Some(Priority::New(since)),
            _ => None,
        }
    }

    /// The request's body took too long: the connection cannot be used again.
    pub fn close_after_answer(&self) {
        self.must_close.store(true, Relaxed);
    }

    /// Returns whether the connection ends with this answer; when the server stops, each does.
    pub fn must_close(&self) -> bool {
        self.must_close.load(Relaxed) || self.clock.shut_down.load(Relaxed)
    }

    /// Ends the connection.
    pub fn end(&self) {
        self.end.notify_one();
    }

    /// Resolves when the connection is to be ended.
    pub async fn ended(&self) {
        self.end.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(clock: &Clock, seconds: u32) {
        (0..=seconds * 4).for_each(|_| clock.tick());
    }

    #[test]
    fn every_phase_has_its_limit() {
        let (clock, limits) = (Arc::new(Clock::default()), Limits::default());
        let connection_state = ConnectionState::start(Arc::clone(&clock));
        after(&clock, 9);
        assert_eq!(connection_state.overdue(&limits), None);
        // A head that trickles in gains nothing.
        connection_state.received();
        after(&clock, 1);
        assert_eq!(connection_state.overdue(&limits), Some(Ended::Head));
        connection_state.serving();
        after(&clock, 1000);
        assert_eq!(connection_state.overdue(&limits), None);
        assert_eq!(connection_state.eviction_priority(), None);
        connection_state.answered();
        after(&clock, 74);
        assert_eq!(connection_state.overdue(&limits), None);
        after(&clock, 1);
        assert_eq!(connection_state.overdue(&limits), Some(Ended::Idle));
    }

    #[test]
    fn a_client_that_takes_nothing_is_overdue() {
        let (clock, limits) = (Arc::new(Clock::default()), Limits::default());
        let connection_state = ConnectionState::start(Arc::clone(&clock));
        connection_state.serving();
        connection_state.blocked();
        after(&clock, 59);
        connection_state.sent();
        connection_state.blocked();
        after(&clock, 59);
        assert_eq!(connection_state.overdue(&limits), None);
        after(&clock, 1);
        assert_eq!(connection_state.overdue(&limits), Some(Ended::Stalled));
    }

    #[test]
    fn a_stop_gives_heads_a_second() {
        let (clock, limits) = (Arc::new(Clock::default()), Limits::default());
        let connection_state = ConnectionState::start(Arc::clone(&clock));
        clock.shut_down();
        assert_eq!(connection_state.overdue(&limits), None);
        after(&clock, 1);
        assert_eq!(connection_state.overdue(&limits), Some(Ended::Head));
    }
}
