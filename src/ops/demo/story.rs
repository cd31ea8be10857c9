//! What the delegates did: tickets before the event, the rush at the door, stands and handshakes. It is
//! noon of the first day. Times are seconds after the begin of that day.

use super::{
    INTERACTIONS,
    people::{Part, Person},
    programme::{DAY_MIN, EXPO_HALL, Programme, SPONSORS},
    random::Random,
    sessions,
};
use crate::domain::interactions::types::{CHECK_IN, CONNECT, JOIN, LEAD};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Seconds of a day.
const DAY_S: i64 = DAY_MIN * 60;
/// Seconds of an hour.
const HOUR_S: i64 = 3_600;
/// Now: noon of the first day.
pub const NOW_S: i64 = 12 * HOUR_S;
/// Talks that visitors note down beforehand.
const NOTED_TALKS: usize = 650;
/// Leads that sponsors take, some of them later today.
const LEADS: usize = 600;
/// Pairs of whom one sends the other a request to connect.
const PAIRS: usize = 160;

/// Where something happened, by place in the programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At the door.
    Event,
    /// In a room, between sessions.
    Room(usize),
    /// In a session.
    Session(usize),
    /// At a sponsor's stand.
    Sponsor(usize),
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// When.
    pub at_s: i64,
    /// The interaction type.
    pub kind: &'static str,
    /// Who.
    pub first: usize,
    /// With whom.
    pub second: Option<usize>,
    /// Where.
    pub place: Option<Place>,
    /// What was written down.
    pub data: Option<Value>,
    /// A gate that was offline let them in.
    pub admitted: bool,
}

/// Somebody who is there on a day.
pub struct Attendance {
    /// Who.
    pub person: usize,
    /// When they came in.
    pub from_s: i64,
    /// When they are free to do something else.
    pub free_s: i64,
}

/// A story as it is made up.
pub struct Story<'a> {
    /// Chance.
    pub random: &'a mut Random,
    /// Where and when.
    pub programme: &'a Programme,
    /// Who.
    pub people: &'a [Person],
    /// What happened so far, in no order.
    pub happenings: Vec<Happening>,
    /// Whose ticket was sold at a till, and when: they are joined with the event by it.
    bought: &'a HashMap<usize, i64>,
}

/// Makes up what happened until now, in the order of time; and what readers saw, so much of it that
/// there is enough to make up [`INTERACTIONS`].
pub fn tell(
    random: &mut Random,
    programme: &Programme,
    people: &[Person],
    bought: &HashMap<usize, i64>,
) -> (Vec<Happening>, Vec<Happening>) {
    let mut story = Story {
        random,
        programme,
        people,
        happenings: Vec::with_capacity(INTERACTIONS),
        bought,
    };
    let joined_s = story.join();
    let booked = story.book(&joined_s);
    let mut visits = story.arrive();
    sessions::attend(&mut story, 0, &mut visits, &booked);
    story.take_leads(&visits);
    story.connect(&visits);
    let mut happenings = std::mem::take(&mut story.happenings);
    happenings.retain(|happening| happening.at_s <= NOW_S);
    happenings.sort_by_key(|happening| happening.at_s);
    story.be_seen(&visits);
    (happenings, story.happenings)
}

