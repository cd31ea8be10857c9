//! Decides what one destination gets next, and what an outcome means. Pure: it gets the time, and returns
//! what to store.
//!
//! Deliveries that come from the change feed pass through a window in memory, in order. A delivered one
//! leaves it. A failed one becomes pending, with everything behind it under the same ordering key, and the
//! rest of the window goes on. When every delivery fails ([`DOWN_AFTER`] in a row, or the receiver is
//! unreachable), the window stops, and one delivery at a time is tried with growing back-off, a different
//! one each time.

use super::{
    Delivery, Ref,
    destination::{Note, Pause, State},
    pending::PendingDelivery,
};
use crate::{
    core::changes::{self, Position},
    types::Timestamp,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// Pending deliveries of one destination in memory; with so many, nothing more is read for it.
pub const PENDING_MAX: usize = 1_000;
/// Failures in a row after which a destination counts as down.
pub const DOWN_AFTER: u32 = 5;
/// A destination that was down for so long, in milliseconds, gets all pending deliveries at once when it
/// is back; a shorter time means that it refused single deliveries.
const AWAY_MS: i64 = 60 * 1000;
/// A destination that follows the feed is paused after failing for so long, in milliseconds: three days.
pub const PAUSED_AFTER_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Back-off of one delivery in seconds, by attempt; then the last.
const AGAIN_S: [i64; 8] = [2, 10, 30, 120, 600, 1_800, 3_600, 3 * 3_600];
/// Back-off of a destination that is down in seconds, by failures in a row.
const DOWN_S: [i64; 8] = [2, 5, 10, 20, 60, 120, 300, 600];
/// The longest back-off, in milliseconds.
const WAIT_MAX_MS: i64 = 4 * 3_600 * 1000;
/// The longest `Retry-After` that is respected, in seconds.
const ASKED_MAX_S: i64 = 3_600;

/// A step along the change feed.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// A delivery; `None` at the end of a slice without one.
    pub delivery: Option<Delivery>,
    /// The position behind it.
    pub to: Position,
}

/// A slice of the change feed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    pub steps: Vec<Step>,
    /// Set where the feed has more.
    pub more: bool,
}

impl Read {
    /// The steps of a slice of the feed, which end where the slice does.
    pub fn along(mut steps: Vec<Step>, slice: &changes::Read) -> Self {
        let last = slice.changes.last().map(|change| change.to);
        if let Some(to) = last.filter(|to| steps.last().is_none_or(|step| step.to != *to)) {
            steps.push(Step { delivery: None, to });
        }
        Self {
            steps,
            more: slice.more,
        }
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    /// Nothing is left to deliver: its destination or message is gone, or a person cancelled it.
    Nothing,
    /// The attempt failed; the delivery is tried again.
    Failed {
        why: String,
        /// The receiver was unreachable, or takes nothing from this server: other deliveries would
        /// fail, too.
        unreachable: bool,
        /// The receiver is gone for good (410).
        gone: bool,
        /// `Retry-After`.
        again_after_s: Option<i64>,
    },
    /// The receiver will never accept the delivery.
    Refused,
    /// The delivery may have arrived. Only a person repeats it.
    Unknown,
}

#[derive(Debug)]
struct Slot {
    step: Step,
    done: bool,
}

#[derive(Debug)]
pub struct Runner {
    /// Its cursor is at the window's beginning.
    pub state: State,
    /// Set where the feed has more behind the window.
    pub has_more: bool,
    pending: Vec<PendingDelivery>,
    window: VecDeque<Slot>,
    /// Running deliveries with their ordering keys, including those of a dropped window.
    running: HashMap<Ref, String>,
    /// Attempts at a time.
    at_once: usize,
    /// The longest wait of a destination that is down, in seconds.
    wait_max_s: i64,
}

impl Runner {
    /// A runner that makes so many attempts at a time, and waits no longer than so many seconds while all fail.
    pub fn new(at_once: usize, wait_max_s: i64) -> Self {
        Self {
            state: State::default(),
            has_more: false,
            pending: Vec::new(),
            window: VecDeque::new(),
            running: HashMap::new(),
            at_once,
            wait_max_s,
        }
    }

    /// Starts, or restarts, from the stored state. Running deliveries go on; they are sent
    /// twice if their result is not stored yet.
    pub fn load(&mut self, state: State, pending: Vec<PendingDelivery>) {
        // The file knows where the window begins; what was read beyond it stays good.
        let begins = self.state.cursor;
        if state.cursor != begins || state.revision != self.state.revision {
            self.window.clear();
            self.has_more = true;
        }
        (self.state, self.pending) = (state, pending);
    }

    /// Returns whether the window has room. A receiver that is down reads on as well: it may accept another delivery.
    pub fn wants_more(&self) -> bool {
        self.state.paused.is_none()
            && self.pending.len() < PENDING_MAX
            && self.window.len() < self.at_once * 2
    }

    /// The number of pending deliveries in memory.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The position behind the window; `None` if the destination does not follow the feed.
    pub fn reads_from(&self) -> Option<Position> {
        let last = self.window.back().map(|slot| slot.step.to);
        last.or(self.state.cursor)
    }

