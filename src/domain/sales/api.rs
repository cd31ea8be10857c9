//! `POST /tx/new` (spec: Transaction endpoint).

use super::{
    load::{self, Received},
    sale::Sale,
    tickets,
};
use crate::{
    core::{
        Context,
        idempotency::{self, Key, Once, Stored},
    },
    db::{Store, Tx},
    identity::{App, Granted, roles::WriteTransactions},
    types::{
        error::{Kind, Result},
        text::shortened,
    },
    web::{
        Answer, Created, IdempotencyKey, Outcome, RequestId, body::Anything,
        envelope::stored_creation, parameters::AnyQuery,
    },
};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The largest body, in bytes.
const BODY_MAX_BYTES: usize = 8 << 20;

/// A purchase at a till. It is always accepted and kept; the answer lists what is inconsistent.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = json!({
    "context": 1, "code": "TLH26", "totalAmount": 2500, "createdAt": 1_790_000_000, "recordedBy": "Ada",
    "transactions": [{"paymentMethod": "cash", "amount": 2500, "change": 0}],
    "items": [{
        "code": "TLH260000", "product": 2, "quantity": 1, "description": "Day ticket", "unitAmount": 2500,
        "totalAmount": 2500, "discountAmount": null,
        "delegates": [{"product": 2, "description": "Day ticket", "barcode": "TLH26-001-8Q2Z"}]
    }]
}))]
pub struct TransactionInput {
    /// The device that every ticket is joined to, mostly an event.
    pub context: Option<i64>,
    /// The Purchase Code; what came under one code before is not made again.
    pub code: Option<String>,
    /// In cents.
    pub total_amount: Option<i64>,
    pub notes: Option<String>,
    /// The time of the purchase, Unix seconds.
    pub created_at: Option<i64>,
    /// The person who sold it.
    pub recorded_by: Option<String>,
    pub transactions: Option<Vec<Payment>>,
    pub items: Option<Vec<Item>>,
}

/// `paymentMethod` (`cash`, `card`), `amount`, `change` (cash only), `transactionId`; amounts in cents.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Payment(pub Map<String, Value>);

/// `code` (purchase code and a counter from 0000), `product`, `quantity`, `description`, `unitAmount`, `totalAmount`,
/// `discountAmount`, and `delegates`: the tickets, each with `product`, `description`, `barcode`.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Item(pub Map<String, Value>);

