//! `/device/...` (spec: Device endpoints).

use super::{RESOURCE, SEARCHED, find, find_readable};
use crate::{
    core::records::Selection,
    db::Tx,
    identity::{
        App, Granted,
        roles::{ReadDevice, ReadDevices, WriteDevices},
    },
    types::DeviceSelector,
    web::{
        Address, Answer, Body, Created, IdempotencyKey, IfMatch, List, ListQuery, NoContent,
        Outcome, Query, RequestId,
        record::{Embedded, answered, created, found, page, patched, sent},
        schema::{Described, example, from_json},
    },
};
use poem_openapi::{
    OpenApi,
    param::Path,
    registry::{MetaSchema, MetaSchemaRef, Registry},
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// The rules of entry at a device, as they are answered.
struct AccessRules;

impl Described for AccessRules {
    const NAME: &'static str = "AccessRules";

    fn schema() -> MetaSchema {
        access_rules(false)
    }

    fn register_parts(registry: &mut Registry) {
        TypeTime::register(registry);
    }
}

/// The rules as they are sent: `null` removes one.
struct AccessRulesInput;

impl Described for AccessRulesInput {
    const NAME: &'static str = "AccessRulesInput";

    fn schema() -> MetaSchema {
        access_rules(true)
    }

    fn register_parts(registry: &mut Registry) {
        TypeTime::register(registry);
    }
}

/// When types of delegates may enter.
struct TypeTime;

impl Described for TypeTime {
    const NAME: &'static str = "TypeTime";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object", "required": ["types", "from", "until"],
            "description": "A time in which types of delegates may enter.",
            "properties": {
                "types": {"type": "array", "items": {"type": "string"}},
                "from": {"type": "string", "description": "`hh:mm` of every day, or `yyyy-mm-dd hh:mm`."},
                "until": {"type": "string", "description": "In the same form; exclusive."},
            },
        }))
    }
}

fn access_rules(nullable: bool) -> MetaSchema {
    let choice = |names: &[&str], about: &str| {
        let mut names = json!(names);
        if let (true, Value::Array(names)) = (nullable, &mut names) {
            names.push(Value::Null);
        }
        json!({"type": "string", "nullable": nullable, "enum": names, "description": about})
    };
    let count = |about: &str| {
        json!({
            "type": "integer", "format": "int64", "nullable": nullable, "minimum": 0, "maximum": u32::MAX,
            "description": about,
        })
    };
    let types = |about: &str| json!({"type": "array", "nullable": nullable, "items": {"type": "string"}, "description": about});
    let entry =
        "`single`: not again before a check-out; `daily`: not again on the same day before one.";
    let rule_set = "`open`: everybody with a known code; `simple`: registered attendees only.";
    from_json(&json!({
        "type": "object",
        "nullable": nullable,
        "description": "Who may enter, and how often. What is not set comes from the instance's settings. A door \
             (a device of the type `door` below a place) has no `capacity`, `entry` and `maxCheckIns`: they count at \
             its parent, whose rules hold at the door; what the door sets must pass, too.",
        "properties": {
            "ruleSet": choice(&["open", "simple"], rule_set),
            "entry": choice(&["multiple", "single", "daily"], entry),
            "maxCheckIns": count("Check-ins of one delegate."),
            "per": choice(&["day"], "`day`: `maxCheckIns` counts the check-ins of each day."),
            "capacity": count("Delegates inside at a time."),
            "opensBefore": count("Minutes before `startAt` from which check-ins pass."),
            "closesAfter": count("Minutes after `endAt` until which check-ins pass."),
            "types": types("Types of delegates that may enter; an empty list lets nobody in."),
            "typeTimes": {
                "type": "array", "nullable": nullable,
                "description": "When types of delegates may enter; other types are not narrowed.",
                "items": {"$ref": TypeTime::NAME},
            },
            "everybodyOutAt": {
                "type": "string", "nullable": nullable, "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
                "description": "`hh:mm`, when everybody inside leaves, each day. Not inherited.",
            },
            "everybodyOutExcept": types("Types of delegates that stay then. Not inherited."),
            "oneAtATime": {
                "type": "boolean", "nullable": nullable,
                "description": "Whether an entry at one place below ends the stay in the others. Not inherited.",
            },
        },
    }))
}

/// The schema with the rules in its `data`.
fn with_rules(mut schema: MetaSchema, rules: MetaSchemaRef) -> MetaSchema {
    let data = schema
        .properties
        .iter_mut()
        .find(|(name, _)| *name == "data");
    if let Some((_, MetaSchemaRef::Inline(data))) = data {
        data.properties.push(("Access", rules));
    }
    schema
}

/// A device as it is answered.
pub struct Device;

impl Described for Device {
    const NAME: &'static str = "Device";

    fn schema() -> MetaSchema {
        let shape = answered(
            &RESOURCE,
            "Anything a delegate can meet; only properties that have a value appear.",
            &[],
        );
        example(
            with_rules(shape, AccessRules::reference()),
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
        AccessRules::register(registry);
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
        let shape = sent(
            &RESOURCE,
            "Properties of a device; in a PATCH only those to change, `null` clears one.",
        );
        example(
            with_rules(shape, AccessRulesInput::reference()),
            json!({"name": "Gate B", "code": "gate-b", "deviceType": "room", "data": {"Access": {"ruleSet": "simple", "entry": "single"}}}),
        )
    }

    fn register_parts(registry: &mut Registry) {
        AccessRulesInput::register(registry);
    }
}

/// The endpoints.
pub struct DevicesApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Devices")]
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
        /// The items after one, as `next` has it; not beside `offset`.
        after: Query<Option<String>>,
        /// The items before one, as `previous` has it; not beside `offset`.
        before: Query<Option<String>>,
        /// `false` leaves `totalItems` and `totalPages` out and counts nothing: much faster where many
        /// records match.
        total: Query<Option<bool>>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
        /// A search expression in JSON; all without it.
        search: Query<Option<String>>,
    ) -> Outcome<List<Device>> {
        let query = ListQuery::of(limit.0, offset.0, total.0, fields.0, search.0)
            .between(after.0, before.0);
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
