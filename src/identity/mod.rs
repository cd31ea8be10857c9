//! Callers and what they may do (contract §9). Holds principals, roles and scopes, password
//! hashing, tokens at rest and the throttle of guesses; the token endpoint itself is `oauth`.

pub mod app;
pub mod clients;
pub mod granted;
pub mod handover;
pub mod held_requests;
pub mod last_seen;
pub mod oauth;
pub mod one_time;
pub mod password;
pub mod principal;
pub mod roles;
pub mod scopes;
pub mod second_factor;
pub mod secret_message_bodies;
pub mod sessions;
pub mod sign_in;
pub mod throttle;
pub mod tokens;
pub mod users;
pub mod views;
pub mod wall_link;

pub use app::App;
pub use granted::{BearerToken, Granted};
pub use principal::Principal;
pub use roles::{ConsoleRole, Requirement, Role, Roles, Scope};
