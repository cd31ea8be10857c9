//! Records of the head office, as items of its feed, applied to the venue's.
//!
//! Per property: what was changed at the head office alone is taken; what the venue changed stays, and where both changed
//! it the head office's value is kept beside, for both to see. A record that is first met is known by its unique codes;
//! what it has at the venue already counts as the venue's change.

use crate::{
    core::{
        Context,
        head_office::venue::{ANONYMOUS, ERASED, erased_mark},
        records::{Kind, Resource, Selection, input::referred, write},
    },
    db::Tx,
    domain::{delegates, delegates::blocked, devices},
    types::{
        DelegateId, Zone,
        error::{Error, Kind as ErrorKind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An item of the head office's feed.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Item {
    #[serde(rename = "type", default)]
    pub record_type: String,
    #[serde(default)]
    pub id: i64,
    pub action: String,
    pub kind: String,
    #[serde(default)]
    pub data: Map<String, Value>,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    /// It is of a type that this version does not know.
    Unknown,
    /// It refers to a record that did not come yet.
    Waits,
    /// This attendee was erased there.
    Erases(i64),
}

/// A row of `office_records`.
pub(super) struct Row {
    pub record_type: String,
    pub office: i64,
    pub local: i64,
    /// The properties that were applied last.
    pub applied: Map<String, Value>,
    /// The head office's values that the venue's stand against.
    pub kept: Map<String, Value>,
}

/// What happened to the record itself, among the properties of `kept`.
pub(super) const DELETED: &str = "deleted";
pub(super) const BLOCKED: &str = "blocked";
/// Why a record could not be taken, likewise.
pub(super) const RECORD: &str = "record";

impl Row {
    pub fn find(connection: &Connection, record_type: &str, office: i64) -> Result<Option<Self>> {
        let sql =
            "SELECT local_id, applied, kept FROM office_records WHERE type = ?1 AND office_id = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let row = statement.query_row(params![record_type, office], |row| {
            let map = |text: Option<String>| {
                text.and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default()
            };
            Ok(Self {
                record_type: record_type.to_owned(),
                office,
                local: row.get(0)?,
                applied: map(row.get(1)?),
                kept: map(row.get(2)?),
            })
        });
        Ok(row.optional()?)
    }

    /// Returns whether its attendee was erased or made anonymous here.
    fn is_forgotten(&self) -> bool {
        [ERASED, ANONYMOUS]
            .iter()
            .any(|mark| self.kept.contains_key(*mark))
    }

    fn save(&self, tx: &Tx<'_>, round: i64) -> Result<()> {
        let kept = (!self.kept.is_empty()).then(|| json!(self.kept).to_string());
        tx.prepare_cached(
            "INSERT OR REPLACE INTO office_records (type, office_id, local_id, applied, kept, round)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            self.record_type,
            self.office,
            self.local,
            json!(self.applied).to_string(),
            kept,
            round
        ])?;
        Ok(())
    }

    fn remove(&self, tx: &Tx<'_>) -> Result<()> {
        tx.prepare_cached("DELETE FROM office_records WHERE type = ?1 AND office_id = ?2")?
            .execute(params![self.record_type, self.office])?;
        Ok(())
    }
}

/// The resource of a type of records that has one.
pub(super) fn resource(record_type: &str) -> Option<&'static Resource> {
    match record_type {
        "delegate" => Some(&delegates::RESOURCE),
        "device" => Some(&devices::LISTED),
        _ => None,
    }
}

