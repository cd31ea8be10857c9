//! One task serves all webhooks while the server runs: it reads the change feed, starts deliveries and
//! down what result of them, in small writes that gates do not notice.

use super::{
    delivery::{self, Delivered},
    event::Event,
    runner::Runner,
    state::{self, Note},
    store, subscription,
    webhook::Webhook,
};
use crate::{
    core::changes,
    identity::App,
    types::{Timestamp, error::Result},
};
use std::{collections::BTreeMap, time::Duration};
use tokio::{
    sync::{Mutex, mpsc},
    time::{Instant, MissedTickBehavior},
};

/// Deliveries of all webhooks under way at a time.
const AT_ONCE: usize = 32;
/// How often it polls the change feed.
const TICK: Duration = Duration::from_millis(200);
/// Slices read for one webhook before the next webhook's turn.
const SLICES: usize = 20;
/// So many notes are written without waiting for the next tick.
const NOTES_MANY: usize = 64;
/// With so many unwritten notes nothing new starts: the file does not take them.
const NOTES_MAX: usize = 2_000;
/// How long a cursor that passed irrelevant changes may stay unwritten; a restart reads those changes
/// again.
const IDLE_WRITE_EVERY: Duration = Duration::from_secs(10);

/// How long a shutdown waits for running deliveries.
const END_MAX: Duration = Duration::from_secs(2);

struct Done {
    webhook: i64,
    event: Event,
    delivered: Delivered,
}

struct Subscriber {
    webhook: Webhook,
    runner: Runner,
}

struct Poll {
    app: App,
    subscribers: BTreeMap<i64, Subscriber>,
    notes: Vec<(i64, Note)>,
    /// Running deliveries, including those of removed webhooks.
    running: usize,
    epoch: u64,
    written: Instant,
    tell: mpsc::UnboundedSender<Done>,
    told: mpsc::UnboundedReceiver<Done>,
}

/// Sends the deliveries of all webhooks.
pub struct Dispatcher(Mutex<Poll>);

impl Dispatcher {
    /// The dispatcher of an application.
    #[must_use]
    pub fn new(app: &App) -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        Self(Mutex::new(Poll {
            app: app.clone(),
            subscribers: BTreeMap::new(),
            notes: Vec::new(),
            running: 0,
            epoch: 0,
            written: Instant::now(),
            tell,
            told,
        }))
    }

    /// Delivers until it is dropped.
    pub async fn run(&self) {
        let mut dispatcher = self.0.lock().await;
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let ticked = tokio::select! {
                _ = ticks.tick() => true,
                Some(done) = dispatcher.told.recv() => {
                    dispatcher.done(done);
                    false
                }
            };
            while let Ok(done) = dispatcher.told.try_recv() {
                dispatcher.done(done);
            }
            if let Err(cause) = dispatcher.turn(ticked).await {
                // Nothing is lost: it goes on from what is in the file, or still in memory.
                tracing::warn!("webhooks: {cause}");
                tokio::time::sleep(TICK).await;
            }
        }
    }

    /// At shutdown: gives running deliveries a moment, and stores their results. What is
    /// cut off is delivered again after the next start.
    pub async fn at_the_end(&self) {
        let mut dispatcher = self.0.lock().await;
        let until = Instant::now() + END_MAX;
        while dispatcher.running > 0 {
            match tokio::time::timeout_at(until, dispatcher.told.recv()).await {
                Ok(Some(done)) => dispatcher.done(done),
                _ => break,
            }
        }
        if let Err(cause) = dispatcher.write().await {
            tracing::warn!("webhooks: {cause}");
        }
    }
}

impl Poll {
    fn done(&mut self, done: Done) {
        self.running = self.running.saturating_sub(1);
        let Some(subscriber) = self.subscribers.get_mut(&done.webhook) else {
            return;
        };
        let mut notes = Vec::new();
        let was = subscriber.runner.state.paused;
        let outcome = done.delivered.outcome;
        subscriber
            .runner
            .done(&done.event, outcome, Timestamp::now(), &mut notes);
        if let (None, Some((_, why))) = (was, subscriber.runner.state.paused) {
            tracing::warn!("webhook {} is paused: {why:?}", subscriber.webhook.is.name);
        }
        notes.extend(done.delivered.attempt.map(Note::Tried));
        let id = done.webhook;
        self.notes.extend(notes.into_iter().map(|note| (id, note)));
    }

