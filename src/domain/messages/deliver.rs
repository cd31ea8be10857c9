//! Attempts at messages: by the gateway of their channel, as it is set up now.

use super::{
    certificates,
    gateways::{self, Attempt, fcm::Tokens},
    opened,
    stored::{self, ATTEMPTS_MAX, Due, SendOutcome},
};
use crate::{
    core::outbox::{self as deliveries, FinishedAttempt, Kind},
    domain::certificates as issued,
    identity::App,
    types::error::{Error, Result},
};
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use std::{sync::Arc, time::Duration};

/// Attempts at a time by one gateway.
const AT_ONCE: usize = 8;
/// The time for which a shutdown waits for attempts: longer than one takes.
const GRACE: Duration = Duration::from_secs(12);

/// Messages, as the outbox delivers them. Cheap to clone.
#[derive(Clone)]
pub struct Messages(Arc<Inner>);

struct Inner {
    app: App,
    tokens: Tokens,
}

impl Kind for Messages {
    /// The channels with a gateway, those of delegates unless the settings switch them off.
    fn destinations(&self, connection: &Connection) -> Result<Vec<String>> {
        let communications = &self.0.app.settings().communications;
        let mut names = Vec::new();
        for gateway in gateways::all(connection)? {
            names.push(gateway.channel.destination(false));
            if gateways::allowed(communications, gateway.channel) {
                names.push(gateway.channel.destination(true));
            }
        }
        Ok(names)
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn grace(&self) -> Duration {
        GRACE
    }

    fn attempt(
        &self,
        _: String,
        delivery: deliveries::Delivery,
    ) -> BoxFuture<'static, FinishedAttempt> {
        let (messages, id) = (self.clone(), delivery.of.id);
        Box::pin(async move { messages.deliver(id, delivery.attempts).await })
    }
}

impl Messages {
    pub fn new(app: App) -> Self {
        Self(Arc::new(Inner {
            app,
            tokens: Tokens::default(),
        }))
    }

    pub(super) fn app(&self) -> &App {
        &self.0.app
    }

    /// An attempt of the outbox. It is stored as begun before anything is sent: so a message is not sent
    /// twice because the process ended meanwhile.
    async fn deliver(&self, id: i64, attempts: u32) -> FinishedAttempt {
        let begun = self.app().store.write(move |tx| stored::begin(tx, id));
        let due = match begun.await {
            Ok(Some(due)) => due,
            Ok(None) => {
                return FinishedAttempt {
                    outcome: deliveries::Outcome::Nothing,
                    record: None,
                };
            }
            Err(cause) => return FinishedAttempt::defect(&cause),
        };
        let outcome = self.send(&due).await;
        let refused = matches!(outcome, SendOutcome::Later(_));
        let last = refused && attempts + 1 >= ATTEMPTS_MAX;
        let failed = |why: &String, unreachable| deliveries::Outcome::Failed {
            why: stored::shortened(why),
            unreachable,
            gone: false,
            again_after_s: None,
        };
        let meaning = match &outcome {
            SendOutcome::Sent => deliveries::Outcome::Delivered,
            SendOutcome::Down(why) => failed(why, true),
            SendOutcome::Later(why) if !last => failed(why, false),
            SendOutcome::Later(_) | SendOutcome::Never(_) => deliveries::Outcome::Refused,
            SendOutcome::Unknown(_) => deliveries::Outcome::Unknown,
        };
        FinishedAttempt {
            outcome: meaning,
            record: Some(Arc::new(move |tx| stored::finish(tx, id, &outcome, last))),
        }
    }

    /// Makes the only attempt at a message that was stored as begun, and stores how it ended. Should that
    /// not be possible, the message remains `sending`, which the next start makes `unknown`.
    pub(super) async fn send_now(&self, due: &Due) -> SendOutcome {
        let outcome = self.send(due).await;
        let (id, ended) = (due.id, outcome.clone());
        let stored = self
            .app()
            .store
            .write(move |tx| stored::finish(tx, id, &ended, true));
        if let Err(cause) = stored.await {
            tracing::error!(message = due.id, "the outcome could not be stored: {cause}");
        }
        outcome
    }

    async fn send(&self, due: &Due) -> SendOutcome {
        let outcome = self.send_by_gateway(due).await;
        if !matches!(outcome, SendOutcome::Down(_) | SendOutcome::Later(_)) {
            self.app().secret_message_bodies.forget(due.id);
        }
        // Why is for the console: a server's words may name the recipient.
        let noun = due.channel.noun();
        match &outcome {
            SendOutcome::Sent => tracing::debug!(message = due.id, "{noun} sent"),
            SendOutcome::Unknown(_) => tracing::warn!(message = due.id, "{noun}: outcome unknown"),
            SendOutcome::Down(_) | SendOutcome::Later(_) | SendOutcome::Never(_) => {
                tracing::info!(message = due.id, "{noun} not sent");
            }
        }
        outcome
    }

    async fn send_by_gateway(&self, due: &Due) -> SendOutcome {
        let armed = self.app().store.look_up(|connection| {
            let armed = gateways::armed(connection, due.channel)?;
            let html = self.html(connection, due)?;
            Ok(armed.map(|armed| (armed, html)))
        });
        let (armed, html) = match armed {
            Ok(Some(found)) => found,
            Ok(None) => {
                return SendOutcome::Down(format!(
                    "there is no gateway for {}s yet",
                    due.channel.noun()
                ));
            }
            Err(cause) => return SendOutcome::Down(cause.to_string()),
        };
        let mut filled = due.clone();
        if due.secret {
            let Some(text) = self.app().secret_message_bodies.find(due.id) else {
                return SendOutcome::Never(stored::LOST.to_owned());
            };
            filled.body = text;
        }
        let pdf = match certificates::code_of(&due.origin) {
            Some(code) => match self.certificate(code.to_owned()).await {
                Ok(pdf) => Some(pdf),
                Err(cause) => return SendOutcome::Never(cause.to_string()),
            },
            None => None,
        };
        let attempt = Attempt {
            due: &filled,
            pdf: pdf.as_deref(),
            secret: armed.secret.as_deref(),
            reach: self.app().outgoing.reach(),
            client: &self.app().outgoing,
        };
        let outcome = armed.definition.send(&attempt, &self.0.tokens, html).await;
        let outcome = gateways::without_secret(outcome, armed.secret.as_deref());
        if !due.secret {
            return outcome;
        }
        // Servers repeat what they refuse, and why is kept in the file.
        let words = filled.body.split_whitespace();
        words
            .filter(|word| word.len() > 3 && word.contains(|letter: char| letter.is_ascii_digit()))
            .fold(outcome, |outcome, word| {
                gateways::without_secret(outcome, Some(word))
            })
    }

    /// The certificate of a code, drawn.
    async fn certificate(&self, code: String) -> Result<Vec<u8>> {
        let settings = self.app().settings();
        let store = &self.app().store;
        let prepared = store
            .read(move |connection| issued::prepare_one(connection, &settings, &code))
            .await?;
        let draw = tokio::task::spawn_blocking(move || prepared.pdf());
        draw.await.map_err(Error::defect)?
    }

    /// The HTML, with the picture that tells when it is opened: of a mail to a delegate, where there is
    /// an address that the picture can be fetched from.
    fn html(&self, connection: &Connection, due: &Due) -> Result<Option<String>> {
        let Some(html) = &due.html else {
            return Ok(None);
        };
        match (due.delegate, self.app().public_url()) {
            (Some(_), Some(url)) => opened::with_picture(connection, html, &url, due.id).map(Some),
            _ => Ok(Some(html.clone())),
        }
    }
}
