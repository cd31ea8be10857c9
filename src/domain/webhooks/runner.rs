//! Decides what one webhook sends next, and what a result means. Pure: it gets the time, and returns
//! what to store.
//!
//! Deliveries pass through a window in memory, in order. A delivered one leaves it. A failed one becomes
//! pending, with everything behind it under the same ordering key, and the rest of the window goes on.
//! When every delivery fails ([`DOWN_AFTER`] in a row, or the receiver is unreachable), the window
//! stops, and one delivery at a time is tried with growing back-off, a different one each time.

use super::{
    event::{Event, Ref},
    pending::PendingDelivery,
    state::{Note, Pause, State},
    subscription::Step,
};
use crate::{core::changes::Position, types::Timestamp};
use std::collections::{HashMap, HashSet, VecDeque};

/// Running deliveries of one webhook.
pub const AT_ONCE: usize = 4;
/// Pending deliveries of one webhook; with so many, nothing more is read for it.
pub const PENDING_MAX: usize = 1_000;
/// Failures in a row after which a receiver counts as down.
pub const DOWN_AFTER: u32 = 5;
/// A receiver that was down for so long, in milliseconds, gets all pending deliveries at once when it is
/// back; a shorter time means that it refused single deliveries.
const AWAY_MS: i64 = 60 * 1000;
/// A webhook is paused after failing for so long, in milliseconds: three days.
pub const PAUSED_AFTER_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Back-off of one delivery in seconds, by attempt; then the last.
const AGAIN_S: [i64; 8] = [2, 10, 30, 120, 600, 1_800, 3_600, 3 * 3_600];
/// Back-off of a receiver that is down in seconds, by failures in a row.
const DOWN_S: [i64; 8] = [2, 5, 10, 20, 60, 120, 300, 600];
/// The longest back-off, in milliseconds.
const WAIT_MAX_MS: i64 = 4 * 3_600 * 1000;
/// The longest `Retry-After` that is respected, in seconds.
const ASKED_MAX_S: i64 = 3_600;

/// The result of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Taken,
    /// Nothing is left to tell: the record was erased, or the interaction deleted.
    Nothing,
    /// The receiver refused it, or the outcome is unknown.
    Failed {
        why: String,
        /// The receiver was unreachable: other deliveries would fail, too.
        nobody: bool,
        /// The receiver is gone for good (410).
        gone: bool,
        /// `Retry-After`.
        again_after_s: Option<i64>,
    },
}

#[derive(Debug)]
struct Slot {
    step: Step,
    done: bool,
}

#[derive(Debug, Default)]
pub struct Runner {
    /// How it health; its cursor is at the window's beginning.
    pub state: State,
    /// Whether the feed has more behind the window.
    pub has_more: bool,
    pending: Vec<PendingDelivery>,
    window: VecDeque<Slot>,
    /// Running deliveries with their ordering keys, including those of a dropped window.
    running: HashMap<Ref, String>,
    next_position: i64,
}

impl Runner {
    /// Starts, or restarts, from the stored state. Running deliveries go on; they are sent
    /// twice if their result is not stored yet.
    pub fn load(&mut self, state: State, pending: Vec<PendingDelivery>) {
        self.next_position = pending.last().map_or(0, |pending| pending.position) + 1;
        // The file knows where the window begins; what was read beyond it stays good.
        let begins = self.state.cursor;
        if state.cursor != begins || state.revision != self.state.revision {
            self.window.clear();
            self.has_more = true;
        }
        (self.state, self.pending) = (state, pending);
    }

