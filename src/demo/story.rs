//! What the delegates did: tickets before the event, the rush at the door, stands and handshakes.
//! Times are seconds after the begin of the event's first day.

use super::{
    INTERACTIONS,
    people::{Part, Person},
    programme::{DAY_MIN, DAYS, EXPO_HALL, Programme, SPONSORS},
    random::Random,
    sessions,
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Seconds of a day.
const DAY_S: i64 = DAY_MIN * 60;
/// Seconds of an hour.
const HOUR_S: i64 = 3_600;
/// Talks that visitors note down beforehand.
const NOTED_TALKS: usize = 650;
/// Leads that sponsors take on a day.
const LEADS_A_DAY: usize = 420;
/// Pairs of whom one sends the other a request to connect, on a day.
const PAIRS_A_DAY: usize = 110;

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
}

/// Somebody who is there on a day.
pub struct Visit {
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
    /// How many of that the rules will refuse.
    pub refused: usize,
    /// How many `connected` the server will add.
    connected: usize,
    /// Whose ticket was sold at a till, and when: two joins each, with the event and the ticket.
    bought: HashMap<usize, i64>,
}

/// Makes up exactly [`INTERACTIONS`] interactions, those included that the server makes of mutual
/// requests to connect and of tickets sold, and a few check-ins more that the rules refuse; in the
/// order of time.
pub fn tell(
    random: &mut Random,
    programme: &Programme,
    people: &[Person],
    bought: HashMap<usize, i64>,
) -> Vec<Happening> {
    let mut story = Story {
        random,
        programme,
        people,
        happenings: Vec::with_capacity(INTERACTIONS + 200),
        refused: 0,
        connected: 0,
        bought,
    };
    let joined_s = story.join();
    let booked = story.book(&joined_s);
    let mut pairs = HashSet::new();
    for day in 0..DAYS {
        let mut visits = story.arrive(day);
        sessions::attend(&mut story, day, &mut visits, &booked);
        story.take_leads(day, &visits);
        story.connect(day, &visits, &mut pairs);
        story.leave(day, &visits);
        if day == DAYS - 1 {
            story.be_seen(day, &visits);
        }
    }
    let mut happenings = story.happenings;
    happenings.sort_by_key(|happening| happening.at_s);
    happenings
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
        });
    }

    /// Everybody is joined with the event in the weeks before, and staff owns its stand; when.
    fn join(&mut self) -> Vec<i64> {
        (0..self.people.len())
            .map(|person| {
                let mut at_s = -self.random.between(2 * DAY_S, 70 * DAY_S);
                match self.bought.get(&person) {
                    Some(bought_s) => at_s = *bought_s,
                    None => self.add(at_s, "join", person, Place::Event),
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
            self.add(at_s, "join", person, Place::Session(session));
        }
        booked
    }

    fn visitors(&self) -> Vec<usize> {
        (0..self.people.len())
            .filter(|person| self.people[*person].part == Part::Visitor)
            .collect()
    }

    /// Who comes on a day, and when: most of them within the hour before the first talk.
    fn arrive(&mut self, day: i64) -> Vec<Visit> {
        let mut visits = Vec::new();
        for person in 0..self.people.len() {
            let (percent, minute) = match self.people[person].part {
                Part::Crew => (97, self.random.between(6 * 60 + 30, 7 * 60 + 30)),
                Part::Exhibitor(_) => (92, self.random.between(7 * 60 + 30, 8 * 60 + 45)),
                _ if self.random.chance(12) => (80, self.random.between(9 * 60 + 45, 13 * 60)),
                _ => {
                    let early: i64 = (0..3).map(|_| self.random.between(0, 35)).sum();
                    (if day == 0 { 86 } else { 72 }, 8 * 60 + early)
                }
            };
            if self.random.chance(percent) {
                let from_s = day * DAY_S + minute * 60 + self.random.between(0, 59);
                self.add(from_s, "check-in", person, Place::Event);
                visits.push(Visit {
                    person,
                    from_s,
                    free_s: from_s + 120,
                });
            }
        }
        visits
    }

    /// Most check out at the door.
    fn leave(&mut self, day: i64, visits: &[Visit]) {
        for visit in visits {
            if self.random.chance(65) {
                let earliest_s = (day * DAY_S + 15 * HOUR_S).max(visit.free_s);
                let at_s = earliest_s + self.random.between(180, 2 * HOUR_S);
                self.add(at_s, "check-out", visit.person, Place::Event);
            }
        }
    }

    fn take_leads(&mut self, day: i64, visits: &[Visit]) {
        let mut staff = Vec::new();
        let mut guests = Vec::new();
        for visit in visits {
            match self.people[visit.person].part {
                Part::Exhibitor(sponsor) => staff.push((visit.person, sponsor)),
                Part::Visitor => guests.push(visit),
                Part::Speaker | Part::Crew => {}
            }
        }
        for _ in 0..LEADS_A_DAY {
            let (seller, sponsor) = *self.random.pick(&staff);
            let guest = *self.random.pick(&guests);
            let opens_s = day * DAY_S + 10 * HOUR_S;
            let at_s = self
                .random
                .between(opens_s, opens_s + 7 * HOUR_S)
                .max(guest.free_s);
            let data = self.lead_form(guest.person);
            self.happenings.push(Happening {
                at_s,
                kind: "lead",
                first: seller,
                second: Some(guest.person),
                place: Some(Place::Sponsor(sponsor)),
                data: Some(data),
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
    fn connect(&mut self, day: i64, visits: &[Visit], pairs: &mut HashSet<(usize, usize)>) {
        let mut made = 0;
        while made < PAIRS_A_DAY {
            let one = self.random.pick(visits).person;
            let other = self.random.pick(visits).person;
            if one == other || !pairs.insert((one.min(other), one.max(other))) {
                continue;
            }
            made += 1;
            let at_s = day * DAY_S + self.random.between(13 * HOUR_S, 20 * HOUR_S);
            self.ask(at_s, one, other);
            if self.random.chance(50) {
                let later_s = at_s + self.random.between(20, HOUR_S);
                self.ask(later_s, other, one);
                self.connected += 1;
            }
        }
    }

    fn ask(&mut self, at_s: i64, first: usize, second: usize) {
        self.happenings.push(Happening {
            at_s,
            kind: "connect",
            first,
            second: Some(second),
            place: None,
            data: None,
        });
    }

    /// Readers at the stands see people, as often as it takes to make the number full.
    fn be_seen(&mut self, day: i64, visits: &[Visit]) {
        let told = self.happenings.len() + self.connected + 2 * self.bought.len() - self.refused;
        for _ in told..INTERACTIONS {
            let visit = self.random.pick(visits);
            let at_s =
                visit.from_s.max(day * DAY_S + 10 * HOUR_S) + self.random.between(0, 6 * HOUR_S);
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
    use crate::{demo::Plan, types::Timestamp};

    #[test]
    fn one_seed_always_tells_the_same_story() {
        let [one, same, other] = [1, 1, 2].map(|seed| Plan::new(seed, Timestamp(0)));
        assert_eq!(one.story, same.story);
        assert_ne!(one.story, other.story);
        assert_eq!(one.people[0].body, same.people[0].body);
    }

    #[test]
    fn every_story_has_room_for_everything() {
        for seed in 0..10 {
            let plan = Plan::new(seed, Timestamp(0));
            let count = |kind| plan.story.iter().filter(|one| one.kind == kind).count();
            assert!(
                (100..1_500).contains(&count("seen")),
                "{seed}: {}",
                count("seen")
            );
            assert_eq!(count("lead"), 840);
            assert!(count("check-in") > 7_000, "{seed}: {}", count("check-in"));
            assert!(plan.story.is_sorted_by_key(|one| one.at_s));
        }
    }
}
