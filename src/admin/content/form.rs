//! The form of a region: what stands in it, and what was typed.

use crate::{
    admin::Fields,
    domain::content::{Draft, Region},
    types::{Timestamp, Zone, error::Result},
};
use serde_json::Value;

/// What stands in the form.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    pub(super) path: String,
    pub(super) content: String,
    /// Separated by commas.
    pub(super) tags: String,
    /// One a line.
    pub(super) references: String,
    pub(super) from: String,
    pub(super) to: String,
    /// A new one is not to be published yet.
    pub(super) offline: bool,
    /// The record of the preview.
    pub(super) record: String,
}

impl Form {
    /// An example to begin with.
    pub(super) fn new() -> Self {
        Self {
            path: "/api/delegate-info".to_owned(),
            content:
                "<h1>Hello {{ delegate.firstName }}</h1>\n<p>Welcome to {{ settings.name }}.</p>\n"
                    .to_owned(),
            offline: true,
            ..Self::default()
        }
    }

    pub(super) fn of(region: &Region, zone: &Zone) -> Self {
        let time = |at: Option<Timestamp>| {
            at.map(|at| zone.plain(at).replace(' ', "T"))
                .unwrap_or_default()
        };
        Self {
            path: region.now.path.clone(),
            content: region.now.content.clone(),
            tags: region.now.tags.join(", "),
            references: region.now.references.join("\n"),
            from: time(region.now.published_from),
            to: time(region.now.published_to),
            offline: false,
            record: String::new(),
        }
    }

    pub(super) fn sent(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).to_owned();
        Self {
            path: text("path"),
            // Browsers send line ends as they have them on paper.
            content: fields
                .sent("content")
                .unwrap_or_default()
                .replace("\r\n", "\n"),
            tags: text("tags"),
            references: fields.text("references").replace("\r\n", "\n"),
            from: text("from"),
            to: text("to"),
            offline: fields.ticked("offline"),
            record: text("record"),
        }
    }

    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming a time that is none.
    pub(super) fn draft(&self, zone: &Zone) -> Result<Draft> {
        let time = |name: &str, text: &str| -> Result<Option<Timestamp>> {
            if text.is_empty() {
                return Ok(None);
            }
            zone.read(name, &Value::from(text)).map(Some)
        };
        Ok(Draft {
            path: self.path.clone(),
            content: self.content.clone(),
            tags: words(&self.tags, ','),
            references: words(&self.references, '\n'),
            published_from: time("published from", &self.from)?,
            published_to: time("published until", &self.to)?,
        })
    }
}

fn words(text: &str, separator: char) -> Vec<String> {
    text.split(separator)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}
