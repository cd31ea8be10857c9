//! `/interaction/...` (spec: Interaction endpoints).

use super::{
    answers::{read_batch, render_one, render_tried},
    confine,
    draft::{BatchInput, Draft, InteractionInput},
    judge::DeviceCache,
    list::{Interactions, PARTICIPANTS, SEARCHED, expansion},
    nonces, record, refusals, remove,
    rows::{self, Interaction},
    schemas::{
        BatchAnswer, InteractionMeta, InteractionShape, RecordedInteraction, TestedInteraction,
    },
    walk_in,
};
use crate::{
    core::{
        idempotency::{self, Key},
        records::write,
        search::Search,
    },
    db::Priority,
    domain::{apps::PublishedCache, delegates::RESOURCE},
    identity::{
        App, Granted, Principal, Role,
        roles::{ReadInteractions, WriteInteractions},
    },
    types::{
        Timestamp, Zone,
        error::{Error, Kind},
        json,
        selector::{self, whole_number},
    },
    web::{
        Address, Answer, Body, CreatedOnce, IdempotencyKey, IfMatch, List, ListQuery, NoContent,
        Outcome, Query, RequestId, Tried,
        batch::{BATCH_MAX_BYTES, fingerprint, prepared, write_all},
        page::window,
    },
};
use poem_openapi::{OpenApi, param::Path};
use serde_json::Value;
use std::sync::Arc;

/// The endpoints.
pub struct InteractionsApi {
    /// The application.
    pub app: App,
    /// The settings of apps, for gates.
    pub published: Arc<PublishedCache>,
}

impl InteractionsApi {
    /// A page of the list; with links where it has an address.
    async fn page(
        &self,
        caller: &Principal,
        query: ListQuery,
        address: Option<&Address>,
    ) -> Outcome<List<InteractionShape>> {
        let listing = Interactions {
            fields: rows::fields(query.fields.as_deref())?,
            zone: self.app.settings().zone.clone(),
            expansion: expansion(query.expand.as_deref(), PARTICIPANTS, caller)?,
        };
        let search = Search::asked(&SEARCHED, query.search.as_deref(), &listing.zone, None)?;
        let window = window(&query, &SEARCHED, None)?;
        List::of(&self.app, listing, search, window, address).await
    }
}

