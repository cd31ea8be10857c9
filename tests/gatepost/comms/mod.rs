//! Messages to people, by a real mail server and a real HTTP gateway on loopback, which are cut off at
//! every stage.

mod automations;
mod certificates;
mod console;
mod crash;
mod mail;
mod opened_mail;
mod outbox;
mod provider;
mod push;
pub mod session;
pub mod smtp;
mod texts;
mod ticket_mail;
mod tls;
mod upgrade;

use crate::{
    faults::process::until,
    harness::{Caller, Reply, Server},
};
use gatepost::domain::messages::{
    Channel,
    gateways::{self, Definition, Secret},
    templates::{self, Entry},
};
use provider::Provider;
use serde_json::{Value, json};
use smtp::MailServer;

/// A password that must never be seen.
pub const PASSWORD: &str = "s3cret-of-the-gateway";

/// A server with a mail server and a provider beside it, and somebody to write to.
pub struct Post {
    pub server: Server,
    pub mail: MailServer,
    pub provider: Provider,
    /// Ada, who can be reached by every way.
    pub ada: i64,
}

impl Post {
    pub fn open() -> Self {
        Self::open_at(None)
    }

    /// With a public address.
    pub fn open_at(public_url: Option<&str>) -> Self {
        let server = Server::start_with(public_url);
        server.settings(&json!({"outgoing": {"allowLocal": true}, "name": "Summit"}));
        let (mail, provider) = (MailServer::start(), Provider::start());
        let ada = server.caller_with_all().delegate(&json!({
            "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+49 40 123456",
            "barcode": "ADA-1", "data": {"Data": {"pushTokens": ["phone-of-ada"]}},
        }));
        let post = Self {
            server,
            mail,
            provider,
            ada,
        };
        post.set("email", &post.smtp());
        post.set("sms", &post.http("/sms"));
        post
    }

    /// The mail server, as a gateway.
    pub fn smtp(&self) -> Value {
        json!({"kind": "smtp", "host": "127.0.0.1", "port": self.mail.port, "security": "none",
               "from": "Summit <summit@example.org>", "user": "summit"})
    }

    /// The provider, as a gateway.
    pub fn http(&self, path: &str) -> Value {
        json!({"kind": "http", "url": format!("{}{path}", self.provider.url()),
               "headers": {"Authorization": "Bearer {{ secret }}"},
               "body": r#"{"to": "{{ to }}", "text": "{{ text }}", "title": "{{ title }}"}"#})
    }

    /// Sets a gateway up, with [`PASSWORD`].
    pub fn set(&self, channel: &str, definition: &Value) {
        self.set_with(channel, definition, PASSWORD);
    }

    pub fn set_with(&self, channel: &str, definition: &Value, secret: &str) {
        gateway(&self.server, channel, definition, secret);
    }

    /// Stores a template: its id.
    pub fn template(&self, entry: &Value) -> i64 {
        let entry: Entry = serde_json::from_value(entry.clone()).expect("an entry");

        self.server
            .write(move |tx, ctx| templates::save(tx, ctx, None, &entry))
    }

    /// A welcome by e-mail: its id.
    pub fn welcome(&self) -> i64 {
        self.template(&json!({
            "type": "email", "slug": "welcome", "subject": "Welcome to {{ settings.name }}, {{ delegate.firstName }}",
            "content": "Hello {{ delegate.firstName }}", "html": "<p>Hello <b>{{ delegate.firstName }}</b></p>",
        }))
    }

    /// What `send-comm` answers.
    pub fn send(&self, body: &Value) -> Reply {
        sender(&self.server).post("/delegate/send-comm", body)
    }

    /// `sms_sent` and `email_sent`.
    #[track_caller]
    pub fn flags(&self, body: &Value) -> (bool, bool) {
        let reply = self.send(body);
        let flag = |name: &str| reply.data()[name].as_bool().expect(name);
        (flag("sms_sent"), flag("email_sent"))
    }

    /// The state of the newest message, and why.
    pub fn newest(&self) -> (String, String) {
        let text = |column: &str| {
            let sql =
                format!("SELECT coalesce({column}, '') FROM messages ORDER BY id DESC LIMIT 1");
            self.server.text(&sql)
        };
        (text("state"), text("failure"))
    }

    /// The state of a message.
    pub fn state(&self, id: i64) -> String {
        let sql = format!("SELECT state FROM messages WHERE id = {id}");
        self.server.value(&sql)
    }

    /// Waits until a message is in a state.
    #[track_caller]
    pub fn until(&self, id: i64, state: &str) {
        until(&format!("message {id} is {state}"), || {
            self.state(id) == state
        });
    }

    /// Makes everything pending due.
    pub fn later(&self) {
        self.server.sql(LATER);
    }

    /// How many messages there are.
    pub fn count(&self) -> i64 {
        self.server.value("SELECT count(*) FROM messages")
    }
}

/// Makes everything pending due, as a person does who retries a destination.
pub const LATER: &str = "UPDATE outbox SET next_at = 0;
    UPDATE outbox_destinations SET failures = 0, failing_since = NULL, next_at = NULL, revision = revision + 1";

/// Sets a gateway up.
pub fn gateway(server: &Server, channel: &str, definition: &Value, secret: &str) {
    let channel = Channel::named(channel).expect("a channel");
    let definition: Definition = serde_json::from_value(definition.clone()).expect("a definition");
    let (ctx, secret) = (server.context(), Secret::Set(secret.to_owned()));
    server
        .app
        .store
        .write(move |tx| gateways::save(tx, &ctx, channel, Some(&definition), &secret))
        .wait()
        .expect("a gateway");
}

/// A caller who may send messages and nothing else.
pub fn sender(server: &Server) -> Caller {
    server.caller(&[gatepost::identity::Role::CommSend])
}