    /// Appends what was read from the feed.
    pub fn read(&mut self, steps: Vec<Step>, notes: &mut Vec<Note>) {
        self.window.extend(steps.into_iter().map(|step| Slot {
            done: step.delivery.is_none(),
            step,
        }));
        self.move_on(notes);
    }

    /// Returns whether the receiver is down.
    pub fn is_down(&self) -> bool {
        self.state.failures >= DOWN_AFTER
    }

    /// The deliveries to start now, at most `room`.
    pub fn start(&mut self, now: Timestamp, room: usize, notes: &mut Vec<Note>) -> Vec<Delivery> {
        if self.state.paused.is_some() {
            return Vec::new();
        }
        let started = if self.is_down() {
            self.probe(now).into_iter().take(room).collect()
        } else {
            self.ready(
                now,
                room.min(self.at_once.saturating_sub(self.running.len())),
                notes,
            )
        };
        for delivery in &started {
            self.running
                .insert(delivery.of, delivery.ordering_key.clone());
        }
        started
    }

    /// For a receiver that is down: one delivery when it is due, a different one each time.
    fn probe(&self, now: Timestamp) -> Option<Delivery> {
        let due = self.state.next_at.is_none_or(|at| is_due(at, now));
        if !due || !self.running.is_empty() {
            return None;
        }
        let mut ordering_keys = HashSet::new();
        let heads: Vec<&Delivery> = self
            .pending
            .iter()
            .map(|pending| &pending.delivery)
            .chain(self.unsent())
            .filter(|delivery| ordering_keys.insert(delivery.ordering_key.as_str()))
            .collect();
        let turn = usize::try_from(self.state.failures).unwrap_or_default();
        let chosen = heads.get(turn.checked_rem(heads.len())?)?;
        Some((*chosen).clone())
    }

    fn unsent(&self) -> impl Iterator<Item = &Delivery> {
        self.window
            .iter()
            .filter(|slot| !slot.done)
            .filter_map(|slot| slot.step.delivery.as_ref())
    }

    /// For a working receiver: the first delivery of every free ordering key.
    fn ready(&mut self, now: Timestamp, room: usize, notes: &mut Vec<Note>) -> Vec<Delivery> {
        let mut ready = Vec::new();
        let mut taken: HashSet<String> = self.running.values().cloned().collect();
        let mut waits = HashSet::new();
        for pending in &self.pending {
            let ordering_key = &pending.delivery.ordering_key;
            waits.insert(ordering_key.clone());
            // The first of its ordering key says when the ordering key goes on.
            if taken.insert(ordering_key.clone())
                && is_due(pending.next_at, now)
                && ready.len() < room
            {
                ready.push(pending.delivery.clone());
            }
        }
        let mut moved = Vec::new();
        for slot in self.window.iter_mut().filter(|slot| !slot.done) {
            let Some(delivery) = &slot.step.delivery else {
                continue;
            };
            if self.running.contains_key(&delivery.of) {
                continue;
            }
            if waits.contains(&delivery.ordering_key) {
                if self.pending.len() + moved.len() < PENDING_MAX {
                    slot.done = true;
                    moved.push(delivery.clone());
                }
            } else if ready.len() < room {
                if taken.insert(delivery.ordering_key.clone()) {
                    ready.push(delivery.clone());
                }
            } else if waits.is_empty() {
                break;
            }
        }
        for delivery in moved {
            self.hold(delivery, now, None, notes);
        }
        self.move_on(notes);
        ready
    }

    /// Makes a delivery of the window pending: it failed, or one before it did.
    fn hold(
        &mut self,
        mut delivery: Delivery,
        now: Timestamp,
        failed: Option<(Timestamp, String)>,
        notes: &mut Vec<Note>,
    ) {
        delivery.attempts = u32::from(failed.is_some());
        let pending = PendingDelivery {
            delivery,
            next_at: failed.as_ref().map_or(now, |(next_at, _)| *next_at),
            failing_since: failed.is_some().then_some(now),
            why: failed.map(|(_, why)| why),
        };
        notes.push(Note::Pending(pending.clone()));
        self.pending.push(pending);
    }

    /// Handles the outcome of a running attempt.
    pub fn done(&mut self, of: Ref, outcome: Outcome, now: Timestamp, notes: &mut Vec<Note>) {
        self.running.remove(&of);
        let before = self.state.clone();
        match outcome {
            Outcome::Delivered | Outcome::Refused => {
                let since = self.state.failing_since.unwrap_or(now);
                if self.is_down() && now.0 - since.0 >= AWAY_MS {
                    // It is back: pending deliveries need not wait any longer.
                    let waiting = self.pending.iter_mut();
                    for pending in waiting.filter(|pending| pending.next_at > now) {
                        pending.next_at = now;
                        notes.push(Note::Failed(pending.clone()));
                    }
                }
                self.state = State {
                    cursor: self.state.cursor,
                    last_success_at: Some(now),
                    paused: self.state.paused,
                    revision: self.state.revision,
                    ..State::default()
                };
                self.let_go(of, notes);
            }
            Outcome::Nothing => self.let_go(of, notes),
            Outcome::Unknown => {
                self.fail(now, false, false, None);
                self.state.why = Some("the outcome of the last delivery is unknown".to_owned());
                self.let_go(of, notes);
            }
            Outcome::Failed {
                why,
                unreachable,
                gone,
                again_after_s,
            } => {
                self.fail(now, unreachable, gone, again_after_s);
                if unreachable {
                    self.state.why = Some(why.clone());
                }
                self.keep(of, now, why, unreachable, again_after_s, notes);
            }
        }
        if before != self.state {
            notes.push(Note::State(self.state.clone()));
        }
        self.move_on(notes);
    }

