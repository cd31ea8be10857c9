//! Interactions: what delegates did at devices (spec: Interaction; contract §6). The heart of
//! Gatepost: who is let in is decided here.
//!
//! - `types`: the types that mean something, in one table
//! - `draft`: a body to a checked draft, before the store is asked anything
//! - `forms`, `shared`: what happens to its `data`
//! - `judge`, `device_cache`: the facts that the rules of entry (`crate::core::rules`) need
//! - `record`: the use case: replay, judge, store, all in one transaction; `follow`: what follows
//! - `presence`: what a delegate did at devices, as rules need it; `inside`: the people inside one;
//!   `recount`: are those inside counted right?
//! - `batch`: many at once, in slices
//! - `answers`: outcomes as status and JSON; `schemas`: their shapes in the API's document
//! - `history`: what one delegate did, for people to read
//! - `log`: interactions and refusals as people look through them, the newest first
//! - `rows`, `list`, `embed`: reading them; `remove`: deleting one; `reassign`, `forget`: those of a
//!   person who has two records, or is erased

mod answers;
pub mod api;
pub mod batch;
pub mod device_cache;
pub mod draft;
pub mod embed;
mod follow;
pub mod forget;
pub mod forms;
pub mod history;
pub mod inside;
pub mod judge;
pub mod list;
pub(crate) mod log;
pub mod nonces;
pub mod origin;
pub mod presence;
pub mod reassign;
pub mod record;
pub mod recount;
pub mod refusals;
pub mod remove;
pub mod rows;
mod schemas;
pub mod shared;
pub mod types;
