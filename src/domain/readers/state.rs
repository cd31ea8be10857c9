//! The state of each reader for the console: its connection, what its antennas hear, and the way of a tag that somebody
//! walks with.

use super::{Epc, Read};
use crate::types::Timestamp;
use llrp::Difference;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    time::Duration,
};
use tokio::time::Instant;

/// A reader that posts counts as connected for so long after its last reads.
const POSTED_MS: i64 = 60_000;
/// A tag is there for so long after its last read.
const TAG_MS: i64 = 5_000;
/// Tags of a reader that are told apart.
const TAGS_MAX: usize = 20_000;
/// Antennas of a reader that are shown.
const ANTENNAS_MAX: usize = 64;
/// The weight of a new read in the shown level.
const SMOOTHING: f32 = 0.1;
/// Reads of the followed tag that are kept, and how long somebody is followed.
const FOLLOWED_MAX: usize = 20_000;
const FOLLOWED_MS: i64 = 15 * 60_000;

/// Reads that come so late do not tell of a clock that is behind.
const LATE_MS: i64 = 1_000;
/// A post that comes so much later than others tells of a clock that was set, or of reads that were held back.
const JUMP_US: i64 = 10_000_000;

/// The state of the connection between the server and a reader.
#[derive(Debug, Clone, Default)]
pub enum Connection {
    /// The reader posts; nothing came yet.
    #[default]
    Waiting,
    /// The reader posted something lately.
    Posting,
    Connecting,
    Connected(llrp::Capabilities),
    Down {
        reason: String,
        retry_in: Duration,
    },
}

/// A reader at work.
#[derive(Debug, Clone, Default)]
pub struct ReaderState {
    pub connection: Connection,
    pub since: Option<Timestamp>,
    /// The lead of the reader's clock.
    pub clock_offset_ms: Option<i64>,
    /// The complaints since the last try to connect.
    pub warnings: Vec<String>,
    pub antennas: BTreeMap<u16, AntennaState>,
    pub last_read: Option<Timestamp>,
    pub reads: u64,
    /// Reads that could not be kept.
    pub dropped: u64,
    /// Reads of tags that the prefix rules out.
    pub ignored: u64,
    /// Reads of tags that no attendee has.
    pub unknown: u64,
    tags: HashMap<Epc, i64>,
    /// The delay of the newest reads of posts.
    lateness: Difference,
}

/// An antenna at work.
#[derive(Debug, Clone, Default)]
pub struct AntennaState {
    /// Reads of the last whole second.
    pub rate: u32,
    /// The level of what it hears, smoothed.
    pub rssi_dbm: Option<f32>,
    pub last_read: Option<Timestamp>,
    /// The reader's finding whether an antenna is at the port.
    pub is_connected: Option<bool>,
    counted: u32,
}

impl ReaderState {
    /// Notes a read that arrived `now`.
    pub fn note(&mut self, read: &Read, now: Timestamp) {
        self.reads += 1;
        self.last_read = Some(now);
        if self.antennas.len() < ANTENNAS_MAX || self.antennas.contains_key(&read.antenna) {
            let antenna = self.antennas.entry(read.antenna).or_default();
            antenna.counted += 1;
            antenna.last_read = Some(now);
            let level = antenna.rssi_dbm.unwrap_or(read.rssi_dbm);
            antenna.rssi_dbm = Some(level + SMOOTHING * (read.rssi_dbm - level));
        }
        if let Some(at) = self.tags.get_mut(&read.epc) {
            *at = now.0;
        } else if self.tags.len() < TAGS_MAX {
            self.tags.insert(read.epc, now.0);
        }
    }

    /// Learns how far the clock of a reader that posts is ahead, by the newest read of a post. The post that came
    /// fastest in a minute tells.
    pub fn learn_clock(&mut self, newest_ms: i64, now: Timestamp) -> i64 {
        let late_us = now.0.saturating_sub(newest_ms).saturating_mul(1000);
        let mut least_us = self.lateness.learn(late_us, Instant::now());
        if late_us.saturating_sub(least_us) > JUMP_US {
            self.lateness = Difference::default();
            least_us = self.lateness.learn(late_us, Instant::now());
        }
        let late_ms = least_us.div_euclid(1000);
        let ahead_ms = if (0..=LATE_MS).contains(&late_ms) {
            0
        } else {
            -late_ms
        };
        self.clock_offset_ms = Some(ahead_ms);
        ahead_ms
    }

