//! The change feed: every change in one order (contract §12).
//!
//! No change is stored twice. A new interaction is a row of `interactions`; a change of another
//! record is a row of `audit`; what neither has is a row of `changes`, which shares its numbers with the
//! audit. Both numbers grow in the order of commits, and a change stores the newest interaction of its time. So
//! there is one order, and a check-in writes nothing for it.

mod watch;

pub use crate::db::usage::Position;
pub use watch::Watcher;

use super::audit;
use crate::{
    db::{Tx, counters, newest_interaction},
    types::{DelegateId, DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

/// The newest rows at a look, each with the time of its arrival. A file that has another row at such a number
/// went back to an earlier state and on from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    pub interaction: Option<(i64, Timestamp)>,
    pub change: Option<(i64, Timestamp)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub at: Timestamp,
    /// The position behind it.
    pub to: Position,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A new interaction.
    Recorded(Recorded),
    Changed(Changed),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub id: i64,
    pub interaction_type: String,
    pub first_delegate: Option<DelegateId>,
    /// First, second and third device.
    pub devices: [Option<DeviceId>; 3],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub id: i64,
    /// As in the audit, or one of [`action`].
    pub action: String,
    /// The type of the record.
    pub record_type: String,
    pub record: Option<i64>,
    /// The record that it was merged into.
    pub into: Option<i64>,
}

/// Actions on records that have no row in the audit.
pub mod action {
    /// Created by an import, or at a till.
    pub const CREATE: &str = "create";
    /// Shows something else because another record changed.
    pub const REFRESH: &str = "refresh";
    /// Deleted.
    pub const DELETE: &str = "delete";
    /// Deleted: the import that created it was undone.
    pub const UNDO: &str = "undo";
    /// Deleted with a person who was erased.
    pub const FORGET: &str = "forget";
    /// Merged into another, which is gone as well.
    pub const MERGED: &str = "merged";
}

/// A slice of the feed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    pub changes: Vec<Change>,
    /// Set where the feed has more.
    pub more: bool,
}

/// Stores a change that neither the audit nor an interaction has; its number.
pub fn note(tx: &Tx<'_>, action: &str, record_type: &str, record: i64) -> Result<i64> {
    let id = audit::reserve(tx)?;
    tx.prepare_cached(
        "INSERT INTO changes (id, at, interaction_id, action, record_type, record_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        id,
        tx.now(),
        tx.newest_interaction()?,
        action,
        record_type,
        record
    ])?;
    Ok(id)
}

