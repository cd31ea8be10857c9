//! Everybody out (`everybodyOutAt`, contract §6): at that time of each day, whoever is inside a place, there
//! or at anything below it, leaves. The server records a check-out at the place, and the moment is its position.
//!
//! - here: whom a moment concerns, the check-out, and scans that arrive after the moment
//! - `follow`: everybody else, in slices, once the moment has come or at the next start, and whoever is inside
//!   when the crew has everybody leave at once

pub mod follow;

use super::{
    draft::Draft,
    judge::DeviceCache,
    presence::{self, History, PresenceChange},
    record::ResolvedParticipants,
    refusals,
    types::CHECK_OUT,
};
use crate::{
    core::{
        Context,
        rules::{Position, TypeList, folded},
    },
    db::Tx,
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, TimeOfDay, Timestamp, Zone,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The `data` of these check-outs, which automations skip; for reports the stay has no check-out
/// (`src/db/sandbox/views.sql`).
pub const DATA: &str = r#"{"reason":"everybodyOutAt"}"#;

/// The sender of such a check-out, on pages.
pub const SENDER: &str = "Everybody out";

/// The rule of a place.
struct Rule {
    place: DeviceId,
    time: TimeOfDay,
    except: Option<TypeList>,
    /// Moments up to then do not count.
    since: Timestamp,
    /// Up to then everybody left.
    handled_to: Timestamp,
}

impl Rule {
    fn of(
        connection: &Connection,
        device_cache: &DeviceCache,
        place: DeviceId,
    ) -> Result<Option<Self>> {
        let known = device_cache.get(connection, place)?;
        let rules = known.rules.as_ref().filter(|_| known.alive);
        let Some((rules, time)) = rules.and_then(|rules| Some((rules, rules.everybody_out_at?)))
        else {
            return Ok(None);
        };
        let kept = connection
            .prepare_cached("SELECT since, handled_to FROM everybody_out WHERE device_id = ?1")?
            .query_row([place], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(kept.map(|(since, handled_to)| Self {
            place,
            time,
            except: rules.everybody_out_except.clone(),
            since,
            handled_to,
        }))
    }

    /// The first moment after a time, if it has come.
    fn moment(&self, zone: &Zone, after: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let moment = zone.next(self.time, after.max(self.since));
        moment.filter(|moment| *moment <= now)
    }

    /// The moment that ends the stays in the place which have not been looked at: each ends at the first
    /// moment after its entry, so the latest of those ends all.
    fn due(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        history: &History,
        zone: &Zone,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let mut due = None;
        let entered = history.entered(connection, device_cache)?;
        for (_, entered) in device_cache.within(connection, entered, self.place)? {
            due = due.max(self.moment(zone, entered.at.max(self.handled_to), now));
        }
        Ok(due)
    }

    /// Returns whether a delegate stays because of their type.
    fn spares(&self, connection: &Connection, delegate: DelegateId) -> Result<bool> {
        let Some(except) = &self.except else {
            return Ok(false);
        };
        let found: Option<Option<String>> = connection
            .prepare_cached("SELECT delegate_type FROM delegates WHERE id = ?1")?
            .query_row([delegate], |row| row.get(0))
            .optional()?;
        let delegate_type = found.flatten();
        Ok(delegate_type.is_some_and(|name| except.contains(&folded(&name))))
    }
}

/// The times at which everybody leaves a place or one above it, for a gate that is offline then.
pub struct Coming {
    /// The places that they leave: that one, and those from there down to the first.
    pub rooms: Vec<DeviceId>,
    /// The next moments.
    pub at: Vec<Timestamp>,
    /// The types of attendees that stay.
    pub except: Vec<String>,
}

/// Moments that a gate knows ahead: two weeks of them.
const AHEAD: usize = 14;

/// The moments to come at which everybody leaves a place, or one above it.
pub fn coming(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    zone: &Zone,
    now: Timestamp,
) -> Result<Vec<Coming>> {
    let path = device_cache.path(connection, place)?;
    let mut coming = Vec::new();
    for (level, above) in path.iter().enumerate() {
        let Some(rule) = Rule::of(connection, device_cache, *above)? else {
            continue;
        };
        let next = |at: &Timestamp| zone.next(rule.time, *at);
        coming.push(Coming {
            rooms: path[..=level].to_vec(),
            at: std::iter::successors(next(&now), next)
                .take(AHEAD)
                .collect(),
            except: rule
                .except
                .iter()
                .flat_map(|types| types.names().map(ToOwned::to_owned))
                .collect(),
        });
    }
    Ok(coming)
}

/// Checks out a delegate whose entry, just recorded, arrived after the moment that ends it.
pub(super) fn settle_late(
    tx: &Tx<'_>,
    zone: &Zone,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
    entered: Position,
) -> Result<()> {
    let spares = |rule: &Rule| rule.spares(tx, delegate);
    let Some((place, moment)) = first_moment(tx, zone, device_cache, device, entered.at, spares)?
    else {
        return Ok(());
    };
    let history = History::of(tx, device_cache, delegate)?;
    if holds(tx, device_cache, &history, entered)? {
        check_out(tx, device_cache, history, delegate, place, moment)?;
    }
    Ok(())
}

/// As [`settle_late`], of a scan of a code that nobody has yet.
pub(super) fn settle_late_code(
    tx: &Tx<'_>,
    ctx: &Context,
    code: &DelegateSelector,
    device: DeviceId,
    entered: Position,
) -> Result<()> {
    let device_cache = tx.cache::<DeviceCache>();
    let zone = &ctx.settings.zone;
    let spares_nobody = |_: &Rule| Ok(false);
    let first = first_moment(tx, zone, &device_cache, device, entered.at, spares_nobody)?;
    let Some((place, moment)) = first else {
        return Ok(());
    };
    let history = History::of_code(tx, &device_cache, code.code().unwrap_or_default())?;
    if holds(tx, &device_cache, &history, entered)? {
        check_out_code(tx, ctx, code, place, moment)?;
    }
    Ok(())
}

/// Returns whether this entry is why somebody is inside.
fn holds(
    tx: &Tx<'_>,
    device_cache: &DeviceCache,
    history: &History,
    entered: Position,
) -> Result<bool> {
    let held = history.entered(tx, device_cache)?;
    Ok(held.iter().any(|(_, since)| *since == entered))
}

/// The first moment after an entry at which everybody had to leave the device or a place above it, and that
/// place.
fn first_moment(
    tx: &Tx<'_>,
    zone: &Zone,
    device_cache: &DeviceCache,
    device: DeviceId,
    entered_at: Timestamp,
    spares: impl Fn(&Rule) -> Result<bool>,
) -> Result<Option<(DeviceId, Timestamp)>> {
    let mut first: Option<(DeviceId, Timestamp)> = None;
    // Nearly every entry is of now.
    if entered_at >= tx.now() {
        return Ok(first);
    }
    for place in device_cache.path(tx, device)?.iter() {
        let rule = Rule::of(tx, device_cache, *place)?;
        if let Some(rule) = rule
            && let Some(moment) = rule.moment(zone, entered_at, tx.now())
            && first.is_none_or(|(_, earlier)| moment < earlier)
            && !spares(&rule)?
        {
            first = Some((*place, moment));
        }
    }
    Ok(first)
}

/// Returns whether a delegate was inside a device at a time and was checked out since because everybody had to leave: a
/// check-out that arrives late is none without a check-in.
pub(super) fn left_later(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
    at: Timestamp,
) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM interactions
         WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect = ?3 AND moment > ?4 AND data IS ?5",
    )?;
    for place in device_cache.path(connection, device)?.iter() {
        if statement.exists((delegate, place, PresenceChange::Exit, at, DATA))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The check-out that was recorded together with a check-in, and goes with it.
pub(super) fn recorded_with(connection: &Connection, check_in: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT o.id FROM interactions i JOIN interactions o ON o.id = i.id + 1
             WHERE i.id = ?1 AND o.first_delegate_id = i.first_delegate_id AND o.created_at = i.created_at
                 AND o.effect = ?2 AND o.data IS ?3 AND o.client_id IS NULL AND o.user_id IS NULL",
        )?
        .query_row((check_in, PresenceChange::Exit, DATA), |row| row.get(0))
        .optional()?)
}

