//! One task serves all destinations while the server runs: it reads the change feed, starts attempts and
//! stores their outcomes, in small writes that gates do not notice.

use super::{
    FinishedAttempt, Kind, Outcome, Ref,
    destination::{self, Note, State},
    pending::{self, PendingDelivery},
    runner::{PENDING_MAX, Runner},
};
use crate::{
    core::{Services, changes},
    types::{Timestamp, error::Result},
};
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, mpsc},
    time::{Instant, MissedTickBehavior},
};

/// Attempts of all destinations at a time.
const AT_ONCE: usize = 32;
/// The time between two looks at the change feed and the outbox.
const TICK: Duration = Duration::from_millis(200);
/// Slices of the feed read for one destination before the next one's turn.
const SLICES: usize = 20;
/// So many notes are written without waiting for the next tick.
const NOTES_MANY: usize = 64;
/// With so many unwritten notes nothing new starts: the file does not take them.
const NOTES_MAX: usize = 2_000;
/// The time for which a cursor that passed irrelevant changes may stay unwritten; a restart reads those changes again.
const IDLE_WRITE_EVERY: Duration = Duration::from_secs(10);

struct Done {
    destination: String,
    of: Ref,
    attempted: FinishedAttempt,
}

struct Destination {
    kind: Arc<dyn Kind>,
    runner: Runner,
    /// Set where the file has pending deliveries that are not in memory.
    truncated: bool,
}

struct WorkerState {
    services: Services,
    kinds: Vec<Arc<dyn Kind>>,
    destinations: BTreeMap<String, Destination>,
    notes: Vec<(String, Note)>,
    /// Running attempts with the time that a shutdown waits for them.
    running: BTreeMap<(String, Ref), Duration>,
    epoch: u64,
    newest: i64,
    written: Instant,
    sender: mpsc::UnboundedSender<Done>,
    receiver: mpsc::UnboundedReceiver<Done>,
}

/// Makes the deliveries of all destinations.
pub struct Worker(Mutex<WorkerState>);

impl Worker {
    pub fn new(services: &Services, kinds: Vec<Arc<dyn Kind>>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self(Mutex::new(WorkerState {
            services: services.clone(),
            kinds,
            destinations: BTreeMap::new(),
            notes: Vec::new(),
            running: BTreeMap::new(),
            epoch: 0,
            newest: 0,
            written: Instant::now(),
            sender,
            receiver,
        }))
    }

    /// Delivers until it is dropped.
    pub async fn run(&self) {
        let mut worker = self.0.lock().await;
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let ticked = tokio::select! {
                _ = ticks.tick() => true,
                Some(done) = worker.receiver.recv() => {
                    worker.done(done);
                    false
                }
            };
            while let Ok(done) = worker.receiver.try_recv() {
                worker.done(done);
            }
            if let Err(cause) = worker.turn(ticked).await {
                // Nothing is lost: it goes on from what is in the file, or still in memory.
                tracing::warn!("outbox: {cause}");
                tokio::time::sleep(TICK).await;
            }
        }
    }

    /// At shutdown: gives running attempts their time, and stores their outcomes.
    pub async fn finish(&self) {
        let mut worker = self.0.lock().await;
        let begun = Instant::now();
        while let Some(grace) = worker.running.values().max().copied() {
            match tokio::time::timeout_at(begun + grace, worker.receiver.recv()).await {
                Ok(Some(done)) => worker.done(done),
                _ => break,
            }
        }
        if let Err(cause) = worker.write().await {
            tracing::warn!("outbox: {cause}");
        }
    }
}

impl WorkerState {
    fn done(&mut self, done: Done) {
        let Done {
            destination,
            of,
            attempted,
        } = done;
        self.running.remove(&(destination.clone(), of));
        let mut notes: Vec<Note> = attempted.record.map(Note::Completion).into_iter().collect();
        match self.destinations.get_mut(&destination) {
            Some(known) => {
                let before = known.runner.state.paused;
                let now = Timestamp::now();
                known.runner.done(of, attempted.outcome, now, &mut notes);
                if let (None, Some((_, why))) = (before, known.runner.state.paused) {
                    tracing::warn!("{destination} is paused: {why:?}");
                }
            }
            // It was closed meanwhile, as a gateway is that was removed.
            None if matches!(attempted.outcome, Outcome::Failed { .. }) => {}
            None => notes.push(Note::Released(of)),
        }
        let notes = notes.into_iter().map(|note| (destination.clone(), note));
        self.notes.extend(notes);
    }

    /// Writes notes, reloads what changed, reads the feed, starts attempts.
    async fn turn(&mut self, ticked: bool) -> Result<()> {
        let store = &self.services.store;
        let changed = store.epoch() != self.epoch
            || store.look_up(pending::newest)? > self.newest
            || self.runs_short();
        if changed || self.notes.len() >= NOTES_MANY || self.is_worth_writing(ticked) {
            self.write().await?;
        }
        if changed {
            self.load().await?;
        }
        if self.notes.len() < NOTES_MAX {
            self.read_on(ticked).await?;
            self.start();
        }
        Ok(())
    }

    /// Returns whether a destination is to load more of its pending deliveries.
    fn runs_short(&self) -> bool {
        let mut known = self.destinations.values();
        known.any(|known| known.truncated && known.runner.pending() < PENDING_MAX / 2)
    }

