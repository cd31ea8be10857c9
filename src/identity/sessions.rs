//! Sessions of the console. The file keeps a hash of each cookie's value.

use super::{ConsoleRole, users};
use crate::{
    core::{Context, texts::tx},
    db::Tx,
    types::{Timestamp, UserId, error::Result, secret},
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

/// A session ends so long after it was last used.
pub const IDLE_MS: i64 = 12 * 3600 * 1000;

/// A session ends so long after sign-in, used or not.
pub const LONGEST_MS: i64 = 7 * 24 * 3600 * 1000;

/// The user who is signed in by a session.
pub struct SignedIn {
    pub session: i64,
    pub user: UserId,
    pub email: String,
    pub role: ConsoleRole,
    pub seen_at: Timestamp,
}

/// Finds the user who is signed in by a cookie's value, while the session lasts and the user has a role.
pub fn find(connection: &Connection, token: &str, now: Timestamp) -> Result<Option<SignedIn>> {
    Ok(connection
        .prepare_cached(
            "SELECT s.id, s.user_id, u.email, u.console_role, s.seen_at
             FROM console_sessions s JOIN users u ON u.id = s.user_id
             WHERE s.hash = ?1 AND s.expires_at > ?2 AND s.seen_at > ?2 - ?3 AND u.console_role IS NOT NULL",
        )?
        .query_row(params![secret::digest(token.as_bytes()), now, IDLE_MS], |row| {
            Ok(SignedIn {
                session: row.get(0)?,
                user: row.get(1)?,
                email: row.get(2)?,
                role: row.get(3)?,
                seen_at: row.get(4)?,
            })
        })
        .optional()?)
}

/// Returns whether a session still lasts, and its user has the same role.
pub fn lasts(
    connection: &Connection,
    session: i64,
    user: UserId,
    role: ConsoleRole,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM console_sessions s JOIN users u ON u.id = s.user_id
             WHERE s.id = ?1 AND s.user_id = ?2 AND s.expires_at > ?3 AND u.console_role = ?4",
        )?
        .exists(params![session, user, Timestamp::now(), role.name()])?)
}

/// Writes down that a session was used.
pub fn touch(tx: &Tx<'_>, session: i64) -> Result<()> {
    tx.prepare_cached("UPDATE console_sessions SET seen_at = ?2 WHERE id = ?1")?
        .execute(params![session, tx.now()])?;
    Ok(())
}

/// Opens a session for a user: the cookie's value.
pub fn open(tx: &Tx<'_>, user: UserId, address: &str, agent: &str) -> Result<String> {
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

/// Returns when a user was seen last in the console.
pub fn last_seen(connection: &Connection, user: UserId) -> Result<Option<Timestamp>> {
    Ok(connection
        .prepare_cached("SELECT max(seen_at) FROM console_sessions WHERE user_id = ?1")?
        .query_row([user], |row| row.get(0))?)
}

/// A session as its owner sees it.
pub struct Session {
    pub id: i64,
    pub address: String,
    pub agent: String,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
}

impl Session {
    /// The browser in words, such as `Firefox on Windows`; as it names itself where it is none of
    /// the usual ones.
    pub fn browser(&self) -> String {
        // In this order: most of them name those after them, too.
        let browsers = [
            ("Edg", "Edge"),
            ("OPR/", "Opera"),
            ("Firefox/", "Firefox"),
            ("FxiOS/", "Firefox"),
            ("CriOS/", "Chrome"),
            ("Chrome/", "Chrome"),
            ("Safari/", "Safari"),
        ];
        let systems = [
            ("Android", "Android"),
            ("iPhone", "iPhone"),
            ("iPad", "iPad"),
            ("Windows", "Windows"),
            ("Mac OS X", "Mac"),
            ("CrOS", "ChromeOS"),
            ("Linux", "Linux"),
        ];
        let named = |names: &[(&str, &'static str)]| {
            let found = names.iter().find(|(mark, _)| self.agent.contains(mark));
            found.map(|(_, name)| *name)
        };
        match (named(&browsers), named(&systems)) {
            (Some(browser), Some(system)) => {
                let text = tx("account-browser-on-system").with("browser", browser);
                text.with("system", system).to_string()
            }
            (Some(browser), None) => browser.to_owned(),
            _ if self.agent.is_empty() => "unnamed browser".to_owned(),
            _ => self.agent.clone(),
        }
    }
}

/// The sessions that go on.
pub fn ids(connection: &Connection, now: Timestamp) -> Result<Vec<i64>> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM console_sessions WHERE expires_at > ?1")?;
    let ids = statement.query_map([now], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// The sessions of a user that go on, the newest first.
pub fn of_user(connection: &Connection, user: UserId, now: Timestamp) -> Result<Vec<Session>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, address, agent, created_at, seen_at FROM console_sessions
         WHERE user_id = ?1 AND expires_at > ?2 AND seen_at > ?2 - ?3 ORDER BY id DESC",
    )?;
    let sessions = statement.query_map(params![user, now, IDLE_MS], |row| {
        Ok(Session {
            id: row.get(0)?,
            address: row.get(1)?,
            agent: row.get(2)?,
            created_at: row.get(3)?,
            seen_at: row.get(4)?,
        })
    })?;
    Ok(sessions.collect::<rusqlite::Result<_>>()?)
}

/// Signs a user out of one session; whether there was one.
pub fn end(tx: &Tx<'_>, user: UserId, session: i64) -> Result<bool> {
    let ended = tx
        .prepare_cached("DELETE FROM console_sessions WHERE id = ?1 AND user_id = ?2")?
        .execute(params![session, user])?;
    Ok(ended > 0)
}

/// Ends every session of a user, but for one; how many there were.
pub fn end_all(tx: &Tx<'_>, user: UserId, but: Option<i64>) -> Result<usize> {
    Ok(tx
        .prepare_cached("DELETE FROM console_sessions WHERE user_id = ?1 AND id IS NOT ?2")?
        .execute(params![user, but])?)
}

/// Returns the words for what ending one session came to.
pub fn told_end(ended: usize) -> &'static str {
    if ended == 0 {
        "The session had ended already."
    } else {
        "Session ended."
    }
}

/// Audits that sessions of a user were ended other than by signing out.
pub fn audit_end(tx: &Tx<'_>, ctx: &Context, user: UserId, ended: usize) -> Result<()> {
    if ended == 0 {
        return Ok(());
    }
    let after = json!({"sessionsEnded": ended});
    users::append(tx, ctx, user, "end-sessions", after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_told_in_words() {
        for (agent, told) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            ("curl/8.9", "curl/8.9"),
            ("", "unnamed browser"),
        ] {
            let session = Session {
                id: 1,
                address: String::new(),
                agent: agent.to_owned(),
                created_at: Timestamp(1),
                seen_at: Timestamp(1),
            };
            assert_eq!(session.browser(), told);
        }
    }
}