/// A purchase as it was recorded.
#[derive(JsonSchema)]
#[schemars(example = json!({
    "id": 12, "_type": "transaction", "code": "TLH26",
    "inconsistencies": [{"path": "items[0].quantity", "message": "must be greater than zero"}],
    "delegates": [{"id": 4711, "barcode": "TLH26-001-8Q2Z"}]
}))]
pub struct Transaction {
    pub id: i64,
    /// Always `transaction`.
    #[schemars(rename = "_type")]
    pub kind: String,
    /// Its code; the body's SHA-256 where it has none.
    pub code: String,
    /// The inconsistencies of this body.
    pub inconsistencies: Vec<Inconsistency>,
    /// The delegates that were made for it.
    pub delegates: Vec<TicketHolder>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Inconsistency {
    /// The path in the body; empty for the whole.
    pub path: String,
    /// The fault, and what would be right.
    pub message: String,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct TicketHolder {
    pub id: i64,
    pub barcode: String,
}

pub struct TransactionsApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Transactions")]
impl TransactionsApi {
    /// Record a purchase
    ///
    /// Always accepted, JSON or anything else, compressed or not, up to 8 MiB, and kept word for word;
    /// loaded as far as it goes.
    /// What does not fit is listed. The same code again creates nothing twice; a body that
    /// says something else is kept beside the first and may add tickets. Each ticket becomes a delegate with its barcode,
    /// joined with its product and with `context`. Needs `ROLE_OAUTH2_TX_WRITE`.
    #[oai(path = "/tx/new", method = "post", operation_id = "recordTransaction")]
    async fn record(
        &self,
        caller: Granted<WriteTransactions>,
        request_id: RequestId,
        /// The answer is kept under this key for 7 days and given again.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        /// No query parameter is read; one that is sent becomes an inconsistency.
        query: AnyQuery,
        body: Anything<TransactionInput, BODY_MAX_BYTES>,
    ) -> Outcome<Created<Transaction>> {
        let mut ctx = self.app.context(&caller, request_id.as_str());
        ctx.source = "tx";
        let (coding, body) = (body.coding().map(shortened), body.into_bytes());
        let mut purchase = Purchase::read(ctx, body.into()).await?;
        purchase.note_request(&query, coding);
        purchase.take_key(idempotency_key);
        let store = &self.app.store;
        let received = match purchase.receive(store).await? {
            Once::Stored(stored) => return Ok(Answer::whole(stored.body)),
            Once::Fresh(received) => received,
        };
        tickets::all_tickets(store, &purchase.ctx, received, &purchase.sale).await?;
        let visible = caller.visible_properties.clone();
        let stored = purchase.answer(store, received, visible).await?;
        Ok(Answer::whole(stored.body))
    }
}

/// A purchase that was sent. Whatever is wrong with the request is listed with it.
struct Purchase {
    ctx: Context,
    body: Arc<[u8]>,
    sale: Arc<Sale>,
    key: Option<Key>,
}

impl Purchase {
    async fn read(ctx: Context, body: Arc<[u8]>) -> Result<Self> {
        Ok(Self {
            sale: super::read(Arc::clone(&body)).await?,
            ctx: Context {
                is_strict: false,
                ..ctx
            },
            body,
            key: None,
        })
    }

    fn note_request(&mut self, query: &AnyQuery, coding: Option<String>) {
        let sale = Arc::make_mut(&mut self.sale);
        if let Some((name, _)) = query.0.first() {
            sale.note_query(name);
        }
        if let Some(coding) = coding {
            sale.note(format!(
                "Content-Encoding: the body is compressed (\"{coding}\") and kept so; send it as it is"
            ));
        }
    }

    fn take_key(&mut self, sent: IdempotencyKey) {
        let fingerprint = self.sale.fingerprint;
        let key = sent
            .read()
            .and_then(|key| Key::of(&self.ctx, key, "tx/new", || Ok(fingerprint)));
        match key {
            Ok(key) => self.key = key,
            Err(cause) => Arc::make_mut(&mut self.sale).note(cause.to_string()),
        }
    }

    /// Stores the purchase without its tickets; or finds its answer under the key.
    async fn receive(&self, store: &Store) -> Result<Once<Received>> {
        let (ctx, body, sale) = (self.ctx.clone(), self.body.clone(), self.sale.clone());
        let key = self.key.clone();
        let receive = move |tx: &Tx<'_>| {
            let flaw = match idempotency::recall(tx, key.as_ref()) {
                Ok(Some(stored)) => return Ok(Once::Stored(stored)),
                Ok(None) => None,
                Err(cause) if cause.kind == Kind::KeyReused => Some(cause.to_string()),
                Err(cause) => return Err(cause),
            };
            let received = load::receive(tx, &ctx, &body, &sale)?;
            if let Some(flaw) = flaw {
                load::add_inconsistency(tx, received, "", &flaw)?;
            }
            Ok(Once::Fresh(received))
        };
        store.write(receive).await
    }

    /// The answer, stored under the key unless that is of another purchase, which came first.
    async fn answer(
        self,
        store: &Store,
        received: Received,
        visible: Option<Arc<[String]>>,
    ) -> Result<Stored> {
        let answer = move |tx: &Tx<'_>| {
            let answer = || load::answer(tx, received, visible.as_deref());
            let render = |data: String| stored_creation(&data);
            match idempotency::once(tx, self.key.as_ref(), answer, render) {
                Err(cause) if cause.kind == Kind::KeyReused => Ok(render(answer()?)),
                once => Ok(once?.rendered(render)),
            }
        };
        store.write(answer).await
    }
}