    /// Writes notes, reloads changed webhooks, reads the feed, starts deliveries.
    async fn turn(&mut self, ticked: bool) -> Result<()> {
        let changed = self.app.store.epoch() != self.epoch;
        if changed || self.notes.len() >= NOTES_MANY || (ticked && self.is_worth_writing()) {
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

    /// Whether there are notes of deliveries, or cursors have waited long enough.
    fn is_worth_writing(&self) -> bool {
        let waited = self.written.elapsed() >= IDLE_WRITE_EVERY;
        let only_passed = |(_, note): &(i64, Note)| matches!(note, Note::State(_));
        !self.notes.is_empty() && (waited || !self.notes.iter().all(only_passed))
    }

    async fn write(&mut self) -> Result<()> {
        self.written = Instant::now();
        if self.notes.is_empty() {
            return Ok(());
        }
        let notes = thinned(std::mem::take(&mut self.notes));
        let kept = notes.clone();
        let written = self
            .app
            .store
            .write(move |tx| state::write(tx, &notes))
            .await;
        if written.is_err() {
            // Whatever result of it, written twice it is the same but for attempts that stand twice.
            let newer = std::mem::replace(&mut self.notes, kept);
            self.notes.extend(newer);
        }
        written
    }

    /// Reloads what people changed.
    async fn load(&mut self) -> Result<()> {
        let epoch = self.app.store.epoch();
        let found = self.app.store.read(|connection| {
            let webhooks = store::all(connection)?.into_iter();
            webhooks
                .map(|webhook| {
                    let (state, pending) = state::load(connection, webhook.id)?;
                    Ok((webhook, state, pending))
                })
                .collect::<Result<Vec<_>>>()
        });
        let mut before = std::mem::take(&mut self.subscribers);
        let found = match found.await {
            Ok(found) => found,
            Err(cause) => {
                self.subscribers = before;
                return Err(cause);
            }
        };
        for (webhook, state, pending) in found {
            let mut runner = before
                .remove(&webhook.id)
                .map_or_else(Runner::default, |subscriber| subscriber.runner);
            runner.load(state, pending);
            self.subscribers
                .insert(webhook.id, Subscriber { webhook, runner });
        }
        self.epoch = epoch;
        Ok(())
    }

    /// Reads the feed for webhooks whose window runs empty.
    async fn read_on(&mut self, ticked: bool) -> Result<()> {
        for (id, subscriber) in &mut self.subscribers {
            // Between two ticks only who is busy reads on.
            let from = subscriber.runner.reads_from();
            if !subscriber.runner.wants_more() || !(ticked || subscriber.runner.has_more) {
                continue;
            }
            if !subscriber.runner.has_more
                && !self
                    .app
                    .store
                    .look_up(|connection| changes::is_behind(connection, from))?
            {
                continue;
            }
            let mut notes = Vec::new();
            // Much may have happened that is none of its business.
            for _ in 0..SLICES {
                let (webhook, from) = (subscriber.webhook.clone(), subscriber.runner.reads_from());
                let read = self
                    .app
                    .store
                    .read(move |connection| subscription::read(connection, &webhook, from))
                    .await?;
                subscriber.runner.has_more = read.more;
                subscriber.runner.read(read.steps, &mut notes);
                if !read.more || !subscriber.runner.wants_more() {
                    break;
                }
            }
            self.notes.extend(notes.into_iter().map(|note| (*id, note)));
        }
        Ok(())
    }

    /// Starts due deliveries, one webhook after the other.
    fn start(&mut self) {
        let now = Timestamp::now();
        for (id, subscriber) in &mut self.subscribers {
            let room = AT_ONCE.saturating_sub(self.running);
            let mut notes = Vec::new();
            let started = subscriber.runner.start(now, room, &mut notes);
            self.notes.extend(notes.into_iter().map(|note| (*id, note)));
            self.running += started.len();
            for event in started {
                let (app, tell, webhook) = (self.app.clone(), self.tell.clone(), *id);
                tokio::spawn(async move {
                    let of = event.clone();
                    let under_way =
                        tokio::spawn(async move { delivery::deliver(&app, webhook, &of).await });
                    let delivered = under_way.await.unwrap_or_else(Delivered::lost);
                    let _ = tell.send(Done {
                        webhook,
                        event,
                        delivered,
                    });
                });
            }
        }
    }
}

/// Keeps the last state of each webhook.
fn thinned(notes: Vec<(i64, Note)>) -> Vec<(i64, Note)> {
    let mut last = BTreeMap::new();
    for (at, (webhook, note)) in notes.iter().enumerate() {
        if matches!(note, Note::State(_)) {
            last.insert(*webhook, at);
        }
    }
    notes
        .into_iter()
        .enumerate()
        .filter(|(at, (webhook, note))| {
            !matches!(note, Note::State(_)) || last.get(webhook) == Some(at)
        })
        .map(|(_, note)| note)
        .collect()
}
