//! Gatepost: the on-site server for live events. One binary, one SQLite file.
//!
//! # Layout
//!
//! Imports point downward only; a test checks it. From the top down:
//!
//! - `cli`: one file per command
//! - `server`: listener, limits, TLS, middleware, routes, the OpenAPI document
//! - `hub`: the head office over many venues
//! - `admin`: the console
//! - `ops`: import, export, backup, rehearsal, check, demo
//! - `domain`: delegates, devices, events, interactions, sales, messages, webhooks, content, reports,
//!   discovery, apps, one-time passwords
//! - `identity`: users, clients, roles, tokens, sessions, OAuth, throttling, the `Granted<R>` extractor,
//!   and the `App` that every handler is given
//! - `web`: the envelope, error bodies, request bodies, paging, schema helpers
//! - `core`: records, search, sections, settings, audit, idempotency, entry rules, templates, calls to
//!   other servers
//! - `db`: the one SQLite file, its one writer and its readers; SQL of administrators in a sandbox
//! - `types`: values, errors, barcodes, counters
//!
//! Below them all are crates of their own: `src/llrp` for readers that speak LLRP, `src/sheets` for lists in files.

pub mod admin;
pub mod cli;
pub mod core;
pub mod db;
pub mod domain;
pub mod hub;
pub mod identity;
pub mod ops;
pub mod server;
pub mod types;
pub mod web;

// Templates name them from here.
pub use core::texts::{code as language, html, languages, say, scripts, t, tx};
