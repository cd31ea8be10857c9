//! What a venue pushes, on its way into the store: in slices, each stored in one transaction with the cursor behind it,
//! and only where the slice begins at the cursor that the store has. So a batch that comes twice changes nothing.
//!
//! A push without a beginning starts a new generation. The last complete one stays until the new one is, and then only
//! what the new one lacks stays of it: the venue lost that.

use super::{
    runs::{self, Claim, Run},
    store::{Record, SLICE, Sql, Store, Value, text},
    venues::{self, OFFICE, Venue},
};
use crate::{
    core::head_office::{Kept, Push, Pushed},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        json,
    },
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Items of a push.
const ITEMS_MAX: usize = 10_000;
const TYPE_MAX_BYTES: usize = 100;
/// Values that a venue may keep against the head office's.
const KEPT_MAX: usize = 10_000;
/// Lost or abandoned records that are looked at in one transaction.
const SETTLED_AT_ONCE: i64 = 1_000;

/// The outcome of a push.
#[derive(Debug)]
pub enum Taken {
    /// All of it is stored, or it only asked.
    Stored(Pushed),
    /// It does not begin at the cursor that the store has.
    Elsewhere(Pushed),
}

/// An item of the feed.
#[derive(Deserialize)]
struct Item<'a> {
    cursor: String,
    action: String,
    #[serde(default)]
    kind: String,
    #[serde(rename = "type")]
    record_type: Option<String>,
    id: Option<i64>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// A record within another.
#[derive(Deserialize)]
struct Reference {
    id: i64,
}

/// What is searched and counted of a record of any type.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    first_name: Option<String>,
    last_name: Option<String>,
    name: Option<String>,
    barcode: Option<String>,
    code: Option<String>,
    email: Option<String>,
    delegate_type: Option<String>,
    device_type: Option<String>,
    interaction_type: Option<String>,
    parent: Option<Reference>,
    first_delegate: Option<Reference>,
    first_device: Option<Reference>,
    recorded_at: Option<String>,
    created_at: Option<String>,
    total_amount: Option<i64>,
}

fn invalid(cause: impl std::fmt::Display) -> Error {
    Error::field("items", format!("not items of a change feed: {cause}"))
}

fn moment(text: Option<&str>) -> Option<i64> {
    let instant: jiff::Timestamp = text?.parse().ok()?;
    Some(instant.as_millisecond())
}

impl Item<'_> {
    /// The record and the cursor behind it. Venues of a newer version stop at nothing: records of an unknown type are kept
    /// as they are, and an unknown action changes nothing.
    fn record(self) -> Result<(Option<Record>, String)> {
        let (Some(record_type), Some(id)) = (self.record_type, self.id) else {
            return Err(invalid("a reset is no part of a push; begin a snapshot"));
        };
        if record_type.len() > TYPE_MAX_BYTES {
            return Err(invalid("the name of a type is too long"));
        }
        let mut record = Record {
            record_type,
            id,
            kind: self.kind,
            ..Record::default()
        };
        match (self.action.as_str(), self.data) {
            ("delete", _) => record.is_deleted = true,
            ("upsert", Some(data)) => {
                json::check_limits(data.get().as_bytes())?;
                record.fill(serde_json::from_str(data.get()).unwrap_or_default());
                record.data = Some(data.get().to_owned());
            }
            ("upsert", None) => return Err(invalid("an upsert has data")),
            _ => return Ok((None, self.cursor)),
        }
        Ok((Some(record), self.cursor))
    }
}

impl Record {
    fn fill(&mut self, facts: Facts) {
        let is = |name: &str| self.record_type == name;
        let names = [facts.first_name, facts.last_name];
        let names: Vec<String> = names.into_iter().flatten().collect();
        self.at = moment(facts.created_at.as_deref());
        if is("interaction") {
            self.at = moment(facts.recorded_at.as_deref());
            self.who = facts.first_delegate.map(|one| one.id);
            self.place = facts.first_device.map(|one| one.id);
            self.subtype = facts.interaction_type;
        } else if is("device") {
            self.name = facts.name;
            self.place = facts.parent.map(|one| one.id);
            self.subtype = facts.device_type;
        } else if is("delegate") {
            self.name = Some(names.join(" ")).filter(|name| !name.is_empty());
            self.code = facts.barcode;
            self.email = facts.email;
            self.subtype = facts.delegate_type;
        } else if is("transaction") {
            self.code = facts.code;
            self.amount = facts.total_amount;
        }
    }
}

/// Records that are stored in one transaction, and the cursor behind them.
struct Slice {
    records: Vec<Record>,
    to: String,
}

