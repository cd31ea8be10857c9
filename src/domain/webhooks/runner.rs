//! What of one webhook is sent next, and what an outcome means. Pure: it is told the time, and gives
//! back what is to be written down.
//!
//! What happened passes through a window in memory, in order. What is taken leaves it; what is not
//! taken is held, with all that comes after it in its lane, so that the rest of the window goes on.
//! When nothing at all is taken ([`DOWN_AFTER`] failures in a row, or nobody there) the window stands
//! still, and one delivery at a time is tried, further and further apart, a different one each time.

use super::{
    event::{Event, Ref},
    held::Held,
    state::{Note, Pause, State},
    wanted::Step,
};
use crate::{core::changes::Position, types::Timestamp};
use std::collections::{HashMap, HashSet, VecDeque};

/// Deliveries of one webhook under way at a time.
pub const AT_ONCE: usize = 4;
/// What is held of one webhook at the most; with so much nothing more is read for it.
pub const HELD_MAX: usize = 1_000;
/// Failures in a row after which the receiver counts as down.
pub const DOWN_AFTER: u32 = 5;
/// How long nothing must have been taken for the receiver to have been away, in milliseconds: less
/// is a few deliveries that it does not take, among others that it does.
const AWAY_MS: i64 = 60 * 1000;
/// How long nothing may be taken before the webhook is paused, in milliseconds: three days.
pub const PAUSED_AFTER_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Seconds until one delivery is tried again, by how often it was tried; then the last of them.
const AGAIN_S: [i64; 8] = [2, 10, 30, 120, 600, 1_800, 3_600, 3 * 3_600];
/// Seconds until a receiver that is down is tried again, by failures in a row.
const DOWN_S: [i64; 8] = [2, 5, 10, 20, 60, 120, 300, 600];
/// Nothing waits longer, in milliseconds.
const WAIT_MAX_MS: i64 = 4 * 3_600 * 1000;
/// The longest wait that a receiver may ask for (Retry-After), in seconds.
const ASKED_MAX_S: i64 = 3_600;

/// What came of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Taken,
    /// There is nothing to tell of it any more.
    Nothing,
    /// It was not taken, or nobody knows.
    Failed {
        /// Why.
        why: String,
        /// Nobody was there: no other delivery would fare better.
        nobody: bool,
        /// The receiver said that it is no more (410).
        gone: bool,
        /// The receiver asked to be left alone for so many seconds.
        again_after_s: Option<i64>,
    },
}

/// A step in the window.
#[derive(Debug)]
struct Slot {
    step: Step,
    done: bool,
}

/// One webhook at work.
#[derive(Debug, Default)]
pub struct Runner {
    /// How it fares; its cursor is at the window's beginning.
    pub state: State,
    /// Whether there is more behind the window, as far as is known.
    pub has_more: bool,
    held: Vec<Held>,
    window: VecDeque<Slot>,
    /// What is under way, with its lane; of a window that was dropped, too.
    running: HashMap<Ref, String>,
    next_position: i64,
}

impl Runner {
    /// Begins, or begins anew, at what the file says. What is under way goes on; it will be told
    /// twice where the file does not know yet that it was taken.
    pub fn load(&mut self, state: State, held: Vec<Held>) {
        self.next_position = held.last().map_or(0, |held| held.position) + 1;
        // The file knows where the window begins; what was read beyond it stays good.
        let begins = self.state.cursor;
        if state.cursor != begins || state.revision != self.state.revision {
            self.window.clear();
            self.has_more = true;
        }
        (self.state, self.held) = (state, held);
    }

