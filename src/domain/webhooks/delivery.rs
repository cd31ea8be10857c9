//! Attempts at deliveries: each made from the record as it was, signed and sent.

use super::{
    attempts::{self, ANSWER_MAX_CHARS, Attempt, AttemptResult},
    content::{self, Content, Teller},
    past::Pasts,
    secret,
    store::{self, Endpoint, destination},
    subscription,
};
use crate::{
    core::{
        changes::Position,
        outbox::{Delivery, FinishedAttempt, Kind, Outcome, Read, Ref},
        outgoing::{Answer, Failure, Request},
    },
    identity::App,
    types::{Timestamp, error::Result},
};
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Running attempts of one webhook.
pub const AT_ONCE: usize = 4;
/// The time for which a shutdown waits for running attempts: what is cut off is delivered again.
const GRACE: Duration = Duration::from_secs(2);
/// Gone (RFC 9110).
const GONE: u16 = 410;

/// Webhooks, as the outbox delivers to them.
pub struct Webhooks {
    app: App,
    pasts: Arc<Pasts>,
}

impl Webhooks {
    pub fn new(app: App) -> Self {
        Self {
            app,
            pasts: Arc::default(),
        }
    }
}

impl Kind for Webhooks {
    fn destinations(&self, connection: &Connection) -> Result<Vec<String>> {
        let webhooks = store::all(connection)?.into_iter();
        Ok(webhooks.map(|webhook| destination(webhook.id)).collect())
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn grace(&self) -> Duration {
        GRACE
    }

    fn read(&self, connection: &Connection, destination: &str, from: Position) -> Result<Read> {
        match store::id_of(destination) {
            Some(id) => subscription::read(connection, &store::get(connection, id)?, from),
            None => Ok(Read::default()),
        }
    }

    fn attempt(
        &self,
        destination: String,
        delivery: Delivery,
    ) -> BoxFuture<'static, FinishedAttempt> {
        let (app, pasts) = (self.app.clone(), Arc::clone(&self.pasts));
        Box::pin(async move {
            match store::id_of(&destination) {
                Some(webhook) => deliver(&app, pasts, webhook, delivery.of).await,
                None => nothing(),
            }
        })
    }
}

fn nothing() -> FinishedAttempt {
    FinishedAttempt {
        outcome: Outcome::Nothing,
        record: None,
    }
}

async fn deliver(app: &App, pasts: Arc<Pasts>, webhook: i64, of: Ref) -> FinishedAttempt {
    let (zone, now) = (app.settings().zone.clone(), Timestamp::now());
    // A record may have changed often since.
    let found = app.store.read(move |connection| {
        let Some(endpoint) = store::endpoint(connection, webhook, now)? else {
            return Ok(None);
        };
        let teller = Teller {
            connection,
            webhook: (webhook, &endpoint.uid),
            zone: &zone,
            now,
            pasts: &pasts,
            expansion: &store::get(connection, webhook)?.is.expansion()?,
        };
        let content = teller.content(of)?;
        Ok(content.map(|content| (endpoint, content)))
    });
    match found.await {
        Ok(Some((endpoint, content))) => {
            let (outcome, attempt) = attempt(app, &endpoint, content, Some(of)).await;
            FinishedAttempt {
                outcome,
                record: Some(Arc::new(move |tx| attempts::put(tx, webhook, &attempt))),
            }
        }
        Ok(None) => nothing(),
        Err(cause) => FinishedAttempt::defect(&cause),
    }
}

/// The result of a test delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Set where the receiver accepted it.
    pub taken: bool,
    /// The answer of the receiver, in a sentence.
    pub told: String,
}

