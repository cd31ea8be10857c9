//! The story of the delegates: tickets before the event, the rush at the door, sessions, stands and
//! handshakes, until noon of the first day or an earlier time. Times are seconds after the begin of that day.

use super::{
    INTERACTIONS, Random,
    people::{Part, Person},
    programme::{DAY_MIN, EVENT, EXPO_HALL, LOUNGE, Programme, SPONSORS},
    texts::TEXTS,
};
use crate::domain::interactions::types::{CHECK_IN, CHECK_OUT, CONNECT, JOIN, LEAD};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

pub const DAY_S: i64 = DAY_MIN * 60;
pub const HOUR_S: i64 = 3_600;
/// The end of the story: noon of the first day.
pub const NOON_S: i64 = 12 * HOUR_S;
/// The begin of the first talk.
const KEYNOTE_S: i64 = 9 * HOUR_S + 30 * 60;
/// Talks that visitors note down beforehand.
const NOTED_TALKS: usize = 650;
/// Leads that sponsors take, some of them later today.
const LEADS: usize = 600;
/// Pairs of whom one sends the other a request to connect.
const PAIRS: usize = 160;
/// Of a hundred who are free, how many go to a talk of each slot.
const INTEREST_PERCENT: [usize; 6] = [45, 30, 28, 28, 20, 28];
/// Of a hundred visitors who come early, how many have a coffee.
const COFFEE_PERCENT: usize = 34;
/// The audience of a talk where nobody counts.
const CROWD: usize = 100;
/// Of a hundred check-ins where one may enter once, how many are tried a second time.
const TRIED_AGAIN_PERCENT: usize = 4;
/// Of a hundred there, how many another gate lets in again while it is offline.
const ADMITTED_AGAIN_PERCENT: usize = 3;
/// Of a hundred people in a session, how many go out for a moment.
const OUT_FOR_A_MOMENT_PERCENT: usize = 5;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    pub at_s: i64,
    /// The interaction type.
    pub kind: &'static str,
    pub first: usize,
    pub second: Option<usize>,
    /// The place of the device in the programme.
    pub device: Option<usize>,
    pub data: Option<Value>,
    /// A gate that was offline let them in.
    pub admitted: bool,
}

/// Somebody who is there on a day.
struct Visitor {
    person: usize,
    from_s: i64,
    /// The time when they are free to do something else.
    free_s: i64,
}

/// A story as it is invented.
pub struct Story<'a> {
    pub random: &'a mut Random,
    pub programme: &'a Programme,
    pub people: &'a [Person],
    /// The times when people bought passes at a till, which joined them with the event.
    pub bought: HashMap<usize, i64>,
    /// The story so far, in no order.
    pub happenings: Vec<Happening>,
    /// The present time.
    pub now_s: i64,
}

