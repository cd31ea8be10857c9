use super::*;
use crate::{core::changes::Position, domain::webhooks::event::Source};

const NOW: Timestamp = Timestamp(1_000_000_000_000);

fn at(seconds: i64) -> Timestamp {
    later(NOW, seconds)
}

fn event(id: i64, ordering_key: &str) -> Event {
    Event {
        of: Ref {
            source: Source::Interaction,
            id,
        },
        ordering_key: ordering_key.to_owned(),
    }
}

fn step(id: i64, ordering_key: &str) -> Step {
    Step {
        event: Some(event(id, ordering_key)),
        to: Position {
            interaction: id,
            change: 0,
        },
    }
}

impl Runner {
    /// When something is to be done next without anything happening; `None`: never.
    fn due(&self) -> Option<Timestamp> {
        if self.state.paused.is_some() {
            return None;
        }
        if self.is_down() {
            return self.state.next_at;
        }
        self.pending.iter().map(|pending| pending.next_at).min()
    }

    /// How many are pending.
    fn pending(&self) -> usize {
        self.pending.len()
    }
}

fn failed() -> Outcome {
    Outcome::Failed {
        why: "it answered 500".to_owned(),
        nobody: false,
        gone: false,
        again_after_s: None,
    }
}

fn nobody() -> Outcome {
    Outcome::Failed {
        why: "refused".to_owned(),
        nobody: true,
        gone: false,
        again_after_s: None,
    }
}

/// A runner with a window of these ordering keys, ids from 1.
fn runner(ordering_keys: &[&str]) -> (Runner, Vec<Note>) {
    let (mut runner, mut notes) = (Runner::default(), Vec::new());
    let steps = ordering_keys
        .iter()
        .zip(1..)
        .map(|(ordering_key, id)| step(id, ordering_key));
    runner.read(steps.collect(), &mut notes);
    (runner, notes)
}

fn ids(events: &[Event]) -> Vec<i64> {
    events.iter().map(|event| event.of.id).collect()
}

fn started(runner: &mut Runner, now: Timestamp) -> Vec<Event> {
    runner.start(now, 100, &mut Vec::new())
}

fn finish(runner: &mut Runner, event: &Event, outcome: Outcome, now: Timestamp) -> Vec<Note> {
    let mut notes = Vec::new();
    runner.done(event, outcome, now, &mut notes);
    notes
}

#[test]
fn records_go_beside_each_other_and_each_in_its_order() {
    let (mut runner, _) = runner(&["a", "a", "b", "c", "b", "d", "e"]);
    let first = started(&mut runner, NOW);
    assert_eq!(ids(&first), [1, 3, 4, 6]);
    assert!(started(&mut runner, NOW).is_empty());
    finish(&mut runner, &first[1], Outcome::Taken, NOW);
    assert_eq!(ids(&started(&mut runner, NOW)), [5]);
    assert_eq!(runner.state.cursor.interaction, 0);
    finish(&mut runner, &first[0], Outcome::Taken, NOW);
    assert_eq!(runner.state.cursor.interaction, 1);
    assert_eq!(ids(&started(&mut runner, NOW)), [2]);
}

#[test]
fn what_is_not_taken_holds_back_its_own_record_alone() {
    let (mut runner, _) = runner(&["a", "b", "a", "b", "b"]);
    let first = started(&mut runner, NOW);
    let notes = finish(&mut runner, &first[0], failed(), NOW);
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, Note::State(state) if state.failures == 1))
    );
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, Note::PendingDelivery(pending)
        if pending.event.of.id == 1 && pending.attempts == 1 && pending.next_at == at(2)))
    );
    finish(&mut runner, &first[1], Outcome::Taken, NOW);
    // What comes after it in its ordering key waits behind it; the other ordering key goes on.
    let next = started(&mut runner, NOW);
    assert_eq!(ids(&next), [4]);
    assert_eq!(runner.pending(), 2);
    finish(&mut runner, &next[0], Outcome::Taken, NOW);
    let next = started(&mut runner, NOW);
    finish(&mut runner, &next[0], Outcome::Taken, NOW);
    assert_eq!(runner.state.cursor.interaction, 5);
    assert!(started(&mut runner, at(1)).is_empty());
    // Its time comes, it is taken, and what waited follows.
    let again = started(&mut runner, at(2));
    assert_eq!(ids(&again), [1]);
    assert!(started(&mut runner, at(2)).is_empty());
    let notes = finish(&mut runner, &again[0], Outcome::Taken, at(2));
    assert!(notes.contains(&Note::Released(event(1, "a").of)));
    assert_eq!(ids(&started(&mut runner, at(2))), [3]);
}

