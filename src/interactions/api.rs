//! `/interaction/...` (spec: Interaction endpoints).

use super::{
    answers::{render_one, render_tried},
    batch::{self, BATCH_MAX_BYTES, Batch},
    draft::{BatchInput, Draft, InteractionInput},
    list::{Interactions, SEARCHED},
    record, remove, rows,
};
use crate::{
    app::App,
    auth::roles::{ReadInteractions, WriteInteractions},
    error::{Error, Kind},
    idempotency::{self, Key},
    search::Search,
    types::{Timestamp, json, selector::whole_number},
    web::{
        Address, Answer, Body, CreatedOnce, Granted, List, NoContent, Outcome, RequestId, Tried,
        page::window,
        record::Embedded,
        schema::{
            Described, array, example, formatted, free_object, inline, integer, nullable, object,
            one_of, plain, text,
        },
    },
};
use poem_openapi::{
    OpenApi,
    param::{Header, Path, Query},
    registry::{MetaSchema, MetaSchemaRef, Registry},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// An interaction as it is answered.
pub struct InteractionShape;

impl Described for InteractionShape {
    const NAME: &'static str = "Interaction";

    fn schema() -> MetaSchema {
        let record = || MetaSchemaRef::Reference(Embedded::NAME.to_owned());
        let time = |about| inline(formatted("string", "date-time", about));
        example(
            object(
                "One to three delegates did something with one to three devices.",
                &["id", "_type"],
                vec![
                    (
                        "id",
                        inline(nullable(integer("`null` from the test endpoint."))),
                    ),
                    ("_type", inline(text("Always `interaction`."))),
                    ("firstDelegate", record()),
                    ("secondDelegate", record()),
                    ("thirdDelegate", record()),
                    ("firstDevice", record()),
                    ("secondDevice", record()),
                    ("thirdDevice", record()),
                    (
                        "interactionType",
                        inline(text("`check-in`, `check-out`, `join`, `lead` …")),
                    ),
                    (
                        "data",
                        inline(free_object(
                            "As stored; a form adds `answersData` and `reportData`.",
                        )),
                    ),
                    (
                        "recordedAt",
                        time("When it happened, as sent; the server's time without it."),
                    ),
                    ("createdAt", time("When it arrived.")),
                    ("updatedAt", time("")),
                ],
            ),
            json!({
                "id": 41, "_type": "interaction", "firstDelegate": {"id": 7, "_type": "delegate"},
                "firstDevice": {"id": 3, "_type": "device"}, "interactionType": "check-in",
                "recordedAt": "2026-11-21T09:02:00+00:00", "createdAt": "2026-11-21T09:02:00+00:00",
                "updatedAt": "2026-11-21T09:02:00+00:00"
            }),
        )
    }

    fn register_parts(registry: &mut Registry) {
        Embedded::register(registry);
    }
}

impl Described for InteractionInput {
    const NAME: &'static str = "InteractionInput";

    fn schema() -> MetaSchema {
        let participant = |about| {
            inline(nullable(one_of(
                vec![integer("an id"), text("a selector such as `barcode:ABC`")],
                about,
            )))
        };
        let ignored = || {
            inline(MetaSchema {
                description: Some("Read-only; ignored when sent."),
                ..MetaSchema::ANY
            })
        };
        example(
            object(
                "An interaction to record: at least a delegate or a device, a second only after a first.",
                &[],
                vec![
                    ("firstDelegate", participant("A delegate's id or selector.")),
                    ("secondDelegate", participant("")),
                    ("thirdDelegate", participant("")),
                    ("firstDevice", participant("A device's id or selector.")),
                    ("secondDevice", participant("")),
                    ("thirdDevice", participant("")),
                    ("delegate", participant("In place of `firstDelegate`.")),
                    ("device", participant("In place of `firstDevice`.")),
                    (
                        "recordedAt",
                        inline(nullable(one_of(
                            vec![
                                integer("Unix seconds"),
                                text("ISO 8601 or `yyyy-mm-dd hh:mm:ss`"),
                            ],
                            "When it happened; the server's time without it.",
                        ))),
                    ),
                    (
                        "data",
                        inline(nullable(free_object(
                            "With `form` and `answers` it is a form and reshaped.",
                        ))),
                    ),
                    (
                        "nonce",
                        inline(nullable(text(
                            "Up to 128 characters, unique per client: a resend with it creates nothing twice.",
                        ))),
                    ),
                    (
                        "admitted",
                        inline(nullable(plain(
                            "boolean",
                            "The gate let the person in already: stored whatever the rules say.",
                        ))),
                    ),
                    (
                        "interactionType",
                        inline(nullable(text("In a batch; elsewhere the path says it."))),
                    ),
                    ("id", ignored()),
                    ("_type", ignored()),
                    ("createdAt", ignored()),
                    ("updatedAt", ignored()),
                ],
            ),
            json!({"firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "recordedAt": 1_795_251_720, "nonce": "b1946ac9-1"}),
        )
    }
}

impl Described for BatchInput {
    const NAME: &'static str = "BatchInput";

    fn schema() -> MetaSchema {
        // Whatever does not fit fails alone: the batch is taken all the same.
        let item = MetaSchema {
            any_of: vec![InteractionInput::reference(), inline(MetaSchema::ANY)],
            description: Some("An interaction; anything else fails alone."),
            ..MetaSchema::ANY
        };
        let items = MetaSchema {
            additional_properties: Some(Box::new(inline(item))),
            ..plain(
                "object",
                "Up to 10,000 interactions by a key of the client's choice; taken in this order.",
            )
        };
        example(
            object(
                "Interactions to record in order.",
                &["interactions"],
                vec![
                    ("interactions", inline(items)),
                    (
                        "sharedValues",
                        inline(free_object(
                            "Values by name; `{\"$shared\": \"name\"}` anywhere in an item's `data` stands for one.",
                        )),
                    ),
                ],
            ),
            json!({
                "interactions": {
                    "a": {"interactionType": "check-in", "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "nonce": "1"},
                    "b": {"interactionType": "lead", "firstDelegate": "barcode:TICKET-0008", "firstDevice": "code:stand-4", "data": {"photo": {"$shared": "p"}}}
                },
                "sharedValues": {"p": "iVBORw0KGgo="}
            }),
        )
    }

    fn register_parts(registry: &mut Registry) {
        InteractionInput::register(registry);
    }
}

/// The answers to a batch.
pub struct BatchAnswer;

impl Described for BatchAnswer {
    const NAME: &'static str = "BatchAnswer";

    fn schema() -> MetaSchema {
        let item = object(
            "What the single call would have answered.",
            &["key", "status", "data", "meta"],
            vec![
                ("key", inline(text("The item's key."))),
                (
                    "status",
                    inline(integer("The HTTP status it would have had.")),
                ),
                (
                    "data",
                    inline(free_object(
                        "The interaction, or `{}`. References to shared values stand in it as they were sent.",
                    )),
                ),
                (
                    "meta",
                    inline(free_object(
                        "`error` on failure, `replayed` for a nonce used before, `note` where there is one about the first delegate.",
                    )),
                ),
            ],
        );
        let recorded = InteractionShape::schema().example;
        example(
            array(inline(item), "One answer an item, in their order."),
            json!([
                {"key": "a", "status": 201, "data": recorded, "meta": {}},
                {"key": "b", "status": 412, "data": {}, "meta": {"error": {
                    "code": 412, "message": "already used at Gate B at 09:02", "internalCode": 740
                }}},
            ]),
        )
    }
}

/// The endpoints.
pub struct InteractionsApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::tags::Tag::Interactions")]
impl InteractionsApi {
    /// List interactions
    ///
    /// Ordered by id. Needs `ROLE_OAUTH2_INTERACTION_READ`.
    #[oai(
        path = "/interaction/list",
        method = "get",
        operation_id = "listInteractions"
    )]
    async fn list(
        &self,
        _caller: Granted<ReadInteractions>,
        address: Address,
        /// Items on a page, 1 to 50,000; 5,000 without it.
        limit: Query<Option<i64>>,
        /// Items passed over; 0 without it.
        offset: Query<Option<i64>>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// A search expression in JSON; all without it.
        search: Query<Option<String>>,
    ) -> Outcome<List<InteractionShape>> {
        let listing = Interactions {
            fields: rows::fields(fields.0.as_deref())?,
            zone: self.app.settings().zone.clone(),
        };
        let search = Search::asked(&SEARCHED, search.0.as_deref(), &listing.zone, None)?;
        List::of(
            &self.app,
            listing,
            search,
            window(limit.0, offset.0)?,
            &address,
        )
        .await
    }

    /// Record an interaction
    ///
    /// A `check-in` or `check-out` is judged by the rules of the device (412 when refused). With a
    /// `nonce` or an `Idempotency-Key` a resend creates nothing twice. Where the crew left a note
    /// about the first delegate, the answer to a `check-in`, `check-out` or `check-in-override`
    /// carries it, refused or not: `meta.note` is `{"level": "info" | "warning" | "stop", "note"}`.
    /// A gate shows it; `stop` red, for a steward to decide: the server does not refuse by it. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`.
    #[oai(
        path = "/interaction/new/:interaction_type",
        method = "post",
        operation_id = "createInteraction"
    )]
    async fn create(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// The interaction type: `[a-z0-9][a-z0-9-]{0,63}`, but not `connected`.
        interaction_type: Path<String>,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: Header<Option<String>>,
        body: Body<InteractionInput>,
    ) -> Outcome<CreatedOnce<InteractionShape>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let kind = interaction_type.0;
        let draft = Draft::new(&kind, body.parse()?, &Arc::default(), &ctx.settings.zone)?;
        let operation = format!("POST /interaction/new/{kind}");
        let key = Key::of(&ctx, idempotency_key.0, operation, || {
            Ok(json::fingerprint(&json::parse::<Value>(body.text())?))
        })?;
        let ctx = Arc::new(ctx);
        let of_write = Arc::clone(&ctx);
        let recorded = self
            .app
            .store
            .write_repeatable(move |tx| {
                idempotency::once(
                    tx,
                    key.as_ref(),
                    || record::record(tx, &of_write, &draft),
                    |outcome| render_one(&outcome, &of_write),
                )
            })
            .await?;
        let stored = recorded.rendered(|outcome| render_one(&outcome, &ctx));
        Ok(CreatedOnce::stored(stored.status, stored.body))
    }

    /// Try an interaction
    ///
    /// Answers what recording it would, `meta.note` included, with `id` null, and writes nothing
    /// at all. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`.
    #[oai(
        path = "/interaction/test/:interaction_type",
        method = "post",
        operation_id = "testInteraction"
    )]
    async fn test(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// The interaction type: `[a-z0-9][a-z0-9-]{0,63}`, but not `connected`.
        interaction_type: Path<String>,
        body: Body<InteractionInput>,
    ) -> Outcome<Tried<InteractionShape>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let zone = &ctx.settings.zone;
        let draft = Draft::new(&interaction_type.0, body.parse()?, &Arc::default(), zone)?;
        let now = Timestamp::now();
        let tested = self
            .app
            .store
            .look_up(|connection| record::test(connection, &ctx, &draft, now))?;
        let told = render_tried(&tested, &ctx);
        Ok(Tried::stored(told.status, told.body))
    }

    /// Record many interactions
    ///
    /// In the order of their keys; one that fails fails alone. Up to 10,000 items and 32 MiB. When
    /// the whole answers 503, resend it with the same nonces or `Idempotency-Key`: what was stored
    /// is not stored again. Needs `ROLE_OAUTH2_INTERACTION_WRITE`.
    #[oai(
        path = "/interaction/batch",
        method = "post",
        operation_id = "createInteractions"
    )]
    async fn batch(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: Header<Option<String>>,
        body: Body<BatchInput, BATCH_MAX_BYTES, true>,
    ) -> Outcome<Answer<BatchAnswer>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        // Parsing 32 MiB takes a while; gates are not to wait for it.
        let (ctx, batch, key) = tokio::task::spawn_blocking(move || {
            let batch = Batch::new(body.parse()?, &ctx)?;
            let key = Key::of(&ctx, idempotency_key.0, "POST /interaction/batch", || {
                // An item that fails alone may keep it from being parsed as a whole.
                let whole = json::parse(body.text())
                    .unwrap_or_else(|_| String::from_utf8_lossy(body.text()).into());
                Ok(json::fingerprint(&whole))
            })?;
            Ok::<_, Error>((ctx, batch, key))
        })
        .await
        .map_err(Error::defect)??;
        let answers = batch::record_all(&self.app.store, ctx, batch, key).await?;
        Ok(Answer::of(&answers))
    }

    /// Delete an interaction
    ///
    /// As if it had never been: it no longer counts for any rule. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`.
    #[oai(
        path = "/interaction/:interaction",
        method = "delete",
        operation_id = "deleteInteraction"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// `id:` and the interaction's id
        interaction: Path<String>,
    ) -> Outcome<NoContent> {
        let id = interaction_id(&interaction.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        self.app
            .store
            .write(move |tx| remove::remove(tx, &ctx, id))
            .await?;
        Ok(NoContent)
    }
}

/// Reads `id:41`.
fn interaction_id(selector: &str) -> Result<i64, Error> {
    let id = selector
        .strip_prefix("id:")
        .ok_or_else(|| Error::new(Kind::UnknownIdType, "an interaction is selected by id:{id}"))?;
    whole_number(id)
}
