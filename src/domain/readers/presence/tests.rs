//! Laws of presence, for any reads; and what happens at rooms, doorways and portals.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use super::*;
use crate::{
    core::presence::{PlacePresence, PresenceSettings, Zone},
    domain::readers::walks::{Options, Random, measure},
};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

const ROOM: i64 = 1;
const NEXT: i64 = 2;
const DOOR: i64 = 3;
const PORTAL: i64 = 4;

/// A reader with an antenna in two rooms, in a doorway, and on both sides of a portal.
fn layout() -> Layout {
    let antennas = [
        (1, ROOM, Zone::Room),
        (2, NEXT, Zone::Room),
        (3, DOOR, Zone::Door),
        (4, PORTAL, Zone::Outside),
        (5, PORTAL, Zone::Inside),
    ];
    let antennas = antennas.map(|(antenna, place, zone)| AntennaPlace {
        reader: 9,
        antenna: Some(antenna),
        place,
        zone,
    });
    let strict = PlacePresence {
        rssi_floor_dbm: Some(-60.0),
        ..PlacePresence::default()
    };
    Layout::new(antennas, [(NEXT, strict)], &PresenceSettings::default())
}

fn read(tag: i64, antenna: u16, rssi_dbm: f32, at_ms: i64) -> TagRead {
    TagRead {
        tag,
        reader: 9,
        antenna,
        rssi_dbm,
        at_ms,
    }
}

/// Returns what follows from all reads.
fn all(reads: &[TagRead]) -> Vec<Derived> {
    let mut presence = Presence::new(layout());
    for read in reads {
        presence.push(*read);
    }
    let mut derived = Vec::new();
    presence.finish(&mut derived);
    derived
}

/// As `kind place at`, without `seen`.
fn passages(reads: &[TagRead]) -> Vec<(DerivedKind, i64, i64)> {
    let derived = all(reads)
        .into_iter()
        .filter(|one| one.kind != DerivedKind::Seen);
    derived
        .map(|one| (one.kind, one.place, one.at_ms))
        .collect()
}

/// A read each third of a second.
fn steady(antenna: u16, rssi_dbm: f32, seconds: std::ops::Range<i64>) -> Vec<TagRead> {
    let times = (seconds.start * 3..seconds.end * 3).map(|third| third * 1000 / 3);
    times.map(|at| read(7, antenna, rssi_dbm, at)).collect()
}

#[test]
fn one_read_is_nobody_and_a_stay_ends_with_its_last_read() {
    assert!(all(&[read(7, 1, -50.0, 1_000)]).is_empty());
    // Reads within a quarter of a second are one.
    assert!(all(&[read(7, 1, -50.0, 1_000), read(7, 1, -50.0, 1_100)]).is_empty());
    // Too weak for the place, or for any.
    assert!(all(&[steady(1, -71.0, 0..9), steady(2, -61.0, 0..9)].concat()).is_empty());
    let stay = passages(&steady(1, -50.0, 0..10));
    assert_eq!(
        stay,
        [
            (DerivedKind::Entered, ROOM, 1_333),
            (DerivedKind::Exited, ROOM, 9_666)
        ]
    );
}

#[test]
fn a_body_in_the_way_moves_nobody_and_another_room_does() {
    let covered = [steady(1, -50.0, 0..60), steady(1, -50.0, 80..100)].concat();
    assert_eq!(passages(&covered).len(), 2);
    // Next door hears as well, 5 dB less, all the time.
    let heard = [steady(1, -50.0, 0..100), steady(2, -55.0, 0..100)].concat();
    assert_eq!(
        passages(&heard),
        [
            (DerivedKind::Entered, ROOM, 1_333),
            (DerivedKind::Exited, ROOM, 99_666)
        ]
    );
    let moved = [
        steady(1, -50.0, 0..30),
        steady(1, -58.0, 30..90),
        steady(2, -50.0, 30..90),
    ]
    .concat();
    let moved = passages(&moved);
    let places: Vec<_> = moved
        .iter()
        .map(|(kind, place, _)| (*kind, *place))
        .collect();
    assert_eq!(
        places,
        [
            (DerivedKind::Entered, ROOM),
            (DerivedKind::Exited, ROOM),
            (DerivedKind::Entered, NEXT),
            (DerivedKind::Exited, NEXT)
        ]
    );
    assert!((35_000..50_000).contains(&moved[2].2), "{moved:?}");
}

