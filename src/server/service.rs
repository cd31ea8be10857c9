//! `/ping`: is the service there, what is it, what time is it (contract §1).

use crate::{
    identity::{App, Granted, roles::AnyToken},
    types::Timestamp,
    web::{
        Answer, Outcome,
        schema::{Described, from_json},
    },
};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;

/// The answer of a ping.
pub struct Ping;

impl Described for Ping {
    const NAME: &'static str = "Ping";

    fn schema() -> MetaSchema {
        let version = env!("CARGO_PKG_VERSION");
        from_json(&json!({
            "type": "object",
            "description": "The service as it stands.",
            "required": ["time", "name", "version", "apiVersion"],
            "properties": {
                "time": {"type": "string", "format": "date-time", "description": "The server's time."},
                "name": {"type": "string", "description": "The instance's name."},
                "version": {"type": "string", "description": "Gatepost's version."},
                "apiVersion": {"type": "integer", "format": "int64", "description": "Always 5."},
            },
            "example": {"time": "2026-11-21T09:02:00+01:00", "name": "Summit 2026", "version": version, "apiVersion": 5},
        }))
    }
}

/// The endpoints.
pub struct ServiceApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Service")]
impl ServiceApi {
    /// Ping
    ///
    /// Needs a valid token.
    #[oai(path = "/ping", method = "get", operation_id = "ping")]
    async fn ping(&self, _caller: Granted<AnyToken>) -> Outcome<Answer<Ping>> {
        let settings = self.app.settings();
        let data = json!({
            "time": settings.zone.iso(Timestamp::now()),
            "name": settings.name(),
            "version": env!("CARGO_PKG_VERSION"),
            "apiVersion": 5,
        });
        Ok(Answer::of(&data.to_string()))
    }
}
