//! Flags that the service sets by itself (spec: Delegate flags): `e` and `f`. Everybody else sets them
//! as any other property.

use super::{RESOURCE, normal_flags};
use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    types::{DelegateId, error::Result},
};
use rusqlite::{OptionalExtension, params};
use serde_json::json;

/// The delegate has opened an e-mail.
pub const OPENED_MAIL: char = 'e';
/// The delegate has sent their feedback.
pub const SENT_FEEDBACK: char = 'f';

/// Sets a flag of a delegate, once; nothing happens where it is set, or the delegate is deleted.
pub fn raise(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId, flag: char) -> Result<()> {
    let found: Option<Option<String>> = tx
        .prepare_cached("SELECT raw_flags FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([delegate], |row| row.get(0))
        .optional()?;
    let Some(before) = found else {
        return Ok(());
    };
    if before.as_deref().is_some_and(|flags| flags.contains(flag)) {
        return Ok(());
    }
    let after = normal_flags(&format!("{}{flag}", before.as_deref().unwrap_or_default()));
    tx.prepare_cached(
        "UPDATE delegates SET raw_flags = ?2, updated_at = iif(updated_at - ?3 BETWEEN 0 AND 1000, updated_at + 1, ?3) WHERE id = ?1",
    )?
    .execute(params![delegate, after, tx.now()])?;
    let shown = |flags: Option<&str>| {
        // As a record is shown: what has no value is not there.
        flags.map_or_else(|| json!({}), |flags| json!({"rawFlags": flags}))
    };
    audit::append(
        tx,
        ctx,
        &Change {
            action: "update",
            record_type: RESOURCE.name,
            record_id: Some(delegate.0),
            before: Some(shown(before.as_deref())),
            after: Some(shown(Some(&after))),
        },
    )
}
