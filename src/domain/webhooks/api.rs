//! `/webhook/...`: what the console does with webhooks, for programs (contract §8).

use super::{
    attempts, decisions,
    document::{self, Entry},
    schemas::{
        ResendInput, RotateInput, Webhook, WebhookDeliveries, WebhookDelivery, WebhookInput,
        WebhookTest, Webhooks,
    },
    store, test,
    webhook::{CHANGES, NewWebhook},
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key},
        outbox::destination,
    },
    db::Tx,
    domain::feed::whole,
    identity::{
        App, Granted, Principal, Role,
        roles::{WriteWebhooks, lacking},
    },
    types::{
        error::{Error, Kind, Result},
        json,
        selector::whole_number,
    },
    web::{
        Answer, Body, Created, IdempotencyKey, IfMatch, NoContent, Outcome, Query, RequestId,
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
    match settings {
        Value::Object(settings) => Entry::read(settings),
        _ => Err(Error::invalid("must be an object")),
    }
}

/// Creates a webhook. Returns it, and its secret.
fn create(
    tx: &Tx<'_>,
    ctx: &Context,
    caller: &Principal,
    sent: Map<String, Value>,
) -> Result<(Webhook, Option<String>)> {
    let entry = entry(json!({}), sent)?;
    check_reads(caller, &entry.webhook)?;
    let (id, secret) = document::put(tx, ctx, &entry, None)?;
    let webhook = Webhook::new(tx, &store::get(tx, id)?, &ctx.settings.zone)?;
    Ok((webhook, secret))
}

/// Checks that a caller may read all that a webhook sends.
fn check_reads(caller: &Principal, webhook: &NewWebhook) -> Result<()> {
    if caller.visible_properties.is_some() {
        return Err(Error::new(
            Kind::Forbidden,
            "deliveries have every property, and this client is shown some",
        ));
    }
    let tells_of = |record: &str| {
        let mut names = CHANGES.iter().map(|change| change.name);
        names.any(|name| name.starts_with(record) && webhook.wants_change(name))
    };
    let shows = |end: &str| webhook.expand.iter().any(|name| name.ends_with(end));
    let is_read = [
        (
            Role::DelegateRead,
            tells_of("delegate.") || shows("Delegate"),
        ),
        (Role::DeviceRead, tells_of("device.") || shows("Device")),
        (Role::EventRead, tells_of("event.")),
        (
            Role::InteractionRead,
            tells_of("interaction.") || !webhook.interactions.is_empty(),
        ),
    ];
    let lacks = |(role, is_read): &(Role, bool)| *is_read && !caller.has(*role);
    match is_read.into_iter().find(lacks) {
        Some((role, _)) => Err(lacking(&[role])),
        None => Ok(()),
    }
}

/// The `ETag` of a webhook.
fn current(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<Option<String>> {
    let webhook = Webhook::new(tx, &store::get(tx, id)?, &ctx.settings.zone)?;
    Ok(Some(webhook.etag))
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
        Ok(shown(&self.app.store.look_up(read)?))
    }
}

/// The answer with a webhook, and its version.
fn shown<const S: u16>(webhook: &Webhook) -> Answer<Webhook, S> {
    Answer::json(webhook).with_etag(Some(webhook.etag.clone()))
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
    /// Sends what happens from now on. The client needs the roles that read what it sends, and sees every property of
    /// delegates. `secret` signs its deliveries and is shown here alone. With an `Idempotency-Key` the answer is kept for
    /// 7 days and given again, without `secret`: send one to be sure of it. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
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
        let ctx = self.app.context(&caller, request_id.as_str());
        let WebhookInput(sent) = body.parse()?;
        let key = Key::of(&ctx, idempotency_key.read()?, "POST /webhook/new", || {
            Ok(json::fingerprint(&Value::Object(sent.clone())))
        })?;
        let principal = caller.principal();
        let render = |webhook: &Webhook| stored_creation(&json!(webhook).to_string());
        let work = move |tx: &Tx<'_>| {
            // The secret is not stored beside the webhook.
            let mut made = None;
            let make = || {
                let (mut webhook, secret) = create(tx, &ctx, &principal, sent)?;
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
    /// counts at once. What waits is tried at once. What it sends is changed with the rights that create a webhook. Needs
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
        /// The `ETag` that the webhook had: 412 when it is another since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<WebhookInput>,
    ) -> Outcome<Answer<Webhook>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let principal = caller.principal();
        let (id, WebhookInput(sent)) = (id(&webhook)?, body.parse()?);
        let work = move |tx: &Tx<'_>| {
            let webhook = store::get(tx, id)?;
            if_match.check_against(|| current(tx, &ctx, id), "webhook")?;
            let state = destination::get(tx, &store::destination(id))?;
            let mut settings = document::with_state(&webhook, &state);
            // What is not sent stays as it is, whoever paused it.
            if !sent.contains_key("active") {
                settings["active"] = Value::Null;
            }
            let entry = entry(settings, sent)?;
            if entry.webhook != webhook.is {
                check_reads(&principal, &entry.webhook)?;
            }
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
        /// The `ETag` that the webhook had: 412 when it is another since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let id = id(&webhook)?;
        let work = move |tx: &Tx<'_>| {
            if_match.check_against(|| current(tx, &ctx, id), "webhook")?;
            store::remove(tx, &ctx, id)
        };
        self.app.store.write(work).await?;
        Ok(NoContent)
    }

    /// Replace the secret of a webhook
    ///
    /// The new `secret` is shown here alone, and counts at once. The previous one signs as well for a day. A program that
    /// sends a `secret` may send the request again. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
    #[oai(
        path = "/webhook/:webhook/rotate",
        method = "post",
        operation_id = "rotateWebhookSecret"
    )]
    async fn rotate(
        &self,
        caller: Granted<WriteWebhooks>,
        request_id: RequestId,
        /// `5` or `id:5`
        webhook: Path<String>,
        body: Body<RotateInput>,
    ) -> Outcome<Answer<Webhook>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let (id, RotateInput { secret, at_once }) = (id(&webhook)?, body.parse()?);
        let work = move |tx: &Tx<'_>| {
            let secret = store::rotate(tx, &ctx, id, secret, at_once)?;
            let mut webhook = Webhook::new(tx, &store::get(tx, id)?, &ctx.settings.zone)?;
            webhook.secret = Some(secret);
            Ok(webhook)
        };
        Ok(shown(&self.app.store.write(work).await?))
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
