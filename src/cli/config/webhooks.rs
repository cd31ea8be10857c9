//! `webhooks`: a list, matched by name.

use super::{Part, Plan, Prune, read};
use crate::{
    db::Store,
    domain::webhooks::document::{self, Entry},
    types::error::Result,
};
use serde_json::Value;

pub(super) const PART: Part = Part {
    key: "webhooks",
    help: "Webhooks: [{\"name\", \"url\", \"interactions\": [\"check-in\"], \"changes\": [\"delegate.*\"], \"devices\": [codes], \"active\", \"secret\"}]; a secret is taken, never written out.",
    export: document::export,
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Vec<Entry> = read(PART.key, said)?;
    document::check(&named)?;
    Ok(Plan::new(named.len(), move |tx, ctx| {
        document::save(tx, ctx, &named, prune.0)
    }))
}
