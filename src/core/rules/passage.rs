//! May this delegate pass here now? Everything a decision depends on, and the decision.

use super::{AccessRules, Entry, Per, types};
use crate::types::{
    Timestamp, Zone,
    error::{Error, Kind, Refusal, Result},
};

/// A point in the order of interactions: the earlier of recording and arrival, then the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The earlier of `recordedAt` and `createdAt`.
    pub at: Timestamp,
    /// The interaction's id.
    pub id: i64,
}

/// The presence of one delegate at one device, by what they did last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PresenceState {
    /// The last check-in or override.
    pub last_in: Option<Position>,
    /// The last check-out.
    pub last_out: Option<Position>,
    /// The last join or booking.
    pub last_join: Option<Position>,
    /// The last uninvite or cancelled booking; not an uninvite of a second delegate.
    pub last_leave: Option<Position>,
}

impl PresenceState {
    /// Checked in, and not out since.
    pub fn is_inside(&self) -> bool {
        self.last_in > self.last_out
    }
}

/// A device as the rules see it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The name by which stewards know the place.
    pub name: String,
    /// Set where the place is in use.
    pub available: bool,
    pub start_at: Option<Timestamp>,
    pub end_at: Option<Timestamp>,
}

impl Place {
    /// A place as the door of another, called by both. A time that the door does not set is that of the place.
    #[must_use]
    pub fn as_door(&self, place: &Self) -> Self {
        Self {
            name: format!("{}, {}", place.name, self.name),
            available: self.available,
            start_at: self.start_at.or(place.start_at),
            end_at: self.end_at.or(place.end_at),
        }
    }
}

/// A door of a place: it may narrow the rules of the place.
#[derive(Debug)]
pub struct Door {
    /// The door, called by the name of the place and its own.
    pub place: Place,
    /// The rules that it adds ([`AccessRules::at_door`]); `None` when what is stored cannot be read.
    pub rules: Option<AccessRules>,
}

impl Door {
    /// Returns whether the door says which types of attendees may enter, or when.
    pub fn states_types(&self) -> bool {
        self.rules.as_ref().is_some_and(AccessRules::states_types)
    }

    /// Returns whether a check-in needs a `join` with the place because of the door.
    pub fn needs_join(&self) -> bool {
        self.rules.as_ref().is_some_and(AccessRules::needs_join)
    }
}

/// Somewhere people are counted.
#[derive(Debug, Clone)]
pub struct Room {
    /// The name by which stewards know the room.
    pub name: String,
    /// The most people who may be inside.
    pub capacity: u32,
    /// The number of people inside.
    pub inside: i64,
}

/// The passage that the rules are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// `check-in`
    In,
    /// `check-out`
    Out,
}

/// Everything a decision depends on.
pub struct CheckInFacts<'a> {
    /// In or out.
    pub passage: Passage,
    /// The place; at a door, the place of the door.
    pub place: &'a Place,
    /// The rules there, defaults included; `None` when what is stored cannot be read.
    pub rules: Option<&'a AccessRules>,
    /// The door, where this is at one.
    pub door: Option<&'a Door>,
    /// The delegate's last passage there; leaving a place above counts as leaving.
    pub state: &'a PresenceState,
    /// Tells when an interaction was recorded, which may differ from its position, and the name of the door it was at,
    /// if it was at one; for messages.
    pub last_passage: &'a dyn Fn(Position) -> Result<(Timestamp, Option<String>)>,
    /// Set where the delegate is inside, there or at anything below; whatever day it came.
    pub inside: bool,
    /// The number of the delegate's entries, overrides included, where `per` says so on the day of the passage; only
    /// counted where a rule needs it, and as far.
    pub entries: u32,
    /// The last check-in or override there on the day of the passage; only looked for where a rule asks
    /// for days.
    pub last_in_of_day: Option<Position>,
    /// Set where the day of the passage is the present one; only told where a rule asks for days.
    pub is_today: bool,
    /// The type of the attendee; only looked for where a rule needs it.
    pub attendee_type: Option<&'a str>,
    /// Set where the delegate is joined with the place or an ancestor; only asked for where a rule needs it.
    pub joined: bool,
    /// The rooms with a capacity that the delegate would enter: the place itself, then those above it.
    pub rooms: &'a [Room],
    /// The time of the passage: the earlier of recording and arrival.
    pub at: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// The zone in which times are told.
    pub zone: &'a Zone,
}