fn check_out(
    tx: &Tx<'_>,
    device_cache: &DeviceCache,
    mut history: History,
    delegate: DelegateId,
    place: DeviceId,
    moment: Timestamp,
) -> Result<()> {
    let before = history.inside(tx, device_cache)?;
    let id = tx.new_interaction_id()?;
    tx.prepare_cached(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, first_device_id, data,
                                   recorded_at, created_at, effect)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(rusqlite::params![
        id,
        CHECK_OUT.name,
        delegate,
        place,
        DATA,
        moment,
        tx.now(),
        PresenceChange::Exit
    ])?;
    history.record(place, PresenceChange::Exit, Position { at: moment, id });
    presence::count(tx, &before, &history.inside(tx, device_cache)?)
}

/// Has a check-out wait beside the scans of a code that nobody has yet.
fn check_out_code(
    tx: &Tx<'_>,
    ctx: &Context,
    code: &DelegateSelector,
    place: DeviceId,
    moment: Timestamp,
) -> Result<()> {
    let draft = Draft {
        kind: CHECK_OUT.name.to_owned(),
        delegates: [Some(code.clone()), None, None],
        devices: [Some(DeviceSelector::Id(place)), None, None],
        recorded_at: Some(moment),
        data: Some(DATA.to_owned()),
        admitted: true,
        ..Draft::default()
    };
    let found = ResolvedParticipants {
        devices: [Some(place), None, None],
        ..ResolvedParticipants::default()
    };
    let of_server = Context {
        client: None,
        user: None,
        ..ctx.clone()
    };
    let missing = Error::new(Kind::DelegateNotFound, "everybody had to leave");
    refusals::keep_waiting(tx, &of_server, &draft, &found, &missing).map(drop)
}