/// Stores changes of the records whose ids a statement selects.
pub fn note_all(tx: &Tx<'_>, action: &str, record_type: &str, ids: &str, of: i64) -> Result<()> {
    let found: Vec<i64> = tx
        .prepare_cached(ids)?
        .query_map([of], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in found {
        note(tx, action, record_type, id)?;
    }
    Ok(())
}

/// Takes rows of records that are gone for good out of the audit. Where a webhook still has to tell of
/// one, what was done stays here, without its content.
pub fn empty(tx: &Tx<'_>, rows: &str, parameters: impl Params + Clone) -> Result<()> {
    tx.prepare_cached(&format!(
        "INSERT INTO changes (id, at, interaction_id, action, record_type, record_id)
         SELECT id, at, interaction_id, iif(after ->> '$.into' IS NULL, action, '{}'), record_type, record_id
         FROM audit WHERE {rows}
             AND (id > (SELECT min(audit_id) FROM outbox_destinations)
                 OR id IN (SELECT source_id FROM outbox WHERE source = 'audit'))",
        action::MERGED
    ))?
    .execute(parameters.clone())?;
    tx.prepare_cached(&format!("DELETE FROM audit WHERE {rows}"))?
        .execute(parameters)?;
    Ok(())
}

/// The counter of the change up to which old ones were removed.
const PRUNED_TO: &str = "changes pruned";
/// The counter that changes whenever the file goes back to an earlier state.
const GENERATION: &str = "changes generation";

/// Marks that the file went back to an earlier state: copies of it are void.
pub fn reset(tx: &Tx<'_>) -> Result<()> {
    let before = generation(tx)?;
    counters::set(tx, GENERATION, tx.now().0.max(before + 1))
}

/// Changes with each [`reset`].
pub fn generation(connection: &Connection) -> Result<i64> {
    Ok(counters::get(connection, GENERATION)?.unwrap_or(0))
}

/// The change up to which deletions were removed.
pub fn pruned_to(connection: &Connection) -> Result<i64> {
    Ok(counters::get(connection, PRUNED_TO)?.unwrap_or(0))
}

/// Returns whether there are changes from before a time that [`prune`] may remove.
pub fn is_any_before(connection: &Connection, until: Timestamp) -> Result<bool> {
    let first: Option<Timestamp> = connection
        .prepare_cached(
            "SELECT at FROM changes WHERE id < (SELECT max(id) FROM changes) ORDER BY id LIMIT 1",
        )?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(first.is_some_and(|first| first < until))
}

/// Removes up to `limit` changes from before `until` that every reader has behind it and told of; how
/// many. The newest stays: by its time a copy knows a file that went back and on from there.
pub fn prune(tx: &Tx<'_>, until: Timestamp, limit: usize) -> Result<usize> {
    let mut statement = tx.prepare_cached(
        "DELETE FROM changes WHERE id IN (
             SELECT id FROM changes
             WHERE at < ?1 AND id < (SELECT max(id) FROM changes)
                 AND id <= coalesce((SELECT min(audit_id) FROM outbox_destinations), id)
                 AND id NOT IN (SELECT source_id FROM outbox WHERE source = 'audit')
             ORDER BY id LIMIT ?2)
         RETURNING id",
    )?;
    let removed: Vec<i64> = statement
        .query_map(params![until, limit], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if let Some(last) = removed.iter().max() {
        counters::set(tx, PRUNED_TO, pruned_to(tx)?.max(*last))?;
    }
    Ok(removed.len())
}

/// The end of the feed.
pub fn newest(connection: &Connection) -> Result<Position> {
    Ok(Position {
        interaction: newest_interaction(connection)?,
        change: audit::newest(connection)?,
    })
}

impl Stamp {
    /// The stamp of the file as it is now.
    pub fn of(connection: &Connection) -> Result<Self> {
        let newest = |sql: &str| {
            let mut statement = connection.prepare_cached(sql)?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_row([], row).optional()
        };
        Ok(Self {
            interaction: newest(
                "SELECT id, created_at FROM interactions ORDER BY id DESC LIMIT 1",
            )?,
            change: newest(
                "SELECT id, at FROM (
                     SELECT * FROM (SELECT id, at FROM audit ORDER BY id DESC LIMIT 1)
                     UNION ALL
                     SELECT * FROM (SELECT id, at FROM changes ORDER BY id DESC LIMIT 1))
                 ORDER BY id DESC LIMIT 1",
            )?,
        })
    }

    /// Returns whether the file, whose end is `newest`, went back to a state before the stamp. A row that is gone
    /// proves nothing.
    pub fn is_undone(&self, connection: &Connection, newest: Position) -> Result<bool> {
        let (interaction, change) = (self.interaction.unzip(), self.change.unzip());
        if interaction.0 > Some(newest.interaction) || change.0 > Some(newest.change) {
            return Ok(true);
        }
        Ok(connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM interactions WHERE id = ?1 AND created_at <> ?2)
                     OR EXISTS (SELECT 1 FROM audit WHERE id = ?3 AND at <> ?4)
                     OR EXISTS (SELECT 1 FROM changes WHERE id = ?3 AND at <> ?4)",
            )?
            .query_row(
                params![interaction.0, interaction.1, change.0, change.1],
                |row| row.get(0),
            )?)
    }
}

/// Returns whether the feed has anything after a position.
pub fn is_behind(connection: &Connection, from: Position) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM interactions WHERE id > ?1)
                 OR EXISTS (SELECT 1 FROM audit WHERE id > ?2)
                 OR EXISTS (SELECT 1 FROM changes WHERE id > ?2)",
        )?
        .query_row(params![from.interaction, from.change], |row| row.get(0))?)
}

