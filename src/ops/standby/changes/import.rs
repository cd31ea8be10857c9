//! The changes of another machine, taken over.

use super::{ACTOR, Line, Record, Scan, position};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes::Position,
        records::{Resource, Selection, write},
        settings::notices,
        standby::Standby,
    },
    db::{Store, Tx, counters, usage::FILE},
    domain::{
        delegates, devices, erasure,
        interactions::{
            draft::Draft,
            record::{self, Outcome},
            remove, rows,
        },
    },
    types::{
        ClientId, DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp, UserId,
        error::{Error, Kind, Result},
        secret,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, io::BufRead, sync::Arc};

/// Lines taken over in one transaction.
const TAKEN_AT_ONCE: usize = 20;
/// The client under which what came without a nonce is known.
const NOBODY: ClientId = ClientId(0);

/// The outcome of a file of changes.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// Interactions and records that are new here, or changed.
    pub taken: usize,
    /// Those that were here already.
    pub known: usize,
    /// Those that contradict what this machine has: see the dashboard, and Conflicts.
    pub conflicts: Vec<String>,
    /// Changes of the other machine that its file leaves out, by type.
    pub left_out: BTreeMap<String, u64>,
}

/// Takes over a file of changes.
///
/// # Errors
/// [`Kind::Invalid`] for a file of another event, or none of [`super::export`].
pub fn import(store: &Store, ctx: &Context, lines: impl BufRead) -> Result<Taken> {
    let mut taken = Taken::default();
    let conflicts = |connection: &Connection| {
        let sql = "SELECT count(*) FROM conflicts";
        Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0))?)
    };
    if let Some(why) = store
        .look_up(Standby::find)?
        .and_then(|found| found.replaced())
    {
        return Err(Error::invalid(format!("{why}. Import there")));
    }
    let before = store.look_up(conflicts)?;
    let (mut from, mut slice) = (None, Vec::new());
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.map_err(Error::invalid_cause)?;
        let line = serde_json::from_str(&line).map_err(|cause| {
            Error::invalid(format!(
                "line {number} is none of `gatepost export changes`: {cause}"
            ))
        })?;
        match (&from, line) {
            (
                None,
                Line::Changes {
                    file,
                    epoch,
                    left_out,
                    from: mark,
                },
            ) => {
                from = Some((epoch, split(store, file, mark)?));
                taken.left_out = left_out;
            }
            (None, _) | (_, Line::Changes { .. }) => {
                return Err(Error::invalid(format!(
                    "line {number}: the type \"changes\" stands in the first line, and only there"
                )));
            }
            (Some(_), line) => slice.push(line),
        }
        if slice.len() >= TAKEN_AT_ONCE
            && let Some(from) = from
        {
            take_slice(store, ctx, from, std::mem::take(&mut slice), &mut taken)?;
        }
    }
    let from = from.ok_or_else(|| Error::invalid("the file is empty"))?;
    take_slice(store, ctx, from, slice, &mut taken)?;
    match store.look_up(conflicts)? - before {
        ..=0 => {}
        1 => taken
            .conflicts
            .push("1 check-in (see Conflicts)".to_owned()),
        more => taken
            .conflicts
            .push(format!("{more} check-ins (see Conflicts)")),
    }
    if !taken.conflicts.is_empty() {
        let told = format!(
            "Changes taken over from another machine contradict those of this one, which stay: {}. Compare them, and correct what is wrong.",
            taken.conflicts.join("; ")
        );
        store.write(move |tx| notices::add(tx, told)).wait()?;
    }
    Ok(taken)
}

/// The position up to which both machines are the same.
fn split(store: &Store, file: i64, from: i64) -> Result<Position> {
    store.look_up(|connection| {
        if counters::get(connection, FILE)? != Some(file) {
            return Err(Error::invalid("these are changes of another event's file"));
        }
        position(connection, from)
    })
}

/// Takes over some lines; `from` is the epoch of their machine and the last common position.
fn take_slice(
    store: &Store,
    ctx: &Context,
    from: (i64, Position),
    lines: Vec<Line>,
    taken: &mut Taken,
) -> Result<()> {
    let ctx = ctx.clone();
    let take_all = move |tx: &Tx<'_>| {
        lines
            .iter()
            .map(|line| take(tx, &ctx, from, line))
            .collect::<Result<Vec<_>>>()
    };
    for fate in store.write_bulk(take_all).wait()? {
        match fate {
            Fate::New => taken.taken += 1,
            Fate::Known => taken.known += 1,
            Fate::Conflict(what) => taken.conflicts.push(what),
        }
    }
    Ok(())
}

/// The outcome of a line.
enum Fate {
    New,
    Known,
    Conflict(String),
}

