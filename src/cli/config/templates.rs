//! `templates`: a list, matched by type and slug. An e-mail keeps its id where that is free, as apps
//! name it by that.

use super::{Part, Plan, Prune, read};
use crate::{
    db::Store,
    domain::messages::templates::{self, Entry},
    types::error::{Error, Result},
};
use serde_json::Value;

pub(super) const PART: Part = Part {
    key: "templates",
    help: "Templates: [{\"slug\", \"id\", \"type\": \"email\", \"sms\" or \"push\", \"subject\", \"content\", \"html\"}], Jinja over delegate, interaction, settings and now.",
    export: templates::document,
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Vec<Entry> = read(PART.key, said)?;
    for (at, entry) in named.iter().enumerate() {
        let path = format!("templates[{at}]");
        entry
            .check()
            .map_err(|cause| Error::new(cause.kind, format!("{path}.{}", cause.message)))?;
        let same = |other: &Entry| (&other.channel, &other.slug) == (&entry.channel, &entry.slug);
        if named[..at].iter().any(same) {
            return Err(Error::invalid(format!(
                "{path}.slug: \"{}\" stands there twice",
                entry.slug
            )));
        }
    }
    Ok(Plan::new(named.len(), move |tx, ctx| {
        templates::apply(tx, ctx, &named, prune.0)
    }))
}
