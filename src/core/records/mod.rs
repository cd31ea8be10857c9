//! The records that can change: delegates, devices and events. Each is described once, by a
//! catalogue of its properties; reading, sparse fields, lists, writing, checking of input and the
//! OpenAPI schema all follow from it.
//!
//! - `catalogue`: what a resource and a property are
//! - `select`: rows to JSON, with sparse fields and visible properties
//! - `expand`: records within others, whole
//! - `list`: lists, in slices
//! - `input`: a JSON body to checked changes
//! - `write`: create, patch, delete softly; with audit

pub mod catalogue;
pub mod expand;
pub mod input;
pub mod list;

pub mod select;
pub mod write;

pub use catalogue::{Attachments, Brief, Field, Form, Kind, REFERENCE, Resource};
pub use expand::Expansion;
pub use input::Changes;
pub use select::Selection;
