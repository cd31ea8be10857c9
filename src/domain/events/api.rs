//! `/event/...` (spec: Event endpoints).

use super::{RESOURCE, SEARCHED, find};
use crate::{
    core::records::{Expansion, Selection},
    db::Tx,
    identity::{
        App, Granted,
        roles::{ReadEvents, WriteEvents},
    },
    types::EventSelector,
    web::{
        Address, Answer, Body, Created, IdempotencyKey, IfMatch, List, ListQuery, NoContent,
        Outcome, Query, RequestId,
        record::{answered, created, found, page, patched, sent},
    },
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// A top-level device under its event names.
#[derive(JsonSchema)]
#[schemars(transform = answered(&RESOURCE), example = json!({
    "id": 1, "_type": "event", "eventName": "Summit 2026", "eventExternalID": "SUMMIT-26",
    "eventStartAt": "2026-11-21 00:00:00", "eventEndAt": "2026-11-22 00:00:00", "sources": ["api"],
    "createdAt": "2026-11-01T08:00:00+00:00", "updatedAt": "2026-11-01T08:00:00+00:00"
}))]
pub struct Event {}

/// Properties of an event; in a PATCH only those to change, `null` clears one.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = sent(&RESOURCE), example = json!({
    "eventName": "Summit 2026", "eventExternalID": "SUMMIT-26", "eventStartAt": "2026-11-21 00:00:00",
    "eventEndAt": "2026-11-22 00:00:00",
}))]
pub struct EventInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")] pub Map<String, Value>,
);

/// The endpoints.
pub struct EventsApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Events")]
impl EventsApi {
    /// List events
    ///
    /// Ordered by id, or as `sort` says. Needs `ROLE_OAUTH2_EVENT_READ`.
    #[oai(path = "/event/list", method = "get", operation_id = "listEvents")]
    async fn list(
        &self,
        _caller: Granted<ReadEvents>,
        address: Address,
        query: ListQuery,
    ) -> Outcome<List<Event>> {
        page(&self.app, &RESOURCE, &SEARCHED, None, query, Some(&address)).await
    }

    /// Create an event
    ///
    /// With an `Idempotency-Key` the answer is kept for 7 days and given again. Needs `ROLE_OAUTH2_EVENT_WRITE`.
    #[oai(path = "/event/new", method = "post", operation_id = "createEvent")]
    async fn create(
        &self,
        caller: Granted<WriteEvents>,
        request_id: RequestId,
        /// Makes a resend of the same request safe.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyKey,
        body: Body<EventInput>,
    ) -> Outcome<Created<Event>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let EventInput(input) = body.parse()?;
        Ok(created(&self.app, ctx, &RESOURCE, input, idempotency_key, None).await?)
    }

    /// Get an event
    ///
    /// By `820`, `id:820` or `externalId:X`. Needs `ROLE_OAUTH2_EVENT_READ`.
    #[oai(path = "/event/:event", method = "get", operation_id = "getEvent")]
    async fn get(
        &self,
        _caller: Granted<ReadEvents>,
        /// `820`, `id:820` or `externalId:X`
        event: Path<String>,
        /// Properties to show, separated by commas; all without it.
        fields: Query<Option<String>>,
    ) -> Outcome<Answer<Event>> {
        let selector = EventSelector::parse(&event.0)?;
        let selection = Selection::parse(&RESOURCE, fields.0.as_deref(), None)?;
        let find = |connection: &Connection| Ok(find(connection, &selector)?.0);
        Ok(found(&self.app, &selection, &Expansion::default(), find)?)
    }

    /// Change an event
    ///
    /// Absent means unchanged, `null` cleared. Needs `ROLE_OAUTH2_EVENT_WRITE`.
    #[oai(path = "/event/:event", method = "patch", operation_id = "patchEvent")]
    async fn patch(
        &self,
        caller: Granted<WriteEvents>,
        request_id: RequestId,
        /// `820`, `id:820` or `externalId:X`
        event: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
        body: Body<EventInput>,
    ) -> Outcome<Answer<Event>> {
        let selector = EventSelector::parse(&event.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let EventInput(input) = body.parse()?;
        let find = move |tx: &Tx<'_>| Ok(find(tx, &selector)?.0);
        Ok(patched(&self.app, ctx, &RESOURCE, find, if_match, input, None).await?)
    }

    /// Delete an event
    ///
    /// Softly: getting or changing it gives 404 from then on. Needs `ROLE_OAUTH2_EVENT_WRITE`.
    #[oai(
        path = "/event/:event",
        method = "delete",
        operation_id = "deleteEvent"
    )]
    async fn delete(
        &self,
        caller: Granted<WriteEvents>,
        request_id: RequestId,
        /// `820`, `id:820` or `externalId:X`
        event: Path<String>,
        /// The `ETag` that the record had: 412 when it has changed since.
        #[oai(name = "If-Match")]
        if_match: IfMatch,
    ) -> Outcome<NoContent> {
        let selector = EventSelector::parse(&event.0)?;
        let ctx = self.app.context(&caller, request_id.as_str());
        self.app
            .store
            .write(move |tx| {
                let id = find(tx, &selector)?;
                if_match.check(tx, &RESOURCE, id.0)?;
                super::delete(tx, &ctx, id)
            })
            .await?;
        Ok(NoContent)
    }
}
