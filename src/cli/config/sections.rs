//! `sections`: the schemas of sections of `data`, by kind of record and name. `null` in a schema's
//! place takes it away.

use super::{Part, Plan, Prune, read};
use crate::{
    core::sections::{self, Named},
    db::Store,
    types::error::Result,
};
use serde_json::Value;

pub(super) const PART: Part = Part {
    key: "sections",
    help: "Sections: {\"delegate\": {\"Medical\": JSON Schema}, \"device\": {...}}; null takes a schema away.",
    export: sections::document,
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Named = read(PART.key, said)?;
    sections::check(&named)?;
    let count = named.values().map(serde_json::Map::len).sum();
    Ok(Plan::new(count, move |tx, ctx| {
        sections::save(tx, ctx, &named, prune.0)
    }))
}
