//! The token endpoint (spec: Authentication; contract §9): OAuth 2 on oxide-auth's core, with RFC
//! 6749's answers and errors. What tokens, clients and users are in the file is `auth`'s.
//!
//! - `parameters`, `request`: a body and a header to a checked request
//! - `adapter`: that request, and the store's transaction, as oxide-auth knows them
//! - `registrar`, `issuer`: oxide-auth's primitives over the transaction
//! - `grant`: the three grants; `password`: the one that oxide-auth does not have
//! - `refusal`: every way in which it says no
//! - `api`, `document`: HTTP and its description; `revocation`: giving a token back

mod adapter;
pub mod api;
mod document;
mod grant;
mod issuer;
mod parameters;
mod password;
mod refusal;
mod registrar;
mod request;
mod revocation;
#[cfg(test)]
mod tests;
