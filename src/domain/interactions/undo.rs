//! Undo: who may take back which interaction where, and taking it back.

use super::{
    remove,
    rows::{self, Interaction},
    types,
    walk_in::{self, Registration},
};
use crate::{
    core::{Context, records::write},
    db::Tx,
    domain::delegates::RESOURCE,
    identity::ConsoleRole,
    types::{
        DelegateId, Timestamp, UserId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The time for which somebody may take back what they recorded: a working day at a desk.
pub const OWN_MS: i64 = 16 * 3_600_000;

/// A page of the console that offers an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Desk,
    /// Activity, and the record of an attendee.
    Activity,
}

/// A user of the console.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub user: UserId,
    pub role: ConsoleRole,
}

/// The facts that decide about the undo of an interaction.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub kind: String,
    pub user: Option<i64>,
    pub admitted: bool,
    pub created_at: Timestamp,
}

/// Tells if a user may take an interaction back on a page. Operators take back their own passages of today; so does
/// everybody at the desk. Elsewhere administrators take back every passage and registration.
pub fn may_undo(caller: Caller, page: Page, recorded: &Recorded, now: Timestamp) -> bool {
    let is_passage = types::passage_effect(&recorded.kind).is_some();
    let is_own = recorded.user == Some(caller.user.0)
        && !recorded.admitted
        && recorded.created_at.0 >= now.0 - OWN_MS;
    match (caller.role, page) {
        (ConsoleRole::Viewer, _) => false,
        (ConsoleRole::Administrator, Page::Activity) => {
            is_passage || types::find(&recorded.kind).is_some_and(|known| known.of_gates)
        }
        _ => is_passage && is_own,
    }
}

/// An interaction that was taken back.
#[derive(Debug)]
pub struct Undone {
    /// As it was.
    pub interaction: Interaction,
    /// The attendee of a walk-in, who was deleted with it.
    pub newcomer: Option<DelegateId>,
    /// The fate of the registration that the desk recorded together with it.
    pub registration: Option<Registration>,
}

/// Takes back an interaction that the caller may take back on this page. The attendee of a walk-in goes with it, as, at
/// the desk, does the registration that was recorded together with it, unless anything else happened to them.
///
/// # Errors
/// [`Kind::Forbidden`]; [`Kind::InteractionNotFound`].
pub fn undo(tx: &Tx<'_>, ctx: &Context, caller: Caller, page: Page, id: i64) -> Result<Undone> {
    let interaction = rows::find(tx, id)?.ok_or_else(|| remove::missing(&id))?;
    let recorded = recorded(tx, id)?.ok_or_else(|| remove::missing(&id))?;
    if !may_undo(caller, page, &recorded, tx.now()) {
        return Err(Error::new(
            Kind::Forbidden,
            "you can undo only what you recorded yourself today; an administrator can undo the rest under Activity",
        ));
    }
    let newcomer = walk_in::made_with(tx, ctx, id)?;
    let registered = match page {
        Page::Desk => walk_in::registered_with(tx, id)?,
        Page::Activity => None,
    };
    remove::remove(tx, ctx, id)?;
    if let Some(delegate) = newcomer {
        write::delete(tx, ctx, &RESOURCE, delegate.0)?;
    }
    if let Some((join, Registration::Undone)) = registered {
        remove::remove(tx, ctx, join)?;
    }
    Ok(Undone {
        interaction,
        newcomer,
        registration: registered.map(|(_, becomes)| becomes),
    })
}

/// Reads what decides about the undo of an interaction; none where it is gone.
pub fn recorded(connection: &Connection, id: i64) -> Result<Option<Recorded>> {
    Ok(connection
        .prepare_cached(
            "SELECT interaction_type, user_id, admitted, created_at FROM interactions WHERE id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Recorded {
                kind: row.get(0)?,
                user: row.get(1)?,
                admitted: row.get(2)?,
                created_at: row.get(3)?,
            })
        })
        .optional()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_undo_what_where() {
        use ConsoleRole::{Administrator, Operator, Viewer};
        let now = Timestamp(100 * OWN_MS);
        let (mine, others) = (Some(7), Some(8));
        for (role, page, kind, user, admitted, age, allowed) in [
            (Viewer, Page::Activity, "check-in", mine, false, 0, false),
            (Operator, Page::Activity, "check-in", mine, false, 0, true),
            (Operator, Page::Activity, "check-out", mine, false, 0, true),
            (Operator, Page::Desk, "check-in", mine, false, 0, true),
            (
                Operator,
                Page::Desk,
                "check-in",
                mine,
                false,
                OWN_MS + 1,
                false,
            ),
            (Operator, Page::Desk, "check-in", mine, true, 0, false),
            (
                Operator,
                Page::Activity,
                "check-in",
                others,
                false,
                0,
                false,
            ),
            (Operator, Page::Activity, "check-in", None, false, 0, false),
            (Operator, Page::Activity, "join", mine, false, 0, false),
            (
                Administrator,
                Page::Desk,
                "check-in",
                others,
                false,
                0,
                false,
            ),
            (Administrator, Page::Desk, "check-in", mine, false, 0, true),
            (
                Administrator,
                Page::Activity,
                "check-in",
                None,
                true,
                OWN_MS * 9,
                true,
            ),
            (Administrator, Page::Activity, "join", None, false, 0, true),
            (Administrator, Page::Activity, "lead", mine, false, 0, false),
            (Administrator, Page::Activity, "seen", None, false, 0, false),
        ] {
            let caller = Caller {
                user: UserId(7),
                role,
            };
            let recorded = Recorded {
                kind: kind.into(),
                user,
                admitted,
                created_at: Timestamp(now.0 - age),
            };
            let may = may_undo(caller, page, &recorded, now);
            assert_eq!(may, allowed, "{role:?} {page:?} {recorded:?}");
        }
    }
}
