//! Gate apps: phones, tablets and laptops that let people in, with the role `ROLE_OAUTH2_GATE` alone. They
//! check in and out at the places of their settings, and know of attendees what a gate shows.
//!
//! - `place`: a place with its rules; `list`: the attendees as a gate keeps them for when it is offline,
//!   `attendee`: one of them
//! - `walk_in`, `codes`: people who come without a ticket; `badge`: a lost badge; `find`: attendees who look
//!   themselves up at a kiosk
//! - `evacuation`: who is inside a place and was seen outside
//! - `fleet`: every gate with what is wrong at it; `files`: the files of the app
//! - elsewhere: `apps::gate_settings`, what the app's settings say; `interactions::confine`, what it may record

pub mod api;
mod attendee;
mod badge;
mod codes;
mod evacuation;
pub mod files;
mod find;
pub mod fleet;
mod list;
mod place;
pub mod schemas;
#[cfg(test)]
mod shared;
mod tickets;
pub mod walk_in;