/// The last state of each record, in the order in which they came.
fn slices(items: &[&RawValue], to: &str) -> Result<Vec<Slice>> {
    if items.len() > ITEMS_MAX {
        return Err(Error::new(
            Kind::TooLarge,
            format!("a push has at most {ITEMS_MAX} items"),
        ));
    }
    let mut slices = Vec::new();
    for chunk in items.chunks(SLICE) {
        let (mut records, mut last): (Vec<Record>, HashMap<(String, i64), usize>) =
            Default::default();
        let mut behind = String::new();
        for item in chunk {
            let item: Item<'_> = serde_json::from_str(item.get()).map_err(invalid)?;
            let (record, cursor) = item.record()?;
            behind = cursor;
            let Some(record) = record else {
                continue;
            };
            let key = (record.record_type.clone(), record.id);
            if let Some(at) = last.get(&key) {
                records[*at] = record;
            } else {
                last.insert(key, records.len());
                records.push(record);
            }
        }
        slices.push(Slice {
            records,
            to: behind,
        });
    }
    match slices.last_mut() {
        Some(last) => to.clone_into(&mut last.to),
        None => slices.push(Slice {
            records: Vec::new(),
            to: to.to_owned(),
        }),
    }
    Ok(slices)
}

/// Whose push it is.
#[derive(Clone)]
pub enum Sender {
    Venue {
        bearer: String,
        run: Run,
    },
    /// The hub's own file, read in process.
    Office,
}

/// What a push says of the venue itself.
#[derive(Clone)]
struct Head {
    sender: Sender,
    venue: i64,
    file: String,
    epoch: i64,
    version: String,
    clock: i64,
    behind: i64,
    behind_ms: i64,
}

impl Head {
    /// The venue, as far as it may push.
    fn admit(&self, sql: &mut dyn Sql) -> Result<Venue> {
        let venue = match &self.sender {
            Sender::Office => Venue::find(sql, OFFICE)?,
            Sender::Venue { bearer, .. } => Venue::of_bearer(sql, bearer)?,
        };
        if venue.id != self.venue || venue.file.as_ref() != Some(&self.file) {
            return Err(Error::new(
                Kind::Forbidden,
                "this key is of another venue or another file; pair the venue with a new code",
            ));
        }
        // Read again under the lock.
        sql.lock(venue.id)?;
        let venue = Venue::find(sql, venue.id)?;
        if self.epoch < venue.epoch {
            return Err(venues::superseded());
        }
        Ok(venue)
    }

    fn note(&self, sql: &mut dyn Sql, venue: i64, now: Timestamp) -> Result<()> {
        sql.execute(
            "UPDATE hub_venues SET epoch = ?2, version = ?3, clock_ms = ?4, behind = ?5, behind_ms = ?6, seen_at = ?7
             WHERE id = ?1",
            &[
                venue.into(),
                self.epoch.into(),
                text(&self.version.chars().take(100).collect::<String>()),
                (self.clock.saturating_sub(now.0)).into(),
                self.behind.max(0).into(),
                self.behind_ms.max(0).into(),
                now.0.into(),
            ],
        )?;
        Ok(())
    }
}

/// The outcome of a slice.
enum Step {
    /// Records of another generation may be left to be settled.
    Stored {
        leaves: bool,
    },
    Elsewhere(Option<String>),
    /// Those of an earlier generation are to be settled first.
    Unsettled,
}

/// Takes a push in.
pub async fn take(store: &Store, sender: Sender, push: Push<'_>, now: Timestamp) -> Result<Taken> {
    let head = Head {
        sender,
        venue: push.venue,
        file: push.file,
        epoch: push.epoch,
        version: push.version,
        clock: push.clock,
        behind: push.behind,
        behind_ms: push.behind_ms,
    };
    let kept = push.kept;
    if kept.as_ref().is_some_and(|kept| kept.len() > KEPT_MAX) {
        return Err(Error::new(
            Kind::TooLarge,
            format!("at most {KEPT_MAX} values are kept"),
        ));
    }
    let slices = match &push.to {
        Some(to) => slices(&push.items, to)?,
        None => Vec::new(),
    };
    let (cursor, hubs) = begin(store, head.clone(), kept, now).await?;
    let mut told = Pushed { cursor, hubs };
    let mut from = push.from;
    let last = slices.len();
    for (at, slice) in (1..).zip(slices) {
        let to = slice.to.clone();
        let is_complete = push.complete && at == last;
        let slice = std::sync::Arc::new(slice);
        loop {
            let (head, from, slice) = (head.clone(), from.clone(), std::sync::Arc::clone(&slice));
            let stored = store
                .write(move |sql| put(sql, &head, from.as_deref(), &slice, is_complete))
                .await?;
            match stored {
                Step::Unsettled => settle(store, push.venue).await?,
                Step::Elsewhere(cursor) => {
                    told.cursor = cursor;
                    return Ok(Taken::Elsewhere(told));
                }
                Step::Stored { leaves } => {
                    if leaves {
                        settle(store, push.venue).await?;
                    }
                    break;
                }
            }
        }
        told.cursor = Some(to.clone());
        from = Some(to);
    }
    Ok(Taken::Stored(told))
}

