//! `/ping`: is the service there, what is it, what time is it (contract §1).

use crate::{
    identity::{App, Granted, roles::AnyToken},
    types::Timestamp,
    web::{
        Answer, Outcome,
        schema::{Described, example, formatted, inline, integer, object, text},
    },
};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;

/// The answer of a ping.
pub struct Ping;

impl Described for Ping {
    const NAME: &'static str = "Ping";

    fn schema() -> MetaSchema {
        let shape = object(
            "The service as it stands.",
            &["time", "name", "version", "apiVersion"],
            vec![
                (
                    "time",
                    inline(formatted("string", "date-time", "The server's time.")),
                ),
                ("name", inline(text("The instance's name."))),
                ("version", inline(text("Gatepost's version."))),
                ("apiVersion", inline(integer("Always 5."))),
            ],
        );
        let version = env!("CARGO_PKG_VERSION");
        example(
            shape,
            json!({"time": "2026-11-21T09:02:00+01:00", "name": "Summit 2026", "version": version, "apiVersion": 5}),
        )
    }
}

/// The endpoints.
pub struct ServiceApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::tags::Tag::Service")]
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