impl Story<'_> {
    /// Invents all that happened until now, in the order of time; and what readers saw, so much of it that there is
    /// enough to make up [`INTERACTIONS`].
    pub fn invent(mut self) -> (Vec<Happening>, Vec<Happening>) {
        let joined_s = self.join();
        let booked = self.book(&joined_s);
        let mut visitors = self.arrive();
        self.wait(&visitors);
        self.attend(&mut visitors, &booked);
        self.take_leads(&visitors);
        self.connect(&visitors);
        let mut happenings = std::mem::take(&mut self.happenings);
        happenings.retain(|happening| happening.at_s <= self.now_s);
        happenings.sort_by_key(|happening| happening.at_s);
        self.be_seen(&visitors);
        (happenings, self.happenings)
    }

    /// Adds what one delegate did somewhere.
    fn add(
        &mut self,
        at_s: i64,
        kind: &'static str,
        first: usize,
        device: usize,
    ) -> &mut Happening {
        self.happenings.push(Happening {
            at_s,
            kind,
            first,
            second: None,
            device: Some(device),
            data: None,
            admitted: false,
        });
        let last = self.happenings.len() - 1;
        &mut self.happenings[last]
    }

    /// Everybody is joined with the event in the weeks before, and staff owns its stand; when.
    fn join(&mut self) -> Vec<i64> {
        let mut joined_s = Vec::new();
        for (person, about) in self.people.iter().enumerate() {
            let mut at_s = -self.random.between(2 * DAY_S, 70 * DAY_S);
            match self.bought.get(&person) {
                Some(bought_s) => at_s = *bought_s,
                None => drop(self.add(at_s, JOIN.name, person, EVENT)),
            }
            if let Part::Exhibitor(sponsor) = about.part {
                self.add(
                    at_s + HOUR_S,
                    "own",
                    person,
                    self.programme.sponsor(sponsor),
                );
            }
            joined_s.push(at_s);
        }
        joined_s
    }

    /// Workshops are booked, all but a few seats; talks are noted down. Who booked which session.
    fn book(&mut self, joined_s: &[i64]) -> HashSet<(usize, usize)> {
        let (programme, people) = (self.programme, self.people);
        let is_visitor = |person: &usize| people[*person].part == Part::Visitor;
        let visitors: Vec<usize> = (0..people.len()).filter(is_visitor).collect();
        let all = 0..programme.sessions.len();
        let (workshops, talks): (Vec<_>, Vec<_>) =
            all.partition(|at| programme.sessions[*at].room.needs_ticket);
        let mut booked = HashSet::new();
        for session in workshops {
            let seats = programme.sessions[session].room.seats.unwrap_or(0);
            for _ in self.random.below(5)..seats {
                booked.insert((*self.random.pick(&visitors), session));
            }
        }
        let mut wishes = booked.clone();
        while wishes.len() < booked.len() + NOTED_TALKS {
            wishes.insert((*self.random.pick(&visitors), *self.random.pick(&talks)));
        }
        let mut wishes: Vec<_> = wishes.into_iter().collect();
        wishes.sort_unstable();
        for (person, session) in wishes {
            let at_s = self.random.between(joined_s[person] + 60, -HOUR_S);
            self.add(at_s, JOIN.name, person, programme.sessions[session].device);
        }
        booked
    }

    /// Returns the visitors of the day, and when they come: most of them within the hour before the first talk.
    fn arrive(&mut self) -> Vec<Visitor> {
        let mut visitors = Vec::new();
        for (person, about) in self.people.iter().enumerate() {
            let (percent, minute) = match about.part {
                Part::Crew => (97, self.random.between(6 * 60 + 30, 7 * 60 + 30)),
                Part::Exhibitor(_) => (92, self.random.between(7 * 60 + 30, 8 * 60 + 45)),
                _ if self.random.chance(12) => (80, self.random.between(9 * 60 + 45, 13 * 60)),
                _ => {
                    let early: i64 = (0..3).map(|_| self.random.between(0, 35)).sum();
                    (86, 8 * 60 + early)
                }
            };
            if !self.random.chance(percent) {
                continue;
            }
            let from_s = minute * 60 + self.random.between(0, 59);
            if from_s + 120 <= NOON_S {
                self.add(from_s, CHECK_IN.name, person, EVENT);
                let free_s = from_s + 120;
                visitors.push(Visitor {
                    person,
                    from_s,
                    free_s,
                });
            }
        }
        visitors
    }

    /// Until the first talk exhibitors are at their stands, speakers in the Lounge, and some who come early have a coffee
    /// in the Expo Hall.
    fn wait(&mut self, visitors: &[Visitor]) {
        for visitor in visitors {
            let in_s = visitor.free_s + self.random.between(60, 420);
            let out_s = KEYNOTE_S - self.random.between(2, 17) * 60;
            let (place, stays) = match self.people[visitor.person].part {
                Part::Exhibitor(_) => (EXPO_HALL, true),
                Part::Speaker if in_s < out_s => (LOUNGE, false),
                Part::Visitor if self.random.chance(COFFEE_PERCENT) && in_s < out_s => {
                    (EXPO_HALL, false)
                }
                _ => continue,
            };
            self.add(in_s, CHECK_IN.name, visitor.person, place);
            if !stays {
                self.add(out_s, CHECK_OUT.name, visitor.person, place);
            }
        }
    }

    /// Everybody who is there and free spends the slots of the first day that began by now: nobody in
    /// two at a time, and never more than fit in.
    fn attend(&mut self, visitors: &mut [Visitor], booked: &HashSet<(usize, usize)>) {
        let programme = self.programme;
        for (slot, interest) in INTEREST_PERCENT.into_iter().enumerate() {
            let sessions = programme.sessions.iter().enumerate();
            let sessions = sessions.filter(|(_, session)| session.slot == (0, slot));
            // Those of the slot, and how many still fit in.
            let mut open: Vec<(usize, usize)> = sessions
                .map(|(at, session)| (at, session.room.seats.unwrap_or(CROWD)))
                .collect();
            let Some((first, _)) = open.first() else {
                continue;
            };
            let start_s = programme.sessions[*first].start_min * 60;
            if start_s > NOON_S {
                return;
            }
            let mut order: Vec<usize> = (0..visitors.len()).collect();
            self.random.shuffle(&mut order);
            for at in order {
                let visitor = &mut visitors[at];
                if visitor.free_s > start_s - 600 {
                    continue;
                }
                if let Some(chosen) = self.choose(visitor.person, interest, &open, booked) {
                    open[chosen].1 -= 1;
                    visitor.free_s = self.sit(visitor.person, open[chosen].0);
                }
            }
        }
    }

    /// A booked workshop, mostly; otherwise one of the talks, the larger the likelier.
    fn choose(
        &mut self,
        person: usize,
        interest: usize,
        open: &[(usize, usize)],
        booked: &HashSet<(usize, usize)>,
    ) -> Option<usize> {
        let own = open
            .iter()
            .position(|(session, left)| *left > 0 && booked.contains(&(person, *session)));
        if own.is_some() && self.random.chance(90) {
            return own;
        }
        let percent = match self.people[person].part {
            Part::Visitor => interest,
            Part::Speaker => 40,
            Part::Exhibitor(_) => 5,
            Part::Crew => 0,
        };
        if !self.random.chance(percent) {
            return None;
        }
        let sessions = &self.programme.sessions;
        let is_talk = |at: &usize| !sessions[open[*at].0].room.needs_ticket;
        let talks = (0..open.len()).filter(is_talk);
        let seats: Vec<usize> = talks
            .flat_map(|at| std::iter::repeat_n(at, open[at].1))
            .collect();
        (!seats.is_empty()).then(|| *self.random.pick(&seats))
    }

    /// Checks somebody in and, mostly, out of a session; when they are free again.
    fn sit(&mut self, person: usize, session: usize) -> i64 {
        let session = &self.programme.sessions[session];
        let device = session.device;
        let start_s = session.start_min * 60;
        let in_s = start_s + self.random.between(-9 * 60, 5 * 60);
        let out_s = session.end_min * 60 + self.random.between(-3 * 60, 4 * 60);
        self.add(in_s, CHECK_IN.name, person, device);
        if session.room.is_single {
            let again = self.random.chance(TRIED_AGAIN_PERCENT);
            if again || self.random.chance(ADMITTED_AGAIN_PERCENT) {
                let again_s = in_s + self.random.between(20, 240);
                self.add(again_s, CHECK_IN.name, person, device).admitted = !again;
            }
        }
        if self.random.chance(OUT_FOR_A_MOMENT_PERCENT) {
            let away_s = start_s + self.random.between(12 * 60, 20 * 60);
            let back_s = away_s + self.random.between(120, 600);
            self.add(away_s, CHECK_OUT.name, person, device);
            self.add(back_s, CHECK_IN.name, person, device);
        }
        if session.room.is_single || self.random.chance(85) {
            self.add(out_s, CHECK_OUT.name, person, device);
        }
        out_s
    }

    fn take_leads(&mut self, visitors: &[Visitor]) {
        let mut staff = Vec::new();
        let mut guests = Vec::new();
        for visitor in visitors {
            match self.people[visitor.person].part {
                Part::Exhibitor(sponsor) => staff.push((visitor.person, sponsor)),
                Part::Visitor => guests.push(visitor),
                Part::Speaker | Part::Crew => {}
            }
        }
        for _ in 0..LEADS {
            let (seller, sponsor) = *self.random.pick(&staff);
            let guest = *self.random.pick(&guests);
            let at_s = self.random.between(9 * HOUR_S, NOON_S).max(guest.free_s);
            let data = self.lead_form(guest.person);
            let lead = self.add(at_s, LEAD.name, seller, self.programme.sponsor(sponsor));
            lead.second = Some(guest.person);
            lead.data = Some(data);
        }
    }

    fn lead_form(&mut self, guest: usize) -> Value {
        let random = &mut *self.random;
        let interest = random.pick(&TEXTS.lead.interests);
        let when = random.pick(&TEXTS.lead.plans);
        let mut answers = vec![
            (
                "contact.email",
                "E-mail",
                "email",
                json!(self.people[guest].text("email")),
            ),
            ("interest", "Interested in", "choice", json!(interest)),
            ("plan.when", "Decides", "choice", json!(when)),
            ("rating", "Rating", "number", random.between(1, 5).into()),
        ];
        if random.chance(25) {
            answers.push(("note", "Note", "text", json!(TEXTS.lead.note)));
        }
        let answers = answers.into_iter().map(|(field, label, kind, answer)| {
            json!({"field": field, "answer": answer, "fieldLabel": label, "fieldType": kind})
        });
        json!({"form": "lead", "answers": answers.collect::<Vec<_>>()})
    }

    /// Some ask others to connect, and about half of those ask back.
    fn connect(&mut self, visitors: &[Visitor]) {
        let mut pairs = HashSet::new();
        while pairs.len() < PAIRS {
            let one = self.random.pick(visitors).person;
            let other = self.random.pick(visitors).person;
            if one == other || !pairs.insert((one.min(other), one.max(other))) {
                continue;
            }
            let at_s = self.random.between(9 * HOUR_S, NOON_S);
            let later_s = at_s + self.random.between(20, HOUR_S);
            let asks = [(at_s, one, other), (later_s, other, one)];
            for (at_s, first, second) in asks.into_iter().take(1 + self.random.below(2)) {
                let request = self.add(at_s, CONNECT.name, first, EVENT);
                request.second = Some(second);
                request.device = None;
            }
        }
    }

    /// Readers at the stands see people.
    fn be_seen(&mut self, visitors: &[Visitor]) {
        let there: Vec<&Visitor> = visitors
            .iter()
            .filter(|one| one.from_s < self.now_s)
            .collect();
        for _ in 0..INTERACTIONS {
            let visitor = *self.random.pick(&there);
            let at_s = self.random.between(visitor.from_s, self.now_s);
            let stand = self.random.below(SPONSORS + 3);
            let device = if stand < SPONSORS {
                self.programme.sponsor(stand)
            } else {
                EXPO_HALL
            };
            self.add(at_s, "seen", visitor.person, device);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EVENT, INTERACTIONS, NOON_S};
    use crate::{ops::demo::Plan, types::Timestamp};

    #[test]
    fn one_seed_always_tells_the_same_story() {
        let [one, same, other] = [1, 1, 2].map(|seed| Plan::new(seed, Timestamp(0), 2026, NOON_S));
        assert_eq!(one.story, same.story);
        assert_ne!(one.story, other.story);
        assert_eq!(one.people[0].body, same.people[0].body);
    }

    #[test]
    fn before_the_first_talk_some_have_come_and_none_has_left() {
        let plan = Plan::new(1, Timestamp(0), 2026, super::super::MORNING_S);
        let arrived = plan.story.iter().filter(|one| one.device == Some(EVENT));
        let arrived = arrived.filter(|one| one.kind == "check-in").count();
        assert!((900..1_500).contains(&arrived), "{arrived}");
        let early = plan.story.iter().chain(&plan.seen);
        assert!(
            early
                .map(|one| one.at_s)
                .all(|at_s| at_s <= super::super::MORNING_S)
        );
    }

    #[test]
    fn every_story_has_room_for_everything() {
        for seed in 0..10 {
            let plan = Plan::new(seed, Timestamp(0), 2026, NOON_S);
            let count = |kind| plan.story.iter().filter(|one| one.kind == kind).count();
            assert!(
                plan.story.len() < INTERACTIONS - 1_000,
                "{}",
                plan.story.len()
            );
            assert!(count("lead") > 200, "{seed}: {}", count("lead"));
            assert!(count("check-in") > 2_000, "{seed}: {}", count("check-in"));
            assert!(count("connect") > 100, "{seed}: {}", count("connect"));
            assert!(plan.story.iter().any(|one| one.admitted), "{seed}");
            assert!(plan.story.is_sorted_by_key(|one| one.at_s));
            let all = plan.story.iter().chain(&plan.seen);
            let last = all.map(|one| one.at_s).max();
            assert!(last.is_some_and(|last| last <= NOON_S));
        }
    }
}
