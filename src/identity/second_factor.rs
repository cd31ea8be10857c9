//! The second factor of a console sign-in: codes of an authenticator app (TOTP, RFC 6238: SHA-1, six
//! digits, 30 s), or one of the recovery codes, each once.

use super::users;
use crate::{
    core::Context,
    db::Tx,
    types::{
        Timestamp, UserId,
        error::{Error, Result},
        secret,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;
use totp_rs::{Builder, Totp};

/// Bytes of a secret (RFC 4226, section 4).
const SECRET_BYTES: usize = 20;
/// Recovery codes that a user has.
pub const RECOVERY_CODES: usize = 10;
/// Letters of a recovery code, of five bits each.
const RECOVERY_CHARS: usize = 12;
/// Letters of recovery codes: none that is mistaken for another when read aloud.
const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

/// A user's second factor, without its secrets.
#[derive(Debug, Clone, Copy)]
pub struct State {
    pub since: Timestamp,
    /// Recovery codes that were not used yet.
    pub recovery_left: usize,
}

/// The secret that an app and this server share. It is in no log: it has no form that could be.
#[derive(Clone)]
pub struct Shared(Vec<u8>);

impl Shared {
    /// A new secret, that nobody has yet.
    pub fn fresh() -> Result<Self> {
        let mut random = vec![0; SECRET_BYTES];
        getrandom::fill(&mut random).map_err(Error::defect)?;
        Ok(Self(random))
    }

    /// The `otpauth` address that an app reads from a QR code. `instance` and `email` are what it
    /// shows beside its codes.
    pub fn address(&self, instance: &str, email: &str) -> Result<String> {
        // A colon separates the two.
        let plain = |text: &str| text.replace(':', " ");
        Builder::new()
            .with_secret(self.0.clone())
            .with_issuer(Some(plain(instance)))
            .with_account_name(plain(email))
            .build()
            .and_then(|totp| totp.to_url())
            .map_err(Error::defect)
    }

    /// The secret in letters and digits (base 32) in groups of four, to be typed into an app.
    pub fn text(&self) -> Result<String> {
        let text = self.totp()?.secret().to_base32();
        let letters: Vec<char> = text.chars().collect();
        let groups: Vec<String> = letters
            .chunks(4)
            .map(|group| group.iter().collect())
            .collect();
        Ok(groups.join(" "))
    }

    fn totp(&self) -> Result<Totp> {
        Builder::new()
            .with_secret(self.0.clone())
            .build()
            .map_err(Error::defect)
    }

    /// The time step that a code is of, where it is of the present one or one beside it.
    fn step(&self, code: &str, now: Timestamp) -> Result<Option<i64>> {
        let seconds = u64::try_from(now.0 / 1000).unwrap_or_default();
        let code: String = code
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect();
        let step = self.totp()?.check(&code, seconds);
        Ok(step.map(|step| i64::try_from(step).unwrap_or(i64::MAX)))
    }
}

/// Returns whether a user's sign-in needs a code.
pub fn is_on(connection: &Connection, user: UserId) -> Result<bool> {
    Ok(state(connection, user)?.is_some())
}

/// A user's second factor, where it is on.
pub fn state(connection: &Connection, user: UserId) -> Result<Option<State>> {
    Ok(connection
        .prepare_cached(
            "SELECT created_at, json_array_length(recovery) FROM second_factors WHERE user_id = ?1",
        )?
        .query_row([user], |row| {
            Ok(State {
                since: row.get(0)?,
                recovery_left: row.get(1)?,
            })
        })
        .optional()?)
}

/// Turns a user's second factor on, once a code shows that the app has the secret: the recovery
/// codes, which are in clear here and nowhere else. `None` when the code is wrong.
pub fn confirm(
    tx: &Tx<'_>,
    ctx: &Context,
    user: UserId,
    shared: &Shared,
    code: &str,
) -> Result<Option<Vec<String>>> {
    if is_on(tx, user)? {
        return Err(Error::invalid(
            "there is an authenticator app already; turn it off first",
        ));
    }
    let Some(step) = shared.step(code, tx.now())? else {
        return Ok(None);
    };
    let codes = fresh_codes()?;
    tx.prepare_cached(
        "INSERT INTO second_factors (user_id, secret, used_step, recovery, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![user, shared.0, step, digests(&codes), tx.now()])?;
    users::append(
        tx,
        ctx,
        user,
        "second-factor",
        json!({"secondFactor": true}),
    )?;
    Ok(Some(codes))
}

/// Turns a user's second factor off; whether it was on.
pub fn remove(tx: &Tx<'_>, ctx: &Context, user: UserId) -> Result<bool> {
    let removed = tx
        .prepare_cached("DELETE FROM second_factors WHERE user_id = ?1")?
        .execute([user])?;
    if removed > 0 {
        users::append(
            tx,
            ctx,
            user,
            "second-factor",
            json!({"secondFactor": false}),
        )?;
    }
    Ok(removed > 0)
}

/// Gives a user other recovery codes, in clear here and nowhere else; the old ones are worth nothing
/// from then on.
pub fn renew_codes(tx: &Tx<'_>, ctx: &Context, user: UserId) -> Result<Vec<String>> {
    let codes = fresh_codes()?;
    let renewed = tx
        .prepare_cached("UPDATE second_factors SET recovery = ?2 WHERE user_id = ?1")?
        .execute(params![user, digests(&codes)])?;
    if renewed == 0 {
        return Err(Error::invalid(
            "there is no authenticator app; set one up first",
        ));
    }
    users::append(
        tx,
        ctx,
        user,
        "recovery",
        json!({"recoveryCodesLeft": codes.len()}),
    )?;
    Ok(codes)
}

/// Returns, for each of these, whether it is a recovery code of the user that was not used yet.
pub fn are_codes(connection: &Connection, user: UserId, codes: &[String]) -> Result<bool> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT recovery FROM second_factors WHERE user_id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    let left: Vec<String> = serde_json::from_str(&stored.unwrap_or_default()).unwrap_or_default();
    Ok(codes.iter().all(|code| left.contains(&digest(code))))
}

/// Takes a code: of the app, unless it or a later one was taken before, or a recovery code, which is
/// then used up. `false` for any other.
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
    if let Some(step) = Shared(key).step(code, tx.now())? {
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
        .execute(params![user, json!(left).to_string()])?;
    let after = json!({"recoveryCodesLeft": left.len()});
    users::append(tx, ctx, user, "recovery", after)?;
    Ok(true)
}

fn fresh_codes() -> Result<Vec<String>> {
    (0..RECOVERY_CODES)
        .map(|_| readable(RECOVERY_CHARS))
        .collect()
}

/// A random text of so many letters and digits, five bits each, in groups of four: to be read aloud
/// and typed.
pub fn readable(chars: usize) -> Result<String> {
    let mut random = vec![0; chars];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    let mut text = String::new();
    for (at, byte) in random.iter().enumerate() {
        if at > 0 && at % 4 == 0 {
            text.push('-');
        }
        text.push(char::from(LETTERS[usize::from(byte % 32)]));
    }
    Ok(text)
}

fn digests(codes: &[String]) -> String {
    let digests: Vec<String> = codes.iter().map(|code| digest(code)).collect();
    json!(digests).to_string()
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

#[cfg(test)]
mod tests;
