//! One attempt at a message: by the gateway of its channel, as it is set up now.

use super::{
    gateways::{self, Attempt, fcm::Tokens},
    opened,
    outbox::{self, Due, Outcome},
};
use crate::{identity::App, types::error::Result};

/// What attempts share.
pub(super) struct Delivery {
    app: App,
    tokens: Tokens,
}

impl Delivery {
    pub(super) fn new(app: App) -> Self {
        Self {
            app,
            tokens: Tokens::default(),
        }
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    /// Makes an attempt that was written down as begun, and writes down how it ended; with `last` no
    /// further one is made by itself. Should that not be possible, the message stands as `sending`,
    /// which the next start makes `unknown`.
    pub(super) async fn attempt(&self, due: &Due, last: bool) -> Outcome {
        let outcome = self.send(due).await;
        if !matches!(outcome, Outcome::Later(_)) {
            self.app.secret_message_bodies.forget(due.id);
        }
        // Why is for the console: a server's words may name the recipient.
        let noun = due.channel.noun();
        match &outcome {
            Outcome::Sent => tracing::debug!(message = due.id, "{noun} sent"),
            Outcome::Unknown(_) => {
                tracing::warn!(message = due.id, "{noun}: nobody knows whether it was sent");
            }
            Outcome::Later(_) | Outcome::Never(_) => {
                tracing::info!(message = due.id, "{noun} not sent");
            }
        }
        let (id, ended) = (due.id, outcome.clone());
        let kept = self
            .app
            .store
            .write(move |tx| outbox::finish(tx, id, &ended, last));
        if let Err(cause) = kept.await {
            tracing::error!(message = due.id, "how it ended could not be kept: {cause}");
        }
        outcome
    }

    async fn send(&self, due: &Due) -> Outcome {
        let armed = self.app.store.look_up(|connection| {
            let armed = gateways::armed(connection, due.channel)?;
            let html = self.html(connection, due)?;
            Ok(armed.map(|armed| (armed, html)))
        });
        let (armed, html) = match armed {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Outcome::Later(format!(
                    "there is no gateway for {}s yet",
                    due.channel.noun()
                ));
            }
            Err(cause) => return Outcome::Later(cause.message),
        };
        let mut filled = due.clone();
        if due.secret {
            let Some(text) = self.app.secret_message_bodies.find(due.id) else {
                return Outcome::Never(outbox::LOST.to_owned());
            };
            filled.body = text;
        }
        let attempt = Attempt {
            due: &filled,
            secret: armed.secret.as_deref(),
            reach: self.app.outgoing.reach(),
            client: &self.app.outgoing,
        };
        let outcome = armed.definition.send(&attempt, &self.tokens, html).await;
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

    /// The HTML, with the picture that tells when it is opened: of a mail to a delegate, where there is
    /// an address that the picture can be fetched from.
    fn html(&self, connection: &rusqlite::Connection, due: &Due) -> Result<Option<String>> {
        let Some(html) = &due.html else {
            return Ok(None);
        };
        match (due.delegate, self.app.public_url()) {
            (Some(_), Some(url)) => opened::with_picture(connection, html, &url, due.id).map(Some),
            _ => Ok(Some(html.clone())),
        }
    }
}