    /// Returns whether there are notes of attempts, or cursors have waited long enough.
    fn is_worth_writing(&self, ticked: bool) -> bool {
        let any = |wanted: fn(&Note) -> bool| self.notes.iter().any(|(_, note)| wanted(note));
        let waited = self.written.elapsed() >= IDLE_WRITE_EVERY;
        ticked && (any(|note| !matches!(note, Note::State(_))) || (waited && any(|_| true)))
    }

    async fn write(&mut self) -> Result<()> {
        self.written = Instant::now();
        if self.notes.is_empty() {
            return Ok(());
        }
        let notes = thinned(std::mem::take(&mut self.notes));
        let kept = notes.clone();
        let written = self
            .services
            .store
            .write(move |tx| destination::write(tx, &notes))
            .await;
        if written.is_err() {
            // Written twice it is the same, but for records of attempts.
            let newer = std::mem::replace(&mut self.notes, kept);
            self.notes.extend(newer);
        }
        written
    }

    /// Loads destinations and pending deliveries anew.
    async fn load(&mut self) -> Result<()> {
        type Found = (Arc<dyn Kind>, String, State, Vec<PendingDelivery>);
        let (epoch, kinds) = (self.services.store.epoch(), self.kinds.clone());
        let (found, newest) = self
            .services
            .store
            .read(move |connection| {
                let newest = pending::newest(connection)?;
                let mut found: Vec<Found> = Vec::new();
                for kind in kinds {
                    for name in kind.destinations(connection)? {
                        let state = destination::get(connection, &name)?;
                        let pending = pending::load(connection, &name, PENDING_MAX)?;
                        found.push((Arc::clone(&kind), name, state, pending));
                    }
                }
                Ok((found, newest))
            })
            .await?;
        let mut before = std::mem::take(&mut self.destinations);
        for (kind, name, state, pending) in found {
            let mut known = before.remove(&name).unwrap_or_else(|| Destination {
                runner: Runner::new(kind.at_once(), kind.wait_max_s()),
                kind,
                truncated: false,
            });
            known.truncated = pending.len() >= PENDING_MAX;
            known.runner.load(state, pending);
            self.destinations.insert(name, known);
        }
        (self.epoch, self.newest) = (epoch, newest);
        Ok(())
    }

    /// Reads the feed for destinations whose window runs empty.
    async fn read_on(&mut self, ticked: bool) -> Result<()> {
        let store = &self.services.store;
        for (name, known) in &mut self.destinations {
            let runner = &mut known.runner;
            // Between two ticks only those that are busy read on.
            if !runner.wants_more() || !(ticked || runner.has_more) {
                continue;
            }
            let mut notes = Vec::new();
            // Much may have happened that is irrelevant for it.
            for _ in 0..SLICES {
                let Some(from) = runner.reads_from() else {
                    break;
                };
                if !runner.has_more
                    && !store.look_up(|connection| changes::is_behind(connection, from))?
                {
                    break;
                }
                let (kind, name) = (Arc::clone(&known.kind), name.clone());
                let read = store
                    .read(move |connection| kind.read(connection, &name, from))
                    .await?;
                runner.has_more = read.more;
                runner.read(read.steps, &mut notes);
                if !read.more || !runner.wants_more() {
                    break;
                }
            }
            let notes = notes.into_iter().map(|note| (name.clone(), note));
            self.notes.extend(notes);
        }
        Ok(())
    }

    /// Starts due attempts, one destination after the other.
    fn start(&mut self) {
        let now = Timestamp::now();
        for (name, known) in &mut self.destinations {
            let room = AT_ONCE.saturating_sub(self.running.len());
            let mut notes = Vec::new();
            for delivery in known.runner.start(now, room, &mut notes) {
                let of = delivery.of;
                self.running.insert((name.clone(), of), known.kind.grace());
                let attempt = known.kind.attempt(name.clone(), delivery);
                let (sender, destination) = (self.sender.clone(), name.clone());
                tokio::spawn(async move {
                    let attempted = tokio::spawn(attempt).await;
                    let attempted =
                        attempted.unwrap_or_else(|cause| FinishedAttempt::defect(&cause));
                    let _ = sender.send(Done {
                        destination,
                        of,
                        attempted,
                    });
                });
            }
            let notes = notes.into_iter().map(|note| (name.clone(), note));
            self.notes.extend(notes);
        }
    }
}

impl FinishedAttempt {
    /// An attempt that failed in this process, not at the receiver.
    pub fn defect(cause: &dyn fmt::Display) -> Self {
        tracing::error!("a delivery failed in this process: {cause}");
        Self {
            outcome: Outcome::Failed {
                why: "an internal error; the server's log has details".to_owned(),
                unreachable: true,
                gone: false,
                again_after_s: None,
            },
            record: None,
        }
    }
}

/// Keeps the last state of each destination.
fn thinned(notes: Vec<(String, Note)>) -> Vec<(String, Note)> {
    let mut last = BTreeMap::new();
    for (at, (name, note)) in notes.iter().enumerate() {
        if matches!(note, Note::State(_)) {
            last.insert(name.clone(), at);
        }
    }
    let kept = |(at, (name, note)): &(usize, (String, Note))| {
        !matches!(note, Note::State(_)) || last.get(name) == Some(at)
    };
    let notes = notes.into_iter().enumerate().filter(kept);
    notes.map(|(_, note)| note).collect()
}