/// The types of records that changed after a change, and the newest change.
pub fn types_since(connection: &Connection, after: i64) -> Result<(Vec<String>, i64)> {
    let newest = audit::newest(connection)?;
    let mut statement = connection.prepare_cached(
        "SELECT record_type FROM audit WHERE id > ?1 UNION SELECT record_type FROM changes WHERE id > ?1",
    )?;
    let types = statement.query_map([after], |row| row.get(0))?;
    Ok((types.collect::<rusqlite::Result<_>>()?, newest))
}

/// Reads the feed after a position: about `limit` changes at most.
pub fn read(connection: &Connection, from: Position, limit: usize) -> Result<Read> {
    let changed = changed(connection, from.change, limit)?;
    let recorded = interactions(connection, from.interaction, limit)?;
    Ok(merge(from, changed, recorded, limit))
}

/// As [`read`], with interactions that were deleted since, each where it was created. Of one that is gone
/// for good nothing but the id is known.
pub fn read_all(connection: &Connection, from: Position, limit: usize) -> Result<Read> {
    let changed = changed(connection, from.change, limit)?;
    let mut recorded = interactions(connection, from.interaction, limit)?;
    recorded.extend(gone_interactions(connection, from, limit)?);
    recorded.sort_by_key(|(_, recorded)| recorded.id);
    recorded.dedup_by_key(|(_, recorded)| recorded.id);
    recorded.truncate(limit);
    Ok(merge(from, changed, recorded, limit))
}

/// A change with the newest interaction of its time.
type Placed = (Timestamp, i64, Changed);

fn merge(
    from: Position,
    changed: Vec<Placed>,
    recorded: Vec<(Timestamp, Recorded)>,
    limit: usize,
) -> Read {
    let cut = [changed.len() >= limit, recorded.len() >= limit];
    let mut to = from;
    let mut changes = Vec::with_capacity(changed.len() + recorded.len());
    let (mut changed, mut recorded) = (
        changed.into_iter().peekable(),
        recorded.into_iter().peekable(),
    );
    let more = loop {
        let is_change_first = match (changed.peek(), recorded.peek()) {
            (None, None) => break cut[0] || cut[1],
            // What comes next of the other kind may be earlier.
            (None, Some(_)) if cut[0] => break true,
            (Some(_), None) if cut[1] => break true,
            (None, Some(_)) => false,
            (Some(_), None) => true,
            (Some((_, newest, _)), Some((_, recorded))) => *newest < recorded.id,
        };
        let (at, what) = if is_change_first {
            let Some((at, _, change)) = changed.next() else {
                break false;
            };
            to.change = change.id;
            (at, What::Changed(change))
        } else {
            let Some((at, interaction)) = recorded.next() else {
                break false;
            };
            to.interaction = interaction.id;
            (at, What::Recorded(interaction))
        };
        changes.push(Change { at, to, what });
    };
    Read { changes, more }
}

/// New interactions after one, up to `limit`, each with the time of its arrival.
pub fn interactions(
    connection: &Connection,
    after: i64,
    limit: usize,
) -> Result<Vec<(Timestamp, Recorded)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, created_at, interaction_type, first_delegate_id,
                first_device_id, second_device_id, third_device_id
         FROM interactions WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let found = statement.query_map(params![after, limit], recorded)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Interactions that were deleted after a position and created after it; those of which the audit knows
