//! The token endpoint (spec: Authentication; contract §9): OAuth 2 on oxide-auth's core, with RFC
//! 6749's answers and errors.
//!
//! - `request`: a body and a header to a checked request; `refusal`: every way in which it is refused
//! - `adapter`: oxide-auth's primitives over the request and the transaction
//! - `grant`: the three grants; `password`: the one that oxide-auth does not have
//! - `api`: both endpoints in HTTP, and their description

mod adapter;
pub mod api;
mod grant;
mod password;
mod refusal;
mod request;
#[cfg(test)]
mod tests;
