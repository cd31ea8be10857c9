//! One-time passwords (spec: Authentication, rules 1 and 2; contract §8): six digits that are sent to
//! an e-mail address, good for ten minutes, five guesses and one sign-in.
//!
//! Nothing tells whether somebody has an address: what is asked for is counted, hashed and written in
//! the same way for all, and answered after the same time; only the mail is sent to those alone who
//! may have it. Nobody becomes a user by being asked for: that happens with the sign-in.
//!
//! - `send`: making a code and sending it; `sign_in`: using it up

pub mod api;
mod send;
mod sign_in;

pub use send::{Asker, send};
pub use sign_in::{is_code, is_pending, redeem, take_try};

/// The digits of a code.
const DIGITS: usize = 6;
/// How long a code is good for.
pub const LIFE_S: i64 = 600;
/// How often a code may be guessed at.
const TRIES_MAX: i64 = 5;
