//! `/webhook/...`: what the console does with webhooks, for programs (contract §8).

use super::{
    attempts, decisions,
    document::{self, Entry},
    schemas::{
        ResendInput, Webhook, WebhookDeliveries, WebhookDelivery, WebhookInput, WebhookTest,
        Webhooks,
    },
    store, test,
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key},
        outbox::destination,
    },
    db::Tx,
    domain::feed::whole,
    identity::{App, Granted, Principal, roles::WriteWebhooks},
    types::{
        error::{Error, Kind, Result},
        json,
        selector::whole_number,
    },
    web::{
        Answer, Body, Created, IdempotencyKey, NoContent, Outcome, Query, RequestId,
        envelope::stored_creation,
    },
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// Deliveries that are listed without `limit`.
const LISTED: usize = 50;

/// Properties that the server sets; they are ignored when sent.
const READ_ONLY: [&str; 10] = [
    "id",
    "_type",
    "state",
    "pending",
    "failure",
    "lastSuccessAt",
    "failingSince",
    "nextAttemptAt",
    "createdAt",
    "updatedAt",
];

/// The settings of a webhook, those that are sent over those that it has.
fn entry(mut settings: Value, sent: Map<String, Value>) -> Result<Entry> {
    let mut sent = sent;
    sent.retain(|name, _| !READ_ONLY.contains(&&**name));
    json::merge_patch(&mut settings, Value::Object(sent));
    json::parse(settings.to_string().as_bytes())
}

/// Creates a webhook. Returns it, and its secret.
fn create(
    tx: &Tx<'_>,
    ctx: &Context,
    sent: Map<String, Value>,
) -> Result<(Webhook, Option<String>)> {
    let (id, secret) = document::put(tx, ctx, &entry(json!({}), sent)?, None)?;
    let webhook = Webhook::new(tx, &store::get(tx, id)?, &ctx.settings.zone)?;
    Ok((webhook, secret))
}

/// Checks that a caller sees all of a delegate, as receivers of deliveries do.
fn check_sees_all(caller: &Principal) -> Result<()> {
    match caller.visible_properties {
        None => Ok(()),
        Some(_) => Err(Error::new(
            Kind::Forbidden,
            "deliveries have every property, and this client is shown some",
        )),
    }
}

/// Reads `5` or `id:5`.
fn id(webhook: &Path<String>) -> Result<i64> {
    whole_number(webhook.0.strip_prefix("id:").unwrap_or(&webhook.0))
}

/// The endpoints.
pub struct WebhooksApi {
    pub app: App,
}

impl WebhooksApi {
    fn found(&self, id: i64) -> Result<Answer<Webhook>> {
        let zone = &self.app.settings().zone;
        let read =
            |connection: &Connection| Webhook::new(connection, &store::get(connection, id)?, zone);
        Ok(Answer::json(&self.app.store.look_up(read)?))
    }
}

#[OpenApi(tag = "crate::web::Tag::Webhooks")]
impl WebhooksApi {
    /// List webhooks
    ///
    /// All of them, by name. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(path = "/webhook/list", method = "get", operation_id = "listWebhooks")]
    async fn list(&self, _caller: Granted<WriteWebhooks>) -> Outcome<Answer<Webhooks>> {
        let zone = self.app.settings().zone.clone();
        let read = move |connection: &Connection| {
            let all = store::all(connection)?.into_iter();
            all.map(|webhook| Webhook::new(connection, &webhook, &zone))
                .collect::<Result<Vec<_>>>()
        };
        Ok(Answer::json(&self.app.store.read(read).await?))
    }

