//! Outgoing webhooks (beyond the spec; contract §8 "Outgoing requests"): signed HTTP calls that tell what
//! happened, at least once, and in order for one record.
//!
//! Nothing is queued when something happens: each webhook reads the change feed behind its own cursor. So
//! nothing that was acknowledged is missed, whenever the process ends, and a receiver that is away for
//! days does not grow the file. Only failed deliveries, and those behind them under the same ordering
//! key, become rows: up to [`runner::PENDING_MAX`]; then reading waits, too. A body is made when it is
//! sent, from the record as it is then: of somebody who was erased, only the erasure is sent.
//!
//! # Layout
//!
//! - `webhook`: the settings; `store`: their rows; `document`: the configuration; `secret`: signatures
//! - `subscription`: which changes a webhook gets; `event`: one delivery to make; `content`: its body
//! - `runner`: what one webhook sends next, and what a result means; pure
//! - `delivery`: one call; `attempts`: the last ones, for people to look at
//! - `pending`: deliveries that wait; `state`: cursor and health; `dispatcher`: the task for all webhooks

pub mod attempts;
mod content;
mod delivery;
mod dispatcher;
pub mod document;
mod event;
pub mod pending;
pub mod runner;
pub mod secret;
pub mod state;
pub mod store;
mod subscription;
mod webhook;

pub use delivery::{Tried, test};
pub use dispatcher::Dispatcher;
pub use event::{Event, Ref, Source};
pub use pending::{Waiting, waiting};
pub use webhook::{ANY, CHANGES, Change, NewWebhook, Webhook};
