//! The way down: what the head office owns, fetched as it changes and applied in slices. The cursor is stored with the last
//! slice, so that what broke off is fetched again; applying it twice changes nothing.

use super::{
    configuration, context,
    records::{self, Fate, Item, Row},
    rest, wait_after,
};
use crate::{
    core::{
        Context,
        head_office::{
            PULL, Pull,
            venue::{HeadOffice, Trouble, Way},
        },
    },
    db::Tx,
    domain::erasure,
    identity::App,
    ops::standby::changes,
    types::error::{Error, Result},
};
use rusqlite::Connection;
use std::time::Duration;

/// Items that are applied in one transaction.
const APPLIED_AT_ONCE: usize = 20;
/// Rows that are looked at for what is gone, in one transaction.
const SWEPT_AT_ONCE: usize = 20;
/// Waits while the hub refuses this venue.
const REFUSED: Duration = Duration::from_secs(60);

/// Fetches and applies until it is dropped.
pub async fn run(app: &App) {
    let line = &app.head_office;
    let mut failures = 0;
    loop {
        let state = app.store.look_up(|connection| {
            let office = HeadOffice::find(connection)?;
            office
                .map(|office| Ok((office, State::find(connection)?)))
                .transpose()
        });
        let (office, state) = match state {
            Ok(Some(state)) if line.has_begun() => state,
            Ok(_) => {
                rest(line, super::LOOK).await;
                continue;
            }
            Err(cause) => {
                line.failed(Way::Down, cause.to_string());
                rest(line, super::LOOK).await;
                continue;
            }
        };
        let wait = match step(app, &office, state).await {
            Ok(()) => {
                failures = 0;
                line.answered(Way::Down, None);
                continue;
            }
            Err(Step::Hub(trouble @ Trouble::Refused(401 | 403 | 409, _))) => {
                line.failed(Way::Down, trouble.why());
                REFUSED
            }
            Err(cause) => {
                failures += 1;
                line.failed(Way::Down, cause.why());
                wait_after(failures)
            }
        };
        rest(line, wait).await;
    }
}

/// Why a step failed.
enum Step {
    Hub(Trouble),
    Here(Error),
}

impl Step {
    fn why(&self) -> String {
        match self {
            Self::Hub(trouble) => trouble.why(),
            Self::Here(cause) => format!("what the head office sent could not be applied: {cause}"),
        }
    }
}

impl From<Error> for Step {
    fn from(cause: Error) -> Self {
        Self::Here(cause)
    }
}

/// How far the venue is: the row of `office_feed`.
struct State {
    cursor: Option<String>,
    round: i64,
    /// The snapshot that is being read.
    snapshot: Snapshot,
}

/// What it means that a snapshot lacks a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Snapshot {
    /// None is being read.
    No,
    Gone,
    /// Nothing that could be relied on: the head office went back, or the venue comes back to it.
    Unknown,
}

impl State {
    fn find(connection: &Connection) -> Result<Self> {
        let sql = "SELECT cursor, round, is_snapshot FROM office_feed";
        let state = |row: &rusqlite::Row<'_>| {
            Ok(Self {
                cursor: row.get(0)?,
                round: row.get(1)?,
                snapshot: match row.get(2)? {
                    0 => Snapshot::No,
                    1 => Snapshot::Gone,
                    _ => Snapshot::Unknown,
                },
            })
        };
        Ok(connection.prepare_cached(sql)?.query_row([], state)?)
    }

    fn save(&self, tx: &Tx<'_>) -> Result<()> {
        tx.prepare_cached("UPDATE office_feed SET cursor = ?1, round = ?2, is_snapshot = ?3")?
            .execute(rusqlite::params![
                self.cursor,
                self.round,
                self.snapshot as i64
            ])?;
        Ok(())
    }
}

