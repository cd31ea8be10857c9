//! Gatepost: the on-site server for live events. One binary, one SQLite file.
//!
//! # Layout
//!
//! Imports point downward only; a test checks it.
//!
//! - `cli`: the commands; `server`: routes, limits, the API's document
//! - `console`: the administration console
//! - `demo`: an invented event, into an empty file; `check`: is a file whole, and what if not?
//! - `import`, `export`: lists from outside into the file, and out of it; `backup`: the file, to a
//!   checked copy
//! - `webhooks`: others are told by HTTP what happens
//! - `transactions`: purchases at a till; `reports`: lists that an administrator defined in SQL
//! - `comms`: e-mail, texts and push: templates, the outbox, gateways, automations
//! - `content`: regions that are rendered for a record
//! - `delegates`, `devices`, `events`, `interactions`: the features, each with its REST API
//! - `discovery`, `apps`: apps that ask to be let in; what they are to do, and whether they are there
//! - `oauth`: the token endpoint; `otp`: one-time passwords
//! - `records`: what delegates, devices and events share: catalogues of properties, lists, writes
//! - `idempotency`, `web`: what features stand on
//! - `search`: the search language of lists, to SQL; `sections`: schemas of parts of `data`
//! - `app`: what every handler is given
//! - `settings`, `audit`, `auth`: what is in force, who changed what, who may
//! - `sandbox`: SQL that an administrator wrote, where it can do no harm; `template`: the same for
//!   templates
//! - `store`: the one SQLite file, its one writer and its readers
//! - `outgoing`: calls to others by HTTP, and where they may go
//! - `rules`: who may enter where, pure; `barcode`: ticket codes with check symbols, pure
//! - `observe`: what is counted while it runs
//! - `types`, `error`: the values and failures that everything speaks in

pub mod app;
pub mod apps;
pub mod audit;
pub mod auth;
pub mod backup;
pub mod barcode;
pub mod check;
pub mod cli;
pub mod comms;
pub mod console;
pub mod content;
pub mod delegates;
pub mod demo;
pub mod devices;
pub mod discovery;
pub mod error;
pub mod events;
pub mod export;
pub mod idempotency;
pub mod import;
pub mod interactions;
pub mod oauth;
pub mod observe;
pub mod otp;
pub mod outgoing;
pub mod records;
pub mod reports;
pub mod rules;
pub mod sandbox;
pub mod search;
pub mod sections;
pub mod server;
pub mod settings;
pub mod store;
pub mod template;
pub mod transactions;
pub mod types;
pub mod web;
pub mod webhooks;
