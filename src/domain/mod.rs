//! The features, each with its REST API.

pub mod apps;
pub mod badges;
pub mod certificates;
pub mod content;
pub mod delegates;
pub mod devices;
pub mod discovery;
pub mod erasure;
pub mod events;
pub mod feed;
pub mod gate;
pub mod history;
pub mod interactions;
pub mod messages;
pub mod myself;
pub mod otp;
pub mod printing;
pub mod readers;
pub mod reports;
pub mod sales;
pub mod tickets;
pub mod webhooks;