#[test]
fn who_comes_first_comes_into_the_strongest_room() {
    // The weaker antenna reads the tag earlier.
    let weak = steady(1, -62.0, 0..20);
    let strong = steady(2, -48.0, 1..20);
    let first = passages(&[weak, strong].concat());
    assert_eq!((first.len(), first[0].1), (2, NEXT));
}

#[test]
fn a_doorway_toggles_once_a_pass() {
    let reads = [steady(3, -45.0, 0..8), steady(3, -45.0, 100..103)].concat();
    assert_eq!(
        passages(&reads),
        [
            (DerivedKind::Entered, DOOR, 333),
            (DerivedKind::Exited, DOOR, 100_333)
        ]
    );
    // Who is heard in a room later has left then.
    let moved = passages(&[steady(3, -45.0, 0..2), steady(1, -45.0, 50..70)].concat());
    let at = moved[2].2;
    assert!(at > 50_000, "{moved:?}");
    assert_eq!(moved[1], (DerivedKind::Exited, DOOR, at));
    assert_eq!(moved[2], (DerivedKind::Entered, ROOM, at));
}

#[test]
fn a_portal_tells_the_direction() {
    // From antenna to antenna in four seconds.
    let pass = |from: u16, to: u16, at: i64| -> Vec<TagRead> {
        let mut reads = Vec::new();
        for step in 0..20_i64 {
            let level = |distance: i64| -45.0 - distance as f32;
            reads.push(read(7, from, level(step), at + step * 200));
            reads.push(read(7, to, level(20 - step), at + step * 200 + 90));
        }
        reads
    };
    let both = [pass(4, 5, 0), pass(5, 4, 60_000)].concat();
    assert_eq!(
        passages(&both),
        [
            (DerivedKind::Entered, PORTAL, 3_890),
            (DerivedKind::Exited, PORTAL, 63_890)
        ]
    );
    // Who comes near and turns around passes no portal.
    let turned: Vec<TagRead> = (0..40_i64)
        .map(|step| {
            let near = 20 - (step - 20).abs();
            read(7, 4, -65.0 + near as f32, step * 200)
        })
        .collect();
    assert!(passages(&turned).is_empty());
}

#[test]
fn a_pass_is_told_within_three_seconds() {
    let every = |step_ms: i64| -> Vec<TagRead> {
        let side = |step: i64| if step < 20 { 4 } else { 5 };
        let reads = (0..40).map(|step| read(7, side(step), -50.0, step * step_ms));
        reads.collect()
    };
    // Where reads are rare, a gap between them is longer.
    for (step, silence) in [(60, 700), (150, 900), (230, 1_380)] {
        let mut presence = Presence::new(layout());
        for read in every(step) {
            presence.push(read);
        }
        let (mut derived, over) = (Vec::new(), 39 * step + silence + WAIT_MS);
        presence.advance(over - 1, &mut derived);
        assert!(derived.iter().all(|one| one.kind == DerivedKind::Seen));
        presence.advance(over, &mut derived);
        let kinds: Vec<_> = derived.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [DerivedKind::Seen, DerivedKind::Entered]);
    }
    // Through a narrow portal in less than a second.
    let side = |step: i64| if step < 4 { 4 } else { 5 };
    let quick: Vec<_> = (0..8)
        .map(|step| read(7, side(step), -50.0, step * 120))
        .collect();
    assert_eq!(passages(&quick), [(DerivedKind::Entered, PORTAL, 840)]);
}