    /// Removes a delivery that is done.
    fn let_go(&mut self, of: Ref, notes: &mut Vec<Note>) {
        let before = self.pending.len();
        self.pending.retain(|pending| pending.delivery.of != of);
        if self.pending.len() < before {
            notes.push(Note::Released(of));
        }
        for slot in self.window.iter_mut().filter(|slot| slot.is_about(of)) {
            slot.done = true;
        }
    }

    fn fail(&mut self, now: Timestamp, unreachable: bool, gone: bool, again_after_s: Option<i64>) {
        let state = &mut self.state;
        state.failures = state.failures.saturating_add(1);
        if unreachable {
            state.failures = state.failures.max(DOWN_AFTER);
        }
        let since = *state.failing_since.get_or_insert(now);
        if state.failures >= DOWN_AFTER {
            let turn = state.failures - DOWN_AFTER;
            let wait_s = wait_s(&DOWN_S, turn, again_after_s).min(self.wait_max_s);
            state.next_at = Some(later(now, wait_s));
        }
        if state.cursor.is_none() {
            // Messages expire; new ones are to be tried.
        } else if gone {
            state.paused = Some((now, Pause::Gone));
        } else if now.0 - since.0 >= PAUSED_AFTER_MS {
            state.paused = Some((now, Pause::Failing));
        }
    }

    /// Schedules a failed delivery again. If the destination is down, a delivery stays in the window.
    fn keep(
        &mut self,
        of: Ref,
        now: Timestamp,
        why: String,
        unreachable: bool,
        again_after_s: Option<i64>,
        notes: &mut Vec<Note>,
    ) {
        let mut pending = self.pending.iter_mut();
        if let Some(pending) = pending.find(|pending| pending.delivery.of == of) {
            // An unreachable destination says nothing about one delivery: its own back-off counts.
            pending.next_at = now;
            if !unreachable {
                let attempts = &mut pending.delivery.attempts;
                pending.next_at = later(now, wait_s(&AGAIN_S, *attempts, again_after_s));
                *attempts = attempts.saturating_add(1);
            }
            pending.failing_since.get_or_insert(now);
            pending.why = Some(why);
            notes.push(Note::Failed(pending.clone()));
            return;
        }
        let (down, full) = (self.is_down(), self.pending.len() >= PENDING_MAX);
        // Of a window that was dropped meanwhile nothing is kept: it is read once more.
        let mut waiting = self.window.iter_mut().filter(|slot| !slot.done);
        if let Some(slot) = waiting.find(|slot| slot.is_about(of))
            && let Some(delivery) = slot.step.delivery.clone()
            && !down
            && !full
        {
            slot.done = true;
            let next_at = later(now, wait_s(&AGAIN_S, 0, again_after_s));
            self.hold(delivery, now, Some((next_at, why)), notes);
        }
    }

    /// Removes finished deliveries from the front of the window.
    fn move_on(&mut self, notes: &mut Vec<Note>) {
        let mut to = None;
        while self.window.front().is_some_and(|slot| slot.done) {
            to = self.window.pop_front().map(|slot| slot.step.to);
        }
        if to.is_some() {
            self.state.cursor = to;
            notes.push(Note::State(self.state.clone()));
        }
    }
}

impl Slot {
    fn is_about(&self, of: Ref) -> bool {
        let delivery = self.step.delivery.as_ref();
        delivery.is_some_and(|delivery| delivery.of == of)
    }
}

fn wait_s(waits: &[i64], turn: u32, asked: Option<i64>) -> i64 {
    let last = waits.len().saturating_sub(1);
    let at = usize::try_from(turn).unwrap_or(last).min(last);
    let wait = waits.get(at).copied().unwrap_or(ASKED_MAX_S);
    wait.max(asked.unwrap_or(0).min(ASKED_MAX_S))
}

/// A time further ahead than the longest back-off means that the clock was set back.
fn is_due(at: Timestamp, now: Timestamp) -> bool {
    at <= now || at.0 - now.0 > WAIT_MAX_MS
}

/// So many seconds later and up to a quarter more, by the millisecond it is: deliveries that failed
/// together are not repeated together.
fn later(at: Timestamp, seconds: i64) -> Timestamp {
    let wait_ms = seconds * 1000;
    let jitter = at.0.wrapping_mul(0x9E37_79B9).rem_euclid(1 << 16);
    Timestamp(at.0 + wait_ms + wait_ms / 4 * jitter / (1 << 16))
}

#[cfg(test)]
mod tests;
