//! `POST /tx/new` (spec: Transaction endpoint).

use super::{load, tickets};
use crate::{
    core::idempotency::{self, Key, Once, Stored},
    identity::{App, Granted, roles::WriteTransactions},
    types::{error::Kind, text::shortened},
    web::{
        Answer, Created, IdempotencyKey, Outcome, RequestId,
        body::Anything,
        envelope::envelope,
        parameters::AnyQuery,
        schema::{Described, array, example, free_object, inline, integer, object, text},
    },
};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;
use std::sync::Arc;

/// The largest body, in bytes.
const BODY_MAX_BYTES: usize = 8 << 20;

/// A purchase as it should be sent.
pub struct TransactionInput;

impl Described for TransactionInput {
    const NAME: &'static str = "TransactionInput";

    fn schema() -> MetaSchema {
        let payment = free_object(
            "`paymentMethod` (`cash`, `card`), `amount`, `change` (cash only), `transactionId`; amounts in cents.",
        );
        let item = free_object(
            "`code` (purchase code and a counter from 0000), `product`, `quantity`, `description`, `unitAmount`, `totalAmount`, `discountAmount`, and `delegates`: the tickets, each with `product`, `description`, `barcode`.",
        );
        example(
            object(
                "A purchase at a till. Whatever comes is accepted and kept; what does not fit is told in the answer.",
                &[],
                vec![
                    (
                        "context",
                        inline(integer(
                            "The device that every ticket is joined to, mostly an event.",
                        )),
                    ),
                    (
                        "code",
                        inline(text(
                            "The Purchase Code; what came under one code before is not made again.",
                        )),
                    ),
                    ("totalAmount", inline(integer("In cents."))),
                    ("notes", inline(text(""))),
                    (
                        "createdAt",
                        inline(integer("When it was bought, Unix seconds.")),
                    ),
                    ("recordedBy", inline(text("Who sold it."))),
                    ("transactions", inline(array(inline(payment), ""))),
                    ("items", inline(array(inline(item), ""))),
                ],
            ),
            json!({
                "context": 1, "code": "TLH26", "totalAmount": 2500, "createdAt": 1_790_000_000, "recordedBy": "Ada",
                "transactions": [{"paymentMethod": "cash", "amount": 2500, "change": 0}],
                "items": [{
                    "code": "TLH260000", "product": 2, "quantity": 1, "description": "Day ticket", "unitAmount": 2500,
                    "totalAmount": 2500, "discountAmount": null,
                    "delegates": [{"product": 2, "description": "Day ticket", "barcode": "TLH26-001-8Q2Z"}]
                }]
            }),
        )
    }
}

/// A purchase as it was taken.
pub struct Transaction;

impl Described for Transaction {
    const NAME: &'static str = "Transaction";

    fn schema() -> MetaSchema {
        let inconsistency = object(
            "",
            &["path", "message"],
            vec![
                (
                    "path",
                    inline(text("Where in the body; empty for the whole.")),
                ),
                ("message", inline(text("What, and what would be right."))),
            ],
        );
        let delegate = object(
            "",
            &["id", "barcode"],
            vec![("id", inline(integer(""))), ("barcode", inline(text("")))],
        );
        example(
            object(
                "What became of a purchase.",
                &["id", "_type", "code", "inconsistencies", "delegates"],
                vec![
                    ("id", inline(integer(""))),
                    ("_type", inline(text("Always `transaction`."))),
                    (
                        "code",
                        inline(text("Its code; the body's SHA-256 where it has none.")),
                    ),
                    (
                        "inconsistencies",
                        inline(array(
                            inline(inconsistency),
                            "What did not fit in this body.",
                        )),
                    ),
                    (
                        "delegates",
                        inline(array(
                            inline(delegate),
                            "The delegates that were made for it.",
                        )),
                    ),
                ],
            ),
            json!({
                "id": 12, "_type": "transaction", "code": "TLH26",
                "inconsistencies": [{"path": "items[0].quantity", "message": "must be greater than zero"}],
                "delegates": [{"id": 4711, "barcode": "TLH26-001-8Q2Z"}]
            }),
        )
    }
}

/// The endpoint.
pub struct TransactionsApi {
    /// The application.
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
        /// Nothing is read from the query string; that something stands there is told.
        query: AnyQuery,
        body: Anything<TransactionInput, BODY_MAX_BYTES>,
    ) -> Outcome<Created<Transaction>> {
        let mut ctx = self.app.context(&caller, request_id.as_str());
        ctx.source = "tx";
        let coding = body.coding().map(shortened);
        let body: Arc<[u8]> = body.into_bytes().into();
        let mut sale = super::read(Arc::clone(&body)).await?;
        let flaws = Arc::make_mut(&mut sale);
        if let Some((name, _)) = query.0.first() {
            flaws.tell_query(name);
        }
        if let Some(coding) = coding {
            flaws.tell(format!(
                "Content-Encoding: the body is compressed (\"{coding}\") and kept so; send it as it is"
            ));
        }
        let fingerprint = sale.fingerprint;
        let key = idempotency_key
            .read()
            .and_then(|key| Key::of(&ctx, key, "tx/new", || Ok(fingerprint)));
        let key = key.unwrap_or_else(|cause| {
            Arc::make_mut(&mut sale).tell(cause.message);
            None
        });
        let (begun, store) = (
            (ctx.clone(), Arc::clone(&sale), key.clone()),
            &self.app.store,
        );
        let received = store
            .write(move |tx| {
                let (ctx, sale, key) = begun;
                let flaw = match idempotency::recall(tx, key.as_ref()) {
                    Ok(Some(stored)) => return Ok(Once::Stored(stored)),
                    Ok(None) => None,
                    Err(cause) if cause.kind == Kind::KeyReused => Some(cause.message),
                    Err(cause) => return Err(cause),
                };
                let received = load::receive(tx, &ctx, &body, &sale)?;
                if let Some(flaw) = flaw {
                    load::tell(tx, received, "", &flaw)?;
                }
                Ok(Once::Fresh(received))
            })
            .await?;
        let received = match received {
            Once::Stored(stored) => return Ok(Answer::whole(stored.body)),
            Once::Fresh(received) => received,
        };
        tickets::all_tickets(store, &ctx, received, &sale).await?;
        let stored = store
            .write(move |tx| {
                let answer = || load::answer(tx, received);
                match idempotency::once(tx, key.as_ref(), answer, render) {
                    // Another purchase came under this key first.
                    Err(cause) if cause.kind == Kind::KeyReused => Ok(render(answer()?)),
                    once => Ok(once?.rendered(render)),
                }
            })
            .await?;
        Ok(Answer::whole(stored.body))
    }
}

fn render(data: String) -> Stored {
    Stored {
        status: 201,
        body: envelope(&data, "{}"),
        done: 1,
    }
}
