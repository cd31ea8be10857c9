//! Reads new interactions from the change feed for the automations. Whoever
//! stores an interaction does not wait for it.
//!
//! Nothing is sent for imported interactions, for those deleted before their turn,
//! for those that arrive late, or for check-outs of everybody at once. The cursor is stored in the transaction of the
//! messages: a crash neither loses a message nor sends one twice. The end of a rehearsal
//! does not move it back.

use super::{
    automations::{self, Automation},
    compose::Recipient,
    gateways,
    send::{self, How, Message, Prepared},
    templates,
};
use crate::{
    core::{changes, settings::Settings},
    db::{Tx, counters, newest_interaction},
    domain::interactions::live,
    identity::App,
    types::{
        DelegateId, Timestamp, Zone,
        error::{Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The counter with the cursor.
const CURSOR: &str = "automations";
/// Interactions read at once.
const WINDOW: usize = 10_000;
/// Triggers handled at once.
const FOUND_MAX: usize = 200;
/// Triggers whose messages are stored in one transaction of a few milliseconds.
const WRITTEN_AT_ONCE: usize = 5;
/// The time between two writes of the cursor while nothing is sent.
const KEPT_EVERY: Duration = Duration::from_secs(5);
const MINUTE_MS: i64 = 60_000;

pub(super) struct AutomationReader {
    app: App,
    place: Mutex<Option<Place>>,
}

#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The cursor.
    seen: i64,
    /// The stored cursor, and when it was stored.
    kept: i64,
    kept_at: Instant,
}

/// An interaction that an automation waits for.
#[derive(Debug, Clone)]
struct Trigger {
    id: i64,
    kind: String,
    delegate: DelegateId,
    device: Option<i64>,
    recorded_at: Timestamp,
    created_at: Timestamp,
    data: Option<String>,
}

/// A slice of the feed.
struct Span {
    reached: i64,
    triggers: Vec<Trigger>,
}

/// The cursor behind a slice, and the messages to send, by interaction.
struct Found {
    reached: i64,
    due: Vec<(i64, Vec<Prepared>)>,
}

impl AutomationReader {
    pub(super) fn new(app: App) -> Self {
        Self {
            app,
            place: Mutex::default(),
        }
    }

    /// Reads the feed, and puts messages into the outbox.
    pub(super) async fn look(&self) -> Result<()> {
        let mut place = self.place().await?;
        if self.app.store.look_up(newest_interaction)? > place.seen {
            place = self.go_on(place).await?;
        }
        if place.kept < place.seen && place.kept_at.elapsed() > KEPT_EVERY {
            let reached = place.seen;
            self.app.store.write(move |tx| keep(tx, reached)).await?;
            self.remember(Place::at(reached));
        }
        Ok(())
    }

    /// Handles what came after a cursor; the new cursor.
    async fn go_on(&self, mut place: Place) -> Result<Place> {
        let seen = place.seen;
        let settings = self.app.settings();
        let now = Timestamp::now();
        let found = self
            .app
            .store
            .read(move |connection| {
                let mut open: Vec<_> = gateways::all(connection)?;
                open.retain(|one| gateways::allowed(&settings.communications, one.channel));
                let mut automations = automations::all(connection)?;
                automations.retain(|automation| {
                    automation.entry.active
                        && automation
                            .entry
                            .channel()
                            .is_ok_and(|channel| open.iter().any(|one| one.channel == channel))
                });
                let span = find(connection, &automations, seen)?;
                let mut due = Vec::new();
                for trigger in &span.triggers {
                    let prepared = take_up(connection, &settings, trigger, &automations, now)?;
                    if !prepared.is_empty() {
                        due.push((trigger.id, prepared));
                    }
                }
                Ok(Found {
                    reached: span.reached,
                    due,
                })
            })
            .await?;
        for slice in found.due.chunks(WRITTEN_AT_ONCE) {
            let reached = slice.last().map_or(seen, |last| last.0);
            self.write(slice.to_vec(), reached).await?;
            place = Place::at(reached);
            self.remember(place);
        }
        place.seen = found.reached;
        self.remember(place);
        Ok(place)
    }

    /// The cursor; in a file without one, the end of the feed. Read it before anything can
    /// arrive, which would be skipped otherwise.
    pub(super) async fn place(&self) -> Result<Place> {
        if let Some(place) = *self.place.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(place);
        }
        let kept = self.app.store.write(begin).await?;
        let place = Place::at(kept);
        self.remember(place);
        Ok(place)
    }

    fn remember(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    async fn write(&self, slice: Vec<(i64, Vec<Prepared>)>, reached: i64) -> Result<()> {
        self.app
            .store
            .write_bulk(move |tx| {
                for (interaction, prepared) in &slice {
                    put(tx, *interaction, prepared)?;
                }
                keep(tx, reached)
            })
            .await
    }
}

impl Place {
    fn at(id: i64) -> Self {
        Self {
            seen: id,
            kept: id,
            kept_at: Instant::now(),
        }
    }
}

/// The stored cursor, set if there is none.
fn begin(tx: &Tx<'_>) -> Result<i64> {
    if let Some(kept) = counters::get(tx, CURSOR)? {
        return Ok(kept);
    }
    let newest = newest_interaction(tx)?;
    keep(tx, newest)?;
    Ok(newest)
}

fn keep(tx: &Tx<'_>, reached: i64) -> Result<()> {
    counters::set(tx, CURSOR, reached)
}

/// The triggers after `seen`. Imported interactions are left out: rows of a list of interactions,
/// the join of a delegate's row, and the `connected` that such a row created.
fn find(connection: &Connection, automations: &[Automation], seen: i64) -> Result<Span> {
    let recorded = changes::interactions(connection, seen, WINDOW)?;
    let mut span = Span {
        reached: recorded.last().map_or(seen, |(_, last)| last.id),
        triggers: Vec::new(),
    };
    let is_wanted = |kind: &str| {
        let mut types = automations.iter().map(|one| &one.entry.interaction_type);
        types.any(|wanted| wanted == kind)
    };
    for (created_at, found) in recorded {
        let Some(delegate) = found
            .first_delegate
            .filter(|_| is_wanted(&found.interaction_type))
        else {
            continue;
        };
        if let Some(live) = live::find(connection, found.id)? {
            span.triggers.push(Trigger {
                id: found.id,
                kind: found.interaction_type,
                delegate,
                device: found.devices[0].map(|device| device.0),
                recorded_at: live.recorded_at,
                created_at,
                data: live.data,
            });
        }
        if span.triggers.len() == FOUND_MAX {
            span.reached = found.id;
            break;
        }
    }
    Ok(span)
}

/// The messages that automations send for an interaction.
fn take_up(
    connection: &Connection,
    settings: &Settings,
    trigger: &Trigger,
    automations: &[Automation],
    now: Timestamp,
) -> Result<Vec<Prepared>> {
    let recipient = match Recipient::find(connection, settings, trigger.delegate) {
        Ok(recipient) => recipient,
        // Deleted since.
        Err(cause) if cause.kind == Kind::DelegateNotFound => return Ok(Vec::new()),
        Err(cause) => return Err(cause),
    };
    let interaction = trigger.to_json(&settings.zone);
    let mut due = Vec::new();
    for automation in automations {
        let channel = automation.entry.channel()?;
        if !matches(connection, automation, trigger, &recipient)? || !recipient.has_address(channel)
        {
            continue;
        }
        let Some(template) = templates::of_slug(connection, channel, &automation.entry.template)?
        else {
            continue;
        };
        let message = Message {
            template: &template,
            recipient: &recipient,
            about: Some(("interaction", &interaction)),
            origin: &format!("automation:{}", automation.entry.name),
        };
        due.push(send::prepare(connection, settings, &message, now)?);
    }
    Ok(due)
}

/// Puts messages into the outbox, if the interaction and its delegate still exist.
fn put(tx: &Tx<'_>, interaction: i64, prepared: &[Prepared]) -> Result<()> {
    let there = tx
        .prepare_cached("SELECT 1 FROM interactions WHERE id = ?1")?
        .exists([interaction])?;
    if !there {
        return Ok(());
    }
    for prepared in prepared {
        match send::put(tx, prepared, How::Soon) {
            Err(cause) if cause.kind != Kind::DelegateNotFound => return Err(cause),
            _ => {}
        }
    }
    Ok(())
}

fn matches(
    connection: &Connection,
    automation: &Automation,
    trigger: &Trigger,
    recipient: &Recipient,
) -> Result<bool> {
    let entry = &automation.entry;
    let late_ms = trigger.created_at.0 - trigger.recorded_at.0;
    let fits = entry.interaction_type == trigger.kind
        && trigger.created_at.0 >= automation.since_ms
        && late_ms <= entry.within_minutes * MINUTE_MS
        && entry
            .delegate_type
            .as_deref()
            .is_none_or(|wanted| recipient.record["delegateType"].as_str() == Some(wanted));
    match (fits, automation.device, trigger.device) {
        (false, _, _) | (true, Some(_), None) => Ok(false),
        (true, None, _) => Ok(true),
        (true, Some(wanted), Some(device)) => is_below(connection, device, wanted),
    }
}

/// Returns whether a device is another one, or below it.
fn is_below(connection: &Connection, device: i64, other: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "WITH RECURSIVE up (id) AS (
                 SELECT ?1 UNION
                 SELECT d.parent_id FROM devices d JOIN up ON d.id = up.id WHERE d.parent_id IS NOT NULL)
             SELECT 1 FROM up WHERE id = ?2",
        )?
        .exists([device, other])?)
}

impl Trigger {
    /// As a template sees it.
    fn to_json(&self, zone: &Zone) -> Value {
        let data: Value = self
            .data
            .as_deref()
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_else(|| json!({}));
        json!({
            "id": self.id, "interactionType": self.kind, "firstDevice": self.device,
            "recordedAt": zone.iso(self.recorded_at), "data": data,
        })
    }
}