impl Story<'_> {
    /// Adds what one delegate did somewhere.
    pub fn add(&mut self, at_s: i64, kind: &'static str, first: usize, place: Place) {
        self.happenings.push(Happening {
            at_s,
            kind,
            first,
            second: None,
            place: Some(place),
            data: None,
            admitted: false,
        });
    }

    /// Adds a check-in by a gate that was offline, whatever the rules would say.
    pub fn admit(&mut self, at_s: i64, first: usize, place: Place) {
        self.add(at_s, CHECK_IN.name, first, place);
        if let Some(happening) = self.happenings.last_mut() {
            happening.admitted = true;
        }
    }

    /// Everybody is joined with the event in the weeks before, and staff owns its stand; when.
    fn join(&mut self) -> Vec<i64> {
        (0..self.people.len())
            .map(|person| {
                let mut at_s = -self.random.between(2 * DAY_S, 70 * DAY_S);
                match self.bought.get(&person) {
                    Some(bought_s) => at_s = *bought_s,
                    None => self.add(at_s, JOIN.name, person, Place::Event),
                }
                if let Part::Exhibitor(sponsor) = self.people[person].part {
                    self.add(at_s + HOUR_S, "own", person, Place::Sponsor(sponsor));
                }
                at_s
            })
            .collect()
    }

    /// Workshops are booked, all but a few seats; talks are noted down. Who booked which session.
    fn book(&mut self, joined_s: &[i64]) -> HashSet<(usize, usize)> {
        let visitors = self.visitors();
        let programme = self.programme;
        let mut booked = HashSet::new();
        for (session, about) in programme.sessions.iter().enumerate() {
            let seats = if about.ticket {
                about.seats.unwrap_or(0)
            } else {
                0
            };
            let free = self.random.below(5);
            for _ in free..seats {
                booked.insert((*self.random.pick(&visitors), session));
            }
        }
        let talks: Vec<usize> = (0..programme.sessions.len())
            .filter(|session| !programme.sessions[*session].ticket)
            .collect();
        let mut noted = HashSet::new();
        while noted.len() < NOTED_TALKS {
            noted.insert((*self.random.pick(&visitors), *self.random.pick(&talks)));
        }
        let mut wishes: Vec<_> = booked.iter().chain(&noted).copied().collect();
        wishes.sort_unstable();
        for (person, session) in wishes {
            let at_s = self.random.between(joined_s[person] + 60, -HOUR_S);
            self.add(at_s, JOIN.name, person, Place::Session(session));
        }
        booked
    }

    fn visitors(&self) -> Vec<usize> {
        (0..self.people.len())
            .filter(|person| self.people[*person].part == Part::Visitor)
            .collect()
    }

    /// Who came, and when: most of them within the hour before the first talk.
    fn arrive(&mut self) -> Vec<Attendance> {
        let mut visits = Vec::new();
        for person in 0..self.people.len() {
            let (percent, minute) = match self.people[person].part {
                Part::Crew => (97, self.random.between(6 * 60 + 30, 7 * 60 + 30)),
                Part::Exhibitor(_) => (92, self.random.between(7 * 60 + 30, 8 * 60 + 45)),
                _ if self.random.chance(12) => (80, self.random.between(9 * 60 + 45, 13 * 60)),
                _ => {
                    let early: i64 = (0..3).map(|_| self.random.between(0, 35)).sum();
                    (86, 8 * 60 + early)
                }
            };
            if self.random.chance(percent) {
                let from_s = minute * 60 + self.random.between(0, 59);
                if from_s + 120 > NOW_S {
                    continue;
                }
                self.add(from_s, CHECK_IN.name, person, Place::Event);
                visits.push(Attendance {
                    person,
                    from_s,
                    free_s: from_s + 120,
                });
            }
        }
        visits
    }

    fn take_leads(&mut self, visits: &[Attendance]) {
        let mut staff = Vec::new();
        let mut guests = Vec::new();
        for visit in visits {
            match self.people[visit.person].part {
                Part::Exhibitor(sponsor) => staff.push((visit.person, sponsor)),
                Part::Visitor => guests.push(visit),
                Part::Speaker | Part::Crew => {}
            }
        }
        for _ in 0..LEADS {
            let (seller, sponsor) = *self.random.pick(&staff);
            let guest = *self.random.pick(&guests);
            let at_s = self.random.between(9 * HOUR_S, NOW_S).max(guest.free_s);
            let data = self.lead_form(guest.person);
            self.happenings.push(Happening {
                at_s,
                kind: LEAD.name,
                first: seller,
                second: Some(guest.person),
                place: Some(Place::Sponsor(sponsor)),
                data: Some(data),
                admitted: false,
            });
        }
    }

    fn lead_form(&mut self, guest: usize) -> Value {
        let interest = *self
            .random
            .pick(&["A demo", "An offer", "A partnership", "Just looking"]);
        let when = *self.random.pick(&["This quarter", "This year", "Some day"]);
        let mut answers = vec![
            json!({"field": "contact.email", "answer": self.people[guest].text("email"), "fieldLabel": "E-mail", "fieldType": "email"}),
            json!({"field": "interest", "answer": interest, "fieldLabel": "Interested in", "fieldType": "choice"}),
            json!({"field": "plan.when", "answer": when, "fieldLabel": "Decides", "fieldType": "choice"}),
            json!({"field": "rating", "answer": self.random.between(1, 5), "fieldLabel": "Rating", "fieldType": "number"}),
        ];
        if self.random.chance(25) {
            answers.push(json!({"field": "note", "answer": "Call back after the event", "fieldLabel": "Note", "fieldType": "text"}));
        }
        json!({"form": "lead", "answers": answers})
    }

    /// Some ask others to connect, and about half of those ask back.
    fn connect(&mut self, visits: &[Attendance]) {
        let mut pairs = HashSet::new();
        while pairs.len() < PAIRS {
            let one = self.random.pick(visits).person;
            let other = self.random.pick(visits).person;
            if one == other || !pairs.insert((one.min(other), one.max(other))) {
                continue;
            }
            let at_s = self.random.between(9 * HOUR_S, NOW_S);
            self.ask(at_s, one, other);
            if self.random.chance(50) {
                let later_s = at_s + self.random.between(20, HOUR_S);
                self.ask(later_s, other, one);
            }
        }
    }

    fn ask(&mut self, at_s: i64, first: usize, second: usize) {
        self.happenings.push(Happening {
            at_s,
            kind: CONNECT.name,
            first,
            second: Some(second),
            place: None,
            data: None,
            admitted: false,
        });
    }

    /// Readers at the stands see people.
    fn be_seen(&mut self, visits: &[Attendance]) {
        for _ in 0..INTERACTIONS {
            let visit = self.random.pick(visits);
            let at_s = self.random.between(visit.from_s, NOW_S);
            let sponsor = self.random.below(SPONSORS + 3);
            let place = if sponsor < SPONSORS {
                Place::Sponsor(sponsor)
            } else {
                Place::Room(EXPO_HALL)
            };
            self.add(at_s, "seen", visit.person, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{INTERACTIONS, NOW_S};
    use crate::{ops::demo::Plan, types::Timestamp};

    #[test]
    fn one_seed_always_tells_the_same_story() {
        let [one, same, other] = [1, 1, 2].map(|seed| Plan::new(seed, Timestamp(0), 2026));
        assert_eq!(one.story, same.story);
        assert_ne!(one.story, other.story);
        assert_eq!(one.people[0].body, same.people[0].body);
    }

    #[test]
    fn every_story_has_room_for_everything() {
        for seed in 0..10 {
            let plan = Plan::new(seed, Timestamp(0), 2026);
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
            assert!(last.is_some_and(|last| last <= NOW_S));
        }
    }
}
