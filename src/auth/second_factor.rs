//! The second factor of a console sign-in: codes of an authenticator app (TOTP, RFC 6238: SHA-1, six
//! digits, 30 s), or one of the recovery codes, each once.

use super::{Context, secret};
use crate::{
    audit::{self, Change},
    error::{Error, Result},
    store::Tx,
    types::UserId,
};
use rusqlite::{Connection, OptionalExtension, params};
use totp_rs::{Builder, Totp};

/// Whether a user's sign-in needs a code.
///
/// # Errors
/// When it cannot be read.
pub fn is_on(connection: &Connection, user: UserId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM second_factors WHERE user_id = ?1")?
        .exists([user])?)
}

fn totp(secret: &[u8]) -> Result<Totp> {
    Builder::new()
        .with_secret(secret.to_vec())
        .build()
        .map_err(Error::defect)
}

/// Takes a code: of the app, unless it or a later one was taken before, or a recovery code, which is
/// then used up. `false` for any other.
///
/// # Errors
/// When it cannot be looked up or written.
pub fn take(tx: &Tx<'_>, ctx: &Context, user: UserId, code: &str) -> Result<bool> {
    let found: Option<(Vec<u8>, i64, String)> = tx
        .prepare_cached(
            "SELECT secret, used_step, recovery FROM second_factors WHERE user_id = ?1",
        )?
        .query_row([user], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((key, used_step, recovery)) = found else {
        return Ok(false);
    };
    let seconds = u64::try_from(tx.now().0 / 1000).unwrap_or_default();
    if let Some(step) = totp(&key)?.check(code, seconds) {
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        if step <= used_step {
            return Ok(false);
        }
        tx.prepare_cached("UPDATE second_factors SET used_step = ?2 WHERE user_id = ?1")?
            .execute(params![user, step])?;
        return Ok(true);
    }
    let mut left: Vec<String> = serde_json::from_str(&recovery).unwrap_or_default();
    let given = digest(code);
    let Some(at) = left.iter().position(|known| *known == given) else {
        return Ok(false);
    };
    left.remove(at);
    tx.prepare_cached("UPDATE second_factors SET recovery = ?2 WHERE user_id = ?1")?
        .execute(params![user, serde_json::json!(left).to_string()])?;
    audit::append(
        tx,
        ctx,
        &Change {
            action: "recovery",
            record_type: "user",
            record_id: Some(user.0),
            before: None,
            after: Some(serde_json::json!({"recoveryCodesLeft": left.len()})),
        },
    )?;
    Ok(true)
}

/// Recovery codes are compared without white space, dashes and the case of letters.
fn digest(code: &str) -> String {
    let plain: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    secret::hex(&secret::digest(plain.as_bytes()))
}