#[test]
fn who_lingers_at_a_portal_is_seen_once_a_minute_and_by_two_reads() {
    let seen = |reads: &[TagRead]| -> Vec<i64> {
        let mut presence = Presence::new(layout());
        for read in reads {
            presence.push(*read);
        }
        let mut derived = Vec::new();
        presence.finish(&mut derived);
        let seen = derived.iter().filter(|one| one.kind == DerivedKind::Seen);
        seen.map(|one| one.at_ms).collect()
    };
    // A burst every ten seconds, now at one side and now at the other.
    let burst = |at: i64| (0..4).map(move |step| (at, at * 10_000 + step * 300));
    let lingers: Vec<_> = (0..12)
        .flat_map(burst)
        .map(|(at, at_ms)| read(7, if at % 2 == 0 { 4 } else { 5 }, -50.0, at_ms))
        .collect();
    assert_eq!(seen(&lingers), [300]);
    let returns = [burst(0), burst(7)].into_iter().flatten();
    let returns: Vec<_> = returns.map(|(_, at_ms)| read(7, 4, -50.0, at_ms)).collect();
    assert_eq!(seen(&returns), [300, 70_300]);
    let single: Vec<_> = (0..6).map(|at| read(7, 4, -50.0, at * 10_000)).collect();
    assert_eq!(seen(&single), Vec::<i64>::new());
}

#[test]
fn who_stays_behind_a_portal_in_its_range_has_entered() {
    let mut reads: Vec<TagRead> = (0..20).map(|step| read(7, 4, -50.0, step * 100)).collect();
    reads.extend((20..600).map(|step| read(7, 5, -50.0, step * 100)));
    let mut presence = Presence::new(layout());
    for read in reads {
        presence.push(read);
    }
    let mut derived = Vec::new();
    presence.advance(10_000 + WAIT_MS, &mut derived);
    let kinds: Vec<_> = derived.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DerivedKind::Seen, DerivedKind::Entered]);
    presence.finish(&mut derived);
    assert_eq!(presence.stays().count(), 1);
}

/// Reads of somebody at a distance in metres from the threshold of the portal, inside above 0: ten rounds a second of
/// each side, whose antennas hang a metre off.
fn at_portal(random: &mut Random, tag: i64, metres: f32, at: i64, reads: &mut Vec<TagRead>) {
    for (antenna, own) in [(4, -1.0), (5, 1.0_f32)] {
        let level = -48.0 - 25.0 * (metres - own).abs().max(0.5).log10();
        if random.share() < 0.65 {
            reads.push(read(tag, antenna, level + 3.0 * random.normal(), at));
        }
    }
}

#[test]
fn of_those_who_walk_through_a_portal_and_back_99_in_100_are_noticed() {
    let mut random = Random::new(1);
    let mut reads = Vec::new();
    for tag in 0..2_000 {
        let speed = 0.8 + 0.8 * random.share();
        for (begun, way) in [(0, 1.0), (60_000, -1.0)] {
            for step in 0..100_i64 {
                let metres = way * (step as f32 / 10.0 * speed - 4.0);
                if metres.abs() <= 4.0 {
                    at_portal(&mut random, tag, metres, begun + step * 100, &mut reads);
                }
            }
        }
    }
    let derived = all(&reads);
    let count = |kind| derived.iter().filter(|one| one.kind == kind).count();
    let (entered, exited) = (count(DerivedKind::Entered), count(DerivedKind::Exited));
    assert!((1_980..=2_000).contains(&entered), "{entered}");
    assert!((1_980..=2_000).contains(&exited), "{exited}");
}

#[test]
fn who_queues_at_a_portal_passes_once_and_who_stays_outside_never() {
    let mut random = Random::new(2);
    let mut reads = Vec::new();
    // The first hundred go in after up to a minute in the queue; the others turn around.
    for tag in 0..200_i64 {
        let queued = 6 * (tag % 100);
        for step in 0..queued + 60 {
            let gone = (step - queued).max(0) as f32 / 10.0 * 1.2;
            let metres = if tag < 100 { gone - 2.0 } else { -2.0 - gone };
            at_portal(&mut random, tag, metres, step * 100, &mut reads);
        }
    }
    let entered: Vec<_> = passages_of(&reads)
        .into_iter()
        .filter(|(kind, _)| *kind == DerivedKind::Entered)
        .collect();
    let right = entered.iter().filter(|(_, tag)| *tag < 100).count();
    assert!((98..=100).contains(&right), "{right}");
    assert!(entered.len() - right <= 1, "{entered:?}");
}

