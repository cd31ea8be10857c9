//! Apps ask to be let in, are let in, tell of themselves and get their settings (contract §7).

mod discovery;
#[cfg(target_os = "linux")]
mod dns_sd;
mod pings;
mod settings;

use crate::harness::{Caller, Reply, Server, reply};
use gatepost::{domain::discovery::clear, identity::clients, types::DeviceId};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Instant;

impl Server {
    /// Opens the window, as the Discovery page does.
    fn open_discovery(&self) {
        self.console.discovery.window.extend(Instant::now());
    }

    /// A server whose Discovery page is open.
    fn discovering() -> Self {
        let server = Self::start();
        server.open_discovery();
        server
    }

    /// What an app is answered that asks to be let in.
    fn ask(&self, body: &Value) -> Reply {
        reply(
            self.request(Method::POST, "/api/v5/device-request/new")
                .json(body),
        )
    }

    /// Adds a request, as an administrator does; the client's public id.
    fn add(&self, id: i64, delegate_write: bool) -> Option<String> {
        let ctx = self.context();
        self.app
            .store
            .write(move |tx| clear::add(tx, &ctx, id, delegate_write))
            .wait()
            .expect("it is added")
    }

    fn dismiss(&self, id: i64) -> bool {
        let ctx = self.context();
        self.app
            .store
            .write(move |tx| clear::dismiss(tx, &ctx, id))
            .wait()
            .expect("it is dismissed")
    }

    fn revoke(&self, client_id: &str) {
        let client_id = client_id.to_owned();
        self.write(move |tx, ctx| clients::revoke(tx, ctx, &client_id));
    }

    /// An app that was let in: a caller with the client it got, and its device.
    fn app_of(&self, code: &str) -> (Caller, i64) {
        self.open_discovery();
        let body = asking(code);
        let id = self.ask(&body).id();
        self.add(id, false).expect("it waits");
        let given = self.ask(&body).data().clone();
        let text = |name: &str| given[name].as_str().expect(name).to_owned();
        let api = self.caller_of(&text("clientId"), &text("clientSecret"));
        (api, given["deviceId"].as_i64().expect("deviceId"))
    }

    /// A caller without roles whose client is bound to a device.
    fn bound_to(&self, device: i64) -> Caller {
        let (id, secret) = self.new_client(clients::NewClient {
            device: Some(DeviceId(device)),
            ..clients::NewClient::named("bound")
        });
        self.caller_of(&id, &secret)
    }
}

/// What an app with this code sends.
fn asking(code: &str) -> Value {
    json!({"code": code, "secret": format!("secret of {code}")})
}

/// A ping that names a version of the configuration.
fn ping(version: i64) -> Value {
    json!({"localTime": gatepost::types::Timestamp::now().0 / 1000, "configVersion": version})
}
