//! Purchases at a till (spec: Transaction endpoint; contract §8): always accepted, kept word for
//! word, loaded as far as possible; what does not fit is told, and a person works through it.

pub mod api;
mod load;
mod sale;

pub use load::resume;
pub use sale::{Inconsistency, Sale};
