//! Anonymous attendees (setting `retention`): so many days after the event the names, codes and texts of attendees go, as
//! the catalogue of the tables says. Records keep their ids and types, and what happened stays, so that counts and reports
//! do. It is announced for a week before, whatever the settings or the clock say; of what came after its day nothing goes.

use super::{purchases, traces};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes,
        settings::Settings,
    },
    db::{
        Store, Tx, counters, search_index,
        tables::{Anonymous, TABLES, Table, find},
    },
    domain::interactions::nonces,
    identity::App,
    types::{ClientId, Timestamp, UserId, error::Result},
};
use rusqlite::{Connection, named_params};
use serde_json::json;
use std::{sync::Arc, time::Duration};

const DELEGATES: &str = "delegates";
const DAY_MS: i64 = 24 * 3_600 * 1_000;
/// The time for which it is announced.
const ANNOUNCED_MS: i64 = 7 * DAY_MS;
/// The counter of when the announcement began.
const ANNOUNCED_AT: &str = "anonymous announced";
/// The counter that is there while attendees are made anonymous: what was interrupted goes on to its end.
const BEGUN: &str = "anonymous begun";
/// The time between two looks.
const EVERY: Duration = Duration::from_secs(3_600);
/// Ids that are looked at in one transaction, and purchases that are blanked in one.
const SLICE: i64 = 1_000;
const PURCHASES: i64 = 20;

/// When attendees are made anonymous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The end of the last event.
    pub ended_at: Timestamp,
    /// The moment before which attendees were added who become anonymous.
    pub until: Timestamp,
    /// The earliest moment: not before a week of announcement.
    pub at: Timestamp,
}

/// Returns when it is due; `None` where the setting is off, or no event or place has an end.
pub fn due(connection: &Connection, settings: &Settings, now: Timestamp) -> Result<Option<Due>> {
    let Some(days) = settings.anonymous_after_days else {
        return Ok(None);
    };
    let ended_at: Option<Timestamp> = connection
        .prepare_cached(
            "SELECT coalesce(max(end_at) FILTER (WHERE device_type = 'event'), max(end_at)) FROM devices
             WHERE deleted_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?;
    let announced = counters::get(connection, ANNOUNCED_AT)?;
    Ok(ended_at.map(|ended_at| {
        let until = ended_at.0.saturating_add(days * DAY_MS);
        let earliest = announced.unwrap_or(now.0).saturating_add(ANNOUNCED_MS);
        Due {
            ended_at,
            until: Timestamp(until),
            at: Timestamp(until.max(earliest)),
        }
    }))
}

impl Due {
    /// Tells whether it is announced: within a week of its day, or after it.
    pub fn is_near(&self, now: Timestamp) -> bool {
        now.0 >= self.until.0 - ANNOUNCED_MS
    }
}

/// Returns the number of attendees who are not anonymous and would become it.
pub fn count(connection: &Connection, until: Timestamp) -> Result<i64> {
    find(DELEGATES).map_or(Ok(0), |table| left(connection, table, until))
}

/// Returns how many rows would be blanked or go, by table, where there are any; a purchase counts once.
pub fn extent(connection: &Connection, until: Timestamp) -> Result<Vec<(&'static str, i64)>> {
    let mut extent = Vec::new();
    for table in TABLES {
        let count = match table.anonymous {
            Anonymous::Kept if table.name == "transactions" => purchases_left(connection, until)?,
            _ => left(connection, table, until)?,
        };
        if count > 0 {
            extent.push((table.name, count));
        }
    }
    Ok(extent)
}

fn left(connection: &Connection, table: &Table, until: Timestamp) -> Result<i64> {
    let (Anonymous::Gone(rows) | Anonymous::Blank { rows, .. }) = table.anonymous else {
        return Ok(0);
    };
    let sql = format!("SELECT count(*) FROM {} WHERE {rows}", table.name);
    let mut statement = connection.prepare(&sql)?;
    let named: &[(&str, &dyn rusqlite::ToSql)] = if rows.contains(":until") {
        named_params! {":until": until}
    } else {
        &[]
    };
    Ok(statement.query_row(named, |row| row.get(0))?)
}

const PURCHASES_LEFT: &str = "created_at < ?1 AND (erased_at IS NULL OR erased_at < ?1)";

fn purchases_left(connection: &Connection, until: Timestamp) -> Result<i64> {
    let sql = format!("SELECT count(*) FROM transactions WHERE {PURCHASES_LEFT}");
    Ok(connection.query_row(&sql, [until], |row| row.get(0))?)
}

/// Looks once an hour whether it is due, until the server stops.
pub async fn follow(app: &App) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match tick(app, Timestamp::now()).await {
            Ok(0) => {}
            Ok(people) => tracing::info!("{people} attendees were made anonymous"),
            Err(cause) => tracing::warn!("attendees were not made anonymous: {cause}"),
        }
    }
}

/// Begins the announcement, takes it back, or makes attendees anonymous whose day has come; how many.
pub async fn tick(app: &App, now: Timestamp) -> Result<i64> {
    let settings = app.settings();
    let look = move |connection: &Connection| {
        let due = due(connection, &settings, now)?.filter(|due| due.is_near(now));
        let announced = counters::get(connection, ANNOUNCED_AT)?;
        let people = match due {
            Some(due) => count(connection, due.until)?,
            None => 0,
        };
        let is_begun = counters::get(connection, BEGUN)?.is_some();
        Ok((due, announced, people, is_begun))
    };
    let (due, announced, people, is_begun) = app.store.read(look).await?;
    match (due, announced) {
        (None, None) => Ok(0),
        (None, Some(_)) => {
            let forget = |tx: &Tx<'_>| forget(tx, ANNOUNCED_AT);
            app.store.write(forget).await.map(|()| 0)
        }
        (Some(_), None) => app
            .store
            .write(move |tx| counters::set(tx, ANNOUNCED_AT, now.0))
            .await
            .map(|()| 0),
        (Some(due), Some(_)) if (people > 0 || is_begun) && now >= due.at => {
            run(app, due.until, now).await?;
            Ok(people)
        }
        _ => Ok(0),
    }
}