/// Decides, with the sentence a steward would tell the guest.
///
/// # Errors
/// [`Kind::Refused`].
pub fn judge(facts: &CheckInFacts<'_>) -> Result<()> {
    match facts.passage {
        Passage::In => {
            judge_check_in(facts)?;
            facts.door.map_or(Ok(()), |door| judge_door(facts, door))
        }
        Passage::Out => judge_check_out(facts),
    }
}

/// The message to a steward where the rules of a place cannot be read.
pub fn unreadable(name: &str) -> String {
    format!("the rules of {name} cannot be read; an administrator must mend data.Access")
}

pub(super) fn refuse(refusal: Refusal, message: String) -> Result<()> {
    Err(Error::new(Kind::Refused(refusal), message))
}

/// As [`refuse`], for a nearer reason than that of the kind.
pub(super) fn refuse_because(
    refusal: Refusal,
    reason: &'static str,
    message: String,
) -> Result<()> {
    Err(Error::new(Kind::Refused(refusal), message).because(reason))
}

/// Judges by what a door sets itself, which must pass, too; nobody is counted at it.
fn judge_door(facts: &CheckInFacts<'_>, door: &Door) -> Result<()> {
    judge_check_in(&CheckInFacts {
        place: &door.place,
        rules: door.rules.as_ref(),
        door: None,
        rooms: &[],
        ..*facts
    })
}

fn judge_check_in(facts: &CheckInFacts<'_>) -> Result<()> {
    let Place { name, .. } = facts.place;
    let Some(rules) = facts.rules else {
        return refuse(Refusal::NotAvailable, unreadable(name));
    };
    if !facts.place.available {
        return refuse(Refusal::NotAvailable, format!("{name} is not available"));
    }
    judge_time(facts, rules)?;
    types::judge(name, rules, facts)?;
    if rules.needs_join() && !facts.joined {
        return refuse(Refusal::NotJoined, format!("not registered for {name}"));
    }
    judge_entry(facts, rules)?;
    let full = |room: &&Room| room.inside >= i64::from(room.capacity);
    match facts.rooms.iter().find(full) {
        Some(room) => refuse(
            Refusal::Full,
            format!(
                "{} is full: {} of {} inside",
                room.name, room.inside, room.capacity
            ),
        ),
        None => Ok(()),
    }
}

/// Single and daily entry, and how often somebody may come.
fn judge_entry(facts: &CheckInFacts<'_>, rules: &AccessRules) -> Result<()> {
    let Place { name, .. } = facts.place;
    let spoken = |last: Option<Position>| -> Result<(String, Option<String>)> {
        let Some(last) = last else {
            return Ok((String::new(), None));
        };
        let (at, door) = (facts.last_passage)(last)?;
        Ok((facts.zone.spoken(at, facts.now), door))
    };
    let used = match rules.entry {
        Some(Entry::Single) => facts.state.last_in,
        Some(Entry::Daily) => facts.last_in_of_day,
        Some(Entry::Multiple) | None => None,
    };
    if used > facts.state.last_out {
        let (at, door) = spoken(used)?;
        let place = door.map_or_else(|| name.clone(), |door| format!("{name}, {door}"));
        // The date is told where it is another one, though the event's day be the same.
        let today = if rules.is_daily() && facts.is_today && !at.contains(" on ") {
            " today"
        } else {
            ""
        };
        return refuse(
            Refusal::TooMany,
            format!("already used at {place}{today} at {at}"),
        );
    }
    let Some(most) = rules.max_check_ins.filter(|most| facts.entries >= *most) else {
        return Ok(());
    };
    if most == 0 {
        let told = format!("{name} lets nobody check in");
        return refuse_because(Refusal::TooMany, "max", told);
    }
    let often = if most == 1 {
        "once".to_owned()
    } else {
        format!("{most} times")
    };
    let (last, allowed) = match rules.per {
        Some(Per::Day) => (facts.last_in_of_day, "the most allowed in a day"),
        None => (facts.state.last_in, "the most allowed"),
    };
    let (at, door) = spoken(last)?;
    let last = door.map_or_else(|| at.clone(), |door| format!("{door} at {at}"));
    refuse_because(
        Refusal::TooMany,
        "max",
        format!("already checked in {often} at {name}, {allowed}; last at {last}"),
    )
}

