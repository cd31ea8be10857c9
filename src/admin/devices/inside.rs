//! Who is inside a device now, those who came last first.

use crate::{
    admin::{Area, Layout, RequestContext, answer},
    db::counters,
    domain::{delegates::overview, devices::record::Record, interactions::inside},
    types::{DeviceId, InteractionId, Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

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
    layout: Layout,
    record: Record,
    count: i64,
    people: Vec<Person>,
    first: bool,
    /// Where the page after this one begins.
    older: Option<InteractionId>,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let before = request.query.number("before")?.map(InteractionId);
    let (record, count, people) = request
        .read(move |connection| {
            let record = Record::find(connection, id)?;
            let count = counters::people(connection, record.id)?;
            let people = people(connection, record.id, before, PAGE)?;
            Ok((record, count, people))
        })
        .await?;
    let full = people.len() == PAGE;
    answer::page(&Page {
        layout: request.layout(&format!("Inside {}", record.name), Some(Area::Devices)),
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
pub fn people(
    connection: &Connection,
    device: DeviceId,
    before: Option<InteractionId>,
    limit: usize,
) -> Result<Vec<Person>> {
    let inside = inside::people(connection, device, before, limit)?;
    let ids: Vec<i64> = inside.iter().map(|one| one.delegate.0).collect();
    let lines = overview::lines(connection, &ids)?;
    let person = |inside: inside::Inside| {
        let line = lines.iter().find(|line| line.id == inside.delegate.0)?;
        Some(Person {
            interaction: inside.interaction,
            id: line.id,
            since: inside.since,
            company: line.company.clone().unwrap_or_default(),
            deleted: line.deleted_at.is_some(),
            name: line.name.clone(),
        })
    };
    Ok(inside.into_iter().filter_map(person).collect())
}