fn take(tx: &Tx<'_>, ctx: &Context, (epoch, since): (i64, Position), line: &Line) -> Result<Fate> {
    match line {
        Line::Changes { .. } => Ok(Fate::Known),
        Line::Recorded(scan) => take_scan(tx, ctx, epoch, scan),
        Line::Deleted { id } if rows::find_stored(tx, *id)?.is_some() => {
            remove::remove(tx, ctx, *id).map(|()| Fate::New)
        }
        Line::Deleted { .. } => Ok(Fate::Known),
        Line::Delegate(record) => take_record(tx, ctx, &delegates::RESOURCE, since, record),
        Line::Device(record) => take_record(tx, ctx, &devices::RESOURCE, since, record),
    }
}

/// Records an interaction that happened: whatever the rules say, and where they disagree with a conflict.
fn take_scan(tx: &Tx<'_>, ctx: &Context, epoch: i64, scan: &Scan) -> Result<Fate> {
    let nonce = match (&scan.nonce, scan.fingerprint) {
        (Some(nonce), Some(fingerprint)) => (nonce.clone(), fingerprint),
        _ => (format!("{epoch}:{}:{}", scan.id, facts(scan)), [0; 16]),
    };
    let own = scan.client.filter(|_| scan.nonce.is_some());
    let ctx = Context {
        client: Some(own.map_or(NOBODY, ClientId)),
        user: scan.user.map(UserId),
        ..ctx.clone()
    };
    let mut draft = Draft {
        kind: scan.kind.clone(),
        recorded_at: Some(Timestamp(scan.recorded_at)),
        data: scan.data.clone(),
        nonce: Some(nonce),
        admitted: true,
        ..Draft::default()
    };
    for at in 0..3 {
        draft.delegates[at] = scan.delegates[at]
            .as_deref()
            .map(DelegateSelector::parse)
            .transpose()?;
        draft.devices[at] = scan.devices[at]
            .as_deref()
            .map(DeviceSelector::parse)
            .transpose()?;
    }
    if own.is_none() && is_recorded(tx, &draft)? {
        return Ok(Fate::Known);
    }
    let told = |why: &dyn std::fmt::Display| {
        Fate::Conflict(format!("{} {} was not recorded: {why}", scan.kind, scan.id))
    };
    let recorded = match tx.nested(|tx| record::record(tx, &ctx, &draft)) {
        Ok(recorded) => recorded,
        Err(cause) if cause.kind == Kind::Unavailable => return Err(cause),
        // The nonce stands for something else here.
        Err(cause) => return Ok(told(&cause)),
    };
    Ok(match recorded.outcome {
        Outcome::Created(made) => {
            if own.is_none() {
                tx.execute(
                    "UPDATE interactions SET client_id = ?2 WHERE id = ?1",
                    params![made.id, scan.client],
                )?;
            }
            Fate::New
        }
        // A scan that waits is kept once by its nonce.
        Outcome::Waiting(_) | Outcome::Replayed(_) => Fate::Known,
        Outcome::Refused(cause) => told(&cause),
    })
}

/// Tells scans of one number apart: two machines with copies of a file gave it twice.
fn facts(scan: &Scan) -> String {
    let facts = json!([scan.kind, scan.delegates, scan.devices, scan.recorded_at]).to_string();
    secret::hex(&secret::digest(facts.as_bytes())[..8])
}

/// Returns whether the same happened here: somebody sent it again without a nonce.
fn is_recorded(tx: &Tx<'_>, draft: &Draft) -> Result<bool> {
    let found = record::find_past(tx, &Context::of_command("api", Arc::default()), draft);
    let Ok(found) = found else {
        return Ok(false);
    };
    let [delegate, device] = [
        found.delegates[0].map(|id: DelegateId| id.0),
        found.devices[0].map(|id: DeviceId| id.0),
    ];
    Ok(tx
        .prepare_cached(
            "SELECT 1 FROM interactions WHERE recorded_at / 600000 = ?4 / 600000 AND recorded_at = ?4
             AND interaction_type = ?1 AND first_delegate_id IS ?2 AND first_device_id IS ?3",
        )?
        .exists(params![draft.kind, delegate, device, draft.recorded_at])?)
}

