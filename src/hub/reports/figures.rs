//! The figures of each venue in the list: counted whenever something of it was stored, and kept with it.

use crate::{
    hub::{Hub, ingest, store::Sql, venues::Venue},
    types::error::Result,
};
use std::time::{Duration, Instant};

/// What lets somebody in, and out, as SQL.
pub const IN: &str = "('check-in', 'check-in-override', 'entered')";
pub const OUT: &str = "('check-out', 'exited')";

const REST: Duration = Duration::from_secs(2);

/// Counts what changed; never ends. At most a fifth of the time goes into it.
pub async fn follow(hub: &Hub) {
    loop {
        let begun = Instant::now();
        if let Err(cause) = count_all(hub).await {
            tracing::warn!("the figures of venues: {cause}");
        }
        tokio::time::sleep(REST.max(begun.elapsed() * 4)).await;
    }
}

async fn count_all(hub: &Hub) -> Result<()> {
    for venue in hub.store.read(Venue::all).await? {
        // A hub that ended meanwhile left it.
        if venue.previous.is_some() {
            ingest::settle(&hub.store, venue.id).await?;
        }
        if venue.counted == venue.sequence {
            continue;
        }
        let begun = Instant::now();
        let of = venue.clone();
        let counted = hub.store.read(move |sql| count(sql, &of)).await?;
        hub.store
            .write(move |sql| keep(sql, &venue, &counted))
            .await?;
        tokio::time::sleep(begun.elapsed() * 4).await;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Default)]
pub struct Figures {
    pub expected: i64,
    pub arrived: i64,
    pub inside: i64,
    pub conflicts: i64,
}

pub fn count(sql: &mut dyn Sql, venue: &Venue) -> Result<Figures> {
    let Some(current) = venue.current else {
        return Ok(Figures::default());
    };
    let values = [venue.id.into(), current.into()];
    let expected = sql.query_one(
        "SELECT count(*) FROM hub_records WHERE venue = ?1 AND generation = ?2 AND type = 'delegate' AND NOT deleted",
        &values,
    )?;
    // Of two in one second the later is the one with the higher number.
    let people = sql.query_one(
        &format!(
            "SELECT count(*), sum(CASE WHEN came > went THEN 1 ELSE 0 END) FROM (
                 SELECT who, max(CASE WHEN subtype IN {IN} THEN at * 1000000 + id % 1000000 ELSE -1 END) AS came,
                     max(CASE WHEN subtype IN {OUT} THEN at * 1000000 + id % 1000000 ELSE -1 END) AS went
                 FROM hub_records WHERE venue = ?1 AND generation = ?2 AND type = 'interaction' AND NOT deleted
                     AND who IS NOT NULL GROUP BY who) AS p
             WHERE came >= 0"
        ),
        &values,
    )?;
    let conflicts = sql.query_one(&format!("SELECT count(*) {}", conflicting()), &values)?;
    let number = |row: Option<crate::hub::store::Row>, at| row.map_or(0, |row| row.number(at));
    Ok(Figures {
        expected: number(expected, 0),
        inside: number(people.clone(), 1),
        arrived: number(people, 0),
        conflicts: number(conflicts, 0),
    })
}

/// The attendees of a venue, `d`, whose ticket was admitted there and at another one.
fn conflicting() -> String {
    let admitted = |who: &str| {
        format!(
            "EXISTS (SELECT 1 FROM hub_records i WHERE i.venue = {who}.venue AND i.generation = {who}.generation
                 AND i.type = 'interaction' AND NOT i.deleted AND i.who = {who}.id AND i.subtype IN {IN})"
        )
    };
    format!(
        "FROM hub_records d WHERE d.venue = ?1 AND d.generation = ?2 AND d.type = 'delegate' AND NOT d.deleted AND {}
             AND EXISTS (SELECT 1 FROM hub_records o JOIN hub_venues v ON v.id = o.venue AND v.current = o.generation
                 WHERE o.type = 'delegate' AND NOT o.deleted AND o.code = d.code AND o.venue <> d.venue AND o.venue > 0 AND {})",
        admitted("d"),
        admitted("o")
    )
}

fn keep(sql: &mut dyn Sql, venue: &Venue, counted: &Figures) -> Result<()> {
    sql.execute(
        "UPDATE hub_venues SET counted = ?2, expected = ?3, arrived = ?4, inside = ?5, conflicts = ?6 WHERE id = ?1",
        &[
            venue.id.into(),
            venue.sequence.into(),
            counted.expected.into(),
            counted.arrived.into(),
            counted.inside.into(),
            counted.conflicts.into(),
        ],
    )?;
    if counted.conflicts != venue.conflicts {
        // The other venue has it, too.
        sql.execute(
            "UPDATE hub_venues SET counted = -1 WHERE id <> ?1 AND id > 0",
            &[venue.id.into()],
        )?;
    }
    Ok(())
}
