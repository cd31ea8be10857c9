//! `statements`: a list, matched by name.

use super::{Part, Plan, Prune, read};
use crate::{
    core::search::statements::{self, Statement},
    db::Store,
    types::error::{Error, Result},
};
use serde_json::Value;

pub(super) const PART: Part = Part {
    key: "statements",
    help: "Statements: [{\"name\", \"type\": \"delegate\" or \"device\", \"label\", \"sql\"}], each a read-only SELECT of one value over :id.",
    export: |connection| serde_json::to_value(statements::all(connection)?).map_err(Error::defect),
    plan,
};

fn plan(store: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Vec<Statement> = read(PART.key, said)?;
    for statement in &named {
        statements::check(store.path(), statement)?;
    }
    Ok(Plan::new(named.len(), move |tx, ctx| {
        statements::save(tx, ctx, &named, prune.0)
    }))
}
