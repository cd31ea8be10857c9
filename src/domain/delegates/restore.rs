//! Bringing back a delegate that was deleted softly (contract §4).

use super::{RESOURCE, blocked};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        records::{Selection, write},
    },
    db::Tx,
    types::{
        DelegateCode,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::OptionalExtension;
use serde_json::Value;

/// Restores a deleted delegate as it was.
///
/// # Errors
/// [`Kind::DelegateNotFound`] when none of this id is deleted; [`Kind::CodeTaken`], naming the code
/// and who has it, when one of its codes was taken or blocked since.
pub fn restore(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let deleted = tx
        .prepare_cached("SELECT 1 FROM delegates WHERE id = ?1 AND deleted_at IS NOT NULL")?
        .exists([id])?;
    if !deleted {
        return Err(Error::new(
            Kind::DelegateNotFound,
            format!("there is no deleted delegate {id}"),
        ));
    }
    for code in DelegateCode::ALL {
        check(tx, id, *code)?;
    }
    tx.prepare_cached("UPDATE delegates SET deleted_at = NULL, updated_at = ?2 WHERE id = ?1")?
        .execute(rusqlite::params![id, tx.now()])?;
    let after = Selection::own(&RESOURCE)
        .one(tx, "id", &id, &ctx.settings.zone)?
        .map(|json| serde_json::from_str::<Value>(&json).map_err(Error::defect))
        .transpose()?;
    audit::append(
        tx,
        ctx,
        &Change {
            action: "restore",
            record_type: RESOURCE.name,
            record_id: Some(id),
            before: None,
            after,
        },
    )?;
    write::refresh_referring(tx, &RESOURCE, id)
}

/// Whether a code of the deleted delegate is still free.
fn check(tx: &Tx<'_>, id: i64, code: DelegateCode) -> Result<()> {
    let column = RESOURCE
        .property(code.name())
        .map_or("NULL", |property| property.column);
    let value: Option<String> = tx
        .prepare_cached(&format!("SELECT {column} FROM delegates WHERE id = ?1"))?
        .query_row([id], |row| row.get(0))?;
    let Some(value) = value else {
        return Ok(());
    };
    let holder: Option<i64> = tx
        .prepare_cached(code.find_sql())?
        .query_row([&value], |row| row.get(0))
        .optional()?;
    if let Some(holder) = holder {
        return Err(Error::new(
            Kind::CodeTaken,
            format!(
                "{}: \"{}\" was given to delegate {holder} since; give that one another code first",
                code.name(),
                text::shortened(&value)
            ),
        ));
    }
    match blocked::get(tx, code.name(), &value)? {
        Some(blocked) => Err(blocked::refused(&blocked)),
        None => Ok(()),
    }
}
