//! `appConfig`: what apps are to do; `default` by setting, `byType` and `byDevice` by type and code.
//! What it says is published.

use super::{Part, Plan, Prune};
use crate::{
    core::settings,
    db::Store,
    domain::apps::{
        Document,
        configuration::{publish, published},
    },
    types::error::Result,
};
use serde_json::{Value, json};

pub(super) const PART: Part = Part {
    key: "appConfig",
    help: "AppConfig: {\"default\": {...}, \"byType\": {\"regoapp\": {...}}, \"byDevice\": {\"42\": {...}}}; settings of apps, published as a new version where they differ.",
    export: |connection| Ok(published(connection)?.document.to_json()),
    plan,
};

fn plan(store: &Store, said: Option<Value>, prune: Prune) -> Result<Plan> {
    let absent = said.is_none();
    let said = said.unwrap_or_else(|| json!({}));
    let zone = store.look_up(settings::load)?.zone;
    let document = Document::parse(PART.key, &said, &zone)?;
    let named = document.default.len() + document.by_type.len() + document.by_device.len();
    Ok(Plan::new(named, move |tx, ctx| {
        if absent && !prune.0 {
            return Ok(());
        }
        let document = if absent {
            Document::built_in()
        } else {
            // The same document may have set the zone that its times are in.
            let zone = settings::load(tx)?.zone;
            let document = Document::parse(PART.key, &said, &zone)?;
            published(tx)?.document.with(document, prune.0)
        };
        publish(tx, ctx, &document).map(|_| ())
    }))
}
