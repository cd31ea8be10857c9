//! Records within others, shown whole in place of `{id, _type}` (contract §2, `expand`).

use super::Selection;
use crate::types::{
    Zone,
    error::{Error, Result},
    json::{Members, write_string},
    text,
};
use rusqlite::Connection;
use serde::Deserialize;

/// The embedded records that an answer shows whole.
#[derive(Default)]
pub struct Expansion {
    names: Vec<&'static str>,
    /// The properties that are shown of each kind of record.
    shown: Vec<Selection>,
}

/// An embedded record.
#[derive(Deserialize)]
struct Embedded {
    id: i64,
    #[serde(rename = "_type")]
    kind: String,
}

impl Expansion {
    /// Reads the names that a parameter `expand` has, separated by commas; `shown` gives the properties that are shown of
    /// each kind of record.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a name that is not `known`.
    pub fn parse(
        sent: Option<&str>,
        known: &[&'static str],
        shown: impl FnOnce() -> Vec<Selection>,
    ) -> Result<Self> {
        let sent = sent.unwrap_or_default().split(',').map(str::trim);
        let names = sent.filter(|name| !name.is_empty()).map(|name| {
            let found = known.iter().find(|known| **known == name).copied();
            found.ok_or_else(|| {
                let told = format!(
                    "\"{}\" holds no record; {}",
                    text::shortened(name),
                    text::hint(name, known)
                );
                Error::field("expand", told)
            })
        });
        let names: Vec<_> = names.collect::<Result<_>>()?;
        if names.is_empty() {
            return Ok(Self::default());
        }
        let shown = shown();
        Ok(Self { names, shown })
    }

    /// Returns the names of the properties.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Puts embedded records in their places in the record with which `out` ends, from byte `begins` on; one that is gone
    /// stays `{id, _type}`.
    pub fn expand(
        &self,
        connection: &Connection,
        zone: &Zone,
        out: &mut String,
        begins: usize,
    ) -> Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let Members(members) = serde_json::from_str(&out[begins..]).map_err(Error::defect)?;
        out.truncate(begins);
        for (name, value) in members {
            out.push(if out.len() == begins { '{' } else { ',' });
            write_string(&name, out);
            out.push(':');
            let record = if self.names.contains(&&*name) {
                self.record(connection, zone, value.get())?
            } else {
                None
            };
            out.push_str(record.as_deref().unwrap_or(value.get()));
        }
        out.push('}');
        Ok(())
    }

    fn record(&self, connection: &Connection, zone: &Zone, value: &str) -> Result<Option<String>> {
        let Ok(Embedded { id, kind }) = serde_json::from_str(value) else {
            return Ok(None);
        };
        let shown = self.shown.iter().find(|one| one.resource.name == kind);
        match shown {
            Some(shown) => shown.one(connection, "id", &id, zone),
            None => Ok(None),
        }
    }
}
