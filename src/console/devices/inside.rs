//! Who is inside a device now, those who came last first.

use super::record::Record;
use crate::{
    console::{Area, Shell, Visit, answer},
    error::Result,
    interactions::presence,
    types::{DeviceId, InteractionId, Timestamp},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, named_params};

/// Lines of a page.
const PAGE: usize = 50;

/// Somebody who is inside.
pub struct Person {
    pub id: i64,
    pub name: String,
    pub company: String,
    pub since: Timestamp,
    pub deleted: bool,
    interaction: InteractionId,
}

#[derive(Template)]
#[template(path = "devices/inside.html")]
struct Page {
    shell: Shell,
    record: Record,
    count: i64,
    people: Vec<Person>,
    first: bool,
    /// Where the page after this one begins.
    older: Option<InteractionId>,
}

pub async fn show(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let before = visit.query.number("before")?.map(InteractionId);
    let (record, count, people) = visit
        .console
        .store
        .read(move |connection| {
            let record = Record::find(connection, id)?;
            let count = presence::inside_now(connection, record.id)?;
            let people = people(connection, record.id, before, PAGE)?;
            Ok((record, count, people))
        })
        .await?;
    let full = people.len() == PAGE;
    answer::page(&Page {
        shell: visit.shell(&format!("Inside {}", record.name), Some(Area::Devices)),
        record,
        count,
        first: before.is_none(),
        older: people
            .last()
            .filter(|_| full)
            .map(|person| person.interaction),
        people,
    })
}

/// People inside a device who entered before an interaction, at most `limit`, the last first.
///
/// A check-in of the device counts when it is the person's last there, and no check-out came after it.
pub fn people(
    connection: &Connection,
    device: DeviceId,
    before: Option<InteractionId>,
    limit: usize,
) -> Result<Vec<Person>> {
    if presence::inside_now(connection, device)? == 0 {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT i.id, p.id, i.moment, coalesce(p.company, ''), p.deleted_at IS NOT NULL,
                coalesce(nullif(trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')), ''),
                         p.barcode, 'Delegate ' || p.id)
         FROM interactions i JOIN delegates p ON p.id = i.first_delegate_id
         WHERE i.first_device_id = :device AND i.id < :before AND i.effect = 0
         AND i.id = (
             SELECT id FROM interactions
             WHERE first_delegate_id = p.id AND first_device_id = :device AND effect = 0
             ORDER BY moment DESC, id DESC LIMIT 1)
         AND NOT EXISTS (
             SELECT 1 FROM (
                 SELECT moment, id FROM interactions
                 WHERE first_delegate_id = p.id AND first_device_id = :device AND effect = 1
                 ORDER BY moment DESC, id DESC LIMIT 1) o
             WHERE (o.moment, o.id) > (i.moment, i.id))
         ORDER BY i.id DESC LIMIT :limit"
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let before = before.map_or(i64::MAX, |before| before.0);
    let rows = statement.query_map(
        named_params! {":device": device, ":before": before, ":limit": limit},
        |row| {
            Ok(Person {
                interaction: row.get(0)?,
                id: row.get(1)?,
                since: row.get(2)?,
                company: row.get(3)?,
                deleted: row.get(4)?,
                name: row.get(5)?,
            })
        },
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
