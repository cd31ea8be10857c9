//! `settings`: an object, one key a setting.

use super::{Part, Plan, Prune, read};
use crate::{
    error::Result,
    settings::{self, Settings},
    store::Store,
};
use serde_json::{Map, Value};

pub(super) const PART: Part = Part {
    key: "settings",
    export: |connection| Ok(Value::Object(settings::stored(connection)?)),
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let mut named: Map<String, Value> = read(PART.key, said)?;
    settings::check(&named)?;
    if prune == Prune(true) {
        for name in Settings::NAMES {
            named.entry(*name).or_insert(Value::Null);
        }
    }
    Ok(Plan::new(named.len(), move |tx, ctx| {
        settings::save(tx, ctx, &named)
    }))
}
