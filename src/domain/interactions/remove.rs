//! Deleting an interaction: its row goes, what it was stays in the audit, and who is inside is counted
//! as if it had never been.

use super::{
    presence::Before,
    rows::{self, Interaction},
    types,
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes,
    },
    db::Tx,
    types::error::{Error, Kind, Result},
};
use rusqlite::OptionalExtension;
use serde_json::{Value, json};

/// Deletes an interaction.
///
/// # Errors
/// [`Kind::InteractionNotFound`].
pub fn remove(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let interaction = rows::find(tx, id)?.ok_or_else(|| missing(id))?;
    let origin: Option<(Option<i64>, Option<i64>, bool)> = tx
        .query_row(
            "SELECT client_id, user_id, admitted FROM interactions WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let mut before: Value =
        serde_json::from_str(&interaction.to_json(&ctx.settings.zone)).map_err(Error::defect)?;
    if let Some((client, user, admitted)) = origin {
        before["origin"] = json!({"client": client, "user": user, "admitted": admitted});
    }
    take_out(tx, id, &interaction)?;
    audit::append(
        tx,
        ctx,
        &Change {
            action: "delete",
            record_type: "interaction",
            record_id: Some(id),
            before: Some(before),
            after: None,
        },
    )
}

/// The error when there is no such interaction.
pub(super) fn missing(id: i64) -> Error {
    Error::new(
        Kind::InteractionNotFound,
        format!("there is no interaction {id}"),
    )
}

/// Takes an interaction out as if it had never been, without a word in the audit: for an import
/// that is undone, which the audit has as one. One that is gone already stays gone.
pub fn take_back(tx: &Tx<'_>, id: i64) -> Result<()> {
    match rows::find(tx, id)? {
        Some(interaction) => {
            take_out(tx, id, &interaction)?;
            changes::note(tx, changes::action::UNDO, "interaction", id).map(drop)
        }
        None => Ok(()),
    }
}

fn take_out(tx: &Tx<'_>, id: i64, interaction: &Interaction) -> Result<()> {
    let passed =
        interaction.delegates[0].filter(|_| types::passage_effect(&interaction.kind).is_some());
    let before = Before::of(tx, passed)?;
    tx.prepare_cached("DELETE FROM interactions WHERE id = ?1")?
        .execute([id])?;
    before.count(tx)
}
