//! `/device/...` (spec: Device endpoints).

use super::{RESOURCE, SEARCHED, find, find_readable};
use crate::{
    core::{records::Selection, rules::AccessRules},
    db::Tx,
    identity::{
        App, Granted,
        roles::{ReadDevice, ReadDevices, WriteDevices},
    },
    types::{DeviceSelector, json::Members},
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

/// Anything a delegate can meet; only properties that have a value appear.
#[derive(JsonSchema)]
#[schemars(transform = answered(&RESOURCE), example = json!({
    "id": 3, "_type": "device", "parent": {"id": 1, "_type": "device"}, "code": "gate-b",
    "publicId": "0f7d7d1a-92f2-4b1c-8f05-6a4f1f0a7c55", "name": "Gate B", "deviceType": "room",
    "available": true, "sources": ["api"], "data": {"Access": {"ruleSet": "simple", "entry": "single"}},
    "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:00+00:00"
}))]
pub struct Device {
    pub parent: Option<Embedded>,
    pub data: Option<Data<AccessRules>>,
}

/// Properties of a device; in a PATCH only those to change, `null` clears one.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = sent(&RESOURCE), example = json!({
    "name": "Gate B", "code": "gate-b", "deviceType": "room", "data": {"Access": {"ruleSet": "simple", "entry": "single"}},
}))]
pub struct DeviceInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    #[schemars(with = "SentDevice")]
    pub Map<String, Value>,
);

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct SentDevice {
    pub data: Option<Data<AccessRulesInput>>,
}

/// `data` with the rules `R`.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Data<R> {
    #[schemars(rename = "Access")]
    pub access: Option<R>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// The rules of entry at a device as they are sent, see `AccessRules`: `null` removes one.
#[derive(JsonSchema)]
#[schemars(extend("nullable" = true))]
pub struct AccessRulesInput(#[schemars(schema_with = "AccessRules::json_schema")] pub AccessRules);

/// Devices to create or change.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"devices": {
    "a": {"code": "gate-b", "name": "Gate B"},
    "b": {"id": 41, "available": false},
}}))]
pub struct DeviceBatchInput {
    /// Devices by a key of the client's choice, each with a unique code or an `id`, in this order. One that does not fit
    /// fails alone.
    #[schemars(with = "BTreeMap<String, DeviceInput>", extend("maxProperties" = 10_000))]
    pub devices: Members,
}

/// One answer an item, in their order.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"key": "a", "status": 201, "data": {"id": 7, "_type": "device", "code": "gate-b"}, "meta": {}},
    {"key": "b", "status": 404, "data": {}, "meta": {"error": {
        "code": 404, "message": "there is no device 41", "internalCode": 1401,
    }}},
]))]
pub struct DeviceBatchAnswer(pub Vec<ItemAnswer<Device, ItemMeta>>);

/// The endpoints.
pub struct DevicesApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Devices")]
impl DevicesApi {
    /// List devices
    ///
    /// Ordered by id, or as `sort` says. Needs `ROLE_OAUTH2_DEVICE_READ`.
    #[oai(path = "/device/list", method = "get", operation_id = "listDevices")]
    async fn list(
        &self,
        _caller: Granted<ReadDevices>,
        address: Address,
        query: ListQuery,
        /// Embedded records to show whole, as far as the client may see them, separated by commas; `{id, _type}`
        /// without it.
        expand: Query<Option<String>>,
    ) -> Outcome<List<Device>> {
        let query = ListQuery {
            expand: expand.0,
            ..query
        };
        page(&self.app, &RESOURCE, &SEARCHED, None, query, Some(&address)).await
    }

    /// List devices by a long search
    ///
    /// As `GET /device/list`, for a search that is too long for an address; without `next` and
    /// `previous`: send `meta.pagination.after` back as `after`. Needs `ROLE_OAUTH2_DEVICE_READ`.
    #[oai(path = "/device/list", method = "post", operation_id = "searchDevices")]
    async fn search(
        &self,
        _caller: Granted<ReadDevices>,
        body: Body<ListQuery>,
    ) -> Outcome<List<Device>> {
        let query = body.parse()?;
        page(&self.app, &RESOURCE, &SEARCHED, None, query, None).await
    }

