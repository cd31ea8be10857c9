//! The due times of requests at a fixed rate. A thread keeps them: timers of the runtime are a
//! millisecond late, which would count as the server's time.

use std::{
    thread,
    time::{Duration, Instant},
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Starts the schedule; each lane receives the due times of its requests, one after the other.
pub fn start(lanes: usize, every: Duration, until: Instant) -> Vec<UnboundedReceiver<Instant>> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..lanes).map(|_| unbounded_channel()).unzip();
    let mut due = Instant::now();
    thread::spawn(move || {
        for lane in senders.iter().cycle() {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            // A lane that lost its connection receives no more; the others go on.
            let _ = lane.send(due);
            due += every;
            if due >= until {
                break;
            }
        }
    });
    receivers
}
