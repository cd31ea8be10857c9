//! UHF readers: from tag reads to `seen`, `entered` and `exited`.
//!
//! # Layout
//!
//! - `ingest`: what readers and integrators post; readers that speak LLRP are the crate `llrp`'s
//! - `config`: how readers are set up; `state`: what the console shows of them
//! - `presence`: derives who is where, a pure function of configuration and reads; `walks`: simulated
//!   people, to measure it
//! - `recording`: stores what was derived as interactions; `unknown`: tags and codes of nobody
//! - `calibration`: what a walk with a tag says; `encode`: tag numbers for a badge printer
//! - `service`: all of it together in a running server; `api`: `/reader/...`

pub mod api;
pub mod calibration;
pub mod config;
pub mod encode;
pub mod ingest;
pub mod presence;
pub mod recording;
pub mod service;
pub mod state;
pub mod unknown;
pub mod walks;

pub use llrp::{Epc, Read};
pub use service::{Accepted, Readers};