    /// Whether the window has room. A receiver that is down reads on as well: it may accept
    /// another delivery.
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.state.paused.is_none()
            && self.pending.len() < PENDING_MAX
            && self.window.len() < AT_ONCE * 2
    }

    /// The position behind the window.
    #[must_use]
    pub fn reads_from(&self) -> Position {
        self.window
            .back()
            .map_or(self.state.cursor, |slot| slot.step.to)
    }

    /// Appends what was read from the feed.
    pub fn read(&mut self, steps: Vec<Step>, notes: &mut Vec<Note>) {
        self.window.extend(steps.into_iter().map(|step| Slot {
            done: step.event.is_none(),
            step,
        }));
        self.move_on(notes);
    }

    /// Whether the receiver is down.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.state.failures >= DOWN_AFTER
    }

    /// The deliveries to start now, at most `room`.
    pub fn start(&mut self, now: Timestamp, room: usize, notes: &mut Vec<Note>) -> Vec<Event> {
        if self.state.paused.is_some() {
            return Vec::new();
        }
        let started = if self.is_down() {
            self.probe(now).into_iter().take(room).collect()
        } else {
            self.ready(
                now,
                room.min(AT_ONCE.saturating_sub(self.running.len())),
                notes,
            )
        };
        for event in &started {
            self.running.insert(event.of, event.ordering_key.clone());
        }
        started
    }

    /// For a receiver that is down: one delivery when it is due, a different one each time.
    fn probe(&self, now: Timestamp) -> Option<Event> {
        let due = self.state.next_at.is_none_or(|at| is_due(at, now));
        if !due || !self.running.is_empty() {
            return None;
        }
        let mut ordering_keys = HashSet::new();
        let heads: Vec<&Event> = self
            .pending
            .iter()
            .map(|pending| &pending.event)
            .chain(self.unsent())
            .filter(|event| ordering_keys.insert(event.ordering_key.as_str()))
            .collect();
        let turn = usize::try_from(self.state.failures).unwrap_or_default();
        let chosen = heads.get(turn.checked_rem(heads.len())?)?;
        Some((*chosen).clone())
    }

    fn unsent(&self) -> impl Iterator<Item = &Event> {
        self.window
            .iter()
            .filter(|slot| !slot.done)
            .filter_map(|slot| slot.step.event.as_ref())
    }

    /// For a working receiver: the first delivery of every free ordering key.
    fn ready(&mut self, now: Timestamp, room: usize, notes: &mut Vec<Note>) -> Vec<Event> {
        let mut ready = Vec::new();
        let mut taken: HashSet<String> = self.running.values().cloned().collect();
        let mut waits = HashSet::new();
        for pending in &self.pending {
            let ordering_key = &pending.event.ordering_key;
            waits.insert(ordering_key.clone());
            // The first of its ordering key says when the ordering key goes on.
            if taken.insert(ordering_key.clone())
                && is_due(pending.next_at, now)
                && ready.len() < room
            {
                ready.push(pending.event.clone());
            }
        }
        let mut moved = Vec::new();
        for slot in self.window.iter_mut().filter(|slot| !slot.done) {
            let Some(event) = &slot.step.event else {
                continue;
            };
            if self.running.contains_key(&event.of) {
                continue;
            }
            if waits.contains(&event.ordering_key) {
                if self.pending.len() + moved.len() < PENDING_MAX {
                    slot.done = true;
                    moved.push(event.clone());
                }
            } else if ready.len() < room {
                if taken.insert(event.ordering_key.clone()) {
                    ready.push(event.clone());
                }
            } else if waits.is_empty() {
                break;
            }
        }
        for event in moved {
            self.hold(event, now, None, notes);
        }
        self.move_on(notes);
        ready
    }

    /// Makes a delivery pending: it failed, or one before it did.
    fn hold(
        &mut self,
        event: Event,
        now: Timestamp,
        failed: Option<(Timestamp, String)>,
        notes: &mut Vec<Note>,
    ) {
        let pending = PendingDelivery {
            event,
            position: self.next_position,
            attempts: u32::from(failed.is_some()),
            next_at: failed.as_ref().map_or(now, |(next_at, _)| *next_at),
            failing_since: failed.is_some().then_some(now),
            why: failed.map(|(_, why)| why),
        };
        self.next_position += 1;
        notes.push(Note::PendingDelivery(pending.clone()));
        self.pending.push(pending);
    }

    /// Handles the result of a running delivery.
    pub fn done(&mut self, event: &Event, outcome: Outcome, now: Timestamp, notes: &mut Vec<Note>) {
        self.running.remove(&event.of);
        let was = self.state;
        match outcome {
            Outcome::Taken => {
                let since = self.state.failing_since.unwrap_or(now);
                if self.is_down() && now.0 - since.0 >= AWAY_MS {
                    // It is back: what waits needs not wait any longer.
                    for pending in self
                        .pending
                        .iter_mut()
                        .filter(|pending| pending.next_at > now)
                    {
                        pending.next_at = now;
                        notes.push(Note::PendingDelivery(pending.clone()));
                    }
                }
                self.state.failures = 0;
                self.state.failing_since = None;
                self.state.next_at = None;
                self.state.last_success_at = Some(now);
                self.let_go(event, notes);
            }
            Outcome::Nothing => self.let_go(event, notes),
            Outcome::Failed {
                why,
                nobody,
                gone,
                again_after_s,
            } => {
                self.fail(now, nobody, gone, again_after_s);
                self.keep(event, now, why, again_after_s, notes);
            }
        }
        if was != self.state {
            notes.push(Note::State(self.state));
        }
        self.move_on(notes);
    }

    /// Removes a delivery that is done.
    fn let_go(&mut self, event: &Event, notes: &mut Vec<Note>) {
        let before = self.pending.len();
        self.pending.retain(|pending| pending.event.of != event.of);
        if self.pending.len() < before {
            notes.push(Note::Released(event.of));
        }
        for slot in &mut self.window {
            if slot
                .step
                .event
                .as_ref()
                .is_some_and(|known| known.of == event.of)
            {
                slot.done = true;
            }
        }
    }

    fn fail(&mut self, now: Timestamp, nobody: bool, gone: bool, again_after_s: Option<i64>) {
        let state = &mut self.state;
        state.failures = state.failures.saturating_add(1);
        if nobody {
            state.failures = state.failures.max(DOWN_AFTER);
        }
        let since = *state.failing_since.get_or_insert(now);
        if state.failures >= DOWN_AFTER {
            let turn = state.failures - DOWN_AFTER;
            state.next_at = Some(later(now, wait_s(&DOWN_S, turn, again_after_s)));
        }
        if gone {
            state.paused = Some((now, Pause::Gone));
        } else if now.0 - since.0 >= PAUSED_AFTER_MS {
            state.paused = Some((now, Pause::Failing));
        }
    }

    /// Schedules a failed delivery again. If the receiver is down, the delivery stays in
    /// the window.
    fn keep(
        &mut self,
        event: &Event,
        now: Timestamp,
        why: String,
        again_after_s: Option<i64>,
        notes: &mut Vec<Note>,
    ) {
        if let Some(pending) = self
            .pending
            .iter_mut()
            .find(|pending| pending.event.of == event.of)
        {
            pending.next_at = later(now, wait_s(&AGAIN_S, pending.attempts, again_after_s));
            pending.attempts = pending.attempts.saturating_add(1);
            pending.failing_since.get_or_insert(now);
            pending.why = Some(why);
            notes.push(Note::PendingDelivery(pending.clone()));
            return;
        }
        let down = self.is_down();
        let full = self.pending.len() >= PENDING_MAX;
        let of_event = |slot: &&mut Slot| {
            !slot.done
                && slot
                    .step
                    .event
                    .as_ref()
                    .is_some_and(|known| known.of == event.of)
        };
        // Of a window that was dropped meanwhile nothing is kept: it is read once more.
        let Some(slot) = self.window.iter_mut().find(of_event) else {
            return;
        };
        if !down && !full {
            slot.done = true;
            let next_at = later(now, wait_s(&AGAIN_S, 0, again_after_s));
            self.hold(event.clone(), now, Some((next_at, why)), notes);
        }
    }

    /// Removes finished deliveries from the front of the window.
    fn move_on(&mut self, notes: &mut Vec<Note>) {
        let mut to = None;
        while self.window.front().is_some_and(|slot| slot.done) {
            to = self.window.pop_front().map(|slot| slot.step.to);
        }
        if let Some(to) = to {
            self.state.cursor = to;
            notes.push(Note::State(self.state));
        }
    }
}

fn wait_s(waits: &[i64], turn: u32, asked: Option<i64>) -> i64 {
    let last = waits.len().saturating_sub(1);
    let at = usize::try_from(turn).unwrap_or(last).min(last);
    let wait = waits.get(at).copied().unwrap_or(ASKED_MAX_S);
    wait.max(asked.unwrap_or(0).min(ASKED_MAX_S))
}

/// A time further ahead than the longest back-off means that the clock was set
/// back.
fn is_due(at: Timestamp, now: Timestamp) -> bool {
    at <= now || at.0 - now.0 > WAIT_MAX_MS
}

fn later(at: Timestamp, seconds: i64) -> Timestamp {
    Timestamp(at.0 + seconds * 1000)
}

#[cfg(test)]
mod tests;