/// Entries and exits, with whose they are.
fn passages_of(reads: &[TagRead]) -> Vec<(DerivedKind, i64)> {
    let derived = all(reads).into_iter();
    let passages = derived.filter(|one| one.kind != DerivedKind::Seen);
    passages.map(|one| (one.kind, one.tag)).collect()
}

#[test]
fn a_reader_that_is_down_makes_nobody_leave() {
    let mut presence = Presence::new(layout());
    for read in steady(1, -50.0, 0..10) {
        presence.push(read);
    }
    let mut derived = Vec::new();
    presence.advance(20_000, &mut derived);
    presence.set_down(&HashSet::from([9]), 20_000);
    presence.advance(2_000_000, &mut derived);
    presence.set_layout(layout());
    presence.set_down(&HashSet::new(), 2_000_000);
    presence.advance(2_050_000, &mut derived);
    let kinds: Vec<_> = derived.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DerivedKind::Seen, DerivedKind::Entered]);
    // It works again, and does not hear them.
    presence.advance(2_100_000, &mut derived);
    let last = derived.last().map(|one| (one.kind, one.at_ms));
    assert_eq!(last, Some((DerivedKind::Exited, 9_666)));
}

fn restored(place: i64) -> Restored {
    Restored {
        tag: 7,
        place,
        since_ms: 1_000,
        reader: 9,
        antenna: 1,
        rssi_dbm: -50.0,
        reads: 12,
        heard_ms: 5_000,
    }
}

#[test]
fn a_stay_goes_on_after_a_restart() {
    let mut presence = Presence::new(layout());
    presence.restore([restored(ROOM)], 90_000);
    for read in steady(1, -50.0, 92..120) {
        presence.push(read);
    }
    let mut derived = Vec::new();
    presence.finish(&mut derived);
    let passages = derived.iter().filter(|one| one.kind != DerivedKind::Seen);
    let kinds: Vec<_> = passages.map(|one| one.kind).collect();
    assert_eq!(kinds, [DerivedKind::Exited]);
}

#[test]
fn who_is_not_heard_after_a_restart_left_when_they_may_have_been_heard_last() {
    // In a room, and where nobody listens any more.
    for place in [ROOM, 99] {
        let mut presence = Presence::new(layout());
        presence.restore([restored(place)], 90_000);
        let mut derived = Vec::new();
        presence.advance(90_000 + 60_000, &mut derived);
        assert_eq!(derived, []);
        presence.finish(&mut derived);
        let [left] = derived.as_slice() else {
            panic!("{derived:?}");
        };
        assert_eq!((left.kind, left.at_ms), (DerivedKind::Exited, 5_000));
        let heard = (left.reader, left.antenna, left.rssi_dbm, left.reads);
        assert_eq!(heard, (9, 1, -50.0, 12));
    }
    // Through a portal they leave by the portal.
    let mut presence = Presence::new(layout());
    presence.restore([restored(PORTAL)], 90_000);
    let mut derived = Vec::new();
    presence.finish(&mut derived);
    assert_eq!((presence.stays().count(), derived.len()), (1, 0));
}

#[test]
fn who_is_behind_a_portal_leaves_once_nobody_listens_there_any_more() {
    let mut presence = Presence::new(layout());
    presence.restore([restored(PORTAL)], 90_000);
    let mut derived = Vec::new();
    presence.advance(100_000 + WAIT_MS, &mut derived);
    let none = || Layout::new([], [], &PresenceSettings::default());
    // For a moment only.
    presence.set_layout(none());
    presence.advance(120_000 + WAIT_MS, &mut derived);
    presence.set_layout(layout());
    presence.advance(400_000 + WAIT_MS, &mut derived);
    assert_eq!(derived, []);
    presence.set_layout(none());
    presence.advance(470_000 + WAIT_MS, &mut derived);
    let left: Vec<_> = derived.iter().map(|one| (one.kind, one.at_ms)).collect();
    assert_eq!(left, [(DerivedKind::Exited, 400_000)]);
}

