//! The undo of a walk-in: the attendee goes with the check-in that came with them. Of an attendee who was registered at
//! the desk with their check-in, the registration goes.

use super::{
    confine, everybody_out,
    types::{CHECK_IN, JOIN, PRINT},
    undo,
};
use crate::{
    core::Context,
    db::Tx,
    types::{DelegateId, error::Result},
};
use rusqlite::OptionalExtension;

/// The fate of a registration that was recorded together with a check-in that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// Taken back, too.
    Undone,
    /// Left as it is, since more happened to the attendee.
    Stays,
}

/// The registration of a known attendee that the user recorded together with a check-in.
pub fn registered_with(tx: &Tx<'_>, check_in: i64) -> Result<Option<(i64, Registration)>> {
    let found = tx
        .prepare_cached(
            "SELECT j.id, EXISTS (SELECT 1 FROM interactions o WHERE o.first_delegate_id = i.first_delegate_id
                 AND o.id > i.id AND o.data IS NOT ?4 AND o.interaction_type <> ?5)
             FROM interactions i
             JOIN delegates p ON p.id = i.first_delegate_id
             JOIN interactions j ON j.first_delegate_id = i.first_delegate_id
             WHERE i.id = ?1 AND i.interaction_type = ?2 AND i.user_id IS NOT NULL AND i.client_id IS NULL
                 AND p.created_at <> i.created_at
                 AND j.interaction_type = ?3 AND j.user_id = i.user_id AND j.client_id IS NULL
                 AND j.created_at = i.created_at AND j.first_device_id = i.first_device_id AND j.id < i.id",
        )?
        .query_row((check_in, CHECK_IN.name, JOIN.name, everybody_out::DATA, PRINT.name), |row| {
            let stays: bool = row.get(1)?;
            let becomes = if stays {
                Registration::Stays
            } else {
                Registration::Undone
            };
            Ok((row.get(0)?, becomes))
        })
        .optional()?;
    Ok(found)
}

/// The attendee whom this caller registered together with a check-in, for as long as the caller may take that back; `None` as soon
/// as anything else happened to them.
pub fn made_with(tx: &Tx<'_>, ctx: &Context, check_in: i64) -> Result<Option<DelegateId>> {
    let made = tx
        .prepare_cached(
            "SELECT p.id FROM interactions i JOIN delegates p ON p.id = i.first_delegate_id
             WHERE i.id = ?1 AND i.interaction_type = ?2 AND i.client_id IS ?3
                 AND (?3 IS NOT NULL OR i.user_id = ?8) AND i.created_at >= ?4
                 AND p.created_at = i.created_at AND p.deleted_at IS NULL
                 AND EXISTS (SELECT 1 FROM audit
                     WHERE record_type = 'delegate' AND record_id = p.id AND action = 'create' AND actor = ?5)
                 AND NOT EXISTS (SELECT 1 FROM audit
                     WHERE record_type = 'delegate' AND record_id = p.id AND (actor <> ?5 OR at > i.created_at))
                 AND NOT EXISTS (
                     SELECT 1 FROM interactions o WHERE o.first_delegate_id = p.id AND o.id <> i.id
                         AND o.interaction_type <> ?9
                         AND NOT (o.created_at = i.created_at AND (o.interaction_type = ?6 OR o.data IS ?7)))
                 AND NOT EXISTS (
                     SELECT 1 FROM interactions WHERE second_delegate_id = p.id
                     UNION ALL SELECT 1 FROM interactions WHERE third_delegate_id = p.id
                     UNION ALL SELECT 1 FROM delegates WHERE parent_id = p.id OR previous_id = p.id OR owner_id = p.id
                     UNION ALL SELECT 1 FROM blocked_codes WHERE delegate_id = p.id
                     UNION ALL SELECT 1 FROM gate_notes WHERE delegate_id = p.id
                     UNION ALL SELECT 1 FROM transaction_delegates s JOIN transactions t ON t.id = s.transaction_id
                         WHERE s.delegate_id = p.id AND (t.created_at <> i.created_at OR t.client_id IS NOT NULL)
                     UNION ALL SELECT 1 FROM messages WHERE delegate_id = p.id
                     UNION ALL SELECT 1 FROM users WHERE delegate_id = p.id)",
        )?
        .query_row(
            rusqlite::params![
                check_in,
                CHECK_IN.name,
                ctx.client,
                tx.now().0 - if ctx.client.is_some() { confine::UNDO_MS } else { undo::OWN_MS },
                ctx.actor,
                JOIN.name,
                everybody_out::DATA,
                ctx.user,
                PRINT.name
            ],
            |row| row.get(0),
        )
        .optional()?;
    Ok(made)
}