/// Notes how a venue is; the cursor that it has here, and the addresses of the hubs.
async fn begin(
    store: &Store,
    head: Head,
    kept: Option<Vec<Kept>>,
    now: Timestamp,
) -> Result<(Option<String>, Vec<String>)> {
    let begin = move |sql: &mut dyn Sql| {
        let mut venue = head.admit(sql)?;
        if let Sender::Venue { run, .. } = &head.sender {
            match runs::claim(sql, &venue, run, head.epoch, now)? {
                // Not as an error, which would undo that it is written down.
                Claim::Copied => return Ok(None),
                Claim::Anew => venue.cursor = None,
                Claim::Granted => {}
            }
        }
        head.note(sql, venue.id, now)?;
        if let Some(kept) = kept {
            venues::keep(sql, venue.id, &kept)?;
        }
        Ok(Some((venue.cursor, venues::hubs(sql, now)?)))
    };
    store.write(begin).await?.ok_or_else(runs::copied)
}

/// Stores a slice and the cursor behind it.
fn put(
    sql: &mut dyn Sql,
    head: &Head,
    from: Option<&str>,
    slice: &Slice,
    is_complete: bool,
) -> Result<Step> {
    let venue = head.admit(sql)?;
    let begins = from.is_none();
    if venue.cursor.as_deref() != from && !begins
        || begins && venue.begun.as_deref() == Some(&*slice.to)
    {
        return Ok(Step::Elsewhere(venue.cursor));
    }
    let (mut current, mut coming, mut previous) = (venue.current, venue.coming, venue.previous);
    if begins {
        if previous.is_some() {
            return Ok(Step::Unsettled);
        }
        // Never a number that there was: what is left of a generation that is given up is known by it.
        let next = current.max(coming).unwrap_or_default() + 1;
        // Of the head office not even one that a backup forgot: venues know by it what they have of it.
        let is_office = venue.id == OFFICE;
        coming = Some(if is_office {
            next.max(Timestamp::now().0 / 1_000)
        } else {
            next
        });
    }
    let generation = coming.or(current).ok_or_else(|| {
        Error::defect(format!("venue {} has a cursor and no generation", venue.id))
    })?;
    let mut records = slice.records.clone();
    let mut sequence = venue.sequence;
    for record in &mut records {
        sequence += 1;
        record.sequence = sequence;
    }
    sql.put(venue.id, generation, &records)?;
    for gone in records
        .iter()
        .filter(|one| one.is_deleted && one.kind == "erased")
    {
        erase(sql, venue.id, generation, gone)?;
    }
    if venue.id == OFFICE {
        sequence = touch(sql, generation, &records, sequence)?;
    }
    let is_promoted = is_complete && coming.is_some();
    let is_given_up = begins && venue.coming.is_some();
    if is_promoted {
        (previous, current, coming) = (current, coming, None);
    }
    sql.execute(
        "UPDATE hub_venues SET cursor = ?2, sequence = ?3, current = ?4, coming = ?5, previous = ?6, begun = ?7 WHERE id = ?1",
        &[
            venue.id.into(),
            text(&slice.to),
            sequence.into(),
            current.into(),
            coming.into(),
            previous.into(),
            if begins { text(&slice.to) } else { venue.begun.map_or(Value::Null, Value::Text) },
        ],
    )?;
    Ok(Step::Stored {
        leaves: is_promoted && previous.is_some() || is_given_up,
    })
}

/// Takes a person who was erased out of other generations and lost records, too. What is left in this one is a
/// record without content.
fn erase(sql: &mut dyn Sql, venue: i64, generation: i64, gone: &Record) -> Result<()> {
    let own: [Value; 4] = [
        venue.into(),
        generation.into(),
        text(&gone.record_type),
        gone.id.into(),
    ];
    sql.execute(
        "DELETE FROM hub_records WHERE venue = ?1 AND generation <> ?2 AND type = ?3 AND id = ?4",
        &own,
    )?;
    if gone.record_type != "delegate" {
        return Ok(());
    }
    sql.execute(
        "DELETE FROM hub_records WHERE venue = ?1 AND generation <> ?2 AND type = 'interaction' AND who = ?3",
        &[venue.into(), generation.into(), gone.id.into()],
    )?;
    // Second and third attendees, and tickets of purchases, as the feed writes them.
    let named = [
        format!("%Delegate\":{{\"id\":{},%", gone.id),
        format!("%{{\"id\":{},\"barcode\"%", gone.id),
    ];
    for named in named {
        sql.execute(
            "DELETE FROM hub_records WHERE venue = ?1 AND lost AND CAST(data AS TEXT) LIKE ?2",
            &[venue.into(), text(&named)],
        )?;
    }
    if venue == OFFICE {
        sql.execute(
            "DELETE FROM hub_kept WHERE type = 'delegate' AND id = ?1",
            &[gone.id.into()],
        )?;
    }
    Ok(())
}

