//! Reports: fetched by API clients, looked at in the console, and hostile.

mod api;
mod built;
mod built_in;
mod certificates;
mod configuration;
mod hostile;
mod large;
mod pages;

use crate::harness::{Caller, Server};
use gatepost::{
    domain::reports::{self, Report},
    identity::Scope,
};
use serde_json::{Value, json};

/// A report `test/r` with this query, exposed to every client.
fn report(query: &str) -> Report {
    serde_json::from_value(json!({
        "dashboard": "test", "id": "r", "label": "R", "query": query, "api_clients": ["*"],
    }))
    .expect("a report")
}

fn with(report: &Report, changes: Value) -> Report {
    let mut said = json!(report);
    for (key, value) in changes.as_object().expect("an object") {
        said[key] = value.clone();
    }
    serde_json::from_value(said).expect("a report")
}

impl Server {
    /// Stores a report in the place of the one that there is.
    fn put(&self, report: &Report) {
        report
            .check(&self.path())
            .expect("a report that can be run");

        let report = report.clone();
        self.write(move |tx, ctx| reports::put(tx, ctx, &[report], false));
    }

    /// A client that may read reports.
    fn reader(&self) -> Caller {
        let (id, secret) = self.client(&[], &[Scope::ReportRead]);
        self.caller_of(&id, &secret)
    }
}