    /// Create a webhook
    ///
    /// Tells of all that happens from now on, with every property; a client that sees some properties only is refused.
    /// `secret` signs its deliveries and is shown here alone. With an `Idempotency-Key` the answer is kept for 7 days and
    /// given again, without `secret`: a program that has to be sure of it sends one. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(path = "/webhook/new", method = "post", operation_id = "createWebhook")]
    async fn create(
        &self,
        caller: Granted<WriteWebhooks>,
        request_id: RequestId,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<WebhookInput>,
    ) -> Outcome<Created<Webhook>> {
        check_sees_all(&caller)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let WebhookInput(sent) = body.parse()?;
        let key = Key::of(&ctx, idempotency_key.read()?, "POST /webhook/new", || {
            Ok(json::fingerprint(&Value::Object(sent.clone())))
        })?;
        let render = |webhook: &Webhook| stored_creation(&json!(webhook).to_string());
        let work = move |tx: &Tx<'_>| {
            // The secret is not stored beside the webhook.
            let mut made = None;
            let make = || {
                let (mut webhook, secret) = create(tx, &ctx, sent)?;
                let without_secret = render(&webhook);
                webhook.secret = secret;
                made = Some(webhook);
                Ok(without_secret)
            };
            let once = idempotency::once(tx, key.as_ref(), make, |stored| stored)?;
            Ok(made
                .as_ref()
                .map_or_else(|| once.rendered(|stored| stored), render))
        };
        Ok(Answer::whole(self.app.store.write(work).await?.body))
    }

    /// Get a webhook
    ///
    /// Without its secret. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook",
        method = "get",
        operation_id = "getWebhook"
    )]
    async fn get(
        &self,
        _caller: Granted<WriteWebhooks>,
        /// `5` or `id:5`
        webhook: Path<String>,
    ) -> Outcome<Answer<Webhook>> {
        Ok(self.found(id(&webhook)?)?)
    }

    /// Change a webhook
    ///
    /// Absent means unchanged, `null` cleared; lists are replaced as sent. `active` pauses and resumes it; a `secret`
    /// counts at once. What waits is tried at once. A client that sees some properties only is refused. Needs
    /// `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook",
        method = "patch",
        operation_id = "patchWebhook"
    )]
    async fn patch(
        &self,
        caller: Granted<WriteWebhooks>,
        request_id: RequestId,
        /// `5` or `id:5`
        webhook: Path<String>,
        body: Body<WebhookInput>,
    ) -> Outcome<Answer<Webhook>> {
        check_sees_all(&caller)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let (id, WebhookInput(sent)) = (id(&webhook)?, body.parse()?);
        let work = move |tx: &Tx<'_>| {
            let webhook = store::get(tx, id)?;
            let state = destination::get(tx, &store::destination(id))?;
            let mut settings = document::with_state(&webhook, &state);
            // What is not sent stays as it is, whoever paused it.
            if !sent.contains_key("active") {
                settings["active"] = Value::Null;
            }
            let entry = entry(settings, sent)?;
            document::put(tx, &ctx, &entry, Some(id)).map(drop)
        };
        self.app.store.write(work).await?;
        Ok(self.found(id)?)
    }

    /// Delete a webhook
    ///
    /// With what it has yet to send. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook",
        method = "delete",
        operation_id = "deleteWebhook"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteWebhooks>,
        request_id: RequestId,
        /// `5` or `id:5`
        webhook: Path<String>,
    ) -> Outcome<NoContent> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let id = id(&webhook)?;
        let work = move |tx: &Tx<'_>| store::remove(tx, &ctx, id);
        self.app.store.write(work).await?;
        Ok(NoContent)
    }

    /// Test a webhook
    ///
    /// Sends a delivery of the type `webhook.test`, also where it is paused, and waits up to 10 s for the answer. Needs
    /// `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook/test",
        method = "post",
        operation_id = "testWebhook"
    )]
    async fn test(
        &self,
        _caller: Granted<WriteWebhooks>,
        /// `5` or `id:5`
        webhook: Path<String>,
    ) -> Outcome<Answer<WebhookTest>> {
        let tried = test(&self.app, id(&webhook)?).await?;
        Ok(Answer::json(&WebhookTest {
            delivered: tried.taken,
            message: tried.told,
        }))
    }

    /// List the deliveries of a webhook
    ///
    /// The last attempts, newest first; 200 of each webhook are kept. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook/deliveries",
        method = "get",
        operation_id = "listWebhookDeliveries"
    )]
    async fn deliveries(
        &self,
        _caller: Granted<WriteWebhooks>,
        /// `5` or `id:5`
        webhook: Path<String>,
        /// Attempts to list, 1 to 200; 50 without it.
        limit: Query<Option<i64>>,
    ) -> Outcome<Answer<WebhookDeliveries>> {
        let id = id(&webhook)?;
        let limit = whole("limit", limit.0, 1, attempts::KEPT)?.unwrap_or(LISTED);
        let zone = self.app.settings().zone.clone();
        let read = move |connection: &Connection| {
            store::get(connection, id)?;
            let last = attempts::last(connection, id, limit)?.into_iter();
            Ok(last
                .map(|(id, attempt)| WebhookDelivery::new(id, attempt, &zone))
                .collect::<Vec<_>>())
        };
        Ok(Answer::json(&self.app.store.read(read).await?))
    }

    /// Send a delivery again
    ///
    /// Under its own id, as soon as no other about the same record is on its way. Answers with the attempt that is
    /// repeated. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook/resend",
        method = "post",
        operation_id = "resendWebhookDelivery"
    )]
    async fn resend(
        &self,
        caller: Granted<WriteWebhooks>,
        request_id: RequestId,
        /// `5` or `id:5`
        webhook: Path<String>,
        body: Body<ResendInput>,
    ) -> Outcome<Answer<WebhookDelivery>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let (id, ResendInput { delivery }) = (id(&webhook)?, body.parse()?);
        let zone = ctx.settings.zone.clone();
        let work = move |tx: &Tx<'_>| decisions::resend(tx, &ctx, id, delivery);
        let attempt = self.app.store.write(work).await?;
        Ok(Answer::json(&WebhookDelivery::new(
            delivery, attempt, &zone,
        )))
    }
}
