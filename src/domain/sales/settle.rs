//! What did not fit in a purchase, until somebody has looked into it: settled with a note, taken up
//! again where that was too early. The purchase itself is never changed by it.

use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    types::{
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

/// The longest note, in characters.
pub const NOTE_MAX_CHARS: usize = 1_000;

/// Settles inconsistencies of a purchase: how many were open.
///
/// # Errors
/// [`Kind::Invalid`] for a note that is empty or too long, and where none of them is open any more.
pub fn settle(
    tx: &Tx<'_>,
    ctx: &Context,
    purchase: i64,
    chosen: &[i64],
    note: &str,
) -> Result<usize> {
    let note = note.trim();
    if note.is_empty() || note.chars().count() > NOTE_MAX_CHARS {
        return Err(Error::invalid(format!(
            "note: must have 1 to {NOTE_MAX_CHARS} characters: what you found out, or did about it"
        )));
    }
    text::check_text("note", note)?;
    if chosen.is_empty() {
        return Err(Error::invalid("choose at least one to settle"));
    }
    let mut settled = Vec::new();
    for id in chosen {
        let told: Option<String> = tx
            .prepare_cached(
                "UPDATE inconsistencies SET settled_at = ?3, settled_by = ?4, note = ?5
                 WHERE id = ?1 AND settled_at IS NULL
                 AND body_id IN (SELECT id FROM transaction_bodies WHERE transaction_id = ?2)
                 RETURNING path, message",
            )?
            .query_row(params![id, purchase, tx.now(), ctx.actor, note], |row| {
                Ok(in_words(
                    &row.get::<_, String>(0)?,
                    &row.get::<_, String>(1)?,
                ))
            })
            .optional()?;
        settled.extend(told);
    }
    if settled.is_empty() {
        return Err(Error::invalid(
            "none of these is open any more; somebody else may have settled them",
        ));
    }
    let count = settled.len();
    tell(
        tx,
        ctx,
        "settle",
        purchase,
        json!({"note": note, "inconsistencies": settled}),
    )?;
    Ok(count)
}

/// Takes an inconsistency up again: the purchase it is of.
///
/// # Errors
/// [`Kind::NoSuchPath`] where it is not settled.
pub fn reopen(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<i64> {
    let found: Option<(i64, String, String, Option<String>)> = tx
        .prepare_cached(
            "SELECT b.transaction_id, i.path, i.message, i.note FROM inconsistencies i
             JOIN transaction_bodies b ON b.id = i.body_id WHERE i.id = ?1 AND i.settled_at IS NOT NULL",
        )?
        .query_row([id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((purchase, path, message, note)) = found else {
        return Err(Error::new(
            Kind::NoSuchPath,
            format!("there is no settled inconsistency {id}"),
        ));
    };
    tx.prepare_cached(
        "UPDATE inconsistencies SET settled_at = NULL, settled_by = NULL, note = NULL WHERE id = ?1",
    )?
    .execute([id])?;
    tell(
        tx,
        ctx,
        "reopen",
        purchase,
        json!({"note": note, "inconsistencies": [in_words(&path, &message)]}),
    )?;
    Ok(purchase)
}

fn in_words(path: &str, message: &str) -> String {
    if path.is_empty() {
        message.to_owned()
    } else {
        format!("{path}: {message}")
    }
}

fn tell(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    purchase: i64,
    what: Value,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "transaction",
            record_id: Some(purchase),
            before: None,
            after: Some(what),
        },
    )
}

/// How many purchases have something that is not settled.
pub fn waiting(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(DISTINCT b.transaction_id) FROM inconsistencies i
             JOIN transaction_bodies b ON b.id = i.body_id WHERE i.settled_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?)
}
