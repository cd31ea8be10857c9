//! `/device/...` (spec: Device endpoints).

use super::{RESOURCE, SEARCHED, find, find_readable};
use crate::{
    app::App,
    auth::roles::{ReadDevice, ReadDevices, WriteDevices},
    error::Result,
    records::{Selection, list::Records, write},
    search::Search,
    types::DeviceSelector,
    web::{
        Address, Answer, Body, Created, Granted, List, NoContent, Outcome, RequestId,
        page::window,
        record::{Embedded, answered, found, sent},
        schema::{Described, example},
    },
};
use poem_openapi::{
    OpenApi,
    param::{Path, Query},
    registry::{MetaSchema, Registry},
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// A device as it is answered.
pub struct Device;

impl Described for Device {
    const NAME: &'static str = "Device";

    fn schema() -> MetaSchema {
        example(
            answered(
                &RESOURCE,
                "Anything a delegate can meet; only properties that have a value appear.",
                &[],
            ),
            json!({
                "id": 3, "_type": "device", "parent": {"id": 1, "_type": "device"}, "code": "gate-b",
                "publicId": "0f7d7d1a-92f2-4b1c-8f05-6a4f1f0a7c55", "name": "Gate B", "deviceType": "room",
                "available": true, "sources": ["api"], "data": {"Access": {"ruleSet": "simple", "entry": "single"}},
                "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:00+00:00"
            }),
        )
    }

    fn register_parts(registry: &mut Registry) {
        Embedded::register(registry);
    }
}

/// A device as it is sent.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub struct DeviceInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")] pub Map<String, Value>,
);

impl Described for DeviceInput {
    const NAME: &'static str = "DeviceInput";

    fn schema() -> MetaSchema {
        example(
            sent(
                &RESOURCE,
                "Properties of a device; in a PATCH only those to change, `null` clears one.",
            ),
            json!({"name": "Gate B", "code": "gate-b", "deviceType": "room", "data": {"Access": {"ruleSet": "simple", "entry": "single"}}}),
        )
    }
}

/// The endpoints.
pub struct DevicesApi {
    /// The application.
    pub app: App,
}

impl DevicesApi {
    /// A record after it was written.
    fn shown<const S: u16>(&self, id: i64) -> Result<Answer<Device, S>> {
        found(&self.app, &Selection::all(&RESOURCE), |_| Ok(id))
    }
}

#[OpenApi(tag = "crate::web::tags::Tag::Devices")]
impl DevicesApi {
    /// List devices
    ///
    /// Ordered by id. Needs `ROLE_OAUTH2_DEVICE_READ`.
    #[oai(path = "/device/list", method = "get", operation_id = "listDevices")]
    async fn list(
        &self,
        _caller: Granted<ReadDevices>,
        address: Address,
        /// Items on a page, 1 to 50,000; 5,000 without it.
        limit: Query<Option<i64>>,
        /// Items passed over; 0 without it.
        offset: Query<Option<i64>>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// A search expression in JSON; all without it.
        search: Query<Option<String>>,
    ) -> Outcome<List<Device>> {
        let records = Records {
            selection: Selection::parse(&RESOURCE, fields.0.as_deref(), None)?,
            zone: self.app.settings().zone.clone(),
        };
        let search = Search::asked(&SEARCHED, search.0.as_deref(), &records.zone, None)?;
        List::of(
            &self.app,
            records,
            search,
            window(limit.0, offset.0)?,
            &address,
        )
        .await
    }

    /// Create a device
    ///
    /// Needs `ROLE_OAUTH2_DEVICE_WRITE`.
    #[oai(path = "/device/new", method = "post", operation_id = "createDevice")]
    async fn create(
        &self,
        caller: Granted<WriteDevices>,
        request_id: RequestId,
        body: Body<DeviceInput>,
    ) -> Outcome<Created<Device>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let DeviceInput(input) = body.parse()?;
        let id = self
            .app
            .store
            .write_prepared(move |tx| write::create(tx, &ctx, &RESOURCE, input.clone()))
            .await?;
        Ok(self.shown(id)?)
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
    ) -> Outcome<Answer<Device>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let selection = Selection::parse(&RESOURCE, fields.0.as_deref(), None)?;
        let find = |connection: &Connection| Ok(find_readable(connection, &selector, &caller)?.0);
        Ok(found(&self.app, &selection, find)?)
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
        body: Body<DeviceInput>,
    ) -> Outcome<Answer<Device>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let DeviceInput(input) = body.parse()?;
        let id = self
            .app
            .store
            .write_prepared(move |tx| {
                let id = find(tx, &selector)?.0;
                write::patch(tx, &ctx, &RESOURCE, id, input.clone())?;
                Ok(id)
            })
            .await?;
        Ok(self.shown(id)?)
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
    ) -> Outcome<NoContent> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        self.app
            .store
            .write(move |tx| {
                let id = find(tx, &selector)?;
                super::delete(tx, &ctx, id).map(|_| ())
            })
            .await?;
        Ok(NoContent)
    }
}