#[test]
fn it_is_tried_further_and_further_apart() {
    let (mut runner, _) = runner(&["a"]);
    let mut now = NOW;
    let mut waits = Vec::new();
    for _ in 0..12 {
        let tried = started(&mut runner, now);
        assert_eq!(ids(&tried), [1]);
        finish(&mut runner, &tried[0], failed(), now);
        // Others are taken meanwhile, so that the receiver does not count as down.
        runner.state.failures = 0;
        runner.state.failing_since = None;
        let next = runner.due().unwrap();
        waits.push((next.0 - now.0) / 1000);
        assert!(started(&mut runner, Timestamp(next.0 - 1)).is_empty());
        now = next;
    }
    assert_eq!(waits[..8], AGAIN_S);
    assert_eq!(waits[11], AGAIN_S[7]);
}

#[test]
fn a_receiver_that_is_down_is_tried_with_one_at_a_time() {
    let (mut runner, _) = runner(&["a", "b", "c", "d", "e", "f"]);
    for event in started(&mut runner, NOW) {
        finish(&mut runner, &event, nobody(), NOW);
    }
    assert!(runner.is_down());
    // Nothing is written for what waits: it stands in the file anyway.
    assert_eq!((runner.pending(), runner.state.cursor.interaction), (0, 0));
    assert!(started(&mut runner, NOW).is_empty());
    let mut tried = Vec::new();
    let mut waits = Vec::new();
    for _ in 0..9 {
        let now = runner.due().unwrap();
        let probe = started(&mut runner, now);
        assert_eq!(probe.len(), 1);
        assert!(started(&mut runner, now).is_empty());
        tried.extend(ids(&probe));
        finish(&mut runner, &probe[0], nobody(), now);
        waits.push((runner.due().unwrap().0 - now.0) / 1000);
    }
    // A different one each time, as it may be one that is not taken and not the receiver.
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried, [1, 2, 3, 4, 5, 6]);
    assert_eq!(waits.last(), Some(&600));
    // One is taken: all the others follow at once.
    let now = runner.due().unwrap();
    let probe = started(&mut runner, now);
    finish(&mut runner, &probe[0], Outcome::Taken, now);
    assert!(!runner.is_down() && runner.state.failing_since.is_none());
    assert_eq!(started(&mut runner, now).len(), AT_ONCE);
}

#[test]
fn when_it_is_back_what_was_held_need_not_wait() {
    let (mut runner, _) = runner(&["a", "b"]);
    let first = started(&mut runner, NOW);
    let busy = Outcome::Failed {
        why: "it answered 503".to_owned(),
        nobody: false,
        gone: false,
        again_after_s: Some(600),
    };
    finish(&mut runner, &first[0], busy, NOW);
    finish(&mut runner, &first[1], nobody(), NOW);
    let now = at(90);
    let probe = started(&mut runner, now);
    assert_eq!(ids(&probe), [2]);
    let notes = finish(&mut runner, &probe[0], Outcome::Taken, now);
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, Note::PendingDelivery(pending) if pending.next_at == now))
    );
    assert_eq!(ids(&started(&mut runner, now)), [1]);
}

#[test]
fn after_days_of_failure_it_is_paused() {
    let (mut runner, _) = runner(&["a"]);
    let mut now = NOW;
    let mut tries = 0;
    while runner.state.paused.is_none() {
        let tried = started(&mut runner, now);
        finish(&mut runner, &tried[0], nobody(), now);
        now = runner.due().unwrap_or(now);
        tries += 1;
        assert!(tries < 1_000);
    }
    let (paused_at, why) = runner.state.paused.unwrap();
    assert_eq!(why, Pause::Failing);
    let days = (paused_at.0 - NOW.0) / (24 * 3_600 * 1000);
    assert_eq!(days, 3);
    // At ten minutes a try.
    assert!(tries < 450, "{tries}");
    assert!(started(&mut runner, later(now, 86_400)).is_empty() && runner.due().is_none());
}

