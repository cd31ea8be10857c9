//! Outgoing webhooks (beyond the spec; contract §8 "Outgoing requests"): signed HTTP calls that tell what
//! happened, at least once, and in order for one record.
//!
//! Nothing is stored for them when something happens: each is a destination of the outbox that follows the
//! change feed. So nothing that was acknowledged is missed, whenever the process ends, and a receiver that
//! is away for days does not grow the file. A body is made when it is sent, and has the record as it was after
//! the change; of whoever was erased, nothing but ids.
//!
//! # Layout
//!
//! - `webhook`: the settings; `store`: their rows; `document`: the configuration; `secret`: signatures
//! - `subscription`: which changes a webhook gets; `content`: the body of a delivery; `past`: records as
//!   they were
//! - `delivery`: one call; `attempts`: the last ones, for people to look at
//! - `decisions`: what people do, such as pause and resume; `health`: how it goes
//! - `api`: all that for programs; `schemas`: its shapes

pub mod api;
pub mod attempts;
mod content;
pub mod decisions;
mod delivery;
pub mod document;
mod health;
mod past;
pub mod schemas;
pub mod secret;
pub mod store;
mod subscription;
mod webhook;

pub use decisions::{Waiting, waiting};
pub use delivery::{AT_ONCE, Tried, Webhooks, test};
pub use health::Health;
pub use store::destination;
pub use webhook::{ANY, CHANGES, Change, NewWebhook, Webhook};
