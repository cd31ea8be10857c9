//! The history of one delegate, and where an interaction came from, as people read it.

use super::{
    everybody_out,
    judge::DeviceCache,
    presence::{self, PresenceChange},
    types::OVERRIDE,
    undo::Recorded,
};
use crate::{
    domain::{delegates, devices},
    types::{DelegateId, DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;
use std::cmp::Reverse;

/// An interaction of a delegate.
#[derive(Debug, Clone)]
pub struct Happening {
    pub id: i64,
    /// Its type, and who sent it when.
    pub recorded: Recorded,
    /// The time of the interaction.
    pub at: Timestamp,
    /// The devices: id and name.
    pub places: Vec<(i64, String)>,
    /// The other delegates: id and name.
    pub others: Vec<(i64, String)>,
    /// The sender.
    pub by: String,
    /// Its data, as JSON.
    pub data: Option<String>,
}

impl Happening {
    /// The reason of an admission against the rules.
    pub fn reason(&self) -> Option<String> {
        reason(&self.recorded.kind, self.data.as_deref())
    }
}

/// Lists what a delegate did before an interaction, at most `limit`, the newest first.
pub fn of_delegate(
    connection: &Connection,
    id: i64,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Happening>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, interaction_type, recorded_at, first_delegate_id, second_delegate_id, third_delegate_id,
             first_device_id, second_device_id, third_device_id, client_id, user_id, admitted, data, created_at
         FROM interactions
         WHERE (first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1) AND id < ?2
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((id, before.unwrap_or(i64::MAX), limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut others = Vec::new();
        for column in 3..6 {
            let other: Option<i64> = row.get(column)?;
            if let Some(other) = other.filter(|other| *other != id) {
                let name = delegates::name_of(connection, other)?.unwrap_or_default();
                others.push((other, name));
            }
        }
        let mut places = Vec::new();
        for column in 6..9 {
            if let Some(device) = row.get::<_, Option<i64>>(column)? {
                places.push((device, devices::called(connection, DeviceId(device))?));
            }
        }
        let data: Option<String> = row.get(12)?;
        let mut by = sender_name(connection, row.get(9)?, row.get(10)?)?;
        if by.is_empty() && data.as_deref() == Some(everybody_out::DATA) {
            everybody_out::SENDER.clone_into(&mut by);
        }
        found.push(Happening {
            id: row.get(0)?,
            recorded: Recorded {
                kind: row.get(1)?,
                user: row.get(10)?,
                admitted: row.get(11)?,
                created_at: row.get(13)?,
            },
            at: row.get(2)?,
            places,
            others,
            by,
            data,
        });
    }
    Ok(found)
}

/// The name of the sender: a client by its name, otherwise a user.
fn sender_name(connection: &Connection, client: Option<i64>, user: Option<i64>) -> Result<String> {
    let client: Option<String> = connection
        .prepare_cached("SELECT name FROM clients WHERE id = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?;
    let user: Option<String> = connection
        .prepare_cached("SELECT email FROM users WHERE id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    Ok(client.or(user).unwrap_or_default())
}

/// Counts the interactions that a delegate takes part in.
pub fn count_of_delegate(connection: &Connection, id: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM interactions
             WHERE first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1",
        )?
        .query_row([id], |row| row.get(0))?)
}

/// The devices that a delegate is inside of, and since when, the latest first.
pub fn inside(
    connection: &Connection,
    delegate: DelegateId,
) -> Result<Vec<(i64, String, Timestamp)>> {
    let device_cache = DeviceCache::default();
    let history = presence::History::of(connection, &device_cache, delegate)?;
    let mut inside = history.entered(connection, &device_cache)?;
    inside.sort_unstable_by_key(|(_, since)| Reverse(*since));
    let named = |(device, since): (DeviceId, _)| {
        let name = devices::called(connection, device)?;
        Ok((device.0, name, presence::recorded_at(connection, since)?))
    };
    inside.into_iter().map(named).collect()
}

/// The whereabouts of somebody, by their check-ins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    NotArrived,
    /// Inside somewhere, since the last entry.
    Inside(Timestamp),
    /// Checked out of everything, last at that time.
    Left(Timestamp),
}

/// Finds where a delegate is.
pub fn whereabouts(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
) -> Result<Whereabouts> {
    let history = presence::History::of(connection, device_cache, delegate)?;
    let entered = history.entered(connection, device_cache)?;
    if let Some(since) = entered.into_iter().map(|(_, since)| since).max() {
        return Ok(Whereabouts::Inside(presence::recorded_at(
            connection, since,
        )?));
    }
    Ok(match history.latest_passage() {
        Some(at) => Whereabouts::Left(at),
        None => Whereabouts::NotArrived,
    })
}

/// Interactions that are looked through for the newest check-ins.
const NEWEST: i64 = 100_000;

/// Check-ins since a moment: minutes since the epoch, and how many came in. Those that came in late count when they
/// happened.
pub fn entries_by_minute(connection: &Connection, since: Timestamp) -> Result<Vec<(i64, u64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT moment / 60000, count(*) FROM interactions
         WHERE id > (SELECT coalesce(max(id), 0) - ?1 FROM interactions)
         AND effect = ?2 AND moment > ?3 GROUP BY 1 ORDER BY 1",
    )?;
    let minutes = statement.query_map((NEWEST, PresenceChange::Enter, since), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(minutes.collect::<rusqlite::Result<_>>()?)
}

/// The sender of an interaction.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The client, by name.
    pub client: Option<String>,
    /// The user, by e-mail address.
    pub user: Option<String>,
    /// Set where the gate decided while offline.
    pub admitted: bool,
}

/// Finds the sender of an interaction; by number who is gone since.
pub fn sender(connection: &Connection, id: i64) -> Result<Sender> {
    Ok(connection
        .prepare_cached(
            "SELECT iif(i.client_id IS NULL, NULL, coalesce(c.name, 'client ' || i.client_id || ', which is gone')),
                 iif(i.user_id IS NULL, NULL, coalesce(u.email, 'user ' || i.user_id || ', who is gone')),
                 i.admitted
             FROM interactions i LEFT JOIN clients c ON c.id = i.client_id
             LEFT JOIN users u ON u.id = i.user_id WHERE i.id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Sender {
                client: row.get(0)?,
                user: row.get(1)?,
                admitted: row.get(2)?,
            })
        })?)
}

