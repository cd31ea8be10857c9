//! The body of a delivery: the record as it was after the change, made when it is sent. Of a deleted
//! record, and of one that is gone for good, it has the id only.

use super::{
    past::{self, Pasts},
    subscription,
};
use crate::{
    core::{
        changes::Changed,
        outbox::{Ref, Source},
        records::Expansion,
    },
    domain::interactions::{remove::CREATED_AT_MS, rows},
    types::{DelegateId, DeviceId, InteractionId, Timestamp, Zone, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

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
    /// Set where the record is gone for good. What a receiver answers may repeat what it knew of it.
    pub gone: bool,
    pub body: String,
}

/// The file and the webhook that a content is made for.
pub struct Teller<'a> {
    pub connection: &'a Connection,
    /// The webhook, by its id and by its part of the ids of its deliveries.
    pub webhook: (i64, &'a str),
    pub zone: &'a Zone,
    pub now: Timestamp,
    pub pasts: &'a Pasts,
    /// Records within others that are sent whole.
    pub expansion: &'a Expansion,
}

impl Teller<'_> {
    /// The content for a row; `None` for what no webhook gets.
    pub fn content(&self, of: Ref) -> Result<Option<Content>> {
        match of.source {
            Source::Interaction => self.interaction(of).map(Some),
            Source::Audit => self.change(of),
            Source::Message | Source::Print => Ok(None),
        }
    }

    fn interaction(&self, of: Ref) -> Result<Content> {
        let Told {
            created_at,
            data,
            delegates,
            device,
        } = match rows::find(self.connection, of.id)? {
            Some(found) => Told {
                created_at: Some(found.created_at),
                data: self.expanded(found.to_json(self.zone))?,
                delegates: found.delegates.into_iter().flatten().collect(),
                device: found.devices[0],
            },
            None => self.deleted(of.id)?,
        };
        let kind = "interaction.created";
        // Nothing tells when one was created that is gone for good.
        let id = delivery_id(self.webhook.1, of, created_at.unwrap_or(Timestamp(0)));
        let at = created_at.unwrap_or(self.now);
        Ok(Content {
            body: body(&id, kind, at, self.zone, &data),
            id,
            kind: kind.to_owned(),
            ordering_key: subscription::ordering_key_of(
                InteractionId(of.id),
                delegates.first().copied(),
                device,
            ),
            people: delegates,
            gone: created_at.is_none(),
        })
    }

    /// An interaction that was deleted, as the audit has it.
    fn deleted(&self, id: i64) -> Result<Told> {
        let before: Option<String> = self
            .connection
            .prepare_cached(
                "SELECT before FROM audit
                 WHERE record_type = 'interaction' AND record_id = ?1 AND action = 'delete' AND id > (
                     SELECT coalesce(max(id), 0) FROM audit WHERE record_type = 'rehearsal' AND action = 'restore')",
            )?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let Some(mut before) = before.map(|text| parsed(Some(&text))) else {
            return Ok(Told {
                created_at: None,
                data: id_only(id, "interaction"),
                delegates: Vec::new(),
                device: None,
            });
        };
        let origin = before
            .as_object_mut()
            .and_then(|before| before.shift_remove("origin"));
        let created_at = match origin.and_then(|origin| origin[CREATED_AT_MS].as_i64()) {
            Some(created_at) => Timestamp(created_at),
            None => self.zone.read("createdAt", &before["createdAt"])?,
        };
        Ok(Told {
            created_at: Some(created_at),
            delegates: delegates_in(&before),
            device: before["firstDevice"]["id"].as_i64().map(DeviceId),
            data: before.to_string(),
        })
    }

    fn change(&self, of: Ref) -> Result<Option<Content>> {
        let Some(change) = self.find_change(of.id)? else {
            return Ok(None);
        };
        let event = subscription::event_name(self.connection, &change.changed)?;
        let Some((kind, ordering_key)) = event else {
            return Ok(None);
        };
        let id = delivery_id(self.webhook.1, of, change.at);
        let at = change.at;
        let record = change.changed.record.unwrap_or_default();
        let name = kind.split_once('.').map_or(kind, |(name, _)| name);
        let (mut gone, mut people) = (false, Vec::new());
        let data = match name {
            "delegate" | "device" | "event" => {
                gone = past::is_gone(self.connection, name, record)?;
                if name == "delegate" && !gone {
                    people.push(DelegateId(record));
                }
                let told = if gone {
                    None
                } else {
                    self.record(kind, &change.changed, at)?
                };
                let told = told.unwrap_or_else(|| id_only(record, name));
                if name == "delegate" {
                    people.extend(self.people_within(&told));
                }
                self.expanded(told)?
            }
            "interaction" => {
                gone = change.before.is_none();
                people = delegates_in(&parsed(change.before.as_deref()));
                id_only(record, name)
            }
            "import" => {
                let mut data = json!({"id": record, "_type": "import"});
                if let (Value::Object(data), Value::Object(after)) = (&mut data, change.after) {
                    data.extend(after);
                }
                data.to_string()
            }
            _ => change.after.to_string(),
        };
        Ok(Some(Content {
            body: body(&id, kind, at, self.zone, &data),
            id,
            kind: kind.to_owned(),
            ordering_key,
            people,
            gone,
        }))
    }

    fn expanded(&self, mut json: String) -> Result<String> {
        self.expansion
            .expand(self.connection, self.zone, &mut json, 0)?;
        Ok(json)
    }

    /// The delegates within a record that are sent whole.
    fn people_within(&self, json: &str) -> Vec<DelegateId> {
        let names = self.expansion.names();
        if names.is_empty() {
            return Vec::new();
        }
        let record = parsed(Some(json));
        let ids = names.iter().filter_map(|name| record[*name]["id"].as_i64());
        ids.map(DelegateId).collect()
    }

    /// A change by its id: of the audit, or one that is only in the feed.
    fn find_change(&self, id: i64) -> Result<Option<Change>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT at, action, record_type, record_id, before, after FROM audit WHERE id = ?1
                 UNION ALL SELECT at, action, record_type, record_id, NULL, NULL FROM changes WHERE id = ?1",
            )?
            .query_row([id], |row| {
                let after = parsed(row.get::<_, Option<String>>(5)?.as_deref());
                Ok(Change {
                    at: row.get(0)?,
                    changed: Changed {
                        id,
                        action: row.get(1)?,
                        record_type: row.get(2)?,
                        record: row.get(3)?,
                        into: after["into"].as_i64(),
                    },
                    before: row.get(4)?,
                    after,
                })
            });
        Ok(found.optional()?)
    }

    /// What is told of a delegate, device or event; `None`: its id only.
    fn record(&self, kind: &str, changed: &Changed, at: Timestamp) -> Result<Option<String>> {
        let id = changed.record.unwrap_or_default();
        match (kind.split_once('.').unwrap_or_default(), changed.into) {
            ((name, "created" | "updated" | "restored"), _) => {
                self.pasts.state(self, name, id, (changed.id, at))
            }
            ((name, _), Some(into)) => {
                let into = json!({"id": into, "_type": name});
                Ok(Some(
                    json!({"id": id, "_type": name, "into": into}).to_string(),
                ))
            }
            _ => Ok(None),
        }
    }
}

