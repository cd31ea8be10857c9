//! Signing in by a code, in place of a password (spec: Authentication, rule 1).

use crate::{
    core::{Context, keyed::Key, settings::OneTimePasswords},
    db::Tx,
    identity::users::{self, NewUser, UserChange},
    types::{DelegateId, Patch, Timestamp, UserId, error::Result},
};
use rusqlite::{Connection, OptionalExtension, params};

/// The digits of a code.
pub const DIGITS: usize = 6;
/// The most guesses at one code.
const TRIES_MAX: i64 = 5;

/// Returns whether a password has the form of a code. No real password has: those are longer.
pub fn is_code(password: &str) -> bool {
    password.len() == DIGITS && password.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a code was sent to an e-mail address, or would have been, and has not ended.
pub fn is_pending(connection: &Connection, email: &str) -> Result<bool> {
    let Some(key) = Key::find(connection)? else {
        return Ok(false);
    };
    Ok(connection
        .prepare_cached("SELECT 1 FROM one_time_passwords WHERE address = ?1 AND expires_at > ?2")?
        .exists(params![key.hash_address(email)?, Timestamp::now()])?)
}

/// Takes one of the guesses at the code of an e-mail address: the hash to compare with. `None` when
/// there is no code, or it was guessed at too often.
pub fn take_try(tx: &Tx<'_>, email: &str) -> Result<Option<String>> {
    let Some(key) = Key::find(tx)? else {
        return Ok(None);
    };
    // Counted before it is looked at: of a thousand that come at once, five are.
    Ok(tx
        .prepare_cached(
            "UPDATE one_time_passwords SET tries = tries + 1
             WHERE address = ?1 AND tries < ?2 AND expires_at > ?3 RETURNING code_hash",
        )?
        .query_row(
            params![key.hash_address(email)?, TRIES_MAX, tx.now()],
            |row| row.get(0),
        )
        .optional()?)
}

/// Uses a code up that was right: its user, made now where that is allowed, and tied to the one
/// delegate who has the e-mail address (contract §4). `None` when somebody else was faster, or may
/// not be a user.
pub fn redeem(tx: &Tx<'_>, ctx: &Context, email: &str, hash: &str) -> Result<Option<UserId>> {
    let policy = ctx.settings.one_time_passwords;
    let Some(key) = Key::find(tx)?.filter(|_| policy != OneTimePasswords::Off) else {
        return Ok(None);
    };
    let used = tx
        .prepare_cached(
            "DELETE FROM one_time_passwords WHERE address = ?1 AND code_hash = ?2 AND expires_at > ?3",
        )?
        .execute(params![key.hash_address(email)?, hash, tx.now()])?;
    if used == 0 {
        return Ok(None);
    }
    let known: Option<(UserId, Option<DelegateId>)> = tx
        .prepare_cached("SELECT id, delegate_id FROM users WHERE email = ?1")?
        .query_row([email], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let delegate = only_delegate(tx, email)?.map(|found| found.0);
    // Whoever writes another's address into its own record must not come by that person's sign-in.
    let free = match delegate {
        Some(delegate) => !tx
            .prepare_cached("SELECT 1 FROM users WHERE delegate_id = ?1")?
            .exists([delegate])?,
        None => false,
    };
    let tie = delegate.filter(|_| free);
    match known {
        Some((user, None)) if tie.is_some() => {
            let change = UserChange {
                delegate: tie.map_or(Patch::Absent, Patch::Value),
                ..UserChange::default()
            };
            users::change(tx, ctx, email, &change)?;
            Ok(Some(user))
        }
        Some((user, _)) => Ok(Some(user)),
        None => {
            let may = match policy {
                OneTimePasswords::Off | OneTimePasswords::Users => false,
                OneTimePasswords::Delegates => delegate.is_some(),
                OneTimePasswords::Anyone => true,
            };
            if !may {
                return Ok(None);
            }
            let new = NewUser {
                delegate: tie,
                ..NewUser::of(email)
            };
            users::create(tx, ctx, &new).map(Some)
        }
    }
}

/// The one delegate who has an e-mail address, with the address as stored; `None`
/// where nobody has it, or several do.
pub fn only_delegate(connection: &Connection, email: &str) -> Result<Option<(DelegateId, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, email FROM delegates
         WHERE email = ?1 COLLATE NOCASE AND email IS NOT NULL AND deleted_at IS NULL LIMIT 2",
    )?;
    let found = statement.query_map([email], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found: Vec<_> = found.collect::<rusqlite::Result<_>>()?;
    Ok(found.pop().filter(|_| found.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_six_digits_and_nothing_else() {
        for (text, code) in [
            ("123456", true),
            ("000000", true),
            ("12345", false),
            ("1234567", false),
            ("12345a", false),
            ("１２３４５６", false),
            ("", false),
        ] {
            assert_eq!(is_code(text), code, "{text}");
        }
    }
}
