//! What a use case knows about the request or command that runs it.

use super::settings::Settings;
use crate::types::{ClientId, UserId};
use std::sync::Arc;

/// What a use case knows about the request that runs it.
#[derive(Debug, Clone)]
pub struct Context {
    /// Who acts, as the audit names it: `client:…`, `user:…`, `cli`, `import:…`.
    pub actor: String,
    /// The request's id, where there is a request.
    pub request_id: Option<String>,
    /// The client through which it came, for nonces and the origin of interactions.
    pub client: Option<ClientId>,
    /// The user through whose token it came.
    pub user: Option<UserId>,
    /// What `sources` gains on the records that are written (contract §4).
    pub source: &'static str,
    /// The settings in force.
    pub settings: Arc<Settings>,
}

impl Context {
    /// The context of a command on the command line.
    #[must_use]
    pub fn of_command(source: &'static str, settings: Arc<Settings>) -> Self {
        Self {
            actor: "cli".into(),
            request_id: None,
            client: None,
            user: None,
            source,
            settings,
        }
    }
}
