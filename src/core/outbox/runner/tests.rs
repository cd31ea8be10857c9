use super::*;
use crate::core::outbox::Source;

const AT_ONCE: usize = 4;

const NOW: Timestamp = Timestamp(1_000_000_000_000);

fn at(seconds: i64) -> Timestamp {
    Timestamp(NOW.0 + seconds * 1000)
}

/// Returns whether a delivery waits so many seconds from [`NOW`], or up to a quarter more.
fn waited(until: Timestamp, seconds: i64) -> bool {
    (at(seconds).0..=at(seconds).0 + seconds * 250).contains(&until.0)
}

fn delivery(id: i64, ordering_key: &str) -> Delivery {
    Delivery {
        of: Ref {
            source: Source::Interaction,
            id,
        },
        ordering_key: ordering_key.to_owned(),
        attempts: 0,
    }
}

fn step(id: i64, ordering_key: &str) -> Step {
    Step {
        delivery: Some(delivery(id, ordering_key)),
        to: Position {
            interaction: id,
            change: 0,
        },
    }
}

impl Runner {
    /// The time at which something is to be done next without anything happening; `None`: never.
    fn due(&self) -> Option<Timestamp> {
        if self.state.paused.is_some() {
            return None;
        }
        if self.is_down() {
            return self.state.next_at;
        }
        self.pending.iter().map(|pending| pending.next_at).min()
    }
}

fn cursor(runner: &Runner) -> i64 {
    runner.state.cursor.unwrap().interaction
}

fn failed() -> Outcome {
    Outcome::Failed {
        why: "it answered 500".to_owned(),
        unreachable: false,
        gone: false,
        again_after_s: None,
    }
}

fn unreachable() -> Outcome {
    Outcome::Failed {
        why: "refused".to_owned(),
        unreachable: true,
        gone: false,
        again_after_s: None,
    }
}

/// A runner with a window of these ordering keys, ids from 1.
fn runner(ordering_keys: &[&str]) -> (Runner, Vec<Note>) {
    let (mut runner, mut notes) = (Runner::new(AT_ONCE, i64::MAX), Vec::new());
    runner.state.cursor = Some(Position::default());
    let steps = ordering_keys
        .iter()
        .zip(1..)
        .map(|(ordering_key, id)| step(id, ordering_key));
    runner.read(steps.collect(), &mut notes);
    (runner, notes)
}

fn ids(deliveries: &[Delivery]) -> Vec<i64> {
    deliveries.iter().map(|delivery| delivery.of.id).collect()
}

fn started(runner: &mut Runner, now: Timestamp) -> Vec<Delivery> {
    runner.start(now, 100, &mut Vec::new())
}

fn finish(runner: &mut Runner, delivery: &Delivery, outcome: Outcome, now: Timestamp) -> Vec<Note> {
    let mut notes = Vec::new();
    runner.done(delivery.of, outcome, now, &mut notes);
    notes
}

#[test]
fn records_go_beside_each_other_and_each_in_its_order() {
    let (mut runner, _) = runner(&["a", "a", "b", "c", "b", "d", "e"]);
    let first = started(&mut runner, NOW);
    assert_eq!(ids(&first), [1, 3, 4, 6]);
    assert!(started(&mut runner, NOW).is_empty());
    finish(&mut runner, &first[1], Outcome::Delivered, NOW);
    assert_eq!(ids(&started(&mut runner, NOW)), [5]);
    assert_eq!(cursor(&runner), 0);
    finish(&mut runner, &first[0], Outcome::Delivered, NOW);
    assert_eq!(cursor(&runner), 1);
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
            .any(|note| matches!(note, Note::Pending(pending)
        if pending.delivery.of.id == 1 && pending.delivery.attempts == 1 && waited(pending.next_at, 2)))
    );
    finish(&mut runner, &first[1], Outcome::Delivered, NOW);
    // What comes after it in its ordering key waits behind it; the other ordering key goes on.
    let next = started(&mut runner, NOW);
    assert_eq!(ids(&next), [4]);
    assert_eq!(runner.pending(), 2);
    finish(&mut runner, &next[0], Outcome::Delivered, NOW);
    let next = started(&mut runner, NOW);
    finish(&mut runner, &next[0], Outcome::Delivered, NOW);
    assert_eq!(cursor(&runner), 5);
    assert!(started(&mut runner, at(1)).is_empty());
    // Its time comes, it is taken, and what waited follows.
    let again = started(&mut runner, at(3));
    assert_eq!(ids(&again), [1]);
    assert!(started(&mut runner, at(3)).is_empty());
    let notes = finish(&mut runner, &again[0], Outcome::Delivered, at(3));
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, Note::Released(of) if of.id == 1))
    );
    assert_eq!(ids(&started(&mut runner, at(3))), [3]);
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
    for (wait, at_least) in waits.iter().zip(AGAIN_S.iter().chain([&AGAIN_S[7]; 4])) {
        assert!((*at_least..=at_least * 5 / 4).contains(wait), "{waits:?}");
    }
}

