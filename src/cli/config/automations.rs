//! `automations`: a list, matched by name.

use super::{Part, Plan, Prune, read};
use crate::{
    db::Store,
    domain::messages::automations::{self, Entry},
    types::error::{Error, Result},
};
use serde_json::Value;

pub(super) const PART: Part = Part {
    key: "automations",
    help: "Automations: [{\"name\", \"interactionType\", \"device\" (code), \"delegateType\", \"type\", \"template\", \"withinMinutes\", \"active\"}].",
    export: automations::document,
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Vec<Entry> = read(PART.key, said)?;
    for (at, entry) in named.iter().enumerate() {
        let path = format!("automations[{at}]");
        entry
            .check()
            .map_err(|cause| Error::new(cause.kind, format!("{path}.{}", cause.message)))?;
        if named[..at].iter().any(|other| other.name == entry.name) {
            return Err(Error::invalid(format!(
                "{path}.name: \"{}\" stands there twice",
                entry.name
            )));
        }
    }
    Ok(Plan::new(named.len(), move |tx, ctx| {
        automations::apply(tx, ctx, &named, prune.0)
    }))
}
