//! The record of each row of an import in the file: what it became, and whether others changed it since.

use super::{super::bulk::Action, Batch, body::BLOCKED_BY_LIST};
use crate::{
    core::{
        Context, audit,
        records::{self, Resource},
    },
    db::Tx,
    domain::{
        delegates::{
            blocked::{self, Blocked},
            note,
        },
        devices, events,
    },
    types::{
        DelegateId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde_json::{Value, json};

/// Stores what a row became; a room that rows name has no line, and its id with a minus in the place of one.
pub(in crate::ops) fn keep_row(tx: &Tx<'_>, batch: i64, line: i64, became: &Became) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO batch_rows (batch_id, line, record_id, before, audit_id, interaction_id, unlinked, change_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(rusqlite::params![
        batch,
        line,
        became.record,
        became.before,
        audit::newest(tx)?,
        became.interaction,
        (!became.unlinked.is_empty()).then(|| became.unlinked.join(",")),
        became.change
    ])?;
    Ok(())
}

/// The stored record of a row.
pub(super) struct Kept {
    /// The line in the file; see [`super::source::Row::line`].
    pub line: i64,
    /// The record or interaction that it became.
    pub record: i64,
    /// The record before the change; none where the row created it.
    pub before: Option<String>,
    /// The newest change to anything when it was written.
    audit: Option<i64>,
    /// The interaction that was made beside.
    pub interaction: Option<i64>,
    /// The references that wait for other rows, separated by commas.
    unlinked: Option<String>,
}

impl Kept {
    /// Finds the record of the row on a line; none where it became nothing.
    pub(super) fn of_line(tx: &Tx<'_>, batch: i64, line: u64) -> Result<Option<Self>> {
        Self::find(tx, "line = ?2", rusqlite::params![batch, line])
    }

    /// Finds the record of the last row before a line.
    pub(super) fn before_line(tx: &Tx<'_>, batch: i64, line: i64) -> Result<Option<Self>> {
        let last = "line < ?2 ORDER BY line DESC LIMIT 1";
        Self::find(tx, last, [batch, line])
    }

    /// Finds the record of the first row after a line.
    pub(super) fn after_line(tx: &Tx<'_>, batch: i64, line: i64) -> Result<Option<Self>> {
        let first = "line > ?2 ORDER BY line LIMIT 1";
        Self::find(tx, first, [batch, line])
    }

    /// Finds the record of the row that made or changed a record.
    pub(super) fn of_record(tx: &Tx<'_>, batch: i64, record: i64) -> Result<Option<Self>> {
        let last = "record_id = ?2 ORDER BY line DESC LIMIT 1";
        Self::find(tx, last, [batch, record])
    }

    fn find(tx: &Tx<'_>, which: &str, parameters: impl Params) -> Result<Option<Self>> {
        let mut statement = tx.prepare_cached(&format!(
            "SELECT line, record_id, before, audit_id, interaction_id, unlinked FROM batch_rows
             WHERE batch_id = ?1 AND {which}"
        ))?;
        let read = |row: &Row<'_>| {
            Ok(Self {
                line: row.get(0)?,
                record: row.get(1)?,
                before: row.get(2)?,
                audit: row.get(3)?,
                interaction: row.get(4)?,
                unlinked: row.get(5)?,
            })
        };
        Ok(statement.query_row(parameters, read).optional()?)
    }

    /// Deletes it: the row is undone.
    pub(super) fn forget(&self, tx: &Tx<'_>, batch: i64) -> Result<()> {
        tx.prepare_cached("DELETE FROM batch_rows WHERE batch_id = ?1 AND line = ?2")?
            .execute([batch, self.line])?;
        Ok(())
    }

    /// Returns whether the audit knows of a change to the record after the import's own; with a property, of
    /// one to that.
    pub(super) fn changed_since(
        &self,
        tx: &Tx<'_>,
        resource: &Resource,
        property: Option<&str>,
    ) -> Result<bool> {
        Ok(tx
            .prepare_cached(
                "SELECT 1 FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3 AND id > ?4
                 AND (?5 IS NULL OR before -> ?5 IS NOT NULL OR after -> ?5 IS NOT NULL)",
            )?
            .exists(rusqlite::params![
                resource.name,
                other_name(resource),
                self.record,
                self.audit.unwrap_or(i64::MAX),
                property
            ])?)
    }

    /// The references that wait for other rows.
    pub(super) fn unlinked(&self) -> impl Iterator<Item = &str> {
        let names = self.unlinked.as_deref().unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty())
    }

    /// Returns whether references wait for other rows.
    pub(super) fn waits(&self) -> bool {
        self.unlinked.is_some()
    }

    /// Keeps that nothing waits any more. Linking is part of the import, unless the record was
    /// `changed_since` by somebody else: then it stays known as changed.
    pub(super) fn keep_linked(&self, tx: &Tx<'_>, batch: i64, changed_since: bool) -> Result<()> {
        let newest = audit::newest(tx)?;
        tx.prepare_cached(
            "UPDATE batch_rows SET unlinked = NULL, audit_id = coalesce(?3, audit_id)
             WHERE batch_id = ?1 AND line = ?2",
        )?
        .execute(rusqlite::params![
            batch,
            self.line,
            (!changed_since).then_some(newest)
        ])?;
        Ok(())
    }
}

/// Returns whether any row of a batch waits for others.
pub(super) fn any_waits(connection: &Connection, batch: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM batch_rows WHERE batch_id = ?1 AND unlinked IS NOT NULL";
    Ok(connection.prepare_cached(sql)?.exists([batch])?)
}

