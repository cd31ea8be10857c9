//! Which delegate goes through which session's door next. Every lane (a connection) has delegates
//! of its own, so that no two lanes ever disturb each other's check-ins, and walks all of its
//! (delegate, session) pairs in a scattered order, so that the file's pages are met at random.

use crate::Result;
use gatepost::types::random::SplitMix64;
use std::time::{SystemTime, UNIX_EPOCH};

/// A delegate at a session.
#[derive(Clone, Copy)]
pub struct Pair {
    /// Counted from 1, as in the barcode.
    pub delegate: u64,
    pub device: i64,
}

/// The barcode that `load prepare` gives to a delegate.
pub fn barcode(delegate: u64) -> String {
    format!("L{delegate:07}")
}

/// The endless walk of one lane.
pub struct Pairs {
    lane: u64,
    lanes: u64,
    delegates: u64,
    devices: Vec<i64>,
    stride: u64,
    at: u64,
}

impl Pairs {
    /// The walk of lane `lane` of `lanes`.
    pub fn new(delegates: u64, devices: &[i64], lane: usize, lanes: usize) -> Result<Self> {
        let (lane, lanes) = (lane as u64, lanes as u64);
        if delegates < lanes {
            return Err(format!(
                "{lanes} connections need as many delegates, there are {delegates}"
            )
            .into());
        }
        let delegates = (delegates + lanes - 1 - lane) / lanes;
        let size = delegates * devices.len() as u64;
        Ok(Self {
            lane,
            lanes,
            delegates,
            devices: devices.to_vec(),
            stride: scattering_stride(size),
            at: seed(lane) % size,
        })
    }

    /// How many pairs there are before the first comes again.
    pub fn len(&self) -> usize {
        usize::try_from(self.delegates)
            .unwrap_or(usize::MAX)
            .saturating_mul(self.devices.len())
    }

    pub fn next(&mut self) -> Pair {
        let devices = self.devices.len() as u64;
        self.at = (self.at + self.stride) % (self.delegates * devices);
        let device = usize::try_from(self.at % devices).unwrap_or(0);
        Pair {
            delegate: (self.at / devices) * self.lanes + self.lane + 1,
            device: self.devices[device],
        }
    }
}

/// A step that visits every one of `size` places before any again, the golden ratio's part of it:
/// however many places were visited, they lie evenly, and none that were visited of late is near.
pub fn scattering_stride(size: u64) -> u64 {
    let golden = u128::from(size) * 618_033_988_749 / 1_000_000_000_000;
    let mut stride = u64::try_from(golden).unwrap_or(1).max(1);
    while gcd(stride, size) != 1 {
        stride += 1;
    }
    stride
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Another beginning for each run and lane.
pub fn seed(lane: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| u64::from(now.subsec_nanos()) ^ now.as_secs());
    scrambled(now.wrapping_add(lane << 32))
}

/// A number that looks random, from one that does not.
pub fn scrambled(number: u64) -> u64 {
    SplitMix64::new(number).next_u64()
}

pub fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs())
}

/// Nonces as an app would make them: time-ordered, like UUID version 7.
pub struct Nonces {
    state: u64,
}

impl Nonces {
    pub fn new(lane: u64) -> Self {
        Self { state: seed(lane) }
    }

    pub fn next(&mut self) -> String {
        self.state = self.state.wrapping_add(1);
        let random = scrambled(self.state);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let ms = now.map_or(0, |now| now.as_millis()) & 0xFFFF_FFFF_FFFF;
        format!(
            "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
            ms >> 16,
            ms & 0xFFFF,
            random >> 52,
            0x8000 | (self.state & 0x3FFF),
            random & 0xFFFF_FFFF_FFFF
        )
    }
}