#[OpenApi(tag = "crate::web::Tag::Interactions")]
impl InteractionsApi {
    /// List interactions
    ///
    /// Ordered by id, or as `sort` says. Needs `ROLE_OAUTH2_INTERACTION_READ`.
    #[oai(
        path = "/interaction/list",
        method = "get",
        operation_id = "listInteractions"
    )]
    async fn list(
        &self,
        caller: Granted<ReadInteractions>,
        address: Address,
        query: ListQuery,
        /// Embedded records to show whole, as far as the client may see them, separated by commas; `{id, _type}`
        /// without it.
        expand: Query<Option<String>>,
    ) -> Outcome<List<InteractionShape>> {
        let query = ListQuery {
            expand: expand.0,
            ..query
        };
        self.page(&caller, query, Some(&address)).await
    }

    /// List interactions by a long search
    ///
    /// As `GET /interaction/list`, for a search that is too long for an address; without `next` and
    /// `previous`: send `meta.pagination.after` back as `after`. Needs `ROLE_OAUTH2_INTERACTION_READ`.
    #[oai(
        path = "/interaction/list",
        method = "post",
        operation_id = "searchInteractions"
    )]
    async fn search(
        &self,
        caller: Granted<ReadInteractions>,
        body: Body<ListQuery>,
    ) -> Outcome<List<InteractionShape>> {
        self.page(&caller, body.parse()?, None).await
    }

    /// Get an interaction
    ///
    /// Also by its id alone: `/interaction/41`. Needs `ROLE_OAUTH2_INTERACTION_READ`.
    #[oai(
        path = "/interaction/:interaction",
        method = "get",
        operation_id = "getInteraction"
    )]
    async fn get(
        &self,
        caller: Granted<ReadInteractions>,
        /// `41` or `id:41`
        interaction: Path<String>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// Participants to show whole, as far as the client may see them, separated by commas; `{id, _type}` without it.
        expand: Query<Option<String>>,
    ) -> Outcome<Answer<InteractionShape, 200, InteractionMeta>> {
        let id = interaction_id(&interaction.0)?;
        let fields = rows::fields(fields.0.as_deref())?;
        let expansion = expansion(expand.0.as_deref(), PARTICIPANTS, &caller)?;
        let zone = &self.app.settings().zone;
        let (json, etag) = self.app.store.look_up(|connection| {
            let found = rows::find(connection, id)?;
            let interaction = found.ok_or_else(|| remove::missing(&id))?;
            let mut json = String::new();
            interaction.write(zone, fields.as_deref(), &mut json);
            expansion.expand(connection, zone, &mut json, 0)?;
            Ok((json, etag(&interaction)))
        })?;
        Ok(Answer::of(&json).with_etag(Some(etag)))
    }

    /// Record an interaction
    ///
    /// A `check-in` or `check-out` is judged by the rules of the device (412 when refused). With a
    /// `nonce` or an `Idempotency-Key` a resend creates nothing twice. Where the crew left a note
    /// about the first delegate, the answer to a `check-in`, `check-out` or `check-in-override`
    /// carries it, refused or not: `meta.note` is `{"level": "info" | "warning" | "stop", "note"}`.
    /// A gate shows it; `stop` red, for a steward to decide: the server does not refuse by it. An `admitted` passage
    /// is stored whatever the rules say, also of a ticket that was deleted or blocked since; where nobody has the code,
    /// the scan waits until somebody does (201, `id` null, `meta.unknown`), and counts as inside. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`, or `ROLE_OAUTH2_GATE` for the gate's own places.
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
        idempotency_key: IdempotencyKey,
        body: Body<InteractionInput>,
    ) -> Outcome<CreatedOnce<RecordedInteraction, InteractionMeta>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let kind = interaction_type.0;
        let draft = Draft::new(&kind, body.parse()?, &Arc::default(), &ctx.settings.zone)?;
        let operation = format!("POST /interaction/new/{kind}");
        let key = Key::of(&ctx, idempotency_key.read()?, operation, || {
            Ok(json::fingerprint(&json::parse::<Value>(body.text())?))
        })?;
        let ctx = Arc::new(ctx);
        let of_write = Arc::clone(&ctx);
        let (published, principal) = (Arc::clone(&self.published), caller.principal());
        let recorded = self
            .app
            .store
            .write_repeatable(Priority::Interactive, move |tx| {
                confine::check(tx, &tx.cache(), &published, &principal, &draft)?;
                idempotency::once(
                    tx,
                    key.as_ref(),
                    || record::record(tx, &of_write, &draft),
                    |outcome| render_one(&outcome, &of_write),
                )
            })
            .await?;
        let stored = recorded.rendered(|outcome| render_one(&outcome, &ctx));
        Ok(CreatedOnce::new(stored.status, stored.body))
    }

    /// Try an interaction
    ///
    /// Answers what recording it would, `meta.note` included, with `id` null, and writes nothing
    /// at all. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`, or `ROLE_OAUTH2_GATE` for the gate's own places.
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
    ) -> Outcome<Tried<TestedInteraction, InteractionMeta>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let zone = &ctx.settings.zone;
        let draft = Draft::new(&interaction_type.0, body.parse()?, &Arc::default(), zone)?;
        let now = Timestamp::now();
        let tested = self.app.store.look_up(|connection| {
            let device_cache = DeviceCache::default();
            confine::check(connection, &device_cache, &self.published, &caller, &draft)?;
            record::test(connection, &ctx, &draft, now)
        })?;
        let told = render_tried(&tested, &ctx);
        Ok(Tried::new(told.status, told.body))
    }

    /// Record many interactions
    ///
    /// In the order of their keys; one that fails fails alone. Up to 10,000 items and 32 MiB; once their
    /// `data` with shared values has 128 MiB, or the answers have 160 MiB, the items that are left fail (413). When
    /// the whole answers 503, resend it with the same nonces or `Idempotency-Key`: what was stored
    /// is not stored again. Needs `ROLE_OAUTH2_INTERACTION_WRITE`, or `ROLE_OAUTH2_GATE` for the gate's own
    /// places.
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
        idempotency_key: IdempotencyKey,
        body: Body<BatchInput, BATCH_MAX_BYTES, true>,
    ) -> Outcome<Answer<BatchAnswer>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let (app, principal) = (self.app.clone(), caller.principal());
        let published = Arc::clone(&self.published);
        let (ctx, batch, key) = prepared(move || {
            let mut batch = read_batch(body.parse()?, &ctx)?;
            if !principal.has(Role::InteractionWrite) {
                app.store.look_up(|connection| {
                    let device_cache = DeviceCache::default();
                    let check = |draft: &_| {
                        confine::check(connection, &device_cache, &published, &principal, draft)
                    };
                    batch.check(check);
                    Ok(())
                })?;
            }
            let key = idempotency_key.read()?;
            let key = Key::of(&ctx, key, "POST /interaction/batch", || {
                Ok(fingerprint(body.text()))
            })?;
            Ok((ctx, batch, key))
        })
        .await?;
        let answers = write_all(&self.app.store, ctx, batch, key).await?;
        Ok(Answer::of(&answers))
    }

    /// Delete an interaction
    ///
    /// As if it had never been: it no longer counts for any rule. Needs
    /// `ROLE_OAUTH2_INTERACTION_WRITE`, or `ROLE_OAUTH2_GATE` for what the gate itself recorded in the last ten
    /// minutes. Within these, the client that registered a walk-in and deletes the check-in deletes the attendee
    /// as well, unless anything else happened to them. `nonce:` and the nonce mean what this client recorded with it,
    /// a scan that still waits for its code (`meta.unknown`) included.
    #[oai(
        path = "/interaction/:interaction",
        method = "delete",
        operation_id = "deleteInteraction"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// `41`, `id:41` or `nonce:b1946ac9-1`
        interaction: Path<String>,
        /// The `ETag` that the interaction had: 412 when it is another since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let selector = interaction.0;
        let known = match selector.strip_prefix("nonce:") {
            Some(_) => None,
            None => Some(interaction_id(&selector)?),
        };
        let ctx = self.app.context(&caller, request_id.as_str());
        let principal = caller.principal();
        self.app
            .store
            .write(move |tx| {
                let id = match known {
                    Some(id) => Some(id),
                    None => nonces::find(tx, principal.client, &selector["nonce:".len()..])?,
                };
                let id = id.ok_or_else(|| remove::missing(&selector))?;
                let current = || Ok(rows::find(tx, id)?.as_ref().map(etag));
                if_match.check_against(current, "interaction")?;
                confine::check_undo(tx, &principal, id, tx.now())?;
                if id < 0 {
                    let taken = refusals::take_out(tx, -id)?;
                    return taken.map(drop).ok_or_else(|| remove::missing(&selector));
                }
                let walk_in = walk_in::made_with(tx, &ctx, id)?;
                remove::remove(tx, &ctx, id)?;
                walk_in.map_or(Ok(()), |made| write::delete(tx, &ctx, &RESOURCE, made.0))
            })
            .await?;
        Ok(NoContent)
    }
}

/// Reads `41` or `id:41`.
fn interaction_id(selector: &str) -> Result<i64, Error> {
    if let Some(id) = selector.strip_prefix("id:") {
        return whole_number(id);
    }
    if selector.contains(':') {
        return Err(Error::new(
            Kind::UnknownIdType,
            "an interaction is selected by {id} or id:{id}",
        ));
    }
    if selector::LITERALS.contains(&selector) {
        return Err(Error::new(Kind::NoSuchPath, "there is no such path"));
    }
    whole_number(selector)
}

/// The version of an interaction. Nothing changes one but the erasure of somebody in it.
fn etag(interaction: &Interaction) -> String {
    let shown = Value::String(interaction.to_json(&Zone::default()));
    let fingerprint = json::fingerprint(&shown);
    format!("\"{:x}\"", u128::from_be_bytes(fingerprint))
}