/// Sends attendees of the head office anew whose registrations changed: they may be another event's by now.
fn touch(sql: &mut dyn Sql, generation: i64, records: &[Record], mut sequence: i64) -> Result<i64> {
    for record in records
        .iter()
        .filter(|one| one.record_type == "interaction")
    {
        sequence += 1;
        sql.execute(
            "UPDATE hub_records SET sequence = ?3 WHERE venue = 0 AND generation = ?1 AND type = 'delegate' AND id IN
                 (SELECT who FROM hub_records WHERE venue = 0 AND generation = ?1 AND type = 'interaction' AND id = ?2)",
            &[generation.into(), record.id.into(), sequence.into()],
        )?;
    }
    Ok(sequence)
}

/// Settles what is left of earlier generations: of the one before the current one only what this lacks stays, as lost;
/// nothing of one that never became complete.
pub async fn settle(store: &Store, venue: i64) -> Result<()> {
    while store.write(move |sql| settle_some(sql, venue)).await? {}
    Ok(())
}

fn settle_some(sql: &mut dyn Sql, id: i64) -> Result<bool> {
    const SOME: &str = "(type, id) IN (SELECT r.type, r.id FROM hub_records r WHERE r.venue = ?1 AND r.generation = ?2 AND NOT r.lost";
    // Numbers are given anew after a restore, also to scans that a gate sends once more: a record is the same by its facts.
    const SAME: &str = "(EXISTS (SELECT 1 FROM hub_records n WHERE n.venue = r.venue AND n.generation = ?3 AND n.type = r.type
            AND n.id = r.id AND n.at IS NOT DISTINCT FROM r.at AND (n.type <> 'interaction' OR n.who IS NOT DISTINCT FROM r.who
            AND n.place IS NOT DISTINCT FROM r.place AND n.subtype IS NOT DISTINCT FROM r.subtype))
        OR r.type = 'interaction' AND EXISTS (SELECT 1 FROM hub_records n WHERE n.venue = r.venue AND n.generation = ?3
            AND n.type = 'interaction' AND NOT n.deleted AND n.who = r.who AND n.subtype = r.subtype AND n.at = r.at
            AND n.place IS NOT DISTINCT FROM r.place))";
    sql.lock(id)?;
    let venue = Venue::find(sql, id)?;
    let at_once: Value = SETTLED_AT_ONCE.into();
    if let (Some(previous), Some(current)) = (venue.previous, venue.current) {
        let values = [id.into(), previous.into(), current.into(), at_once];
        let gone = format!(
            "DELETE FROM hub_records WHERE venue = ?1 AND generation = ?2 AND {SOME} AND (r.deleted OR {SAME}) LIMIT ?4)"
        );
        if sql.execute(&gone, &values)? > 0 {
            return Ok(true);
        }
        let lost = format!(
            "UPDATE hub_records SET lost = (1 = 1) WHERE venue = ?1 AND generation = ?2 AND {SOME} AND NOT {SAME} LIMIT ?4)"
        );
        if sql.execute(&lost, &values)? > 0 {
            return Ok(true);
        }
        // What was lost before and is there again: another machine's part of a file that was copied, or what somebody took over.
        let again = format!(
            "DELETE FROM hub_records WHERE venue = ?1 AND (generation, type, id) IN (SELECT r.generation, r.type, r.id
                 FROM hub_records r WHERE r.venue = ?1 AND r.generation <= ?2 AND r.lost AND {SAME} LIMIT ?4)"
        );
        if sql.execute(&again, &values)? > 0 {
            return Ok(true);
        }
        sql.execute(
            "UPDATE hub_venues SET previous = NULL WHERE id = ?1",
            &[id.into()],
        )?;
        return Ok(true);
    }
    let given_up = "DELETE FROM hub_records WHERE venue = ?1 AND (generation, type, id) IN (SELECT r.generation, r.type, r.id
             FROM hub_records r WHERE r.venue = ?1 AND r.generation <> ?2 AND r.generation <> ?3 AND NOT r.lost LIMIT ?4)";
    let [current, coming] = [venue.current, venue.coming].map(Option::unwrap_or_default);
    let values = [id.into(), current.into(), coming.into(), at_once];
    Ok(sql.execute(given_up, &values)? > 0)
}