/// Applies an item in a round of the feed. `is_last` is the last try: what it refers to never came, and is left out.
pub(super) fn take(
    tx: &Tx<'_>,
    ctx: &Context,
    round: i64,
    item: &Item,
    is_last: bool,
) -> Result<Fate> {
    let row = Row::find(tx, &item.record_type, item.id)?;
    match item.action.as_str() {
        "upsert" => {}
        "delete" => return row.map_or(Ok(Fate::Done), |row| gone(tx, ctx, row, &item.kind, round)),
        // Of a newer head office.
        _ => return Ok(Fate::Done),
    }
    let mut row = row.unwrap_or_else(|| Row {
        record_type: item.record_type.clone(),
        office: item.id,
        local: 0,
        applied: Map::new(),
        kept: Map::new(),
    });
    // What fails is undone, and tried again when it changes.
    let applied = row.applied.clone();
    let taken = tx.nested(|tx| match resource(&item.record_type) {
        Some(resource) => take_record(tx, ctx, resource, &mut row, item, is_last),
        None if item.record_type == blocked::CODE => take_code(tx, ctx, &mut row, item, is_last),
        // Of a newer head office, too: nothing waits for it.
        None => Ok(Fate::Unknown),
    });
    match taken {
        Err(cause) if matches!(cause.kind, ErrorKind::Unavailable | ErrorKind::Defect) => {
            return Err(cause);
        }
        Err(cause) => {
            row.kept = Map::from_iter([(RECORD.to_owned(), cause.to_string().into())]);
            row.applied = applied;
        }
        Ok(Fate::Done) => {}
        Ok(fate) => return Ok(fate),
    }
    row.save(tx, round)?;
    Ok(Fate::Done)
}

fn take_record(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    row: &mut Row,
    item: &Item,
    is_last: bool,
) -> Result<Fate> {
    let mut theirs = flat(resource, &ctx.settings.zone, item.data.clone());
    if row.is_forgotten() {
        if !is_another(tx, row, &theirs)? {
            return Ok(Fate::Done);
        }
        (row.local, row.kept) = (0, Map::new());
    }
    // A head office that went back gives numbers a second time: this is another record.
    let [before, now] = [row.applied.get(PUBLIC_ID), theirs.get(PUBLIC_ID)];
    if before.is_some() && now.is_some() && before != now {
        (row.local, row.applied) = (0, Map::new());
        row.kept.clear();
    }
    for field in resource.references() {
        let Some(office) = theirs.get(field.name).and_then(Value::as_i64) else {
            continue;
        };
        match Row::find(tx, resource.name, office)? {
            Some(of) if of.is_forgotten() => theirs.shift_remove(field.name),
            Some(of) if of.local > 0 => theirs.insert(field.name.to_owned(), of.local.into()),
            _ if is_last => theirs.shift_remove(field.name),
            _ => return Ok(Fate::Waits),
        };
    }
    if row.local == 0 {
        row.local = known_by_code(tx, resource, &theirs)?.unwrap_or_default();
    }
    if row.local == 0 {
        let body = nested(&Map::new(), theirs.clone());
        row.local = write::create(tx, ctx, resource, body)?;
        row.applied = theirs;
        row.kept.clear();
        return Ok(Fate::Done);
    }
    let Some(ours) = current(tx, resource, &ctx.settings.zone, row.local)? else {
        row.kept = Map::from_iter([(DELETED.to_owned(), false.into())]);
        return Ok(Fate::Done);
    };
    settle(&mut row.applied, &ours, &row.kept);
    row.kept.clear();
    let mut body = Map::new();
    merge(&mut row.applied, &ours, theirs, |name, theirs, is_taken| {
        if is_taken {
            body.insert(name.to_owned(), theirs);
        } else if name != PUBLIC_ID {
            // Both may have made one of their own before they met.
            row.kept.insert(name.to_owned(), theirs);
        }
    });
    write::patch(tx, ctx, resource, row.local, nested(&ours, body))?;
    Ok(Fate::Done)
}

/// Returns whether a head office that went back gave the number of somebody who was erased here to another one.
fn is_another(tx: &Tx<'_>, row: &Row, theirs: &Map<String, Value>) -> Result<bool> {
    let text = |of: &Map<String, Value>, name: &str| of.get(name)?.as_str().map(ToOwned::to_owned);
    Ok(match (text(&row.kept, ERASED), text(theirs, PUBLIC_ID)) {
        (Some(mark), Some(public_id)) => erased_mark(tx, &public_id)? != mark,
        _ => false,
    })
}

/// Counts as applied what the venue has by now as the head office had it: the difference is settled.
pub(super) fn settle(
    applied: &mut Map<String, Value>,
    ours: &Map<String, Value>,
    kept: &Map<String, Value>,
) {
    for (name, office) in kept {
        if ours.get(name).unwrap_or(&Value::Null) == office {
            applied.insert(name.clone(), office.clone());
        }
    }
}

