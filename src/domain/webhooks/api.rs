//! `/webhook/...`: what the console does with webhooks, for programs (contract §8).

use super::{
    Health, attempts,
    attempts::Attempt,
    decisions,
    document::{self, Entry},
    store, test,
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key, Stored},
        outbox::{destination, pending},
    },
    db::Tx,
    identity::{App, Granted, roles::WriteWebhooks},
    types::{
        Zone,
        error::{Error, Result},
        json,
        selector::whole_number,
    },
    web::{
        Answer, Body, Created, IdempotencyKey, NoContent, Outcome, Query, RequestId,
        envelope::envelope,
    },
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// Deliveries that are listed without `limit`.
const LISTED: i64 = 50;

/// A webhook; only properties that have a value appear.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = example())]
pub struct Webhook {
    pub id: i64,
    /// Always `webhook`.
    #[schemars(rename = "_type")]
    pub kind: String,
    #[serde(flatten)]
    pub settings: Settings,
    /// `false`: somebody paused it.
    pub active: bool,
    #[schemars(extend("enum" = [
        "no deliveries yet", "working", "partly failing", "failing", "paused", "stopped",
    ]))]
    pub state: String,
    /// Deliveries that failed, or wait behind one that did.
    pub pending: i64,
    /// The reason why every delivery fails.
    pub failure: Option<String>,
    /// The secret that signs deliveries; only in the answer that creates the webhook.
    pub secret: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub last_success_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub failing_since: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub next_attempt_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

/// What a webhook sends, and where to.
#[derive(JsonSchema)]
pub struct Settings {
    /// Unique.
    pub name: String,
    /// The address of the receiver.
    pub url: String,
    /// Types of interactions, or `*` for all.
    pub interactions: Vec<String>,
    /// Changes of records such as `delegate.updated`; `delegate.*` or `*` for all.
    pub changes: Vec<String>,
    /// Codes of devices that interactions must be at, or below; absent: anywhere.
    pub devices: Option<Vec<String>>,
    /// Embedded records that are sent whole: `firstDelegate`, `firstDevice` and other participants, `parent`, `owner`,
    /// `previous`.
    pub expand: Option<Vec<String>>,
}

fn example() -> Value {
    json!({
        "id": 2, "_type": "webhook", "name": "CRM", "url": "https://crm.example.org/gatepost",
        "interactions": ["check-in"], "changes": ["delegate.*"], "active": true, "state": "working", "pending": 0,
        "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:00+00:00",
    })
}

/// Properties of a webhook; in a PATCH only those to change, `null` clears one.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = json!({
    "name": "CRM", "url": "https://crm.example.org/gatepost", "interactions": ["check-in"], "changes": ["delegate.*"],
    "expand": ["firstDelegate"],
}))]
pub struct WebhookInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    #[schemars(with = "SentWebhook")]
    pub Map<String, Value>,
);

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct SentWebhook {
    pub name: Option<String>,
    pub url: Option<String>,
    pub interactions: Option<Vec<String>>,
    pub changes: Option<Vec<String>>,
    pub devices: Option<Vec<String>>,
    pub expand: Option<Vec<String>>,
    /// `false` pauses it, `true` resumes it.
    pub active: Option<bool>,
    /// A secret that was agreed on with the receiver; one is made without it.
    pub secret: Option<String>,
}

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

/// Every webhook, by name.
#[derive(JsonSchema)]
#[schemars(example = json!([example()]))]
pub struct Webhooks(pub Vec<Webhook>);

/// The result of a test delivery.
#[derive(serde::Serialize, JsonSchema)]
#[schemars(example = json!({"delivered": true, "message": "The receiver answered 204."}))]
pub struct WebhookTest {
    delivered: bool,
    /// The answer of the receiver, in a sentence.
    message: String,
}

/// The last attempts, newest first.
#[derive(JsonSchema)]
#[schemars(example = json!([delivery_example()]))]
pub struct WebhookDeliveries(pub Vec<WebhookDelivery>);

/// An attempt at a delivery.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = delivery_example())]
pub struct WebhookDelivery {
    id: i64,
    /// The type of the delivery, such as `delegate.updated`.
    r#type: String,
    #[schemars(extend("format" = "date-time"))]
    at: String,
    /// The time that the receiver took, in milliseconds.
    took: i64,
    /// `refused`: the receiver answered with another status than 2xx; `failed`: it did not answer.
    #[schemars(extend("enum" = ["delivered", "refused", "failed"]))]
    result: &'static str,
    /// The status that the receiver answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The beginning of the answer, or why there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    answer: String,
}

