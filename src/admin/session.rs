//! Who is signed in: a cookie with a random value, whose SHA-256 stands in the file, so that a
//! session can be listed and ended from anywhere and ends at once.

use super::{CurrentUser, RequestContext};
use crate::{
    core::keyed::Key,
    db::Tx,
    identity::{ConsoleRole, sessions::IDLE_MS},
    types::{
        Timestamp, UserId,
        error::{Error, Result},
        secret,
    },
};
use poem::http::HeaderValue;
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

/// What the cookie's name begins with; the rest is the instance's, see [`cookie_name`].
const COOKIE: &str = "gatepost_console";
/// A session ends so long after sign-in, used or not.
const LONGEST_MS: i64 = 7 * 24 * 3600 * 1000;
/// That a session is used is written down once in so long.
const SEEN_EVERY_MS: i64 = 60 * 1000;

/// The visitor, where the request has the cookie of a session that goes on.
pub(super) fn of(request: &RequestContext) -> Result<Option<CurrentUser>> {
    let Some(cookie) = request.console.session_cookie()? else {
        return Ok(None);
    };
    let Some(token) = request
        .cookie(cookie)
        .filter(|token| secret::well_formed(token))
    else {
        return Ok(None);
    };
    let now = Timestamp::now();
    let found = request
        .console
        .store
        .look_up(|connection| find(connection, token, now))?;
    let Some((current_user, seen_at)) = found else {
        return Ok(None);
    };
    if now.0 - seen_at.0 > SEEN_EVERY_MS {
        let (console, session) = (request.console.clone(), current_user.session);
        tokio::spawn(async move {
            let seen = console.store.write(move |tx| seen(tx, session)).await;
            if let Err(cause) = seen {
                tracing::debug!("session: {cause}");
            }
        });
    }
    Ok(Some(current_user))
}

fn find(
    connection: &Connection,
    token: &str,
    now: Timestamp,
) -> Result<Option<(CurrentUser, Timestamp)>> {
    let found = connection
        .prepare_cached(
            "SELECT s.id, s.user_id, u.email, u.console_role, s.seen_at
             FROM console_sessions s JOIN users u ON u.id = s.user_id
             WHERE s.hash = ?1 AND s.expires_at > ?2 AND s.seen_at > ?2 - ?3 AND u.console_role IS NOT NULL",
        )?
        .query_row(params![secret::digest(token.as_bytes()), now, IDLE_MS], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get::<_, String>(3)?,
                row.get(4)?,
            ))
        })
        .optional()?;
    let Some((session, user, email, role, seen_at)) = found else {
        return Ok(None);
    };
    let current_user = CurrentUser {
        user,
        email,
        role: ConsoleRole::parse(&role)?,
        session,
        csrf: csrf(token),
    };
    Ok(Some((current_user, seen_at)))
}

/// Whether a session goes on, with the same role.
pub(super) fn goes_on(connection: &Connection, current_user: &CurrentUser) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM console_sessions s JOIN users u ON u.id = s.user_id
             WHERE s.id = ?1 AND s.user_id = ?2 AND s.expires_at > ?3 AND u.console_role = ?4",
        )?
        .exists(params![
            current_user.session,
            current_user.user,
            Timestamp::now(),
            current_user.role.name()
        ])?)
}

/// Made from the cookie, which no other site can read.
fn csrf(token: &str) -> String {
    secret::hex(&secret::digest(format!("csrf {token}").as_bytes()))
}

fn seen(tx: &Tx<'_>, session: i64) -> Result<()> {
    tx.prepare_cached("UPDATE console_sessions SET seen_at = ?2 WHERE id = ?1")?
        .execute(params![session, tx.now()])?;
    Ok(())
}

/// The cookie's name on an instance. Cookies know no ports: two servers on one host would otherwise
/// sign each other's users out. The path is in it, too, since a copy of a file has the file's key.
pub(super) fn cookie_name(key: &Key, file: &Path) -> Result<String> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let hash = key.hash(format!("console cookie {}", file.display()).as_bytes())?;
    Ok(format!("{COOKIE}_{}", secret::hex(&hash[..4])))
}

/// Opens a session for a user: the cookie's value.
pub(super) fn open(tx: &Tx<'_>, user: UserId, address: &str, agent: &str) -> Result<String> {
    tx.prepare_cached("DELETE FROM console_sessions WHERE expires_at <= ?1 OR seen_at <= ?1 - ?2")?
        .execute(params![tx.now(), IDLE_MS])?;
    let token = secret::fresh()?;
    let agent: String = agent.chars().take(200).collect();
    tx.prepare_cached(
        "INSERT INTO console_sessions (hash, user_id, address, agent, created_at, seen_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)",
    )?
    .execute(params![
        secret::digest(token.as_bytes()),
        user,
        address,
        agent,
        tx.now(),
        Timestamp(tx.now().0 + LONGEST_MS),
    ])?;
    Ok(token)
}

/// The header that gives a browser its cookie, or takes it away.
pub(super) fn set_cookie(cookie: &str, token: Option<&str>, secure: bool) -> Result<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let text = match token {
        Some(token) => format!(
            "{cookie}={token}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={}{secure}",
            LONGEST_MS / 1000
        ),
        None => format!("{cookie}=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0{secure}"),
    };
    HeaderValue::from_str(&text).map_err(Error::defect)
}
