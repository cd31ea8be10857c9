//! One integration binary that drives the real server over HTTP, with a real file. Modules mirror
//! the API's addresses and the promises of the contract.

#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    clippy::panic,
    reason = "a test that panics has failed, and counts here are small"
)]

mod api;
mod browser;
mod cli;
mod comms;
mod console;
mod data;
mod erasure;
mod examples;
mod faults;
mod gate;
mod handbook;
mod harness;
mod head_office;
mod http;
mod input;
mod layers;
mod loopback;
mod onboarding;
mod openapi;
#[cfg(target_os = "linux")]
mod package;
#[cfg(target_os = "linux")]
mod printing;
mod readers;
mod reports;
mod schemathesis;
mod smoke;
#[cfg(target_os = "linux")]
mod standby;
mod tables;
mod texts;
mod webhooks;
