//! One-time passwords (spec: Authentication, rules 1 and 2; contract §8): six digits that are sent to
//! an e-mail address, good for ten minutes, five guesses and one sign-in.
//!
//! The answer never reveals whether an address is known: every request is counted, hashed and written in
//! the same way, and answered after the same time; only the mail goes to known addresses alone.
//! Users are created at sign-in, not before.
//!
//! Here a code is made and sent; `identity::one_time` uses it up.

pub mod api;
mod send;

pub use send::{Asker, send};

/// The life of a code, in seconds.
pub const LIFE_S: i64 = 600;
