//! Has everybody leave once the moment has come, or once somebody says so: in slices between which gates get their turn. Who left is
//! inside no more, so that what was cut off in the middle goes on where it was.

use super::{DeviceCache, History, Rule, check_out, check_out_code};
use crate::{
    core::{Context, settings::Settings},
    db::{Priority, Store, Tx},
    domain::{
        devices::RESOURCE,
        interactions::{inside, late_codes},
    },
    identity::App,
    types::{DelegateId, DelegateSelector, DeviceId, Timestamp, Zone, error::Result},
};
use rusqlite::Connection;
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// The time between two looks whether a moment has come.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// People who are read at once.
const PAGE: usize = 500;
/// People who are checked out in one transaction of a few milliseconds.
const SLICE: usize = 100;

/// Carries out every moment as it comes, until it is dropped.
pub async fn follow(app: &App) {
    loop {
        where_due(app).await;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Carries out the moments that have come: at the start, before anything else is written, those of the time in
/// which no server ran; and before each day, which ends daily stays without a check-out.
pub async fn where_due(app: &App) {
    if let Err(cause) = carry_out(&app.store, &app.settings()).await {
        tracing::warn!("checking out everybody where they have to leave: {cause}");
    }
}

async fn carry_out(store: &Store, settings: &Arc<Settings>) -> Result<()> {
    let zone = settings.zone.iana_name().to_owned();
    let now = Timestamp::now();
    if store.look_up(|connection| is_out_of_step(connection, &zone, now))? {
        store.write(move |tx| fall_into_step(tx, &zone)).await?;
    }
    for place in store.look_up(|connection| due(connection, &settings.zone, now))? {
        empty(store, settings, place, Leaving::ByRule(now)).await?;
        store.write(move |tx| keep(tx, place, now)).await?;
    }
    Ok(())
}

/// Returns whether moments would come by another time zone, or by a clock that was ahead.
fn is_out_of_step(connection: &Connection, zone: &str, now: Timestamp) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM everybody_out WHERE zone IS NOT ?1 OR max(since, handled_to) > ?2",
        )?
        .exists((zone, now))?)
}

/// In another zone the moments are others: they begin anew. A clock that was ahead for a while must not keep
/// everybody inside.
fn fall_into_step(tx: &Tx<'_>, zone: &str) -> Result<()> {
    tx.execute(
        "UPDATE everybody_out SET since = iif(coalesce(zone, ?1) = ?1, min(since, ?2), ?2),
             handled_to = iif(coalesce(zone, ?1) = ?1, min(handled_to, ?2), ?2), zone = ?1",
        (zone, tx.now()),
    )?;
    Ok(())
}

/// The places at which a moment has come.
fn due(connection: &Connection, zone: &Zone, now: Timestamp) -> Result<Vec<DeviceId>> {
    let mut statement = connection.prepare_cached("SELECT device_id FROM everybody_out")?;
    let places = statement.query_map([], |row| row.get(0))?;
    let places: Vec<DeviceId> = places.collect::<rusqlite::Result<_>>()?;
    let device_cache = DeviceCache::default();
    let mut due = Vec::new();
    for place in places {
        let rule = Rule::of(connection, &device_cache, place)?;
        let moment = rule.and_then(|rule| rule.moment(zone, rule.handled_to, now));
        if moment.is_some() {
            due.push(place);
        }
    }
    Ok(due)
}

/// Has everybody who is inside a place leave it now, because somebody said so; how many were checked out.
pub async fn at_once(app: &App, ctx: &Context, place: DeviceId) -> Result<usize> {
    // First, so that it is known who did it even where it is cut off.
    let by = ctx.clone();
    let note = move |tx: &Tx<'_>| {
        let after = Some(json!({"people": tx.people(place)?}));
        RESOURCE.audit(tx, &by, "empty", place.0, None, after)
    };
    app.store.write(note).await?;
    let leaving = Leaving::AtOnce(Timestamp::now());
    empty(&app.store, &ctx.settings, place, leaving).await
}

