//! Regions rendered for one record. What is read comes first, in one look at the file; rendering
//! holds no connection.

use super::{Of, Region, region::Publication};
use crate::{
    core::{
        records::Selection,
        settings::Settings,
        template::{self, Format},
    },
    domain::{delegates, devices},
    types::{
        DelegateId, DeviceId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A record as templates see it: as the API shows it to the caller.
#[derive(Debug, Clone)]
pub struct Subject {
    of: Of,
    record: template::Value,
}

/// The parts of one answer.
pub struct Page {
    subject: Subject,
    regions: Vec<Region>,
}

impl Subject {
    /// A delegate, with the properties that the client sees: regions show a client
    /// no others either.
    ///
    /// # Errors
    /// [`Kind::DelegateNotFound`].
    pub fn delegate(
        connection: &Connection,
        id: DelegateId,
        visible: Option<&[String]>,
        settings: &Settings,
    ) -> Result<Self> {
        let selection = Selection::parse(&delegates::RESOURCE, None, visible)?;
        let json = selection
            .one(connection, "id", &id, &settings.zone)?
            .ok_or_else(|| delegates::RESOURCE.missing(&id))?;
        Self::of(Of::Delegate, &json)
    }

    /// A device.
    ///
    /// # Errors
    /// [`Kind::DeviceNotFound`].
    pub fn device(connection: &Connection, id: DeviceId, settings: &Settings) -> Result<Self> {
        let json = Selection::all(&devices::RESOURCE)
            .one(connection, "id", &id, &settings.zone)?
            .ok_or_else(|| devices::RESOURCE.missing(&id))?;
        Self::of(Of::Device, &json)
    }

    fn of(of: Of, json: &str) -> Result<Self> {
        let record = serde_json::from_str(json).map_err(Error::defect)?;
        Ok(Self { of, record })
    }

    /// Renders a template with it.
    pub fn rendered(
        &self,
        content: &str,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<String, template::Fault> {
        let of_settings = template::value(&json!({"name": settings.name()}));
        let values = [
            (self.of.name(), self.record.clone()),
            ("settings", of_settings),
            ("now", template::Value::from(settings.zone.plain(now))),
        ];
        template::render(content, Format::Html, values)
    }
}

impl Page {
    /// The regions at `paths`, in that order, all of them published at `now`.
    ///
    /// # Errors
    /// [`Kind::RegionUnavailable`], naming the first path that has no published region.
    pub fn gather(
        connection: &Connection,
        subject: Subject,
        paths: &[String],
        now: Timestamp,
    ) -> Result<Self> {
        let published = |path: &String| -> Result<Region> {
            Region::find(connection, path)?
                .filter(|region| region.now.standing(now) == Publication::Published)
                .ok_or_else(|| {
                    Error::new(
                        Kind::RegionUnavailable,
                        format!("no region {path} is published"),
                    )
                    .at("region")
                })
        };
        let regions = paths.iter().map(published).collect::<Result<_>>()?;
        Ok(Self { subject, regions })
    }

    /// The answer: `{"regions": [...]}`.
    ///
    /// # Errors
    /// [`Kind::RegionFailed`], naming the region and the line.
    pub fn answer(&self, settings: &Settings, now: Timestamp) -> Result<Value> {
        let rendered = |region: &Region| -> Result<Value> {
            let content = self
                .subject
                .rendered(&region.now.content, settings, now)
                .map_err(|fault| {
                    tracing::warn!(region = region.now.path, %fault, "a region fails");
                    Error::new(
                        Kind::RegionFailed,
                        format!("the region {} fails: {fault}", region.now.path),
                    )
                })?;
            Ok(region.answer(&content, &settings.zone))
        };
        let regions: Vec<Value> = self.regions.iter().map(rendered).collect::<Result<_>>()?;
        Ok(json!({ "regions": regions }))
    }
}