    /// Create a device
    ///
    /// With an `Idempotency-Key` the answer is kept for 7 days and given again. Needs `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(path = "/device/new", method = "post", operation_id = "createDevice")]
    async fn create(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<DeviceInput>,
    ) -> Outcome<Created<Device>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let DeviceInput(input) = body.parse()?;
        Ok(created(&self.app, ctx, &RESOURCE, input, idempotency_key, None).await?)
    }

    /// Create or change many devices
    ///
    /// Each as by PUT: the device with this `id`, or else the one with any of these unique codes, is changed (200); where there is
    /// none, it is created (201). Codes of two devices are refused (409), as is a code of one that has another
    /// `externalId`; `by` names the one code that finds. In the order of their keys; one that fails fails alone. Up to 10,000 records and
    /// 32 MiB; once the answers have 160 MiB, the items that are left fail (413). They are answered without `children`.
    /// When the whole answers 503, resend it: what was stored is not stored again. Needs `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(path = "/device/batch", method = "post", operation_id = "putDevices")]
    async fn batch(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        /// The unique code by which alone records are found, such as `externalId`; each has to have it, and an `id` is
        /// ignored.
        by: Query<Option<String>>,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<DeviceBatchInput, BATCH_MAX_BYTES, true>,
    ) -> Outcome<Answer<DeviceBatchAnswer>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let records = |input: DeviceBatchInput| input.devices;
        let upserts = Upserts {
            by: by.0,
            visible: None,
            key: idempotency_key,
        };
        let answers = upserted(&self.app, ctx, &RESOURCE, upserts, body, records).await?;
        Ok(Answer::of(&answers))
    }

    /// Get a device
    ///
    /// Needs `ROLE_OAUTH2_DEVICE_READ`, or `ROLE_OAUTH2_OWN_READ` for a device that one's delegate
    /// owns through an `own` interaction.
    #[oai(path = "/device/:selector", method = "get", operation_id = "getDevice")]
    async fn get(
        &self,
        caller: Granted<ReadDevice>,
        selector: Path<String>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// Embedded records to show whole, separated by commas; `{id, _type}` without it. Needs
        /// `ROLE_OAUTH2_DEVICE_READ`.
        expand: Query<Option<String>>,
    ) -> Outcome<Answer<Device>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let selection = Selection::parse(&RESOURCE, fields.0.as_deref(), None)?;
        let find = |connection: &Connection| Ok(find_readable(connection, &selector, &caller)?.0);
        let expansion = expansion(&RESOURCE, expand.0.as_deref(), None)?;
        if !expansion.names().is_empty() {
            caller.require::<ReadDevices>()?;
        }
        Ok(found(&self.app, &selection, &expansion, find)?)
    }

    /// Change a device
    ///
    /// Absent means unchanged, `null` cleared; `data` merges by key (RFC 7396), and `data.Access`
    /// is checked strictly. Needs `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(
        path = "/device/:selector",
        method = "patch",
        operation_id = "patchDevice"
    )]
    async fn patch(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<DeviceInput>,
    ) -> Outcome<Answer<Device>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DeviceInput(input) = body.parse()?;
        let find = move |tx: &Tx<'_>| Ok(find(tx, &selector)?.0);
        Ok(patched(&self.app, ctx, &RESOURCE, find, if_match, input, None).await?)
    }

    /// Create or change a device by its code
    ///
    /// The device that has this unique code is changed as by PATCH (200); where there is none, it is created with it
    /// (201). The same request twice makes one record. `id:` is refused, as ids are given by the server. Needs
    /// `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(path = "/device/:selector", method = "put", operation_id = "putDevice")]
    async fn put(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since, or is none.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<DeviceInput>,
    ) -> Outcome<Put<Device>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DeviceInput(input) = body.parse()?;
        let code = selector.named_code();
        Ok(put(&self.app, ctx, &RESOURCE, code, if_match, input, None).await?)
    }

    /// Delete a device
    ///
    /// Softly: it is out of every answer and its codes are free again; its interactions stay. Clients
    /// that are bound to it are revoked, so that their tokens end at once. Needs `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(
        path = "/device/:selector",
        method = "delete",
        operation_id = "deleteDevice"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        selector: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        self.app
            .store
            .write(move |tx| {
                let id = find(tx, &selector)?;
                if_match.check(tx, &RESOURCE, id.0)?;
                super::delete(tx, &ctx, id).map(|_| ())
            })
            .await?;
        Ok(NoContent)
    }
}
