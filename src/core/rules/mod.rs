//! The rules of entry, pure: no SQL, no clock, no HTTP (contract §6).
//!
//! - `access`: what a device's `data.Access` says
//! - `passage`: what follows for one check-in or check-out; `interactions::judge` gathers the facts

mod access;
mod passage;
#[cfg(test)]
mod tests;

pub use access::{AccessRules, Entry, RuleSet};
pub use passage::{CheckInFacts, Passage, Place, Position, PresenceState, Room, judge, unreadable};