#[test]
fn a_receiver_that_is_no_more_is_left_alone_at_once() {
    let (mut runner, _) = runner(&["a", "b"]);
    let first = started(&mut runner, NOW);
    let gone = Outcome::Failed {
        why: "it answered 410".to_owned(),
        nobody: false,
        gone: true,
        again_after_s: None,
    };
    finish(&mut runner, &first[0], gone, NOW);
    assert_eq!(runner.state.paused, Some((NOW, Pause::Gone)));
    assert!(started(&mut runner, at(100)).is_empty());
}

#[test]
fn a_receiver_may_ask_for_time_but_not_for_ever() {
    for (asked, waited) in [(60, 60), (1, 2), (1_000_000, 3_600)] {
        let (mut runner, _) = runner(&["a"]);
        let first = started(&mut runner, NOW);
        let busy = Outcome::Failed {
            why: "it answered 429".to_owned(),
            nobody: false,
            gone: false,
            again_after_s: Some(asked),
        };
        finish(&mut runner, &first[0], busy, NOW);
        assert_eq!(runner.due(), Some(at(waited)), "{asked}");
    }
}

#[test]
fn what_is_held_has_an_end() {
    let ordering_keys = vec!["a"; PENDING_MAX + 50];
    let (mut runner, _) = runner(&ordering_keys);
    let first = started(&mut runner, NOW);
    finish(&mut runner, &first[0], failed(), NOW);
    assert!(started(&mut runner, NOW).is_empty());
    assert_eq!(runner.pending(), PENDING_MAX);
    assert!(!runner.wants_more());
    // What it holds up stays in the file, behind the cursor.
    let pending = i64::try_from(PENDING_MAX).unwrap();
    assert_eq!(runner.state.cursor.interaction, pending);
}

#[test]
fn what_is_no_more_is_passed_over() {
    let (mut runner, _) = runner(&["a", "a"]);
    let first = started(&mut runner, NOW);
    finish(&mut runner, &first[0], Outcome::Nothing, NOW);
    assert_eq!(ids(&started(&mut runner, NOW)), [2]);
    assert!(runner.state.last_success_at.is_none());
}

#[test]
fn what_a_person_decides_stands_whatever_is_under_way() {
    let (mut runner, _) = runner(&["a", "b"]);
    let first = started(&mut runner, NOW);
    // Somebody has it go on from 10 while two are under way.
    let state = State {
        cursor: Position {
            interaction: 10,
            change: 0,
        },
        revision: 1,
        ..State::default()
    };
    runner.load(state, Vec::new());
    finish(&mut runner, &first[0], failed(), NOW);
    finish(&mut runner, &first[1], Outcome::Taken, NOW);
    assert_eq!((runner.pending(), runner.state.cursor.interaction), (0, 10));
    runner.read(vec![step(11, "a")], &mut Vec::new());
    assert_eq!(ids(&started(&mut runner, NOW)), [11]);
}

#[test]
fn a_clock_that_was_put_back_keeps_nobody_waiting() {
    let (mut runner, _) = runner(&["a"]);
    let first = started(&mut runner, NOW);
    finish(&mut runner, &first[0], failed(), NOW);
    let yesterday = at(-86_400);
    assert_eq!(ids(&started(&mut runner, yesterday)), [1]);
}

#[test]
fn some_that_are_never_taken_keep_nobody_else_from_being_told() {
    // Five that it never takes, which looks as if it were down.
    let (mut runner, _) = runner(&["a", "b", "c", "d", "e"]);
    let mut now = NOW;
    let mut tries = 0;
    let mut taken = Vec::new();
    while now < at(3_600) {
        // Every now and then something happens that it takes.
        if now == at(300) || now == at(900) {
            let id = if taken.is_empty() { 6 } else { 7 };
            runner.read(vec![step(id, "f")], &mut Vec::new());
        }
        for event in started(&mut runner, now) {
            if event.ordering_key == "f" {
                taken.push((event.of.id, (now.0 - NOW.0) / 1000));
                finish(&mut runner, &event, Outcome::Taken, now);
            } else {
                tries += 1;
                finish(&mut runner, &event, failed(), now);
            }
        }
        now = later(now, 1);
    }
    let ids: Vec<i64> = taken.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [6, 7], "{taken:?}");
    assert!(tries < 120, "{tries}");
}