/// Returns the other name that the audit may have for the same record: an event is a device.
pub(super) fn other_name(resource: &Resource) -> &'static str {
    if resource.name == devices::RESOURCE.name {
        events::RESOURCE.name
    } else {
        resource.name
    }
}

/// The property for the newest change, beside the columns of a record before a change.
const NEWEST_CHANGE: &str = "newest_change";

/// A record as it is before a row changes it.
pub(in crate::ops) struct Before {
    columns: String,
    newest_change: i64,
    /// The row gave it a note for gates.
    pub has_note: bool,
    /// The row blocked its codes.
    pub is_blocked: bool,
    /// Blocked codes that it has again.
    pub unblocked: Vec<Blocked>,
}

/// The properties for what a row did beside, as [`NEWEST_CHANGE`].
const NOTED: &str = "has_note";
const BLOCKED: &str = "is_blocked";
const UNBLOCKED: &str = "unblocked";

impl Before {
    pub(in crate::ops) fn of(
        tx: &Tx<'_>,
        resource: &'static Resource,
        record: i64,
    ) -> Result<Self> {
        Ok(Self {
            columns: records::write::stored(tx, resource, record)?,
            newest_change: newest_change(tx, resource, record)?,
            has_note: false,
            is_blocked: false,
            unblocked: Vec::new(),
        })
    }

    /// The text that is kept of it after the row was written. Where nothing was changed but the time,
    /// that alone: who undoes this later undoes nothing that others changed in between.
    pub(in crate::ops) fn kept(
        self,
        tx: &Tx<'_>,
        resource: &Resource,
        record: i64,
        is_linked: bool,
    ) -> Result<String> {
        if is_linked && newest_change(tx, resource, record)? == self.newest_change {
            let columns: Value = serde_json::from_str(&self.columns).map_err(Error::defect)?;
            return Ok(json!({"updated_at": columns["updated_at"]}).to_string());
        }
        let unblocked = self.unblocked.iter();
        let unblocked: Vec<_> = unblocked
            .map(|code| json!([code.kind, code.value, code.reason]))
            .collect();
        let newest = format!(
            "{{\"{NEWEST_CHANGE}\":{},\"{NOTED}\":{},\"{BLOCKED}\":{},\"{UNBLOCKED}\":{},",
            self.newest_change,
            self.has_note,
            self.is_blocked,
            json!(unblocked)
        );
        Ok(self.columns.replacen('{', &newest, 1))
    }
}

/// Takes back what a row did beside a record that it changed: its note for gates, and blocked codes.
pub(super) fn undo_beside(
    tx: &Tx<'_>,
    ctx: &Context,
    batch: &Batch,
    record: i64,
    before: &str,
) -> Result<()> {
    let before: Value = serde_json::from_str(before).map_err(Error::defect)?;
    if before[NOTED] == true {
        note::set(tx, ctx, DelegateId(record), None)?;
    }
    if before[BLOCKED] == true {
        for code in blocked::of(tx, record)? {
            let is_own = match &batch.options.action {
                Some(Action::Block(reason)) => code.reason == reason.trim(),
                _ => code.reason.starts_with(BLOCKED_BY_LIST),
            };
            if code.at >= batch.created_at && is_own {
                blocked::unblock(tx, ctx, &code.kind, &code.value, false)?;
            }
        }
    }
    Ok(())
}

/// Blocks the codes again that a row unblocked, once the record is as it was `before`.
pub(super) fn block_again(tx: &Tx<'_>, ctx: &Context, record: i64, before: &str) -> Result<()> {
    let before: Value = serde_json::from_str(before).map_err(Error::defect)?;
    for code in before[UNBLOCKED].as_array().into_iter().flatten() {
        if let [Some(kind), Some(value), Some(reason)] = [0, 1, 2].map(|at| code[at].as_str()) {
            blocked::put(tx, ctx, DelegateId(record), kind, value, reason)?;
        }
    }
    Ok(())
}

fn newest_change(tx: &Tx<'_>, resource: &Resource, record: i64) -> Result<i64> {
    let newest: Option<i64> = tx
        .prepare_cached(
            "SELECT max(id) FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3",
        )?
        .query_row(
            rusqlite::params![resource.name, other_name(resource), record],
            |row| row.get(0),
        )?;
    Ok(newest.unwrap_or(0))
}

/// After the record of a row was put back as it was `before`: rows of other imports, and those above it, that knew its
/// newest change by then know it again.
pub(super) fn keep_restored(tx: &Tx<'_>, batch: &Batch, row: &Kept, before: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE batch_rows SET audit_id = (SELECT seq FROM sqlite_sequence WHERE name = 'audit')
         WHERE record_id = ?1 AND (batch_id <> ?2 OR line < ?6) AND audit_id >= json_extract(?3, '$.' || ?4)
         AND EXISTS (SELECT 1 FROM batches WHERE id = batch_id AND kind = ?5)",
    )?
    .execute(rusqlite::params![
        row.record,
        batch.id,
        before,
        NEWEST_CHANGE,
        batch.what.name(),
        row.line
    ])?;
    Ok(())
}

/// The result of a row.
#[derive(Default)]
pub(in crate::ops) struct Became {
    /// The record or interaction.
    pub record: i64,
    /// The record before the change; none where the row created it.
    pub before: Option<String>,
    /// The number in the audit of making the record, where it has no row there.
    pub change: Option<i64>,
    /// The interaction that was made beside.
    pub interaction: Option<i64>,
    /// The references that wait for other rows.
    pub unlinked: Vec<&'static str>,
}