/// Fetches a page, which the hub holds until there is one, and applies it.
async fn step(app: &App, office: &HeadOffice, mut state: State) -> Result<(), Step> {
    let since = state.cursor.as_ref();
    let since = since.map_or_else(String::new, |cursor| format!("since={cursor}&"));
    let path = format!("{PULL}?{since}wait=30");
    let pull: Pull = app
        .head_office
        .get(office, &path)
        .await
        .map_err(Step::Hub)?;
    if state.cursor.as_ref() == Some(&pull.cursor) && pull.items.is_empty() && !pull.reset {
        return Ok(());
    }
    if pull.reset || state.cursor.is_none() {
        let is_unknown = pull.restored || state.cursor.is_none();
        state.round = state.round.max(newest_round(app)?) + 1;
        state.snapshot = if is_unknown {
            Snapshot::Unknown
        } else {
            Snapshot::Gone
        };
    }
    // Those of another form are of a newer head office.
    let items = pull.items.iter();
    let items: Vec<Item> = items
        .filter_map(|item| serde_json::from_str(item.get()).ok())
        .collect();
    let ctx = context(app);
    take_all(app, &ctx, state.round, items).await?;
    if state.snapshot != Snapshot::No && !pull.more {
        let is_gone = state.snapshot == Snapshot::Gone;
        sweep(app, &ctx, state.round, is_gone).await?;
        state.snapshot = Snapshot::No;
    }
    let (configuration, sent_back) = (pull.configuration, pull.sent_back);
    if configuration.is_some() || sent_back.is_some() {
        let (store, ctx) = (std::sync::Arc::clone(&app.store), ctx);
        let apply = move || -> Result<()> {
            if let Some(document) = configuration {
                let document =
                    serde_json::from_str(document.get()).map_err(Error::invalid_cause)?;
                configuration::apply(&store, &ctx, document)?;
            }
            if let Some(lines) = sent_back {
                let taken = changes::import(&store, &ctx, lines.as_bytes())?;
                tracing::info!(
                    "{} interactions came back from the head office",
                    taken.taken
                );
            }
            Ok(())
        };
        tokio::task::spawn_blocking(apply)
            .await
            .map_err(Error::defect)??;
    }
    state.cursor = Some(pull.cursor);
    app.store.write(move |tx| state.save(tx)).await?;
    Ok(())
}

/// Applies items in slices. Those that refer to what did not come yet wait until the others are done.
async fn take_all(app: &App, ctx: &Context, round: i64, mut items: Vec<Item>) -> Result<()> {
    loop {
        let before = items.len();
        items = take(app, ctx, round, items, false).await?;
        if items.is_empty() {
            return Ok(());
        }
        if items.len() == before {
            take(app, ctx, round, items, true).await?;
            return Ok(());
        }
    }
}

/// Applies items once; those that wait.
async fn take(
    app: &App,
    ctx: &Context,
    round: i64,
    items: Vec<Item>,
    is_last: bool,
) -> Result<Vec<Item>> {
    let mut waiting = Vec::new();
    for slice in items.chunks(APPLIED_AT_ONCE) {
        let (slice, of_ctx) = (slice.to_vec(), ctx.clone());
        let apply = move |tx: &Tx<'_>| {
            let fates = slice
                .iter()
                .map(|item| records::take(tx, &of_ctx, round, item, is_last));
            let fates = fates.collect::<Result<Vec<_>>>()?;
            Ok(slice.into_iter().zip(fates).collect::<Vec<_>>())
        };
        for (item, fate) in app.store.write_bulk(apply).await? {
            match fate {
                Fate::Done | Fate::Unknown => {}
                Fate::Waits => waiting.push(item),
                Fate::Erases(id) => {
                    erasure::erase(app, ctx.clone(), id, None).await?;
                    // They are gone at both ends: nothing of them is to be known.
                    let of_ctx = ctx.clone();
                    let forget = move |tx: &Tx<'_>| records::take(tx, &of_ctx, round, &item, true);
                    app.store.write(forget).await?;
                }
            }
        }
    }
    Ok(waiting)
}

/// The round of the newest record, if the venue comes back: the feed begins anew, the records do not.
fn newest_round(app: &App) -> Result<i64> {
    let sql = "SELECT coalesce(max(round), 0) FROM office_records";
    app.store
        .look_up(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
}

/// Applies that what a snapshot lacked is gone there, or only lists it.
async fn sweep(app: &App, ctx: &Context, round: i64, is_gone: bool) -> Result<()> {
    let mut after = (String::new(), 0);
    loop {
        let (from, of_ctx) = (after, ctx.clone());
        let sweep = move |tx: &Tx<'_>| {
            let mut statement = tx.prepare_cached(
                "SELECT type, office_id FROM office_records
                 WHERE (type, office_id) > (?1, ?2) AND round < ?3 ORDER BY type, office_id LIMIT ?4",
            )?;
            let parameters = rusqlite::params![from.0, from.1, round, SWEPT_AT_ONCE];
            let rows = statement.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows = rows.collect::<rusqlite::Result<Vec<(String, i64)>>>()?;
            for (record_type, office) in &rows {
                if let Some(row) = Row::find(tx, record_type, *office)? {
                    if is_gone {
                        records::gone(tx, &of_ctx, row, "deleted", round)?;
                    } else {
                        records::missing(tx, &of_ctx, row, round)?;
                    }
                }
            }
            Ok(rows.last().cloned())
        };
        match app.store.write_bulk(sweep).await? {
            Some(last) => after = last,
            None => return Ok(()),
        }
    }
}
