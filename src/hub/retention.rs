//! Anonymous attendees (setting `retention` of the hub) in PostgreSQL. In the hub's own file they go with its other tables.

use super::{
    Hub,
    store::{Sql, Store},
    venues::Venue,
};
use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(60);

/// Blanks what the hub's file has blanked; never ends, unless the store is that file.
pub async fn follow(hub: &Hub) {
    if matches!(hub.store, Store::Sqlite(_)) {
        return;
    }
    let mut done = None;
    loop {
        match step(hub, done).await {
            Ok(until) => done = until,
            Err(cause) => tracing::warn!("attendees of venues were not made anonymous: {cause}"),
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn step(hub: &Hub, done: Option<i64>) -> Result<Option<i64>> {
    let newest = |file: &Connection| {
        let sql = "SELECT after ->> '$.until' FROM audit WHERE action = 'anonymise' ORDER BY id DESC LIMIT 1";
        let until = file.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        Ok(until.optional()?.flatten())
    };
    let until = hub.app.store.read(newest).await?;
    if let Some(until) = until
        && done != Some(until)
    {
        blank(&hub.store, until).await?;
    }
    Ok(until)
}

/// Takes names, codes and content out of venues' records from before a moment, of what they lost and of kept values.
pub async fn blank(store: &Store, until: i64) -> Result<()> {
    for venue in store.read(Venue::all).await? {
        let of_venue = move |sql: &mut dyn Sql| {
            sql.execute(
                "UPDATE hub_records SET name = NULL, code = NULL, email = NULL, data = NULL
                 WHERE venue = ?1 AND at < ?2 AND type <> 'device'
                     AND (name IS NOT NULL OR code IS NOT NULL OR email IS NOT NULL OR data IS NOT NULL)",
                &[venue.id.into(), until.into()],
            )
        };
        store.write(of_venue).await?;
    }
    let kept = move |sql: &mut dyn Sql| {
        sql.execute(
            "DELETE FROM hub_kept WHERE type = 'delegate' AND id IN
                 (SELECT id FROM hub_records WHERE venue = 0 AND type = 'delegate' AND at < ?1)",
            &[until.into()],
        )
    };
    store.write(kept).await.map(drop)
}
