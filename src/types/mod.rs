//! Values that the whole product speaks in: ids, selectors, time, patches, JSON limits. Pure; no
//! SQL statement, no HTTP.

pub mod barcode;
pub mod error;
pub mod fold;
pub mod id;
pub mod json;
pub mod observe;
pub mod os;
pub mod random;
pub mod scanned;
pub mod secret;
pub mod selector;
pub mod signed_ticket;
pub mod spreadsheet;
pub mod text;
pub mod time;

pub use id::{ClientId, DelegateId, DeviceId, InteractionId, UserId};
pub use json::Patch;
pub use selector::{DelegateCode, DelegateSelector, DeviceSelector, EventSelector};
pub use time::{Day, LocalMinute, TimeOfDay, Timestamp, Zone};
