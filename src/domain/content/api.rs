//! `/delegate/…/info` and `/device/…/info` (spec: Delegate endpoints, rule 2; Device endpoints,
//! rule 2).

use super::{Of, Subject, compose::Page};
use crate::{
    domain::{delegates, devices},
    identity::{
        App, Granted, Principal,
        roles::{ReadDelegate, ReadDeviceOrOwn},
    },
    types::{
        DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Result},
    },
    web::{Answer, Outcome, Query},
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde_json::json;
use tokio::sync::Semaphore;

/// Renderings at once. A template may take tens of milliseconds of a processor; check-ins beside it
/// keep the others.
static RENDERING: Semaphore = Semaphore::const_new(2);

/// Regions, in the order asked for.
#[derive(JsonSchema)]
#[schemars(example = json!({"regions": [{
    "path": "/api/delegate-info", "content": "<h1>Hello Ada</h1>", "tags": ["welcome"], "references": [],
    "publishedFrom": "2026-11-21 08:00:00", "publishedTo": null,
    "createdAt": "2026-11-20 18:12:09", "updatedAt": "2026-11-21 07:40:00"
}]}))]
pub struct Regions {
    pub regions: Vec<RenderedRegion>,
}

/// A rendered region.
#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct RenderedRegion {
    /// The path by which it was asked for.
    pub path: String,
    /// The HTML that its template made.
    pub content: String,
    pub tags: Vec<String>,
    /// The references that the crew wrote down.
    pub references: Vec<String>,
    /// In the instance's time zone; null: since ever.
    #[schemars(required, extend("nullable" = true), example = "2026-11-21 09:00:00".to_owned())]
    pub published_from: Option<String>,
    /// Null: for ever.
    #[schemars(required, extend("nullable" = true), example = "2026-11-21 09:00:00".to_owned())]
    pub published_to: Option<String>,
    /// `yyyy-mm-dd hh:mm:ss`
    pub created_at: String,
    /// `yyyy-mm-dd hh:mm:ss`
    pub updated_at: String,
}

pub struct ContentApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Content")]
impl ContentApi {
    /// Regions for a delegate
    ///
    /// Renders published regions with the delegate, as the caller sees it, as `delegate`. Needs
    /// `ROLE_OAUTH2_DELEGATE_READ`, or `ROLE_OAUTH2_OWN_READ` for one's own delegate and those it owns.
    #[oai(
        path = "/delegate/:selector/info",
        method = "get",
        operation_id = "getDelegateInfo"
    )]
    async fn delegate(
        &self,
        caller: Granted<ReadDelegate>,
        selector: Path<String>,
        /// Paths of regions, separated by commas, at most 20, each starting with `/api/delegate-info`; that one without it.
        region: Query<Option<String>>,
    ) -> Outcome<Answer<Regions>> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let (settings, now) = (self.app.settings(), Timestamp::now());
        let paths = Of::Delegate.asked(region.0.as_deref());
        let page = self.app.store.look_up(|connection| {
            let id = delegates::find_readable(connection, &selector, &caller)?;
            let visible = caller.visible_properties.as_deref();
            let subject = Subject::delegate(connection, id, visible, &settings)?;
            Page::gather(connection, subject, &paths?, now)
        })?;
        Ok(self.answer(page, now).await?)
    }

    /// Regions for a device
    ///
    /// Renders published regions with the device as `device`. Needs `ROLE_OAUTH2_DEVICE_READ`;
    /// `ROLE_OAUTH2_OWN_READ` for a device that one's delegate owns through an `own` interaction; or
    /// nothing for the device that the token's client is bound to.
    #[oai(
        path = "/device/:selector/info",
        method = "get",
        operation_id = "getDeviceInfo"
    )]
    async fn device(
        &self,
        caller: Granted<ReadDeviceOrOwn>,
        selector: Path<String>,
        /// Paths of regions, separated by commas, at most 20, each starting with `/api/device-info`; that one without it.
        region: Query<Option<String>>,
    ) -> Outcome<Answer<Regions>> {
        let selector = DeviceSelector::parse(&selector.0)?;
        let (settings, now) = (self.app.settings(), Timestamp::now());
        let paths = Of::Device.asked(region.0.as_deref());
        let page = self.app.store.look_up(|connection| {
            let id = readable_device(connection, &selector, &caller)?;
            let subject = Subject::device(connection, id, &settings)?;
            Page::gather(connection, subject, &paths?, now)
        })?;
        Ok(self.answer(page, now).await?)
    }
}

impl ContentApi {
    async fn answer(&self, page: Page, now: Timestamp) -> Result<Answer<Regions>> {
        let settings = self.app.settings();
        let _turn = RENDERING.acquire().await.map_err(Error::defect)?;
        let answer = tokio::task::spawn_blocking(move || page.answer(&settings, now))
            .await
            .map_err(Error::defect)??;
        Ok(Answer::of(&answer.to_string()))
    }
}

/// As [`devices::find_readable`]; an app may read the device that it runs on.
fn readable_device(
    connection: &Connection,
    selector: &DeviceSelector,
    caller: &Principal,
) -> Result<DeviceId> {
    match (devices::find(connection, selector), caller.device) {
        (Ok(id), Some(own)) if id == own => Ok(id),
        _ => devices::find_readable(connection, selector, caller),
    }
}
