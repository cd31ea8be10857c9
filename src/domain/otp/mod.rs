//! One-time passwords (spec: Authentication, rules 1 and 2; contract §8): six digits that are sent to
//! an e-mail address, good for ten minutes, five guesses and one sign-in.
//!
//! Nothing tells whether somebody has an address: what is asked for is counted, hashed and written in
//! the same way for all, and answered after the same time; only the mail is sent to those alone who
//! may have it. Nobody becomes a user by being asked for: that happens with the sign-in.
//!
//! Here a code is made and sent; `identity::one_time` uses it up.

pub mod api;
mod send;

pub use send::{Asker, send};

/// How long a code is good for.
pub const LIFE_S: i64 = 600;