/// A change of a record.
struct Change {
    at: Timestamp,
    changed: Changed,
    before: Option<String>,
    /// Null where the change has none.
    after: Value,
}

/// What a delivery tells of an interaction.
struct Told {
    /// `None`: it is gone for good.
    created_at: Option<Timestamp>,
    data: String,
    delegates: Vec<DelegateId>,
    device: Option<DeviceId>,
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
        gone: false,
    }
}

fn body(id: &str, kind: &str, at: Timestamp, zone: &Zone, data: &str) -> String {
    // `data` is JSON already, and large where it holds pictures.
    let (id, kind, at) = (json!(id), json!(kind), json!(zone.iso(at)));
    format!("{{\"id\":{id},\"type\":{kind},\"createdAt\":{at},\"data\":{data}}}")
}

fn id_only(id: i64, name: &str) -> String {
    json!({"id": id, "_type": name}).to_string()
}

/// Reads what the audit holds.
fn parsed(text: Option<&str>) -> Value {
    serde_json::from_str(text.unwrap_or("null")).unwrap_or(Value::Null)
}

/// The delegates of an interaction as the audit has it, in their order.
fn delegates_in(before: &Value) -> Vec<DelegateId> {
    let names = rows::PROPERTY_NAMES.iter();
    let names = names.filter(|name| name.ends_with("Delegate"));
    names
        .filter_map(|name| before[*name]["id"].as_i64().map(DelegateId))
        .collect()
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