/// something come first.
fn gone_interactions(
    connection: &Connection,
    from: Position,
    limit: usize,
) -> Result<Vec<(Timestamp, Recorded)>> {
    let mut statement = connection.prepare_cached(
        "SELECT * FROM (
             SELECT record_id, at, coalesce(before ->> '$.interactionType', ''), before ->> '$.firstDelegate.id',
                 before ->> '$.firstDevice.id', before ->> '$.secondDevice.id', before ->> '$.thirdDevice.id'
             FROM audit WHERE record_type = 'interaction' AND action = 'delete' AND record_id > ?1 AND id > ?2
             ORDER BY record_id LIMIT ?3)
         UNION ALL SELECT * FROM (
             SELECT record_id, max(at), '', NULL, NULL, NULL, NULL
             FROM changes WHERE id > ?2 AND record_type = 'interaction' AND record_id > ?1
                 AND action IN ('delete', 'undo', 'forget')
             GROUP BY record_id ORDER BY record_id LIMIT ?3)",
    )?;
    let parameters = params![from.interaction, from.change, limit];
    let found = statement.query_map(parameters, recorded)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn recorded(row: &Row<'_>) -> rusqlite::Result<(Timestamp, Recorded)> {
    let recorded = Recorded {
        id: row.get(0)?,
        interaction_type: row.get(2)?,
        first_delegate: row.get(3)?,
        devices: [row.get(4)?, row.get(5)?, row.get(6)?],
    };
    Ok((row.get(1)?, recorded))
}

/// Reads up to `limit` changes of records after one, without new interactions.
pub fn changed_after(connection: &Connection, after: i64, limit: usize) -> Result<Vec<Changed>> {
    let found = changed(connection, after, limit)?.into_iter();
    Ok(found.map(|(_, _, changed)| changed).collect())
}

fn changed(connection: &Connection, after: i64, limit: usize) -> Result<Vec<Placed>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, coalesce(interaction_id, 0), action, record_type, record_id, into_id FROM (
             SELECT * FROM (SELECT id, at, interaction_id, action, record_type, record_id,
                     iif(action = 'merge', after ->> '$.into', NULL) AS into_id
                 FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2)
             UNION ALL
             SELECT * FROM (SELECT id, at, interaction_id, action, record_type, record_id, NULL
                 FROM changes WHERE id > ?1 ORDER BY id LIMIT ?2))
         ORDER BY id LIMIT ?2",
    )?;
    let found = statement.query_map(params![after, limit], |row| {
        let changed = Changed {
            id: row.get(0)?,
            action: row.get(3)?,
            record_type: row.get(4)?,
            record: row.get(5)?,
            into: row.get(6)?,
        };
        Ok((row.get(1)?, row.get(2)?, changed))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: i64, newest: i64) -> Placed {
        let changed = Changed {
            id,
            action: "update".to_owned(),
            record_type: "delegate".to_owned(),
            record: Some(1),
            into: None,
        };
        (Timestamp(0), newest, changed)
    }

    fn interaction(id: i64) -> (Timestamp, Recorded) {
        let recorded = Recorded {
            id,
            interaction_type: "join".to_owned(),
            first_delegate: None,
            devices: [None; 3],
        };
        (Timestamp(0), recorded)
    }

    fn merged(changes: &[(i64, i64)], interactions: &[i64], limit: usize) -> (String, bool) {
        let changes = changes.iter().map(|(id, newest)| change(*id, *newest));
        let interactions = interactions.iter().copied().map(interaction);
        let read = merge(
            Position::default(),
            changes.collect(),
            interactions.collect(),
            limit,
        );
        let shown = read.changes.iter().map(|change| match &change.what {
            What::Recorded(recorded) => format!("i{}", recorded.id),
            What::Changed(changed) => format!("c{}", changed.id),
        });
        (shown.collect::<Vec<_>>().join(" "), read.more)
    }

    #[test]
    fn changes_and_interactions_have_one_order() {
        let told = merged(&[(1, 0), (2, 7), (3, 9)], &[7, 8, 12], 10);
        assert_eq!(told, ("c1 i7 c2 i8 c3 i12".to_owned(), false));
        assert_eq!(merged(&[], &[], 10), (String::new(), false));
    }

    #[test]
    fn nothing_comes_before_what_was_not_read_yet() {
        assert_eq!(
            merged(&[(1, 3), (2, 3)], &[3, 4], 2),
            ("i3 c1 c2".to_owned(), true)
        );
        assert_eq!(merged(&[(1, 9)], &[3, 4], 2), ("i3 i4".to_owned(), true));
    }
}
