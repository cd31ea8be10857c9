//! What an administrator sets up, as one JSON document (contract §10).
//!
//! The document is a list of parts; a part knows how to write down what is in force, and
//! how to check and store what a document says. All parts are checked before any is stored, and are
//! stored in one transaction.

mod gateways;
mod parts;
mod regions;
mod settings;

use crate::{
    core::Context,
    db::{Store, Tx},
    types::error::{Error, Result},
};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Every part, in the order of the document.
pub const PARTS: &[Part] = &[
    settings::PART,
    parts::SECTIONS,
    parts::STATEMENTS,
    parts::REPORTS,
    parts::BADGES,
    parts::PRINTERS,
    parts::APP_CONFIG,
    regions::PART,
    // What automations send stands before them.
    parts::TEMPLATES,
    gateways::PART,
    parts::AUTOMATIONS,
    parts::WEBHOOKS,
];

/// A part of the document.
pub struct Part {
    /// Its key.
    pub key: &'static str,
    /// Its help for people who write a document.
    pub help: &'static str,
    /// Exports the settings in force.
    export: fn(&Connection) -> Result<Value>,
    /// Checks what a document says; where the rest is pruned, what it does not name goes.
    plan: fn(&Store, Option<Value>, bool) -> Result<Plan>,
}

/// The plan for a checked part of a document: how many entries it has, and what stores them.
pub type Plan = (
    usize,
    Box<dyn FnOnce(&Tx<'_>, &Context) -> Result<()> + Send>,
);

#[expect(
    clippy::unnecessary_wraps,
    reason = "it ends the functions that plan a part"
)]
fn planned(
    named: usize,
    apply: impl FnOnce(&Tx<'_>, &Context) -> Result<()> + Send + 'static,
) -> Result<Plan> {
    Ok((named, Box::new(apply)))
}

/// The configuration in force.
pub fn export(connection: &Connection) -> Result<Map<String, Value>> {
    let part = |part: &Part| Ok((part.key.to_owned(), (part.export)(connection)?));
    PARTS.iter().map(part).collect()
}

/// Plans all parts of a document, each of them checked.
pub fn plans(
    store: &Store,
    mut document: Map<String, Value>,
    prune: bool,
) -> Result<Vec<(&'static str, Plan)>> {
    let known = |key: &String| PARTS.iter().any(|part| part.key == key);
    if let Some(key) = document.keys().find(|key| !known(key)) {
        let keys: Vec<_> = PARTS.iter().map(|part| part.key).collect();
        return Err(Error::invalid(format!(
            "a configuration has no such part; it has {}",
            keys.join(", ")
        ))
        .at(key));
    }
    PARTS
        .iter()
        .map(|part| {
            let plan = (part.plan)(store, document.shift_remove(part.key), prune)?;
            Ok((part.key, plan))
        })
        .collect()
}

/// Reads the value of a document under a key, as a `T`; the default where there is none.
fn read<T: serde::de::DeserializeOwned + Default>(key: &str, said: Option<Value>) -> Result<T> {
    let Some(said) = said else {
        return Ok(T::default());
    };
    serde_path_to_error::deserialize(&said).map_err(|cause| {
        let path = cause.path().to_string();
        let path = if path == "." {
            key.to_owned()
        } else if path.starts_with('[') {
            format!("{key}{path}")
        } else {
            format!("{key}.{path}")
        };
        Error::field(path, cause.into_inner())
    })
}
