//! `reports`: a list, matched by dashboard and id.

use super::{Part, Plan, Prune, read};
use crate::{
    db::Store,
    domain::reports::{self, Report},
    types::error::{Error, Result},
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const PART: Part = Part {
    key: "reports",
    help: "Reports: [{\"dashboard\", \"id\", \"label\", \"query\", \"parameters\", \"fixed\", \"api_clients\"}], matched by dashboard and id; query is a read-only SELECT.",
    export: |connection| {
        let all = reports::all(connection)?;
        let reports: Vec<Report> = all.into_iter().map(|stored| stored.report).collect();
        serde_json::to_value(reports).map_err(Error::defect)
    },
    plan,
};

fn plan(store: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let named: Vec<Report> = read(PART.key, said)?;
    let mut known = BTreeSet::new();
    for report in &named {
        let name = format!("{}: {}/{}", PART.key, report.dashboard, report.id);
        report
            .check(store.path())
            .map_err(|cause| Error::new(cause.kind, format!("{name}: {cause}")))?;
        if !known.insert((&report.dashboard, &report.id)) {
            return Err(Error::invalid(format!("{name}: stands there twice")));
        }
    }
    Ok(Plan::new(named.len(), move |tx, ctx| {
        reports::put(tx, ctx, &named, prune.0)
    }))
}
