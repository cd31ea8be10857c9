//! Content regions: templates that are rendered for a delegate or a device, at the paths that apps
//! ask for (spec: Content region; contract §8).
//!
//! - [`path`]: which paths there can be, and what an app asks for; [`region`]: a region as it is
//!   kept and as it is answered
//! - [`edit`]: every save is a version, and any version can be taken up again
//! - [`compose`]: regions rendered for one record

pub mod api;
pub mod compose;
pub mod difference;
pub mod edit;
pub mod path;
pub mod preview;
pub mod region;

pub use compose::Subject;
pub use edit::{create, remove, restore, save};
pub use path::Of;
pub use region::{Checked, Draft, Region, Version};
