//! The base of every feature: records and their search, sections, settings, the audit, and what administrators write in
//! SQL or as templates.

pub mod audit;
pub mod changes;
pub mod dns_sd;
pub mod door_words;
pub mod head_office;
pub mod idempotency;
pub mod keyed;
pub mod litestream;
pub mod outbox;
pub mod outgoing;
pub mod presence;
pub mod reader;
pub mod records;
pub mod rules;
pub mod scanned;
pub mod search;
pub mod sections;
pub mod services;
pub mod settings;
pub mod standby;
pub mod template;
pub mod texts;
pub mod ticket_keys;
pub mod version_cache;

pub use services::{Context, Services};
