//! The groups of operations in the API's document.

use poem_openapi::Tags;

/// A group of operations.
#[derive(Tags)]
pub enum Tag {
    /// Attendees.
    Delegates,
    /// Rooms, sessions, readers, apps, products.
    Devices,
    /// Top-level devices that others are joined to.
    Events,
    /// What delegates did at devices.
    Interactions,
    /// Apps that ask to be let in.
    Discovery,
    /// Lists that an administrator defined.
    Reports,
    /// Purchases.
    Transactions,
    /// What changed, in order.
    Changes,
    /// Regions that are rendered for a delegate or a device.
    Content,
    /// Tokens.
    Authentication,
    /// The service itself.
    Service,
}
