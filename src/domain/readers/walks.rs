//! Simulated people with tags, to measure presence and to try a setup without a venue.
//!
//! The model, and where its numbers come from:
//!
//! - Rooms stand in a row, an antenna in the middle of each. A tag in a room is heard there at -48 to -60 dBm
//!   (passive tags at 2 to 5 m with 30 dBm and 6 dBi, free-space loss of a logarithmic path with exponent
//!   2 to 2.5 as measured indoors) and next door 6 dB weaker, which is a thin wall.
//! - Bodies shadow: a level that changes slowly, with a standard deviation of 3 dB. Multipath fading adds 3 dB that
//!   are new for each read. Both are usual in studies of UHF tags near people.
//! - An inventory round reads a tag with a probability of 65 %, as single passes do in the field, three rounds a
//!   second for each antenna.
//! - Every three minutes or so somebody covers their tag for 5 to 20 s: a body directly on a tag takes 15 to 25 dB,
//!   and nothing is heard.
//! - Now and then a reflection lets another antenna of the row hear a tag for a second almost as well.
//! - Between rooms people walk through a corridor for 15 to 60 s, which the antennas behind its doors hear at the edge
//!   of their range.

use super::presence::{AntennaPlace, Derived, DerivedKind, Layout, Presence, TagRead};
use crate::{
    core::presence::{PresenceSettings, Zone},
    types::random::SplitMix64,
};

/// Rounds of an antenna in a second.
const ROUNDS: u32 = 3;
const WALL_DB: f32 = 6.0;

/// The options of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub people: u32,
    pub places: u32,
    pub minutes: u32,
    /// The share of rounds in which a tag is read.
    pub read_rate: f32,
    /// The time that somebody stays in a room: at least and at most.
    pub stay_s: [u32; 2],
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            people: 3_000,
            places: 12,
            minutes: 60,
            read_rate: 0.65,
            stay_s: [300, 3_600],
            seed: 1,
        }
    }
}

/// The random choices of a seed.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// From 0 to below 1.
    #[expect(clippy::cast_precision_loss, reason = "24 bits")]
    pub fn share(&mut self) -> f32 {
        (self.0.next_u64() >> 40) as f32 / (1_u64 << 24) as f32
    }

    fn between(&mut self, least: f32, most: f32) -> f32 {
        least + (most - least) * self.share()
    }

    /// Roughly normal, with a standard deviation of 1.
    pub fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.share()).sum::<f32>() * 1.414 - 4.242
    }

    fn below(&mut self, most: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "small"
        )]
        let number = (self.share() * most as f32) as u32;
        number.min(most - 1)
    }

    fn seconds(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }
}

/// Somebody with a tag.
#[derive(Debug, Clone)]
struct Walker {
    /// The room, or none in the corridor.
    room: Option<u32>,
    /// The room that they walk to.
    next: u32,
    /// Seconds until they go on.
    left: u32,
    level: f32,
    shadow: f32,
    covered: u32,
    /// The room where a reflection is heard, for this second.
    reflected: Option<u32>,
}

/// People who walk.
pub struct Walks {
    options: Options,
    random: Random,
    walkers: Vec<Walker>,
}

impl Walks {
    pub fn new(options: Options) -> Self {
        let mut random = Random::new(options.seed);
        let [least, most] = options.stay_s;
        let walkers = (0..options.people).map(|_| {
            let room = random.below(options.places);
            Walker {
                room: Some(room),
                next: room,
                left: random.seconds(least / 5, most / 3 * 2),
                level: random.between(-60.0, -48.0),
                shadow: 0.0,
                covered: 0,
                reflected: None,
            }
        });
        let walkers = walkers.collect();
        Self {
            options,
            random,
            walkers,
        }
    }

    /// The room of everybody now; none in the corridor.
    pub fn rooms(&self) -> impl Iterator<Item = Option<u32>> {
        self.walkers.iter().map(|walker| walker.room)
    }

    /// Lets a second go by that begins at `at_ms`, and gives the reads: tags are numbered as people are, and each
    /// room has the reader of its number, with one antenna.
    pub fn second(&mut self, at_ms: i64, reads: &mut Vec<TagRead>) {
        let (options, random) = (&self.options, &mut self.random);
        for (tag, walker) in (0..).zip(&mut self.walkers) {
            walker.step(options, random);
            if walker.covered > 0 {
                continue;
            }
            for antenna in 0..options.places {
                let Some(level) = walker.heard_by(antenna) else {
                    continue;
                };
                for round in 0..ROUNDS {
                    if random.share() < options.read_rate {
                        let offset = i64::from(round * 1000 / ROUNDS)
                            + i64::from(random.below(1000 / ROUNDS));
                        reads.push(TagRead {
                            tag,
                            reader: antenna.into(),
                            antenna: 1,
                            rssi_dbm: level + walker.shadow + 3.0 * random.normal(),
                            at_ms: at_ms + offset,
                        });
                    }
                }
            }
        }
    }
}

impl Walker {
    fn step(&mut self, options: &Options, random: &mut Random) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            if self.room.is_some() {
                self.next = random.below(options.places);
                self.room = None;
                self.left = random.seconds(15, 60);
            } else {
                self.room = Some(self.next);
                self.left = random.seconds(options.stay_s[0], options.stay_s[1]);
                self.level = random.between(-60.0, -48.0);
            }
        }
        // A time constant of ten seconds.
        self.shadow = self.shadow * 0.9 + 3.0 * 0.436 * random.normal();
        if self.covered > 0 {
            self.covered -= 1;
        } else if random.share() < 1.0 / 180.0 {
            self.covered = random.seconds(5, 20);
        }
        let is_reflected = random.share() < 1.0 / 200.0;
        self.reflected = is_reflected.then(|| random.below(options.places));
    }

    /// The mean level at which an antenna hears the tag.
    fn heard_by(&self, antenna: u32) -> Option<f32> {
        let Some(room) = self.room else {
            // Past the door of the room ahead.
            return (antenna == self.next && self.left < 5).then_some(-68.0);
        };
        if antenna == room {
            return Some(self.level);
        }
        if antenna.abs_diff(room) == 1 {
            return Some(self.level - WALL_DB);
        }
        (self.reflected == Some(antenna)).then_some(self.level - 3.0)
    }
}

