//! The body of a delivery, made when it is sent, from the record as it is then.

use super::subscription;
use crate::{
    core::{
        changes::Changed,
        outbox::{Ref, Source},
        records::{Resource, Selection},
    },
    domain::{delegates, devices, events, interactions::rows},
    types::{DelegateId, InteractionId, Timestamp, Zone, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The event of an erasure.
pub const ERASED: &str = "delegate.erased";

#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The same at each attempt.
    pub id: String,
    /// The event name, such as `delegate.updated`.
    pub kind: String,
    /// The ordering key.
    pub ordering_key: String,
    /// The delegates that it names.
    pub people: Vec<DelegateId>,
    pub body: String,
}

/// The content for a row; `None` if nothing is left to tell: the interaction was
/// deleted, or the person erased.
pub fn of(connection: &Connection, uid: &str, of: Ref, zone: &Zone) -> Result<Option<Content>> {
    match of.source {
        Source::Interaction => interaction(connection, uid, of, zone),
        Source::Audit => change(connection, uid, of, zone),
        Source::Message => Ok(None),
    }
}

/// The content of a test delivery.
#[must_use]
pub fn trial(name: &str, at: Timestamp, zone: &Zone) -> Content {
    let id = format!("msg_test_{}", uuid::Uuid::new_v4().simple());
    let data = json!({"message": format!("This is how {name} tells you what happens.")});
    Content {
        body: body(&id, "webhook.test", at, zone, &data.to_string()),
        id,
        kind: "webhook.test".to_owned(),
        ordering_key: "test".to_owned(),
        people: Vec::new(),
    }
}

fn body(id: &str, kind: &str, at: Timestamp, zone: &Zone, data: &str) -> String {
    // `data` is JSON already, and large where it holds pictures.
    let (id, kind, at) = (json!(id), json!(kind), json!(zone.iso(at)));
    format!("{{\"id\":{id},\"type\":{kind},\"createdAt\":{at},\"data\":{data}}}")
}

fn interaction(
    connection: &Connection,
    uid: &str,
    of: Ref,
    zone: &Zone,
) -> Result<Option<Content>> {
    let Some(interaction) = rows::find(connection, of.id)? else {
        return Ok(None);
    };
    let id = delivery_id(uid, of, interaction.created_at);
    let kind = "interaction.created";
    Ok(Some(Content {
        body: body(
            &id,
            kind,
            interaction.created_at,
            zone,
            &interaction.to_json(zone),
        ),
        id,
        kind: kind.to_owned(),
        ordering_key: subscription::ordering_key_of(
            InteractionId(of.id),
            interaction.delegates[0],
            interaction.devices[0],
        ),
        people: interaction.delegates.into_iter().flatten().collect(),
    }))
}

fn change(connection: &Connection, uid: &str, of: Ref, zone: &Zone) -> Result<Option<Content>> {
    let found = connection
        .prepare_cached(
            "SELECT at, action, record_type, record_id, before, after FROM audit WHERE id = ?1
             UNION ALL SELECT at, action, record_type, record_id, NULL, NULL FROM changes WHERE id = ?1",
        )?
        .query_row([of.id], |row| {
            let changed = Changed {
                id: of.id,
                action: row.get(1)?,
                record_type: row.get(2)?,
                record: row.get(3)?,
                into: None,
            };
            let texts: [Option<String>; 2] = [row.get(4)?, row.get(5)?];
            Ok((row.get::<_, Timestamp>(0)?, changed, texts))
        })
        .optional()?;
    let Some((at, mut changed, texts)) = found else {
        return Ok(None);
    };
    let json = |text: &Option<String>| -> Value {
        let text = text.as_deref().unwrap_or("null");
        serde_json::from_str(text).unwrap_or(Value::Null)
    };
    let [before, after] = texts.map(|text| json(&text));
    changed.into = after["into"].as_i64();
    let told = subscription::event_name(connection, &changed)?;
    let Some((kind, ordering_key)) = told else {
        return Ok(None);
    };
    let record = changed.record.unwrap_or_default();
    if is_of_nobody(connection, kind, record)? {
        return Ok(None);
    }
    let (data, people) = match kind.split('.').next() {
        Some("delegate") => (
            delegate(connection, record, changed.into, zone)?,
            // Nobody is left of whom an id could tell.
            (kind != ERASED)
                .then_some(DelegateId(record))
                .into_iter()
                .collect(),
        ),
        Some("device") => (
            shown(connection, &devices::RESOURCE, record, zone)?,
            Vec::new(),
        ),
        Some("event") => (
            shown(connection, &events::RESOURCE, record, zone)?,
            Vec::new(),
        ),
        Some("interaction") => taken_back(record, before),
        Some("import") => {
            let mut data = json!({"id": record, "_type": "import"});
            if let (Value::Object(data), Value::Object(after)) = (&mut data, after) {
                data.extend(after);
            }
            (data.to_string(), Vec::new())
        }
        _ => (after.to_string(), Vec::new()),
    };
    let id = delivery_id(uid, of, at);
    Ok(Some(Content {
        body: body(&id, kind, at, zone, &data),
        id,
        kind: kind.to_owned(),
        ordering_key,
        people,
    }))
}

/// Whether a change tells of a record that is in the file no more, such as one of a rehearsal that ended.
fn is_of_nobody(connection: &Connection, kind: &str, record: i64) -> Result<bool> {
    let (of, what) = kind.split_once('.').unwrap_or_default();
    if !["created", "updated", "restored"].contains(&what) {
        return Ok(false);
    }
    let sql = match of {
        "delegate" => "SELECT 1 FROM delegates WHERE id = ?1",
        "device" | "event" => "SELECT 1 FROM devices WHERE id = ?1",
        _ => return Ok(false),
    };
    Ok(!connection.prepare_cached(sql)?.exists([record])?)
}

/// A delegate as it is now; of a deleted one, its id and what it was merged into.
fn delegate(connection: &Connection, id: i64, into: Option<i64>, zone: &Zone) -> Result<String> {
    match into {
        Some(into) => Ok(json!({
            "id": id, "_type": "delegate", "into": {"id": into, "_type": "delegate"},
        })
        .to_string()),
        None => shown(connection, &delegates::RESOURCE, id, zone),
    }
}

/// A record as the API shows it, without interactions and children; of a deleted
/// one, its id.
fn shown(
    connection: &Connection,
    resource: &'static Resource,
    id: i64,
    zone: &Zone,
) -> Result<String> {
    let found = Selection::own(resource).one(connection, "id", &id, zone)?;
    Ok(found.unwrap_or_else(|| json!({"id": id, "_type": resource.name}).to_string()))
}

/// A deleted interaction without its `data`, and the delegates it was
/// about.
fn taken_back(id: i64, before: Value) -> (String, Vec<DelegateId>) {
    let mut data = json!({"id": id, "_type": "interaction"});
    let mut people = Vec::new();
    for name in rows::PROPERTY_NAMES.iter().filter(|name| **name != "data") {
        if let Some(value) = before.get(*name) {
            data[*name] = value.clone();
        }
        if name.ends_with("Delegate") {
            people.extend(before[*name]["id"].as_i64().map(DelegateId));
        }
    }
    (data.to_string(), people)
}

/// The id of a delivery: the same at each attempt, and never that of another delivery, not even in a
/// file that was restored from a backup and gives its row ids again.
pub fn delivery_id(uid: &str, of: Ref, at: Timestamp) -> String {
    let text = format!("{uid}|{}|{}|{}", of.source.name(), of.id, at.0);
    let digest = Sha256::digest(text.as_bytes());
    format!("msg_{}", crate::types::secret::hex(&digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deliverys_id_is_its_own() {
        let of = |source, id| Ref { source, id };
        let one = delivery_id("a", of(Source::Audit, 1), Timestamp(5));
        // Receivers know deliveries by it, those from before an upgrade included.
        assert_eq!(one, "msg_750a7eef461682235a84c5af7a97f856");
        for other in [
            delivery_id("b", of(Source::Audit, 1), Timestamp(5)),
            delivery_id("a", of(Source::Interaction, 1), Timestamp(5)),
            delivery_id("a", of(Source::Audit, 2), Timestamp(5)),
            delivery_id("a", of(Source::Audit, 1), Timestamp(6)),
        ] {
            assert_ne!(one, other);
        }
    }
}