#[test]
fn a_flood_drops_the_oldest_and_counts_them() {
    let mut presence = Presence::new(layout());
    for at in 0..=400_000 {
        presence.push(read(at % 50, 1, -50.0, at));
    }
    assert_eq!(presence.dropped(), 40_000);
}

#[test]
fn people_who_walk_are_where_presence_has_them() {
    let options = Options {
        people: 200,
        minutes: 30,
        ..Options::default()
    };
    let accuracy = measure(options, &PresenceSettings::default());
    assert!(accuracy.right > 0.99, "{accuracy:?}");
    // One more than in 10,000 minutes: 6,000 minutes are too few to tell one from two.
    assert!(accuracy.false_exits <= 5.0, "{accuracy:?}");
}

fn reads() -> impl Strategy<Value = Vec<TagRead>> {
    let read = (0..3_i64, 1..7_u16, -75.0..-40.0_f32, 0..200_000_i64);
    proptest::collection::vec(
        read.prop_map(|(tag, antenna, level, at)| self::read(tag, antenna, level, at)),
        0..300,
    )
}

/// Everything that was derived, in an order of its own.
fn sorted(mut derived: Vec<Derived>) -> Vec<Derived> {
    derived.sort_by_key(|one| (one.tag, one.at_ms, one.place, one.kind));
    derived
}

/// Not a slot is worked off for nothing, in whatever year a reader's clock is.
#[test]
fn whoever_was_heard_before_1970_leaves_as_others_do() {
    let mut presence = Presence::new(layout());
    let at = -1_000_000_000_000_000;
    for step in 0..8 {
        presence.push(read(1, 1, -40.0, at + step * 300));
    }
    let mut derived = Vec::new();
    presence.advance(0, &mut derived);
    let kinds: Vec<_> = derived.iter().map(|one| one.kind).collect();
    assert!(kinds.contains(&DerivedKind::Entered), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&DerivedKind::Exited));
    assert!(presence.is_empty());
}

proptest! {
    #[test]
    fn nobody_is_in_two_places_and_every_exit_has_an_entry(reads in reads()) {
        let mut places: HashMap<i64, i64> = HashMap::new();
        for one in all(&reads) {
            match one.kind {
                DerivedKind::Entered => prop_assert_eq!(places.insert(one.tag, one.place), None),
                DerivedKind::Exited => prop_assert_eq!(places.remove(&one.tag), Some(one.place)),
                DerivedKind::Seen => {}
            }
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(reads in reads(), seed in any::<u64>()) {
        let mut shuffled = reads.clone();
        shuffled.sort_by_key(|read| (read.at_ms ^ read.tag).wrapping_mul(seed.cast_signed() | 1));
        prop_assert_eq!(all(&reads), all(&shuffled));
    }

    #[test]
    fn steps_of_any_length_give_the_same(mut reads in reads(), steps in proptest::collection::vec(1..30_000_i64, 1..20)) {
        reads.sort_by_key(|read| read.at_ms);
        let mut presence = Presence::new(layout());
        let (mut derived, mut now, mut next) = (Vec::new(), 0, 0);
        for step in steps.iter().cycle().take(1_000) {
            now += step;
            while let Some(read) = reads.get(next).filter(|read| read.at_ms <= now) {
                presence.push(*read);
                next += 1;
            }
            presence.advance(now, &mut derived);
        }
        for read in &reads[next..] {
            presence.push(*read);
        }
        presence.finish(&mut derived);
        prop_assert_eq!(sorted(derived), sorted(all(&reads)));
    }

    #[test]
    fn no_read_stops_it(at in any::<i64>(), level in any::<f32>(), antenna in any::<u16>(), until in any::<i64>()) {
        let mut presence = Presence::new(layout());
        presence.push(read(1, antenna, level, at));
        presence.push(read(1, 1, level, at.wrapping_add(300)));
        presence.push(read(1, 1, -50.0, at));
        let mut derived = Vec::new();
        presence.advance(until, &mut derived);
        presence.finish(&mut derived);
    }
}