    /// Tags that are there.
    pub fn tags(&self) -> usize {
        self.tags.len()
    }

    /// Reads a second, all antennas together.
    pub fn rate(&self) -> u32 {
        self.antennas.values().map(|antenna| antenna.rate).sum()
    }

    /// Returns whether somebody should look after it.
    pub fn is_down(&self) -> bool {
        matches!(self.connection, Connection::Down { .. })
    }

    /// A second is over.
    pub fn second(&mut self, now: Timestamp) {
        for antenna in self.antennas.values_mut() {
            antenna.rate = std::mem::take(&mut antenna.counted);
        }
        self.tags.retain(|_, at| now.0 - *at <= TAG_MS);
        if matches!(self.connection, Connection::Posting)
            && self.last_read.is_none_or(|at| now.0 - at.0 > POSTED_MS)
        {
            self.connection = Connection::Waiting;
            self.since = self.last_read;
        }
    }

    /// Changes the connection, if it is another.
    pub fn connection(&mut self, connection: Connection, now: Timestamp) {
        if std::mem::discriminant(&connection) != std::mem::discriminant(&self.connection) {
            self.since = Some(now);
        }
        self.connection = connection;
    }
}

/// The tag that somebody walks with, to see which antennas hear it.
#[derive(Debug)]
pub struct Followed {
    pub epc: Epc,
    pub since: Timestamp,
    pub reads: VecDeque<FollowedRead>,
}

/// A read of the followed tag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FollowedRead {
    pub reader: i64,
    pub antenna: u16,
    pub rssi_dbm: f32,
    pub at: Timestamp,
}

impl Followed {
    pub fn new(epc: Epc, since: Timestamp) -> Self {
        Self {
            epc,
            since,
            reads: VecDeque::new(),
        }
    }

    /// Notes a read of whatever tag.
    pub fn note(&mut self, reader: i64, read: &Read) {
        if read.epc != self.epc {
            return;
        }
        if self.reads.len() == FOLLOWED_MAX {
            self.reads.pop_front();
        }
        self.reads.push_back(FollowedRead {
            reader,
            antenna: read.antenna,
            rssi_dbm: read.rssi_dbm,
            at: Timestamp(read.at_ms),
        });
    }

    /// Returns whether it goes on.
    pub fn goes_on(&self, now: Timestamp) -> bool {
        now.0 - self.since.0 <= FOLLOWED_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists what is learned from posts: when each arrives, and how long before its newest read was, by the reader's
    /// clock.
    fn learned(posts: &[(i64, i64)]) -> Vec<i64> {
        let mut state = ReaderState::default();
        let ahead = posts
            .iter()
            .map(|(at, before)| state.learn_clock(at - before, Timestamp(*at)));
        ahead.collect()
    }

    #[test]
    fn the_post_that_came_fastest_sets_the_clock_of_its_reader() {
        // Right, though the last post tells of a tag that left.
        let right = [(10_000, 80), (12_000, 1_900), (14_000, 3_500), (16_000, 90)];
        assert_eq!(learned(&right), [0, 0, 0, 0]);
        assert_eq!(
            learned(&[(10_000, 10_050), (12_000, 11_000)]),
            [-10_050, -10_050]
        );
        // Ahead; a later post cannot have come before it was read.
        assert_eq!(
            learned(&[(10_000, -7_000), (12_000, -9_000)]),
            [7_000, 9_000]
        );
        // Set back by an hour.
        let set_back = [(10_000, 100), (12_000, 3_600_100), (14_000, 3_600_050)];
        assert_eq!(learned(&set_back), [0, -3_600_100, -3_600_050]);
    }
}