fn judge_time(facts: &CheckInFacts<'_>, rules: &AccessRules) -> Result<()> {
    let name = &facts.place.name;
    let minutes = |count: u32| i64::from(count) * 60_000;
    if let (Some(before), Some(start)) = (rules.opens_before, facts.place.start_at) {
        let opens = Timestamp(start.0.saturating_sub(minutes(before)));
        if facts.at < opens {
            let opens = facts.zone.spoken(opens, facts.now);
            let told = format!("{name} opens at {opens}");
            return refuse_because(Refusal::OutsideWindow, "too-early", told);
        }
    }
    if let (Some(after), Some(end)) = (rules.closes_after, facts.place.end_at) {
        let closes = Timestamp(end.0.saturating_add(minutes(after)));
        if facts.at > closes {
            let since = facts.zone.spoken(closes, facts.now);
            let told = format!("{name} has been closed since {since}");
            return refuse_because(Refusal::OutsideWindow, "too-late", told);
        }
    }
    Ok(())
}

/// People must be able to leave: only single and daily entry look at a check-out, and unreadable rules or
/// a device that is not available never keep anybody in. Somebody from the day before leaves, too.
fn judge_check_out(facts: &CheckInFacts<'_>) -> Result<()> {
    let pairs = facts.rules.is_some_and(AccessRules::pairs_passages);
    if pairs && !facts.inside {
        let name = &facts.place.name;
        return refuse(
            Refusal::NotCheckedIn,
            format!("not checked in at {name}, so there is nothing to check out of"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOON: Timestamp = Timestamp(1_795_262_400_000);

    fn minutes(count: i64) -> Timestamp {
        Timestamp(NOON.0 + count * 60_000)
    }

    #[expect(clippy::unnecessary_wraps, reason = "standings hold options")]
    fn moment(minute: i64, id: i64) -> Option<Position> {
        Some(Position {
            at: minutes(minute),
            id,
        })
    }

    fn rules(value: Value) -> AccessRules {
        AccessRules::parse("data.Access", &value).unwrap()
    }

    /// The verdict at noon on a device from 11:30 to 12:30.
    fn verdict(
        passage: Passage,
        rules: Option<AccessRules>,
        state: PresenceState,
        joined: bool,
        inside_now: i64,
    ) -> Result<()> {
        let place = Place {
            name: "Gate B".into(),
            available: true,
            start_at: Some(minutes(-30)),
            end_at: Some(minutes(30)),
        };
        let rooms = rules
            .as_ref()
            .and_then(|rules| rules.capacity)
            .map(|capacity| Room {
                name: "Gate B".into(),
                capacity,
                inside: inside_now,
            });
        judge(&CheckInFacts {
            passage,
            place: &place,
            rules: rules.as_ref(),
            state: &state,
            door: None,
            last_passage: &|last| Ok((last.at, None)),
            inside: state.is_inside(),
            entries: u32::from(state.last_in.is_some()),
            last_in_of_day: None,
            is_today: true,
            attendee_type: None,
            joined,
            rooms: rooms.as_slice(),
            at: NOON,
            now: NOON,
            zone: &Zone::default(),
        })
    }

    fn told(result: Result<()>) -> String {
        match result {
            Ok(()) => "passes".into(),
            Err(refusal) => format!("{} {}", refusal.kind.code(), refusal),
        }
    }

    #[test]
    fn check_ins_are_judged_by_every_rule() {
        let fresh = PresenceState::default();
        let inside = PresenceState {
            last_in: moment(-178, 5),
            ..fresh
        };
        let back = PresenceState {
            last_out: moment(-100, 6),
            ..inside
        };
        let cases = [
            (json!({}), fresh, false, 0, "passes"),
            (json!({}), inside, false, 0, "passes"),
            (json!({"ruleSet": "simple"}), fresh, true, 0, "passes"),
            (
                json!({"ruleSet": "simple"}),
                fresh,
                false,
                0,
                "741 not registered for Gate B",
            ),
            (
                json!({"entry": "single"}),
                inside,
                false,
                0,
                "740 already used at Gate B at 09:02",
            ),
            (json!({"entry": "single"}), back, false, 0, "passes"),
            (
                json!({"maxCheckIns": 1}),
                back,
                false,
                0,
                "740 already checked in once at Gate B, the most allowed; last at 09:02",
            ),
            (json!({"maxCheckIns": 2}), back, false, 0, "passes"),
            (json!({"capacity": 2}), fresh, false, 1, "passes"),
            (
                json!({"capacity": 2}),
                fresh,
                false,
                2,
                "744 Gate B is full: 2 of 2 inside",
            ),
            (
                json!({"capacity": 0}),
                fresh,
                false,
                0,
                "744 Gate B is full: 0 of 0 inside",
            ),
            (
                json!({"opensBefore": 0, "closesAfter": 0}),
                fresh,
                false,
                0,
                "passes",
            ),
        ];
        for (access, state, joined, inside_now, expected) in cases {
            let verdict = verdict(
                Passage::In,
                Some(rules(access.clone())),
                state,
                joined,
                inside_now,
            );
            assert_eq!(told(verdict), expected, "{access}");
        }
    }

    #[test]
    fn the_window_opens_and_closes_around_the_times() {
        let at = |minute: i64| {
            let place = Place {
                name: "Talk".into(),
                available: true,
                start_at: Some(minutes(-30)),
                end_at: Some(minutes(30)),
            };
            told(judge(&CheckInFacts {
                passage: Passage::In,
                place: &place,
                rules: Some(&rules(json!({"opensBefore": 15, "closesAfter": 10}))),
                state: &PresenceState::default(),
                door: None,
                last_passage: &|last| Ok((last.at, None)),
                inside: false,
                entries: 0,
                last_in_of_day: None,
                is_today: true,
                attendee_type: None,
                joined: false,
                rooms: &[],
                at: minutes(minute),
                now: NOON,
                zone: &Zone::default(),
            }))
        };
        assert_eq!(at(-46), "742 Talk opens at 11:15");
        assert_eq!(at(-45), "passes");
        assert_eq!(at(40), "passes");
        assert_eq!(at(41), "742 Talk has been closed since 12:40");
    }

    #[test]
    fn a_check_out_is_refused_only_under_single_entry() {
        let inside = PresenceState {
            last_in: moment(-10, 1),
            ..PresenceState::default()
        };
        let single = Some(rules(json!({"entry": "single"})));
        let out = |rules: &Option<AccessRules>, state| {
            told(verdict(Passage::Out, rules.clone(), state, false, 0))
        };
        assert_eq!(out(&single, inside), "passes");
        assert!(out(&single, PresenceState::default()).starts_with("745 "));
        assert_eq!(
            out(&Some(AccessRules::default()), PresenceState::default()),
            "passes"
        );
        assert_eq!(out(&None, PresenceState::default()), "passes");
    }

    #[test]
    fn unreadable_rules_close_the_gate() {
        assert!(
            told(verdict(
                Passage::In,
                None,
                PresenceState::default(),
                true,
                0
            ))
            .starts_with("743 ")
        );
    }

    #[test]
    fn a_late_check_out_does_not_undo_a_newer_check_in() {
        let state = PresenceState {
            last_in: moment(5, 9),
            last_out: moment(0, 10),
            ..PresenceState::default()
        };
        assert!(state.is_inside());
        let same_second = PresenceState {
            last_in: moment(5, 9),
            last_out: moment(5, 10),
            ..PresenceState::default()
        };
        assert!(!same_second.is_inside());
    }
}
