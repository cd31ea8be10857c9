//! One integration binary that drives the real server over HTTP, with a real file. Modules mirror
//! the API's addresses and the promises of the contract.

mod api;
mod cli;
mod harness;
mod input;
mod layers;
mod luck;
mod smoke;