/// The reason why people leave a place.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    /// At the moments of its rule that have come by now.
    ByRule(Timestamp),
    /// At this time, whatever its rules say.
    AtOnce(Timestamp),
}

impl Leaving {
    /// The moment at which somebody with a history leaves a place, if they do.
    fn moment(
        self,
        tx: &Tx<'_>,
        device_cache: &DeviceCache,
        zone: &Zone,
        place: DeviceId,
        history: &History,
        delegate: Option<DelegateId>,
    ) -> Result<Option<Timestamp>> {
        match self {
            Self::AtOnce(at) => {
                let entered = history.entered(tx, device_cache)?;
                let mut within = device_cache.within(tx, entered, place)?.into_iter();
                Ok(within.any(|(_, since)| since.at <= at).then_some(at))
            }
            Self::ByRule(now) => {
                let Some(rule) = Rule::of(tx, device_cache, place)? else {
                    return Ok(None);
                };
                if let Some(delegate) = delegate
                    && rule.spares(tx, delegate)?
                {
                    return Ok(None);
                }
                rule.due(tx, device_cache, history, zone, now)
            }
        }
    }
}

/// Has everybody leave a place; how many were checked out.
async fn empty(
    store: &Store,
    settings: &Arc<Settings>,
    place: DeviceId,
    leaving: Leaving,
) -> Result<usize> {
    let (mut before, mut count) = (None, 0);
    loop {
        let page = move |connection: &Connection| inside::people(connection, place, before, PAGE);
        let page = store.read(page).await?;
        for slice in page.chunks(SLICE) {
            let people: Vec<_> = slice.iter().map(|person| person.delegate).collect();
            let zone = settings.zone.clone();
            let slice = move |tx: &Tx<'_>| leave(tx, &zone, place, leaving, &people);
            count += store.write_repeatable(Priority::Background, slice).await?;
        }
        let Some(last) = page.last().filter(|_| page.len() == PAGE) else {
            break;
        };
        before = Some(last.interaction);
    }
    let codes = store.read(late_codes::waiting).await?;
    for slice in codes.chunks(SLICE) {
        let (codes, settings) = (slice.to_vec(), Arc::clone(settings));
        let slice = move |tx: &Tx<'_>| leave_by_code(tx, &settings, place, leaving, &codes);
        count += store.write_repeatable(Priority::Background, slice).await?;
    }
    Ok(count)
}

/// Remembers that everybody left at every moment so far, unless the rule changed meanwhile.
fn keep(tx: &Tx<'_>, place: DeviceId, now: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE everybody_out SET handled_to = ?2 WHERE device_id = ?1 AND handled_to < ?2",
        (place, now),
    )?;
    Ok(())
}

/// Checks out those of the delegates who are inside by an entry before they leave; how many.
fn leave(
    tx: &Tx<'_>,
    zone: &Zone,
    place: DeviceId,
    leaving: Leaving,
    delegates: &[DelegateId],
) -> Result<usize> {
    let device_cache = tx.cache::<DeviceCache>();
    let mut count = 0;
    for delegate in delegates {
        let history = History::of(tx, &device_cache, *delegate)?;
        let who = Some(*delegate);
        if let Some(moment) = leaving.moment(tx, &device_cache, zone, place, &history, who)? {
            check_out(tx, &device_cache, history, *delegate, place, moment)?;
            count += 1;
        }
    }
    Ok(count)
}

/// As [`leave`], for whoever has a code that is unknown.
fn leave_by_code(
    tx: &Tx<'_>,
    settings: &Arc<Settings>,
    place: DeviceId,
    leaving: Leaving,
    codes: &[DelegateSelector],
) -> Result<usize> {
    let device_cache = tx.cache::<DeviceCache>();
    let ctx = Context::of_command("api", Arc::clone(settings));
    let (zone, mut count) = (&settings.zone, 0);
    for code in codes {
        let history = History::of_code(tx, &device_cache, code.code().unwrap_or_default())?;
        if let Some(moment) = leaving.moment(tx, &device_cache, zone, place, &history, None)? {
            check_out_code(tx, &ctx, code, place, moment)?;
            count += 1;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