/// Brings a record to the state that the other machine has, unless this one changed it as well.
fn take_record(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    since: Position,
    record: &Record,
) -> Result<Fate> {
    let known = here(tx, resource, record)?;
    let name = format!("{} {}", resource.name, record.id);
    if record.is_erased {
        let is_here = known.is_some() && resource.table == delegates::RESOURCE.table;
        return match known.filter(|_| is_here) {
            Some((id, _)) => erasure::at_once(tx, id).map(|()| Fate::New),
            None => Ok(Fate::Known),
        };
    }
    let Some(properties) = &record.properties else {
        return match known {
            Some((_, true)) | None => Ok(Fate::Known),
            Some((id, _)) if changed_since(tx, resource, since, id)? => {
                conflict(tx, ctx, resource, id, &name, None)
            }
            Some((id, _)) => write::delete(tx, ctx, resource, id).map(|()| Fate::New),
        };
    };
    let Some((id, is_deleted)) = known else {
        let body = properties.clone();
        return Ok(
            match tx.nested(|tx| write::create(tx, ctx, resource, body)) {
                Ok(_) => Fate::New,
                Err(cause) => Fate::Conflict(format!("{name} was not created: {cause}")),
            },
        );
    };
    if is_deleted || changed_since(tx, resource, since, id)? {
        let is_same = !is_deleted && has_all(tx, ctx, resource, id, properties)?;
        return if is_same {
            Ok(Fate::Known)
        } else {
            conflict(tx, ctx, resource, id, &name, Some(properties))
        };
    }
    let (before, body) = (
        write::updated_at(tx, resource, id)?,
        whole(resource, properties),
    );
    match tx.nested(|tx| write::patch(tx, ctx, resource, id, body)) {
        Ok(()) if write::updated_at(tx, resource, id)? == before => Ok(Fate::Known),
        Ok(()) => Ok(Fate::New),
        Err(cause) => Ok(Fate::Conflict(format!("{name} was not changed: {cause}"))),
    }
}

/// The properties that a record is to have, with `null` for those that it has no more.
fn whole(resource: &Resource, properties: &Map<String, Value>) -> Map<String, Value> {
    let mut body = properties.clone();
    for field in resource
        .fields
        .iter()
        .filter(|field| field.kind.is_writable())
    {
        body.entry(field.name).or_insert(Value::Null);
    }
    body
}

/// Returns whether a record has all that the other machine says of it.
fn has_all(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: i64,
    theirs: &Map<String, Value>,
) -> Result<bool> {
    let own = Selection::own(resource).one(tx, "id", &id, &ctx.settings.zone)?;
    let own: Map<String, Value> = own
        .and_then(|own| serde_json::from_str(&own).ok())
        .unwrap_or_default();
    let references = |name: &str| resource.references().any(|field| field.name == name);
    let mut writable = resource
        .fields
        .iter()
        .filter(|field| field.kind.is_writable());
    // References go by other names there.
    Ok(writable
        .all(|field| references(field.name) || own.get(field.name) == theirs.get(field.name)))
}

/// The id of a record here, and whether it is deleted.
fn here(tx: &Tx<'_>, resource: &Resource, record: &Record) -> Result<Option<(i64, bool)>> {
    let (column, value): (&str, &dyn rusqlite::ToSql) = match &record.public_id {
        Some(code) => ("public_id", code),
        None => ("id", &record.id),
    };
    let sql = format!(
        "SELECT id, deleted_at IS NOT NULL FROM {} WHERE {column} = ?1 ORDER BY deleted_at IS NOT NULL LIMIT 1",
        resource.table
    );
    Ok(tx
        .prepare_cached(&sql)?
        .query_row([value], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// Returns whether this machine changed a record after both were the same, other than by taking changes over.
fn changed_since(tx: &Tx<'_>, resource: &Resource, since: Position, id: i64) -> Result<bool> {
    Ok(tx
        .prepare_cached(
            "SELECT 1 FROM audit WHERE record_type IN (?1, iif(?1 = 'device', 'event', ?1)) AND record_id = ?2
             AND id > ?3 AND actor <> ?4 AND action <> 'conflict'",
        )?
        .exists(params![resource.name, id, since.change, ACTOR])?)
}

fn conflict(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: i64,
    name: &str,
    theirs: Option<&Map<String, Value>>,
) -> Result<Fate> {
    let after = theirs.map_or_else(|| json!({"deleted": true}), |theirs| json!(theirs));
    let is_told = tx
        .prepare_cached("SELECT 1 FROM audit WHERE record_type = ?1 AND record_id = ?2 AND action = 'conflict' AND after = ?3")?
        .exists(params![resource.name, id, after.to_string()])?;
    if is_told {
        return Ok(Fate::Known);
    }
    let change = Change {
        action: "conflict",
        record_type: resource.name,
        record_id: Some(id),
        before: None,
        after: Some(after),
    };
    audit::append(tx, ctx, &change)?;
    let what = if theirs.is_some() {
        "changed"
    } else {
        "deleted there and changed here"
    };
    Ok(Fate::Conflict(format!("{name}: {what} on both machines")))
}
