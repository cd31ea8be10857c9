//! `/delegate/...` (spec: Delegate endpoints).

use super::{
    RESOURCE, SEARCHED, find, find_readable, people,
    schemas::{FindInput, FoundDelegates},
};
use crate::{
    core::records::{Selection, input::check_visible, write},
    db::Tx,
    domain::interactions::schemas::InteractionShape,
    identity::{
        App, Granted,
        roles::{ReadDelegate, ReadDelegates, WriteDelegates},
    },
    types::{DelegateSelector, error::Result, json::Members},
    web::{
        Address, Answer, Body, Created, IdempotencyKey, IfMatch, List, ListQuery, NoContent,
        Outcome, Put, Query, RequestId,
        batch::{BATCH_MAX_BYTES, ItemAnswer, ItemMeta},
        record::{Embedded, answered, created, expansion, found, page, patched, put, sent},
        upsert::{Upserts, upserted},
    },
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An attendee; only properties that have a value appear.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", transform = answered(&RESOURCE), example = json!({
    "id": 7, "_type": "delegate", "barcode": "TICKET-0007", "publicId": "5b0c8f5e-4c1c-4f62-9d2b-0d7f1c1c9b11",
    "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "sources": ["api"],
    "data": {"Data": {"dietaryNeeds": "vegan"}},
    "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:00+00:00"
}))]
pub struct Delegate {
    pub parent: Option<Embedded>,
    pub first_interactions: Vec<InteractionShape>,
    pub second_interactions: Vec<InteractionShape>,
    pub third_interactions: Vec<InteractionShape>,
}

/// Properties of a delegate; in a PATCH only those to change, `null` clears one.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = sent(&RESOURCE), example = json!({
    "firstName": "Ada", "lastName": "Lovelace", "barcode": "TICKET-0007", "data": {"Data": {"dietaryNeeds": "vegan"}},
}))]
pub struct DelegateInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")] pub Map<String, Value>,
);

/// Delegates to create or change.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"delegates": {
    "a": {"barcode": "TICKET-0007", "firstName": "Ada"},
    "b": {"id": 41, "company": "Engines"},
}}))]
pub struct DelegateBatchInput {
    /// Delegates by a key of the client's choice, each with a unique code or an `id`, in this order. One that does not fit
    /// fails alone.
    #[schemars(with = "BTreeMap<String, DelegateInput>", extend("maxProperties" = 10_000))]
    pub delegates: Members,
}

/// One answer an item, in their order.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"key": "a", "status": 201, "data": {"id": 7, "_type": "delegate", "barcode": "TICKET-0007"}, "meta": {}},
    {"key": "b", "status": 404, "data": {}, "meta": {"error": {
        "code": 404, "message": "there is no delegate 41", "internalCode": 1301,
    }}},
]))]
pub struct DelegateBatchAnswer(pub Vec<ItemAnswer<Delegate, ItemMeta>>);

/// The endpoints.
pub struct DelegatesApi {
    /// The application.
    pub app: App,
}

impl DelegatesApi {
    /// A page of the list; with links where it has an address.
    async fn page(
        &self,
        caller: &crate::identity::Principal,
        query: ListQuery,
        address: Option<&Address>,
    ) -> Outcome<List<Delegate>> {
        let visible = caller.visible_properties.as_deref();
        page(&self.app, &RESOURCE, &SEARCHED, visible, query, address).await
    }
}

