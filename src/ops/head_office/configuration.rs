//! The configuration of the head office, applied to the venue's: by setting, and by entry of a list, as records are by
//! property. What is of the place stays the venue's own.

use super::{
    kept::object,
    records::{merge, settle},
};
use crate::{
    core::{Context, head_office::Kept},
    db::{Store, Tx},
    ops::config,
    types::error::Result,
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// Parts that an event has wherever it is. Printers, gateways and webhooks are of the place.
const PARTS: [&str; 9] = [
    "settings",
    "sections",
    "statements",
    "reports",
    "badges",
    "appConfig",
    "regions",
    "templates",
    "automations",
];
/// Settings that are of the place.
const OF_PLACE: [&str; 6] = [
    "name",
    "publicUrl",
    "publicUrlReachable",
    "corsOrigins",
    "backups",
    "outgoing",
];
/// Properties by which entries of lists are known.
const KEYS: [&str; 5] = [REPORT, "type", "slug", "path", "name"];
/// The property that only reports have: their `id` is a part of their name.
const REPORT: &str = "dashboard";
/// Parts the name of an entry from its part.
const IN: char = '/';

/// Applies a document: what the head office changed and the venue did not.
pub(super) fn apply(store: &Store, ctx: &Context, document: Map<String, Value>) -> Result<()> {
    let (ours, mut applied, before) = store.look_up(|connection| {
        let stored = "SELECT configuration, kept FROM office_feed";
        let (applied, kept) =
            connection.query_row(stored, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ours = entries(config::export(connection)?);
        Ok((ours, object(applied), object(kept)))
    })?;
    settle(&mut applied, &ours, &before);
    let theirs = entries(document);
    let (mut taken, mut kept) = (Map::new(), Map::new());
    merge(&mut applied, &ours, theirs, |name, theirs, is_taken| {
        let into = if is_taken { &mut taken } else { &mut kept };
        into.insert(name.to_owned(), theirs);
    });
    for part in PARTS {
        let of_part = taken.iter().filter_map(|(name, value)| {
            let (of, entry) = name.split_once(IN)?;
            (of == part).then(|| (entry.to_owned(), value.clone()))
        });
        let of_part: Map<String, Value> = of_part.collect();
        if apply_part(store, ctx, part, of_part.clone()).is_ok() {
            continue;
        }
        // Each by itself: one that this version does not know, or cannot take, stops no other.
        for (entry, value) in of_part {
            let name = format!("{part}{IN}{entry}");
            if let Err(cause) = apply_part(store, ctx, part, Map::from_iter([(entry, value)])) {
                kept.insert(format!("{name}{IN}"), cause.to_string().into());
                applied.shift_remove(&name);
            }
        }
    }
    let keep = move |tx: &Tx<'_>| {
        tx.execute(
            "UPDATE office_feed SET configuration = ?1, kept = ?2",
            [json!(applied).to_string(), json!(kept).to_string()],
        )?;
        Ok(())
    };
    store.write(keep).wait()
}

fn apply_part(store: &Store, ctx: &Context, part: &str, taken: Map<String, Value>) -> Result<()> {
    if taken.is_empty() {
        return Ok(());
    }
    let said: Value = if LISTS.contains(&part) {
        // An entry that is gone there stays: without `--prune` none is removed.
        taken
            .into_iter()
            .map(|(_, entry)| entry)
            .filter(|entry| !entry.is_null())
            .collect()
    } else {
        taken.into()
    };
    let document = Map::from_iter([(part.to_owned(), said)]);
    let plans = config::plans(store, document, false)?;
    let ctx = ctx.clone();
    let apply = move |tx: &Tx<'_>| {
        let mut plans = plans.into_iter();
        plans.try_for_each(|(_, (_, apply))| apply(tx, &ctx))
    };
    store.write(apply).wait()
}

/// Parts that are lists.
const LISTS: [&str; 6] = [
    "statements",
    "reports",
    "badges",
    "regions",
    "templates",
    "automations",
];

/// The entries of a document by name, such as `settings/timeZone` and `templates/email/welcome`.
fn entries(document: Map<String, Value>) -> Map<String, Value> {
    let mut entries = Map::new();
    let of_place = |part: &str, name: &str| part == "settings" && OF_PLACE.contains(&name);
    for (part, value) in document {
        match value {
            Value::Object(named) if PARTS.contains(&part.as_str()) => {
                let named = named.into_iter().filter(|(name, _)| !of_place(&part, name));
                entries.extend(named.map(|(name, value)| (format!("{part}{IN}{name}"), value)));
            }
            Value::Array(list) if PARTS.contains(&part.as_str()) => {
                for mut entry in list {
                    let name = format!("{part}{IN}{}", key(&entry));
                    if let Some(entry) = entry.as_object_mut()
                        && !entry.contains_key(REPORT)
                    {
                        // A number of the file that it was made in.
                        entry.shift_remove("id");
                    }
                    entries.insert(name, entry);
                }
            }
            _ => {}
        }
    }
    entries.retain(|_, value| !value.is_null());
    entries
}

fn key(entry: &Value) -> String {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let mut parts: Vec<&str> = KEYS.into_iter().filter_map(text).collect();
    if let (Some(_), Some(id)) = (text(REPORT), text("id")) {
        parts.push(id);
    }
    parts.join("/")
}

/// Entries that were changed at both ends.
pub(super) fn kept(connection: &Connection) -> Result<Vec<Kept>> {
    let stored = "SELECT kept FROM office_feed WHERE kept <> '{}'";
    let mut statement = connection.prepare_cached(stored)?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else {
        return Ok(Vec::new());
    };
    let kept = object(row.get(0)?);
    let ours = entries(config::export(connection)?);
    let kept = kept.into_iter().filter_map(|(property, office)| {
        let is_failure = property.ends_with(IN);
        let venue = ours.get(&property).cloned().unwrap_or_default();
        let (office, venue) = if is_failure {
            (Value::Null, office)
        } else {
            (office, venue)
        };
        (office != venue).then(|| Kept {
            record_type: "configuration".to_owned(),
            id: 0,
            property: property.trim_end_matches(IN).to_owned(),
            office,
            venue,
        })
    });
    Ok(kept.collect())
}