fn delivery_example() -> Value {
    json!({
        "id": 812, "type": "interaction.created", "at": "2026-11-21T09:02:11+00:00", "took": 48, "result": "refused",
        "status": 503, "answer": "try again later",
    })
}

/// The delivery to send again.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"delivery": 812}))]
pub struct ResendInput {
    /// The id of one of its attempts.
    delivery: i64,
}

impl WebhookDelivery {
    fn new(id: i64, attempt: Attempt, zone: &Zone) -> Self {
        Self {
            id,
            r#type: attempt.kind,
            at: zone.iso(attempt.at),
            took: attempt.took_ms,
            result: attempt.result.name(),
            status: attempt.status,
            answer: attempt.answer,
        }
    }
}

/// A webhook as it is shown.
fn shown(connection: &Connection, webhook: &super::Webhook, zone: &Zone) -> Result<Value> {
    let name = store::destination(webhook.id);
    let state = destination::get(connection, &name)?;
    let pending = pending::count(connection, &name)?;
    let time = |at| Value::from(zone.iso(at));
    let mut shown = json!({"id": webhook.id, "_type": "webhook"});
    let Value::Object(properties) = &mut shown else {
        return Ok(shown);
    };
    if let Value::Object(settings) = document::with_state(webhook, &state) {
        properties.extend(settings);
    }
    properties.insert("state".into(), Health::of(&state, pending).name().into());
    properties.insert("pending".into(), pending.into());
    for (name, value) in [
        ("failure", state.why.map(Value::from)),
        ("lastSuccessAt", state.last_success_at.map(time)),
        ("failingSince", state.failing_since.map(time)),
        ("nextAttemptAt", state.next_at.map(time)),
        ("createdAt", Some(time(webhook.created_at))),
        ("updatedAt", Some(time(webhook.updated_at))),
    ] {
        if let Some(value) = value {
            properties.insert(name.into(), value);
        }
    }
    Ok(shown)
}

/// The settings of a webhook, those that are sent over those that it has.
fn entry(mut settings: Value, sent: Map<String, Value>) -> Result<Entry> {
    let mut sent = sent;
    sent.retain(|name, _| !READ_ONLY.contains(&&**name));
    json::merge_patch(&mut settings, Value::Object(sent));
    json::parse(settings.to_string().as_bytes())
}

/// Creates a webhook; its JSON, with the secret.
fn create(tx: &Tx<'_>, ctx: &Context, sent: Map<String, Value>) -> Result<String> {
    let entry = entry(json!({}), sent)?;
    let (id, secret) = document::put(tx, ctx, &entry, None)?;
    let mut shown = shown(tx, &store::get(tx, id)?, &ctx.settings.zone)?;
    shown["secret"] = json!(secret);
    Ok(shown.to_string())
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
        let read = |connection: &Connection| shown(connection, &store::get(connection, id)?, zone);
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
            all.map(|webhook| shown(connection, &webhook, &zone))
                .collect::<Result<Vec<_>>>()
        };
        Ok(Answer::json(&self.app.store.read(read).await?))
    }

    /// Create a webhook
    ///
    /// It sends what happens from now on. `secret` signs its deliveries and is shown here alone. With an `Idempotency-Key`
    /// the answer is kept for 7 days and given again. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
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
        let render = |json: String| Stored {
            status: 201,
            body: envelope(&json, "{}"),
            done: 1,
        };
        let work = move |tx: &Tx<'_>| {
            idempotency::once(tx, key.as_ref(), || create(tx, &ctx, sent), render)
        };
        let once = self.app.store.write(work).await?;
        Ok(Answer::whole(once.rendered(render).body))
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
    /// counts at once. What waits is tried at once. Needs `ROLE_OAUTH2_WEBHOOK_WRITE`.
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
        let (id, limit) = (id(&webhook)?, limit.0.unwrap_or(LISTED));
        if !(1..=attempts::KEPT).contains(&limit) {
            let told = format!("must be 1 to {}", attempts::KEPT);
            return Err(Error::field("limit", told).into());
        }
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
