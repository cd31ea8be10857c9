//! The way up: pages of the venue's own feed, from the cursor that the hub tells. It reads on the pool of lists, a bounded
//! page at a time, so that no gate waits for it.

use super::{file, kept, rest, wait_after};
use crate::{
    core::{
        changes::{self, Position},
        head_office::{
            Kept, PUSH, Push, Pushed,
            venue::{self, HeadOffice, Line, Trouble, Way, pack},
        },
    },
    domain::feed::{Action, Cursor, Page, Place, Reader, RecordType, View},
    identity::App,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The most changes in a push; fewer where pushes break off.
const ITEMS_MAX: usize = 2_000;
const ITEMS_MIN: usize = 50;
/// Changes gather for so long before they are pushed.
const GATHER: Duration = Duration::from_millis(500);
/// While there is nothing to push, the hub hears so often that the venue is there.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Waits while the hub refuses this venue.
const REFUSED: Duration = Duration::from_secs(60);

/// Pushes until it is dropped.
pub async fn run(app: &App) {
    let line = &app.head_office;
    let mut pusher = None;
    loop {
        let office = match app.store.look_up(HeadOffice::find) {
            Ok(Some(office)) => office,
            Ok(None) => {
                if pusher.take().is_some() {
                    // It left, perhaps by another process.
                    line.renew();
                }
                rest(line, super::LOOK).await;
                continue;
            }
            Err(cause) => {
                line.failed(Way::Up, cause.to_string());
                rest(line, super::LOOK).await;
                continue;
            }
        };
        let known = pusher
            .take()
            .filter(|pusher: &Pusher| pusher.office == office);
        let pusher = pusher.insert(known.unwrap_or_else(|| Pusher::new(app, office)));
        pusher.step().await;
    }
}

/// How far the venue is with a hub.
struct Pusher {
    app: App,
    office: HeadOffice,
    /// The cursor that the hub has, where it told one.
    at: Option<String>,
    /// The hub told where it is.
    is_known: bool,
    /// The file has the mark of this run.
    has_begun: bool,
    limit: usize,
    failures: u32,
    told: Instant,
    /// The kept values that the hub knows.
    kept: Option<Vec<Kept>>,
    /// What the hub lacks, and when that was counted.
    behind: ((i64, i64), Option<Instant>),
}

impl Pusher {
    fn new(app: &App, office: HeadOffice) -> Self {
        Self {
            app: app.clone(),
            office,
            at: None,
            is_known: false,
            has_begun: false,
            limit: ITEMS_MAX,
            failures: 0,
            told: Instant::now(),
            kept: None,
            behind: ((0, 0), None),
        }
    }

    fn line(&self) -> &Line {
        &self.app.head_office
    }

    /// Pushes a page, or waits for one.
    async fn step(&mut self) {
        // Before the look, so that no change between the two is missed.
        let mut newest = self.app.changes.subscribe();
        newest.mark_unchanged();
        let found = if self.is_known {
            next(&self.app, self.at.as_deref(), self.limit).await
        } else {
            Ok(None)
        };
        let quiet = self.told.elapsed();
        match found {
            Err(cause) => self.rest_after(cause.to_string()).await,
            Ok(None) if self.is_known && quiet < HEARTBEAT => {
                tokio::select! {
                    _ = timeout(HEARTBEAT.saturating_sub(quiet), newest.changed()) => tokio::time::sleep(GATHER).await,
                    () = self.line().woken.notified() => {}
                }
            }
            Ok(found) => {
                let is_last = found.as_ref().is_some_and(|found| !found.page.more);
                match self.push(found).await {
                    // Gates that scan all the time would have every few of their scans pushed at once.
                    Ok(()) if is_last && self.failures == 0 => rest(self.line(), GATHER).await,
                    Ok(()) => {}
                    Err(cause) => self.rest_after(cause.to_string()).await,
                }
            }
        }
    }

    async fn push(&mut self, found: Option<Found>) -> Result<()> {
        if !self.has_begun {
            let mark = self.line().run().to_owned();
            let marks = self.app.store.write(move |tx| venue::begin_run(tx, &mark));
            self.line().begin(&marks.await?);
            self.has_begun = true;
        }
        let items = found.as_ref().map(|found| found.page.items.len());
        let (packed, kept) = self.prepare(found).await?;
        self.told = Instant::now();
        match self.line().post(&self.office, PUSH, packed).await {
            Ok(Pushed { cursor, hubs }) => {
                if items.is_some() && cursor.is_none() {
                    return Err(Error::invalid("the head office kept nothing of a push"));
                }
                (self.at, self.is_known) = (cursor, true);
                self.limit = (self.limit * 2).min(ITEMS_MAX);
                self.failures = 0;
                self.kept = kept.or(self.kept.take());
                self.line().answered(Way::Up, Some(self.behind.0));
                self.follow_hubs(hubs).await
            }
            Err(Trouble::Elsewhere(told)) => {
                (self.at, self.is_known) = (told.cursor, true);
                self.follow_hubs(told.hubs).await
            }
            Err(trouble) => {
                if matches!(trouble, Trouble::Away(_)) {
                    self.limit = (items.unwrap_or(self.limit) / 2).max(ITEMS_MIN);
                }
                // Another hub, or this one restored from a backup, may be elsewhere; it is also told what was kept.
                (self.is_known, self.kept) = (false, None);
                if matches!(trouble, Trouble::Refused(401 | 403 | 409, _)) {
                    self.line().failed(Way::Up, trouble.why());
                    rest(self.line(), REFUSED).await;
                } else {
                    self.rest_after(trouble.why()).await;
                }
                Ok(())
            }
        }
    }

    async fn rest_after(&mut self, why: String) {
        self.failures += 1;
        self.line().failed(Way::Up, why);
        rest(self.line(), wait_after(self.failures)).await;
    }

    async fn follow_hubs(&mut self, hubs: Vec<String>) -> Result<()> {
        if hubs.is_empty() || hubs == self.office.hubs {
            return Ok(());
        }
        self.office.hubs.clone_from(&hubs);
        let keep = move |tx: &crate::db::Tx<'_>| venue::keep_hubs(tx, &hubs);
        self.app.store.write(keep).await
    }

    /// Writes a push, packed, and the kept values in it; without a page it only says who is there.
    async fn prepare(&mut self, found: Option<Found>) -> Result<(Vec<u8>, Option<Vec<Kept>>)> {
        let is_due = self.behind.1.is_none_or(|at| at.elapsed() > HEARTBEAT / 2);
        let place = found.as_ref().map(|found| found.page.cursor.place);
        let uncounted = place.filter(|_| found.as_ref().is_some_and(|found| found.page.more));
        let (tells_kept, known) = (is_due || self.kept.is_none(), self.kept.clone());
        let (behind, zone) = (self.behind.0, self.app.settings().zone.clone());
        let look = move |connection: &Connection| {
            let behind = match uncounted {
                Some(place) if is_due => waiting(connection, place)?,
                Some(_) => behind,
                None => (0, 0),
            };
            let kept = tells_kept
                .then(|| kept::all(connection, &zone))
                .transpose()?;
            Ok((
                file(connection)?,
                behind,
                kept.filter(|kept| Some(kept) != known.as_ref()),
            ))
        };
        let ((file, epoch), behind, kept) = self.app.store.read_in_turn(look).await?;
        self.behind = (
            behind,
            if is_due {
                Some(Instant::now())
            } else {
                self.behind.1
            },
        );
        let push = Push {
            venue: self.office.venue,
            file,
            epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            clock: Timestamp::now().0,
            from: found
                .as_ref()
                .map_or_else(|| self.at.clone(), |found| found.from.clone()),
            to: found.as_ref().map(|found| found.page.cursor.encoded()),
            complete: matches!(place, Some(Place::Changes(_))),
            behind: behind.0,
            behind_ms: behind.1,
            items: Vec::new(),
            kept: kept.clone(),
        };
        let packed = move || {
            let data = found.map_or_else(|| "[]".to_owned(), |found| found.page.data());
            let items: Vec<&RawValue> = serde_json::from_str(&data).map_err(Error::defect)?;
            pack(&Push { items, ..push })
        };
        let packed = tokio::task::spawn_blocking(packed)
            .await
            .map_err(Error::defect)??;
        Ok((packed, kept))
    }
}

/// A page, and the cursor at which it begins: none for that of a snapshot.
struct Found {
    from: Option<String>,
    page: Page,
}

/// The next page after a cursor; `None` where there is nothing new. A page that would send the reader back begins a
/// snapshot at once.
async fn next(app: &App, at: Option<&str>, limit: usize) -> Result<Option<Found>> {
    let read = async |since: Option<&str>| {
        let of_app = app.clone();
        let view = move || {
            let zone = of_app.settings().zone.clone();
            Ok(View::whole(&RecordType::ALL, zone))
        };
        Reader::new(app, view, since, limit)?.next().await
    };
    let page = match read(at).await {
        // Of another file, or older than deletions are kept.
        Err(cause) if at.is_some() && matches!(cause.kind, Kind::CursorGone | Kind::Invalid) => {
            None
        }
        page => Some(page?),
    };
    let is_reset = |page: &Page| {
        let mut items = page.items.iter();
        items.any(|item| item.action == Action::Reset)
    };
    let Some(page) = page.filter(|page| !is_reset(page)) else {
        let page = read(None).await?;
        return Ok(Some(Found { from: None, page }));
    };
    let place = at.and_then(|at| Cursor::parse(at).ok()).map(|at| at.place);
    let is_new = page.more || !page.items.is_empty() || place != Some(page.cursor.place);
    let from = at.map(ToOwned::to_owned);
    Ok(is_new.then_some(Found { from, page }))
}

/// The changes behind a place of the feed and how long the first of them has waited, in milliseconds; in a snapshot with the
/// records that it still has to tell.
fn waiting(connection: &Connection, place: Place) -> Result<(i64, i64)> {
    let (Place::Changes(from) | Place::Snapshot { begun: from, .. }) = place;
    let mut waiting: i64 = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM interactions WHERE id > ?1)
                 + (SELECT count(*) FROM audit WHERE id > ?2) + (SELECT count(*) FROM changes WHERE id > ?2)",
        )?
        .query_row([from.interaction, from.change], |row| row.get(0))?;
    if let Place::Snapshot {
        record_type, after, ..
    } = place
    {
        for (at, kind) in RecordType::ALL.into_iter().enumerate().skip(record_type) {
            let after = if at == record_type { after } else { 0 };
            let sql = format!("SELECT count(*) FROM {} WHERE id > ?1", kind.table());
            waiting += connection
                .prepare_cached(&sql)?
                .query_row([after], |row| row.get::<_, i64>(0))?;
        }
    }
    Ok((waiting, waited(connection, from)?))
}

fn waited(connection: &Connection, from: Position) -> Result<i64> {
    let first = changes::read(connection, from, 1)?.changes;
    let now = Timestamp::now().0;
    Ok(first.first().map_or(0, |change| (now - change.at.0).max(0)))
}
