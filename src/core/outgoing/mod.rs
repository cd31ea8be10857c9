//! The one way in which Gatepost calls others by HTTP: gateways for texts and push, webhooks
//! (contract §8). It calls only addresses that an administrator set, follows no redirect, asks no
//! proxy, ends after [`WHOLE_MAX`], and takes no more than [`BODY_MAX_BYTES`] of an answer.
//!
//! Where it may not go is judged on the address that a name stands for at the moment of connecting,
//! so that a name cannot mean one machine when it is looked at and another when it is called:
//!
//! - never: addresses of a cloud's own metadata, multicast, broadcast;
//! - only with the setting `outgoing.allowLocal`: this machine (loopback, unspecified, the addresses of
//!   its interfaces) and link-local addresses;
//! - always: the internet and private networks, as a venue's gateways are on its LAN.
//!
//! Certificates are checked against those that the operating system trusts, so that an authority
//! of the house's own counts once it is installed there. On a machine that trusts none, plain HTTP
//! works and HTTPS says why not.

mod client;
mod reach;

pub use client::{
    Answer, BODY_MAX_BYTES, Client, Failure, Lookup, Request, System, WHOLE_MAX, tls_config,
};
pub use reach::{Reach, check_private_url, check_reader, check_url, judge, judge_reader};
pub use reqwest::{Method, header::HeaderMap};