/// The accuracy of presence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The share of time that people were shown where they were, from five seconds after they came.
    pub right: f64,
    /// Exits of people who were still there, in 10,000 minutes of a person.
    pub false_exits: f64,
    pub person_minutes: f64,
    /// Seconds from the arrival in a room until it is noticed: in the middle, and for 95 of 100.
    pub noticed_s: [u32; 2],
    pub reads: u64,
}

/// The layout of the simulated rooms: place N has the reader N.
pub fn layout(places: u32, settings: &PresenceSettings) -> Layout {
    let antennas = (0..i64::from(places)).map(|place| AntennaPlace {
        reader: place,
        antenna: Some(1),
        place,
        zone: Zone::Room,
    });
    Layout::new(antennas, [], settings)
}

/// From so many seconds after an arrival on, presence is to be right.
const GRACE: u32 = 5;

/// Lets people walk, and compares where presence has them with where they are.
pub fn measure(options: Options, settings: &PresenceSettings) -> Accuracy {
    let mut walks = Walks::new(options);
    let mut presence = Presence::new(layout(options.places, settings));
    let mut comparison = Comparison::new(options.people as usize);
    let (mut batch, mut derived) = (Vec::new(), Vec::<Derived>::new());
    let mut reads = 0_u64;
    for second in 0..i64::from(options.minutes) * 60 {
        batch.clear();
        walks.second(second * 1000, &mut batch);
        reads += batch.len() as u64;
        for read in &batch {
            presence.push(*read);
        }
        derived.clear();
        presence.advance((second + 1) * 1000, &mut derived);
        comparison.walk(walks.rooms());
        for one in &derived {
            comparison.note(one, second);
        }
        comparison.compare();
    }
    let person_minutes = f64::from(options.people) * f64::from(options.minutes);
    comparison.accuracy(person_minutes, reads)
}

/// The rooms of people and those that presence has them in, by the person, with how often these were the same.
struct Comparison {
    /// The rooms of this second and of the two before. Presence is two seconds behind: it is compared with where people
    /// were then.
    rooms: [Vec<Option<u32>>; 3],
    /// The room that presence has them in.
    shown: Vec<Option<u32>>,
    /// Seconds since they came into their room, two seconds ago.
    since: Vec<u32>,
    /// Seconds after which presence noticed that.
    noticed: Vec<Option<u32>>,
    delays: Vec<u32>,
    right: u64,
    wrong: u64,
    false_exits: u64,
}

impl Comparison {
    fn new(people: usize) -> Self {
        Self {
            rooms: std::array::from_fn(|_| vec![None; people]),
            shown: vec![None; people],
            since: vec![0; people],
            noticed: vec![None; people],
            delays: Vec::new(),
            right: 0,
            wrong: 0,
            false_exits: 0,
        }
    }

    /// Takes in where people are now.
    fn walk(&mut self, rooms: impl Iterator<Item = Option<u32>>) {
        self.rooms.rotate_right(1);
        self.rooms[0] = rooms.collect();
    }

    /// Takes in what presence derived in a second.
    fn note(&mut self, one: &Derived, second: i64) {
        let person = usize::try_from(one.tag).unwrap_or_default();
        let place = u32::try_from(one.place).ok();
        match one.kind {
            DerivedKind::Entered => self.shown[person] = place,
            DerivedKind::Exited => {
                self.shown[person] = None;
                // Still there, and there all the time since the last read.
                let silent = second - 2 - one.at_ms / 1000;
                let is_there = self.rooms[0][person] == place
                    && self.rooms[2][person] == place
                    && i64::from(self.since[person]) >= silent;
                self.false_exits += u64::from(is_there);
            }
            DerivedKind::Seen => {}
        }
    }

    /// Compares, once a second is over.
    fn compare(&mut self) {
        for (person, room) in self.rooms[2].iter().enumerate() {
            let (since, noticed) = (&mut self.since[person], &mut self.noticed[person]);
            if room.is_none() {
                (*since, *noticed) = (0, None);
                continue;
            }
            *since += 1;
            let is_right = self.shown[person] == *room;
            if is_right && noticed.is_none() {
                *noticed = Some(*since);
                self.delays.push(*since);
            }
            if *since > GRACE {
                self.right += u64::from(is_right);
                self.wrong += u64::from(!is_right);
            }
        }
    }

    fn accuracy(mut self, person_minutes: f64, reads: u64) -> Accuracy {
        self.delays.sort_unstable();
        let delay = |percent: usize| {
            let at = self.delays.len() * percent / 100;
            self.delays.get(at).copied().unwrap_or_default()
        };
        #[expect(clippy::cast_precision_loss, reason = "shares of counts")]
        let (right, all, false_exits) = (
            self.right as f64,
            (self.right + self.wrong) as f64,
            self.false_exits as f64,
        );
        Accuracy {
            right: right / all,
            false_exits: false_exits / person_minutes * 10_000.0,
            person_minutes,
            noticed_s: [delay(50), delay(95)],
            reads,
        }
    }
}