#[OpenApi(tag = "crate::web::Tag::Delegates")]
impl DelegatesApi {
    /// List delegates
    ///
    /// Ordered by id, or as `sort` says. Needs `ROLE_OAUTH2_DELEGATE_READ`.
    #[oai(
        path = "/delegate/list",
        method = "get",
        operation_id = "listDelegates"
    )]
    async fn list(
        &self,
        caller: Granted<ReadDelegates>,
        address: Address,
        query: ListQuery,
        /// Embedded records to show whole, as far as the client may see them, separated by commas; `{id, _type}`
        /// without it.
        expand: Query<Option<String>>,
    ) -> Outcome<List<Delegate>> {
        let query = ListQuery {
            expand: expand.0,
            ..query
        };
        self.page(&caller, query, Some(&address)).await
    }

    /// List delegates by a long search
    ///
    /// As `GET /delegate/list`, for a search that is too long for an address; without `next` and
    /// `previous`: send `meta.pagination.after` back as `after`. Needs `ROLE_OAUTH2_DELEGATE_READ`.
    #[oai(
        path = "/delegate/list",
        method = "post",
        operation_id = "searchDelegates"
    )]
    async fn search(
        &self,
        caller: Granted<ReadDelegates>,
        body: Body<ListQuery>,
    ) -> Outcome<List<Delegate>> {
        self.page(&caller, body.parse()?, None).await
    }

    /// Find delegates
    ///
    /// By what somebody types, the likeliest first: an exact code, then whole words, beginnings, other spellings, parts
    /// and typos. Case, accents, apostrophes, hyphens and the order of words do not matter, and `muller`, `mueller` and
    /// `Müller` find each other. A client that sees some properties finds delegates by those only. Needs
    /// `ROLE_OAUTH2_DELEGATE_READ`.
    #[oai(
        path = "/delegate/find",
        method = "post",
        operation_id = "findDelegates"
    )]
    async fn find(
        &self,
        caller: Granted<ReadDelegates>,
        body: Body<FindInput>,
    ) -> Outcome<Answer<FoundDelegates>> {
        let input = body.parse()?;
        let visible = caller.visible_properties.as_deref();
        let (people, limit) = input.people(visible)?;
        let selection = Selection::parse(&RESOURCE, input.fields.as_deref(), visible)?;
        let zone = self.app.settings().zone.clone();
        let read = move |connection: &Connection| {
            let found = people::find(connection, &people, limit)?.ids.into_iter();
            let shown = found.map(|id| selection.one(connection, "id", &id, &zone));
            shown
                .filter_map(Result::transpose)
                .collect::<Result<Vec<_>>>()
        };
        let found = self.app.store.read(read).await?;
        Ok(Answer::of(&format!("[{}]", found.join(","))))
    }

    /// Create a delegate
    ///
    /// With an `Idempotency-Key` the answer is kept for 7 days and given again. Needs
    /// `ROLE_OAUTH2_DELEGATE_WRITE`.
    #[oai(
        path = "/delegate/new",
        method = "post",
        operation_id = "createDelegate"
    )]
    async fn create(
        &self,
        caller: Granted<WriteDelegates>,
        request_id: RequestId,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<DelegateInput>,
    ) -> Outcome<Created<Delegate>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let DelegateInput(input) = body.parse()?;
        check_visible(&RESOURCE, &input, caller.visible_properties.as_deref())?;
        let visible = caller.visible_properties.clone();
        Ok(created(&self.app, ctx, &RESOURCE, input, idempotency_key, visible).await?)
    }

    /// Create or change many delegates
    ///
    /// Each as by PUT: the delegate with this `id`, or else the one with any of these unique codes, is changed (200); where there is
    /// none, it is created (201). Codes of two delegates are refused (409), as is a code of one that has another
    /// `externalId`; `by` names the one code that finds. In the order of their keys; one that fails fails alone. Up to 10,000 records and
    /// 32 MiB; once the answers have 160 MiB, the items that are left fail (413). They are answered without `children` and
    /// interactions.
    /// When the whole answers 503, resend it: what was stored is not stored again. Needs `ROLE_OAUTH2_DELEGATE_WRITE`.
    #[oai(
        path = "/delegate/batch",
        method = "post",
        operation_id = "putDelegates"
    )]
    async fn batch(
        &self,
        caller: Granted<WriteDelegates>,
        request_id: RequestId,
        /// The unique code by which alone records are found, such as `externalId`; each has to have it, and an `id` is
        /// ignored.
        by: Query<Option<String>>,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<DelegateBatchInput, BATCH_MAX_BYTES, true>,
    ) -> Outcome<Answer<DelegateBatchAnswer>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let records = |input: DelegateBatchInput| input.delegates;
        let upserts = Upserts {
            by: by.0,
            visible: caller.visible_properties.clone(),
            key: idempotency_key,
        };
        let answers = upserted(&self.app, ctx, &RESOURCE, upserts, body, records).await?;
        Ok(Answer::of(&answers))
    }

    /// Get a delegate
    ///
    /// Needs `ROLE_OAUTH2_DELEGATE_READ`, or `ROLE_OAUTH2_OWN_READ` for one's own delegate and
    /// those it owns.
    #[oai(
        path = "/delegate/:selector",
        method = "get",
        operation_id = "getDelegate"
    )]
    async fn get(
        &self,
        caller: Granted<ReadDelegate>,
        selector: Path<String>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// Embedded records to show whole, separated by commas; `{id, _type}` without it. Needs
        /// `ROLE_OAUTH2_DELEGATE_READ`.
        expand: Query<Option<String>>,
    ) -> Outcome<Answer<Delegate>> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let visible = caller.visible_properties.as_deref();
        let selection = Selection::parse(&RESOURCE, fields.0.as_deref(), visible)?;
        let find = |connection: &Connection| Ok(find_readable(connection, &selector, &caller)?.0);
        let expansion = expansion(&RESOURCE, expand.0.as_deref(), visible)?;
        if !expansion.names().is_empty() {
            caller.require::<ReadDelegates>()?;
        }
        Ok(found(&self.app, &selection, &expansion, find)?)
    }

    /// Change a delegate
    ///
    /// Absent means unchanged, `null` cleared; `data` merges by key (RFC 7396). Needs
    /// `ROLE_OAUTH2_DELEGATE_WRITE`.
    #[oai(
        path = "/delegate/:selector",
        method = "patch",
        operation_id = "patchDelegate"
    )]
    async fn patch(
        &self,
        caller: Granted<WriteDelegates>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<DelegateInput>,
    ) -> Outcome<Answer<Delegate>> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DelegateInput(input) = body.parse()?;
        check_visible(&RESOURCE, &input, caller.visible_properties.as_deref())?;
        let find = move |tx: &Tx<'_>| Ok(find(tx, &selector)?.0);
        let visible = caller.visible_properties.as_deref();
        Ok(patched(&self.app, ctx, &RESOURCE, find, if_match, input, visible).await?)
    }

    /// Create or change a delegate by its code
    ///
    /// The delegate that has this unique code is changed as by PATCH (200); where there is none, it is created with it
    /// (201). The same request twice makes one record. `id:` is refused, as ids are given by the server. Needs
    /// `ROLE_OAUTH2_DELEGATE_WRITE`.
    #[oai(
        path = "/delegate/:selector",
        method = "put",
        operation_id = "putDelegate"
    )]
    async fn put(
        &self,
        caller: Granted<WriteDelegates>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since, or is none.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<DelegateInput>,
    ) -> Outcome<Put<Delegate>> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DelegateInput(input) = body.parse()?;
        check_visible(&RESOURCE, &input, caller.visible_properties.as_deref())?;
        let code = selector.named_code();
        let visible = caller.visible_properties.as_deref();
        Ok(put(&self.app, ctx, &RESOURCE, code, if_match, input, visible).await?)
    }

    /// Delete a delegate
    ///
    /// Softly: it is out of every answer and its codes are free again; its interactions stay.
    /// Needs `ROLE_OAUTH2_DELEGATE_WRITE`.
    #[oai(
        path = "/delegate/:selector",
        method = "delete",
        operation_id = "deleteDelegate"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteDelegates>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        self.app
            .store
            .write(move |tx| {
                let id = find(tx, &selector)?.0;
                if_match.check(tx, &RESOURCE, id)?;
                write::delete(tx, &ctx, &RESOURCE, id)
            })
            .await?;
        Ok(NoContent)
    }
}
