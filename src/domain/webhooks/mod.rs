//! Outgoing webhooks (beyond the spec; contract §8 "Outgoing requests"): whoever subscribes is told
//! by HTTP what happens, signed, at least once, and in order for one record.
//!
//! Nothing is queued when something happens, so that a check-in costs what it did before. What
//! happened stands in `interactions` and `audit` anyway; each webhook keeps how far it has come in
//! both, and reads on from there. So nothing that was acknowledged is missed, whenever the process
//! ends, and a receiver that is away for days makes the file no larger. Only what a receiver does
//! not take is written down, by name, with what waits behind it: up to [`runner::HELD_MAX`]; then
//! reading waits, too. What is sent is made when it is sent, from the record as it stands then: of
//! somebody who was erased meanwhile nothing is told but that.
//!
//! # Layout
//!
//! - `webhook`: what a subscription is; `store`: where it is kept; `secret`: what it is signed by
//! - `event`: something to be told; `tail`: what happened since; `content`: the words for it
//! - `runner`: what of one webhook is sent next, and what an outcome means; pure
//! - `courier`: one delivery; `attempts`: the last of them, kept for people to look at
//! - `document`: webhooks in the configuration
//! - `waiting`: how much is not told yet
//! - `state`: how far it has come, in the file; `round`: all of them, for as long as the server runs

pub mod attempts;
mod content;
mod courier;
pub mod document;
mod event;
pub mod held;
mod round;
pub mod runner;
pub mod secret;
pub mod state;
pub mod store;
mod waiting;
mod wanted;
mod webhook;

pub use courier::{Tried, test};
pub use event::{Event, Ref, Source};
pub use round::Dispatcher;
pub use waiting::{Waiting, waiting};
pub use webhook::{ANY, CHANGES, Change, NewWebhook, Webhook};