    /// Whether the window has room, and what is behind it may be read. Of a receiver that is down,
    /// too: there may be something in it that it takes.
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.state.paused.is_none() && self.held.len() < HELD_MAX && self.window.len() < AT_ONCE * 2
    }

    /// Where reading goes on: behind the window.
    #[must_use]
    pub fn reads_from(&self) -> Position {
        self.window
            .back()
            .map_or(self.state.cursor, |slot| slot.step.to)
    }

    /// Takes what was read.
    pub fn read(&mut self, steps: Vec<Step>, notes: &mut Vec<Note>) {
        self.window.extend(steps.into_iter().map(|step| Slot {
            done: step.event.is_none(),
            step,
        }));
        self.move_on(notes);
    }

    /// Whether nothing is taken at the moment.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.state.failures >= DOWN_AFTER
    }

    /// What is to be sent now; it is under way from here on. `room` is how many others may be.
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
            self.running.insert(event.of, event.lane.clone());
        }
        started
    }

    /// Of a receiver that is down: one delivery when it is time, a different one each time.
    fn probe(&self, now: Timestamp) -> Option<Event> {
        let due = self.state.next_at.is_none_or(|at| is_due(at, now));
        if !due || !self.running.is_empty() {
            return None;
        }
        let mut lanes = HashSet::new();
        let heads: Vec<&Event> = self
            .held
            .iter()
            .map(|held| &held.event)
            .chain(self.pending())
            .filter(|event| lanes.insert(event.lane.as_str()))
            .collect();
        let turn = usize::try_from(self.state.failures).unwrap_or_default();
        let chosen = heads.get(turn.checked_rem(heads.len())?)?;
        Some((*chosen).clone())
    }

    fn pending(&self) -> impl Iterator<Item = &Event> {
        self.window
            .iter()
            .filter(|slot| !slot.done)
            .filter_map(|slot| slot.step.event.as_ref())
    }

    /// Of a receiver that takes what it gets: the first of every lane that is free.
    fn ready(&mut self, now: Timestamp, room: usize, notes: &mut Vec<Note>) -> Vec<Event> {
        let mut ready = Vec::new();
        let mut taken: HashSet<String> = self.running.values().cloned().collect();
        let mut waits = HashSet::new();
        for held in &self.held {
            let lane = &held.event.lane;
            waits.insert(lane.clone());
            // The first of its lane says when the lane goes on.
            if taken.insert(lane.clone()) && is_due(held.next_at, now) && ready.len() < room {
                ready.push(held.event.clone());
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
            if waits.contains(&event.lane) {
                if self.held.len() + moved.len() < HELD_MAX {
                    slot.done = true;
                    moved.push(event.clone());
                }
            } else if ready.len() < room {
                if taken.insert(event.lane.clone()) {
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

    /// Has something wait: because it failed, or behind what did.
    fn hold(
        &mut self,
        event: Event,
        now: Timestamp,
        failed: Option<(Timestamp, String)>,
        notes: &mut Vec<Note>,
    ) {
        let held = Held {
            event,
            position: self.next_position,
            attempts: u32::from(failed.is_some()),
            next_at: failed.as_ref().map_or(now, |(next_at, _)| *next_at),
            failing_since: failed.is_some().then_some(now),
            why: failed.map(|(_, why)| why),
        };
        self.next_position += 1;
        notes.push(Note::Held(held.clone()));
        self.held.push(held);
    }

    /// What was under way is done.
    pub fn done(&mut self, event: &Event, outcome: Outcome, now: Timestamp, notes: &mut Vec<Note>) {
        self.running.remove(&event.of);
        let was = self.state;
        match outcome {
            Outcome::Taken => {
                let since = self.state.failing_since.unwrap_or(now);
                if self.is_down() && now.0 - since.0 >= AWAY_MS {
                    // It is back: what waits needs not wait any longer.
                    for held in self.held.iter_mut().filter(|held| held.next_at > now) {
                        held.next_at = now;
                        notes.push(Note::Held(held.clone()));
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

    /// It is delivered, or need not be.
    fn let_go(&mut self, event: &Event, notes: &mut Vec<Note>) {
        let before = self.held.len();
        self.held.retain(|held| held.event.of != event.of);
        if self.held.len() < before {
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

    /// What failed is tried again later: held, unless nothing is taken at all, when it stays where
    /// it is.
    fn keep(
        &mut self,
        event: &Event,
        now: Timestamp,
        why: String,
        again_after_s: Option<i64>,
        notes: &mut Vec<Note>,
    ) {
        if let Some(held) = self.held.iter_mut().find(|held| held.event.of == event.of) {
            held.next_at = later(now, wait_s(&AGAIN_S, held.attempts, again_after_s));
            held.attempts = held.attempts.saturating_add(1);
            held.failing_since.get_or_insert(now);
            held.why = Some(why);
            notes.push(Note::Held(held.clone()));
            return;
        }
        let down = self.is_down();
        let full = self.held.len() >= HELD_MAX;
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

    /// Lets go of the beginning of the window, as far as it is done.
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

/// Whether it is time. A time further ahead than anything ever waits tells that the clock was put
/// back.
fn is_due(at: Timestamp, now: Timestamp) -> bool {
    at <= now || at.0 - now.0 > WAIT_MAX_MS
}

fn later(at: Timestamp, seconds: i64) -> Timestamp {
    Timestamp(at.0 + seconds * 1000)
}

#[cfg(test)]
mod tests;