#[test]
fn a_receiver_that_is_down_is_tried_with_one_at_a_time() {
    let (mut runner, _) = runner(&["a", "b", "c", "d", "e", "f"]);
    for delivery in started(&mut runner, NOW) {
        finish(&mut runner, &delivery, unreachable(), NOW);
    }
    assert!(runner.is_down());
    // Nothing is written for what waits: it stands in the file anyway.
    assert_eq!((runner.pending(), cursor(&runner)), (0, 0));
    assert!(started(&mut runner, NOW).is_empty());
    let mut tried = Vec::new();
    let mut waits = Vec::new();
    for _ in 0..9 {
        let now = runner.due().unwrap();
        let probe = started(&mut runner, now);
        assert_eq!(probe.len(), 1);
        assert!(started(&mut runner, now).is_empty());
        tried.extend(ids(&probe));
        finish(&mut runner, &probe[0], unreachable(), now);
        waits.push((runner.due().unwrap().0 - now.0) / 1000);
    }
    // A different one each time, as it may be one that is not taken and not the receiver.
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried, [1, 2, 3, 4, 5, 6]);
    assert!((600..=750).contains(waits.last().unwrap()));
    // One is taken: all the others follow at once.
    let now = runner.due().unwrap();
    let probe = started(&mut runner, now);
    finish(&mut runner, &probe[0], Outcome::Delivered, now);
    assert!(!runner.is_down() && runner.state.failing_since.is_none());
    assert_eq!(started(&mut runner, now).len(), AT_ONCE);
}

#[test]
fn when_it_is_back_what_was_held_need_not_wait() {
    let (mut runner, _) = runner(&["a", "b"]);
    let first = started(&mut runner, NOW);
    let busy = Outcome::Failed {
        why: "it answered 503".to_owned(),
        unreachable: false,
        gone: false,
        again_after_s: Some(600),
    };
    finish(&mut runner, &first[0], busy, NOW);
    finish(&mut runner, &first[1], unreachable(), NOW);
    let now = at(90);
    let probe = started(&mut runner, now);
    assert_eq!(ids(&probe), [2]);
    let notes = finish(&mut runner, &probe[0], Outcome::Delivered, now);
    assert!(
        notes
            .iter()
            .any(|note| matches!(note, Note::Failed(pending) if pending.next_at == now))
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
        finish(&mut runner, &tried[0], unreachable(), now);
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
    assert!(
        started(&mut runner, Timestamp(now.0 + 86_400_000)).is_empty() && runner.due().is_none()
    );
}

#[test]
fn a_receiver_that_is_no_more_is_left_alone_at_once() {
    let (mut runner, _) = runner(&["a", "b"]);
    let first = started(&mut runner, NOW);
    let gone = Outcome::Failed {
        why: "it answered 410".to_owned(),
        unreachable: false,
        gone: true,
        again_after_s: None,
    };
    finish(&mut runner, &first[0], gone, NOW);
    assert_eq!(runner.state.paused, Some((NOW, Pause::Gone)));
    assert!(started(&mut runner, at(100)).is_empty());
}

#[test]
fn a_receiver_may_ask_for_time_but_not_for_ever() {
    for (asked, wait) in [(60, 60), (1, 2), (1_000_000, 3_600)] {
        let (mut runner, _) = runner(&["a"]);
        let first = started(&mut runner, NOW);
        let busy = Outcome::Failed {
            why: "it answered 429".to_owned(),
            unreachable: false,
            gone: false,
            again_after_s: Some(asked),
        };
        finish(&mut runner, &first[0], busy, NOW);
        let due = runner.due().unwrap();
        assert!(waited(due, wait), "{asked}");
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
    assert_eq!(cursor(&runner), pending);
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
        cursor: Some(Position {
            interaction: 10,
            change: 0,
        }),
        revision: 1,
        ..State::default()
    };
    runner.load(state, Vec::new());
    finish(&mut runner, &first[0], failed(), NOW);
    finish(&mut runner, &first[1], Outcome::Delivered, NOW);
    assert_eq!((runner.pending(), cursor(&runner)), (0, 10));
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
        for delivery in started(&mut runner, now) {
            if delivery.ordering_key == "f" {
                taken.push((delivery.of.id, (now.0 - NOW.0) / 1000));
                finish(&mut runner, &delivery, Outcome::Delivered, now);
            } else {
                tries += 1;
                finish(&mut runner, &delivery, failed(), now);
            }
        }
        now = Timestamp(now.0 + 1000);
    }
    let ids: Vec<i64> = taken.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [6, 7], "{taken:?}");
    assert!(tries < 120, "{tries}");
}

#[test]
fn a_message_waits_for_an_unreachable_gateway_without_using_up_attempts() {
    let mut runner = Runner::new(AT_ONCE, i64::MAX);
    let pending = |id| PendingDelivery {
        delivery: delivery(id, &format!("message:{id}")),
        next_at: NOW,
        failing_since: None,
        why: None,
    };
    runner.load(State::default(), vec![pending(1), pending(2)]);
    let mut now = NOW;
    for _ in 0..20 {
        let tried = started(&mut runner, now);
        for delivery in &tried {
            assert_eq!(delivery.attempts, 0);
            finish(&mut runner, delivery, unreachable(), now);
        }
        now = runner.due().unwrap();
    }
    // Messages expire by themselves: a gateway is never paused.
    let later = Timestamp(NOW.0 + PAUSED_AFTER_MS);
    let tried = started(&mut runner, later);
    finish(&mut runner, &tried[0], unreachable(), later);
    assert_eq!(runner.state.paused, None);
    assert!(runner.state.why.is_some() && runner.pending() == 2);
    // An unknown outcome is never repeated; a refused message neither.
    let due = runner.due().unwrap();
    let tried = started(&mut runner, due);
    finish(&mut runner, &tried[0], Outcome::Unknown, later);
    let due = runner.due().unwrap();
    let tried = started(&mut runner, due);
    let notes = finish(&mut runner, &tried[0], Outcome::Refused, later);
    assert_eq!((runner.pending(), runner.is_down()), (0, false));
    assert!(notes.iter().any(|note| matches!(note, Note::Released(_))));
}

#[test]
fn deliveries_that_fail_together_are_not_repeated_together() {
    let wait = |ms| later(Timestamp(NOW.0 + ms), 600).0 - ms;
    let waits: HashSet<i64> = (0..50).map(wait).collect();
    assert!(waits.len() > 40, "{waits:?}");
}
