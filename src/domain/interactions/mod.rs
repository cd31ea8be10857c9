//! Interactions: what delegates did at devices (spec: Interaction; contract §6). The heart of
//! Gatepost: admission is decided here.
//!
//! - `types`: the types that mean something, in one table, and what follows from them
//! - `draft`: a body to a checked draft, before the store is read
//! - `forms`, `shared`: what happens to its `data`
//! - `judge`: the facts that the rules of entry (`crate::core::rules`) need
//! - `record`: the use case: replay, judge, store, all in one transaction
//! - `presence`: what a delegate did at devices, as rules need it; `inside`: the people inside one;
//!   `recount`: corrects their counts
//! - `everybody_out`: check-outs of everybody inside a place, at a time of the day
//! - `answers`: outcomes as status and JSON, and many at once; `schemas`: their shapes in the API's document
//! - `undo`: who may take back what, on which page of the console
//! - `unregistered`: places that refuse everybody, as nobody is registered
//! - `history`: what one delegate did, for people to read
//! - `log`: interactions and refusals as people look through them, the newest first
//! - `live`: those that something may follow from, as they happened just now
//! - `late_codes`: scans of codes that an import brought later
//! - `rows`, `list`: reading them; `remove`: deleting them, and moving those of a merged record; `walk_in`:
//!   whom an undo takes along

pub mod answers;
pub mod api;
pub mod arrivals;
pub mod confine;
pub mod days;
pub mod desk;
pub mod draft;
pub mod evacuation;
pub mod everybody_out;
pub mod forms;
pub mod history;
pub mod inside;
pub mod judge;
pub mod late_codes;
pub mod list;
pub mod live;
pub(crate) mod log;
pub mod nonces;
pub mod presence;
pub mod record;
pub mod recount;
pub mod refusals;
pub mod refusing_rule;
pub mod remove;
pub mod rows;
pub mod schemas;
pub mod shared;
pub mod spelling;
#[cfg(test)]
mod tests;
pub mod types;
pub mod undo;
pub mod unregistered;
pub mod walk_in;