/// Compares what was applied last, what the venue has, and what the head office has; `differs` is told of each value that
/// the head office changed: true where it is to be taken, false where the venue changed it too.
pub(super) fn merge(
    applied: &mut Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: Map<String, Value>,
    mut differs: impl FnMut(&str, Value, bool),
) {
    let mut all = theirs;
    for name in applied.keys() {
        all.entry(name).or_insert(Value::Null);
    }
    for (name, theirs) in all {
        let [before, ours] = [&*applied, ours].map(|of| of.get(&name).unwrap_or(&Value::Null));
        if *ours != theirs && *before == theirs {
            continue;
        }
        if *ours != theirs {
            let is_taken = before == ours;
            differs(&name, theirs.clone(), is_taken);
            if !is_taken {
                continue;
            }
        }
        applied.insert(name, theirs);
    }
    applied.retain(|_, value| !value.is_null());
}

/// The living record here that has one of the codes.
fn known_by_code(
    tx: &Tx<'_>,
    resource: &'static Resource,
    theirs: &Map<String, Value>,
) -> Result<Option<i64>> {
    for (_, code) in resource.codes() {
        if let Some(value) = theirs.get(code).and_then(Value::as_str)
            && let Some(id) = write::holder(tx, resource, code, value)?
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// What a living record has here, by property; each section of its data is one.
pub(super) fn current(
    connection: &Connection,
    resource: &'static Resource,
    zone: &Zone,
    id: i64,
) -> Result<Option<Map<String, Value>>> {
    let record = Selection::own(resource).one(connection, "id", &id, zone)?;
    let record = record.and_then(|record| serde_json::from_str(&record).ok());
    Ok(record.map(|record| flat(resource, zone, record)))
}

const DATA: &str = "data.";
/// The code that every record has, if only one that the server made.
const PUBLIC_ID: &str = "publicId";

/// The properties of a record that may be written, without those that are empty. Times are Unix seconds, so that zones do
/// not differ; references are ids.
fn flat(resource: &Resource, zone: &Zone, record: Map<String, Value>) -> Map<String, Value> {
    let mut flat = Map::new();
    for (name, value) in record {
        let field = resource.property(&name);
        let Some(field) = field.filter(|field| field.kind.is_writable()) else {
            continue;
        };
        let value = match (field.kind, value) {
            (_, Value::Null) => continue,
            (Kind::Document, Value::Object(sections)) => {
                let sections = sections.into_iter();
                flat.extend(sections.map(|(section, value)| (format!("{DATA}{section}"), value)));
                continue;
            }
            (Kind::Time | Kind::PlainTime, value) => match zone.read(&name, &value) {
                Ok(at) => at.0.div_euclid(1_000).into(),
                Err(_) => continue,
            },
            (Kind::Reference, value) => referred(&value).into(),
            (_, value) => value,
        };
        flat.insert(name, value);
    }
    flat
}

/// Properties as a body to write has them, over what the record has.
fn nested(ours: &Map<String, Value>, flat: Map<String, Value>) -> Map<String, Value> {
    let (mut body, mut data) = (Map::new(), Map::new());
    for (name, mut value) in flat {
        let Some(section) = name.strip_prefix(DATA) else {
            body.insert(name, value);
            continue;
        };
        // A section is merged by key: what it lacks is to go.
        if let (Some(Value::Object(ours)), Value::Object(new)) = (ours.get(&name), &mut value) {
            for key in ours.keys() {
                new.entry(key).or_insert(Value::Null);
            }
        }
        data.insert(section.to_owned(), value);
    }
    if !data.is_empty() {
        body.insert("data".to_owned(), data.into());
    }
    body
}

/// Applies that a record is gone there. One that the venue uses or changed stays.
pub(super) fn gone(
    tx: &Tx<'_>,
    ctx: &Context,
    mut row: Row,
    kind: &str,
    round: i64,
) -> Result<Fate> {
    let Some(resource) = resource(&row.record_type) else {
        let (code, value) = code_of(&row.applied);
        if blocked::get(tx, code, value)?.is_some() {
            blocked::unblock(tx, ctx, code, value, false)?;
        }
        return row.remove(tx).map(|()| Fate::Done);
    };
    let Some(mut ours) = current(tx, resource, &ctx.settings.zone, row.local)? else {
        return row.remove(tx).map(|()| Fate::Done);
    };
    if kind == "erased" && resource.table == delegates::RESOURCE.table {
        return Ok(Fate::Erases(row.local));
    }
    // What a server sets by itself is no change of anybody.
    ours.retain(|name, _| {
        row.applied.contains_key(name) || ![PUBLIC_ID, "available"].contains(&name.as_str())
    });
    if ours == row.applied && !is_used(tx, resource.name, row.local)? {
        write::delete(tx, ctx, resource, row.local)?;
        return row.remove(tx).map(|()| Fate::Done);
    }
    row.kept = Map::from_iter([(DELETED.to_owned(), true.into())]);
    row.save(tx, round)?;
    Ok(Fate::Done)
}

/// Lists that the head office lacks a record, without taking that for a deletion.
pub(super) fn missing(tx: &Tx<'_>, ctx: &Context, mut row: Row, round: i64) -> Result<()> {
    if row.is_forgotten() {
        return row.save(tx, round);
    }
    let is_here = match resource(&row.record_type) {
        Some(resource) => current(tx, resource, &ctx.settings.zone, row.local)?.is_some(),
        None => true,
    };
    if !is_here {
        return row.remove(tx);
    }
    row.kept.insert(DELETED.to_owned(), true.into());
    row.save(tx, round)
}

/// Returns whether something happened with a record.
fn is_used(tx: &Tx<'_>, name: &str, id: i64) -> Result<bool> {
    let of = |nth| format!("EXISTS (SELECT 1 FROM interactions WHERE {nth}_{name}_id = ?1)");
    let sql = format!(
        "SELECT {}",
        ["first", "second", "third"].map(of).join(" OR ")
    );
    Ok(tx.prepare_cached(&sql)?.query_row([id], |row| row.get(0))?)
}

/// The kind and value of a blocked code.
pub(super) fn code_of(properties: &Map<String, Value>) -> (&str, &str) {
    let text = |name| properties.get(name).and_then(Value::as_str);
    (
        text("kind").unwrap_or_default(),
        text("value").unwrap_or_default(),
    )
}

fn take_code(
    tx: &Tx<'_>,
    ctx: &Context,
    row: &mut Row,
    item: &Item,
    is_last: bool,
) -> Result<Fate> {
    let (name, value) = code_of(&item.data);
    let code = blocked::code_named(name)
        .ok_or_else(|| Error::field("kind", "is no kind of code that this version knows"))?;
    let of = item.data.get("delegate").and_then(referred);
    let holder = of
        .map(|of| Row::find(tx, delegates::RESOURCE.name, of))
        .transpose()?;
    let mut holder = match holder.flatten().filter(|holder| holder.local > 0) {
        Some(holder) => holder,
        None if is_last => return Err(Error::field(name, "its attendee is not known here")),
        None => return Ok(Fate::Waits),
    };
    let is_forgotten = row.is_forgotten();
    if holder.is_forgotten() || is_forgotten && row.local == holder.local {
        row.local = holder.local;
        row.kept = Map::from_iter([(ERASED.to_owned(), Value::Null)]);
        return Ok(Fate::Done);
    }
    if is_forgotten {
        row.local = 0;
    }
    let is_blocked = blocked::get(tx, name, value)?.is_some();
    row.kept.clear();
    if !is_blocked && row.local > 0 {
        row.kept.insert(BLOCKED.to_owned(), true.into());
    } else if !is_blocked {
        let reason = item
            .data
            .get("reason")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match write::holder(tx, &delegates::RESOURCE, name, value)? {
            Some(id) if id == holder.local => {
                blocked::block(tx, ctx, DelegateId(id), code, reason, None)?;
                // The head office's record lost it as well: that is no change of the venue.
                holder.applied.shift_remove(name);
                tx.prepare_cached(
                    "UPDATE office_records SET applied = ?3 WHERE type = ?1 AND office_id = ?2",
                )?
                .execute(params![
                    holder.record_type,
                    holder.office,
                    json!(holder.applied).to_string()
                ])?;
            }
            Some(_) => return Err(Error::field(name, "is another attendee's here")),
            None => blocked::put(tx, ctx, DelegateId(holder.local), name, value, reason)?,
        }
    }
    row.local = holder.local;
    row.applied = Map::from_iter([
        ("kind".to_owned(), name.into()),
        ("value".to_owned(), value.into()),
    ]);
    Ok(Fate::Done)
}