/// Sends a test delivery, also to a paused webhook, and waits up to 10 s for its result.
pub async fn test(app: &App, webhook: i64) -> Result<Tried> {
    let now = Timestamp::now();
    let endpoint = app
        .store
        .look_up(|connection| store::endpoint(connection, webhook, now))?;
    let endpoint = endpoint.ok_or_else(store::missing)?;
    let content = content::trial(app.settings().name(), now, &app.settings().zone);
    let (_, attempt) = attempt(app, &endpoint, content, None).await;
    let tried = Tried {
        taken: attempt.result == AttemptResult::Delivered,
        told: match (attempt.status, attempt.answer.is_empty()) {
            (Some(status), true) => format!("The receiver answered {status}."),
            (Some(status), false) => format!("The receiver answered {status}: {}", attempt.answer),
            (None, _) => format!("The receiver did not answer: {}.", attempt.answer),
        },
    };
    app.store
        .write(move |tx| attempts::put(tx, webhook, &attempt))
        .await?;
    Ok(tried)
}

async fn attempt(
    app: &App,
    endpoint: &Endpoint,
    content: Content,
    of: Option<Ref>,
) -> (Outcome, Attempt) {
    let (at, begun) = (Timestamp::now(), Instant::now());
    let sent = match request(endpoint, &content, at) {
        Ok(request) => app.outgoing.send(request).await,
        Err(cause) => Err(Failure::NotSent(cause.to_string())),
    };
    let (outcome, result, status, answer) = judge(sent);
    let gone = content.gone;
    let attempt = Attempt {
        of,
        kind: content.kind,
        ordering_key: content.ordering_key,
        people: content.people,
        at,
        took_ms: i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX),
        result,
        status,
        // Whoever answers with what it knew of somebody who was erased is not to bring it back.
        answer: if gone { String::new() } else { answer },
    };
    (outcome, attempt)
}

/// The request with the headers of Standard Webhooks, signed by the previous secret as well while
/// that is valid.
fn request(endpoint: &Endpoint, content: &Content, at: Timestamp) -> Result<Request> {
    let seconds = at.0.div_euclid(1000);
    let signatures: Result<Vec<String>> = endpoint
        .secrets
        .iter()
        .map(|secret| secret::sign(secret, &content.id, seconds, &content.body))
        .collect();
    let body = content.body.clone().into_bytes();
    Ok(Request::post(&endpoint.url, "application/json", body)
        .header("webhook-id", &content.id)
        .header("webhook-timestamp", seconds.to_string())
        .header("webhook-signature", signatures?.join(" ")))
}

/// Judges a call: what it means for the webhook, and what people see of it.
fn judge(sent: Result<Answer, Failure>) -> (Outcome, AttemptResult, Option<u16>, String) {
    match sent {
        Ok(answer) => {
            let (status, begins) = (answer.status, beginning(&answer));
            if answer.is_success() {
                return (
                    Outcome::Delivered,
                    AttemptResult::Delivered,
                    Some(status),
                    begins,
                );
            }
            let failed = Outcome::Failed {
                why: meaning(status),
                unreachable: false,
                gone: status == GONE,
                again_after_s: answer
                    .header("retry-after")
                    .and_then(|text| text.trim().parse().ok()),
            };
            (failed, AttemptResult::Refused, Some(status), begins)
        }
        Err(failure) => {
            // Who cuts or hangs may do so at this one alone.
            let failed = Outcome::Failed {
                why: failure.why().to_owned(),
                unreachable: matches!(failure, Failure::NotSent(_)),
                gone: false,
                again_after_s: None,
            };
            let why = failure.why().chars().take(ANSWER_MAX_CHARS).collect();
            (failed, AttemptResult::Failed, None, why)
        }
    }
}

fn meaning(status: u16) -> String {
    match status {
        300..400 => {
            format!("the receiver answered {status}, a redirect; redirects are not followed")
        }
        GONE => format!("the receiver answered {status}: it is gone for good"),
        _ => format!("the receiver answered {status}"),
    }
}

/// The beginning of an answer, as one line of text.
fn beginning(answer: &Answer) -> String {
    let text: String = answer
        .text()
        .chars()
        .take(ANSWER_MAX_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    text.trim().to_owned()
}
