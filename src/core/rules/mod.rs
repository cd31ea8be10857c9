//! The rules of entry, pure: no SQL, no clock, no HTTP (contract §6).
//!
//! - `access`: what a device's `data.Access` says
//! - `types`: which types of attendees may enter, and when
//! - `passage`: what follows for one check-in or check-out; `interactions::judge` gathers the facts

mod access;
mod passage;
#[cfg(test)]
mod tests;
mod types;

pub use access::{AccessRules, Entry, Per, RuleSet};
pub use passage::{
    CheckInFacts, Door, Passage, Place, Position, PresenceState, Room, judge, unreadable,
};
pub use types::{Hours, TypeList, TypeTime, TypeTimes, folded};
