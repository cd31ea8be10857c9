//! `/ping`: is the service there, what is it, what time is it (contract §1).

use crate::{
    core::standby::Durable,
    identity::{App, Granted, roles::AnyToken},
    types::Timestamp,
    web::{Answer, Outcome},
};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde_json::json;

/// The service as it stands.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({
    "time": "2026-11-21T09:02:00+01:00", "name": "Summit 2026", "version": env!("CARGO_PKG_VERSION"), "apiVersion": 5,
}))]
pub struct Ping {
    /// The server's time.
    #[schemars(extend("format" = "date-time"))]
    time: String,
    /// The instance's name.
    name: String,
    /// Gatepost's version.
    version: &'static str,
    /// Always 5.
    api_version: i64,
    /// The second machine, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<Durable>,
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
        Ok(Answer::json(&Ping {
            time: settings.zone.iso(Timestamp::now()),
            name: settings.name().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            api_version: 5,
            durable: self.app.durable(),
        }))
    }
}