fn forget(tx: &Tx<'_>, counter: &str) -> Result<()> {
    tx.execute("DELETE FROM counters WHERE name = ?1", [counter])?;
    Ok(())
}

/// The moment up to which rows of other tables go: all of them unless attendees came later, of whom nothing goes.
fn bound(connection: &Connection, until: Timestamp, now: Timestamp) -> Result<Timestamp> {
    let mut later = connection.prepare("SELECT 1 FROM delegates WHERE created_at >= ?1")?;
    Ok(if later.exists([until])? {
        until
    } else {
        now.max(until)
    })
}

/// Makes every attendee from before a moment anonymous. Interrupted, the next look goes on.
async fn run(app: &App, until: Timestamp, now: Timestamp) -> Result<()> {
    let store = &app.store;
    let ctx = Context {
        actor: "schedule".into(),
        ..Context::of_command("retention", app.settings())
    };
    let (people, until) = store
        .read(move |connection| Ok((count(connection, until)?, bound(connection, until, now)?)))
        .await?;
    let begin = move |tx: &Tx<'_>| counters::set(tx, BEGUN, now.0);
    store.write(begin).await?;
    // Who somebody is tells what of a purchase is theirs, and who may sign in.
    let mut next = Some(0);
    while let Some(after) = next {
        next = store
            .write_bulk(move |tx| blank_purchases(tx, after, until))
            .await?;
    }
    let mut next = Some((ClientId(i64::MIN), String::new()));
    while let Some(after) = next {
        next = store
            .write_bulk(move |tx| nonces::forget_before(tx, &after, until, SLICE))
            .await?;
    }
    store.write_bulk(move |tx| remove_users(tx, until)).await?;
    let people_last = TABLES.iter().filter(|table| table.name != DELEGATES);
    for table in people_last.chain(find(DELEGATES)) {
        blank(store, table, until).await?;
    }
    while store
        .write_bulk(|tx| search_index::settle(tx, SEARCH_SLICE))
        .await?
        > 0
    {}
    let end = move |tx: &Tx<'_>| {
        // Words of rows that are gone stay in the index until its parts are joined.
        tx.execute(
            "INSERT INTO delegates_search (delegates_search) VALUES ('optimize')",
            [],
        )?;
        changes::reset(tx)?;
        forget(tx, BEGUN)?;
        audit::append(
            tx,
            &ctx,
            &Change {
                action: "anonymise",
                record_type: "delegate",
                record_id: None,
                before: None,
                after: Some(json!({"attendees": people, "until": until.0})),
            },
        )
    };
    store.write_exclusive(None, end).await?;
    app.wipe_log();
    Ok(())
}

/// Rows of the index that are written in one transaction.
const SEARCH_SLICE: usize = 500;

/// Blanks a table in slices of its ids; one without ids at once.
async fn blank(store: &Store, table: &'static Table, until: Timestamp) -> Result<()> {
    let work = match table.anonymous {
        Anonymous::Kept => return Ok(()),
        Anonymous::Gone(rows) => format!("DELETE FROM {} WHERE ({rows})", table.name),
        Anonymous::Blank { set, rows } => {
            format!("UPDATE {} SET {set} WHERE ({rows})", table.name)
        }
    };
    let has_ids = table.columns().any(|(_, column)| column == "id");
    let work: Arc<str> = if has_ids {
        format!("{work} AND id > :after AND id <= :after + {SLICE}").into()
    } else {
        work.into()
    };
    let highest: i64 = if has_ids {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {}", table.name);
        store
            .read(move |connection| Ok(connection.query_row(&sql, [], |row| row.get(0))?))
            .await?
    } else {
        1
    };
    let mut after = 0;
    while after < highest {
        let work = Arc::clone(&work);
        let slice = move |tx: &Tx<'_>| {
            let mut statement = tx.prepare(&work)?;
            for (name, value) in [(":until", until.0), (":after", after)] {
                if let Some(at) = statement.parameter_index(name)? {
                    statement.raw_bind_parameter(at, value)?;
                }
            }
            statement.raw_execute()?;
            Ok(())
        };
        store.write_bulk(slice).await?;
        after += SLICE;
    }
    Ok(())
}

/// Takes people out of a few purchases after one; returns the last of them.
fn blank_purchases(tx: &Tx<'_>, after: i64, until: Timestamp) -> Result<Option<i64>> {
    let mut statement = tx.prepare(&format!(
        "SELECT id FROM transactions WHERE {PURCHASES_LEFT} AND id > ?2 ORDER BY id LIMIT {PURCHASES}"
    ))?;
    let ids = statement.query_map((until, after), |row| row.get(0))?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    for id in &ids {
        purchases::forget_everybody(tx, *id)?;
    }
    Ok(ids.last().copied())
}

/// Removes the users that attendees sign in as, and are not of the crew.
fn remove_users(tx: &Tx<'_>, until: Timestamp) -> Result<()> {
    let mut statement = tx.prepare(
        "SELECT id FROM users WHERE delegate_id IS NOT NULL AND console_role IS NULL AND created_at < ?1",
    )?;
    let ids = statement.query_map([until], |row| row.get(0))?;
    let ids: Vec<UserId> = ids.collect::<rusqlite::Result<_>>()?;
    for id in ids {
        traces::remove_user(tx, id)?;
    }
    Ok(())
}
