//! What happens to a user after it was made. One administrator who can sign in always stays: neither
//! the console nor a command takes the last one away.

use super::{User, append, check_delegate, check_email, find, get, shown, taken};
use crate::{
    core::Context,
    db::Tx,
    identity::{ConsoleRole, Roles, password::Hashed, sessions, tokens},
    types::{
        DelegateId, Patch, UserId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, params};

/// What is to change of a user.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// Another e-mail address.
    pub email: Option<String>,
    /// A new password; it ends the user's tokens and sessions.
    pub password: Option<Hashed>,
    /// The session that goes on after a new password: the one in which its owner sets it.
    pub session: Option<i64>,
    /// What the user may do in the console.
    pub console: Patch<ConsoleRole>,
    /// What the user may do in the API, instead of what it may do now.
    pub roles: Option<Roles>,
    /// The delegate that the user is.
    pub delegate: Patch<DelegateId>,
}

/// Changes a user.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is no such user, or when no administrator who can
/// sign in would be left; [`crate::types::error::Kind::CodeTaken`],
/// [`crate::types::error::Kind::DelegateNotFound`].
pub fn change(tx: &Tx<'_>, ctx: &Context, email: &str, change: &UserChange) -> Result<()> {
    let before = find(tx, email)?;
    write(tx, ctx, &before, change)
}

/// Changes the user of an id.
///
/// # Errors
/// As [`change`]; [`crate::types::error::Kind::NoSuchPath`] when there is no such user.
pub fn edit(tx: &Tx<'_>, ctx: &Context, id: UserId, change: &UserChange) -> Result<()> {
    let before = get(tx, id)?;
    write(tx, ctx, &before, change)
}

fn write(tx: &Tx<'_>, ctx: &Context, before: &User, change: &UserChange) -> Result<()> {
    let email = change.email.as_ref().unwrap_or(&before.email);
    check_email(email)?;
    let delegate = match change.delegate {
        Patch::Absent => before.delegate,
        Patch::Null => None,
        Patch::Value(delegate) => {
            // One that is deleted meanwhile must not keep a user from being changed.
            if before.delegate != Some(delegate) {
                check_delegate(tx, Some(delegate))?;
            }
            Some(delegate)
        }
    };
    let console = change.console.clone().change().unwrap_or(before.console);
    if before.is_promotion(console) && change.password.is_none() {
        return Err(Error::invalid(
            "password: whoever is let into the console needs a new one, because the strength of the present one was never checked; set it in the same step (`gatepost user set` reads it with --password-stdin)",
        ));
    }
    tx.prepare_cached(
        "UPDATE users SET email = ?7, password_hash = coalesce(?2, password_hash), console_role = ?3,
             roles = ?4, delegate_id = ?5, updated_at = ?6 WHERE id = ?1",
    )?
    .execute(params![
        before.id,
        change.password.as_ref().map(Hashed::as_str),
        console.map(ConsoleRole::name),
        change.roles.unwrap_or(before.roles).to_json(),
        delegate,
        tx.now(),
        email,
    ])
    .map_err(|cause| taken(cause, email))?;
    keep_an_administrator(tx, before)?;
    tx.outdate_caches();
    if change.password.is_some() {
        tokens::cancel_of_user(tx, before.id)?;
        sessions::end_all(tx, before.id, change.session)?;
        append(tx, ctx, "password", before.id, None, None)?;
    }
    if console.is_none() {
        // Otherwise they would go on, should the user be let in again.
        sessions::end_all(tx, before.id, None)?;
    }
    let after = get(tx, before.id)?;
    append(
        tx,
        ctx,
        "update",
        before.id,
        Some(shown(before)),
        Some(shown(&after)),
    )
}

/// Removes a user; the user's tokens and sessions end at once, what the user did stays.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is no such user, or when no administrator who can
/// sign in would be left.
pub fn remove(tx: &Tx<'_>, ctx: &Context, email: &str) -> Result<()> {
    let user = find(tx, email)?;
    // Tokens and sessions go with the row, by the foreign keys.
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user.id])?;
    keep_an_administrator(tx, &user)?;
    tx.outdate_caches();
    append(tx, ctx, "delete", user.id, Some(shown(&user)), None)
}

/// Whether nobody would be left who can sign in as administrator, were this user gone.
pub fn is_last_administrator(connection: &Connection, user: UserId) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM users WHERE id = ?1 AND console_role = 'administrator' AND password_hash IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM users WHERE id <> ?1
                 AND console_role = 'administrator' AND password_hash IS NOT NULL)",
        )?
        .exists([user])?)
}

/// Refuses what would leave nobody who can sign in as administrator; asked after the change, in its
/// transaction, so that of two who step down together one stays.
fn keep_an_administrator(tx: &Tx<'_>, before: &User) -> Result<()> {
    let was_one = before.console == Some(ConsoleRole::Administrator) && before.has_password;
    if !was_one {
        return Ok(());
    }
    let left = tx
        .prepare_cached(
            "SELECT 1 FROM users WHERE console_role = 'administrator' AND password_hash IS NOT NULL",
        )?
        .exists([])?;
    if left {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "\"{}\" is the last administrator who can sign in; make another user administrator first",
            before.email
        )))
    }
}