/// Lists why the rules would have refused an interaction.
pub fn conflicts(connection: &Connection, id: i64) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT message FROM conflicts WHERE interaction_id = ?1 ORDER BY id")?;
    let messages = statement.query_map([id], |row| row.get(0))?;
    Ok(messages.collect::<rusqlite::Result<_>>()?)
}

/// The refusal that an admission against the rules followed within an hour.
pub fn overridden(connection: &Connection, id: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "SELECT r.message FROM interactions i
             JOIN refusals r ON r.delegate_id = i.first_delegate_id AND r.device_id = i.first_device_id
             WHERE i.id = ?1 AND i.interaction_type = ?2 AND r.at BETWEEN i.created_at - 3600000 AND i.created_at
             ORDER BY r.id DESC LIMIT 1",
        )?
        .query_row((id, OVERRIDE.name), |row| row.get(0))
        .optional()?)
}

/// The reason that was given for an admission against the rules.
pub fn reason(kind: &str, data: Option<&str>) -> Option<String> {
    let data = data.filter(|_| kind == OVERRIDE.name)?;
    let data: Value = serde_json::from_str(data).ok()?;
    data["reason"].as_str().map(ToOwned::to_owned)
}

/// The import that brought an interaction.
pub fn batch(connection: &Connection, id: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT b.id FROM batch_rows r JOIN batches b ON b.id = r.batch_id
             WHERE r.record_id = ?1 AND b.kind = 'interactions' LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
