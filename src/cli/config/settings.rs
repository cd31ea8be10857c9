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
    help: "Settings: name, timeZone (IANA), publicUrl, access (default rules of entry), corsOrigins (list),\nbackups ({\"everyMinutes\", \"keep\", \"folder\"}), outgoing ({\"allowLocal\"}: calls to this machine, too),\ncommunications ({\"enabled\", \"email\", \"sms\", \"push\", \"countryCode\"}).",
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
