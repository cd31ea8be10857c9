//! Sessions of the console as they stand in the file, to be listed and ended. Opening one, and whose
//! cookie belongs to which, is the console's.

use crate::core::Context;
use crate::{
    core::audit::{self, Change},
    db::Tx,
    types::{Timestamp, UserId, error::Result},
};
use rusqlite::{Connection, params};
use serde_json::json;

/// A session ends so long after it was last used.
pub const IDLE_MS: i64 = 12 * 3600 * 1000;

/// A session as its owner sees it.
pub struct Session {
    /// Its id.
    pub id: i64,
    /// Where it was opened from.
    pub address: String,
    /// The browser, as it names itself.
    pub agent: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was used last, to a minute.
    pub seen_at: Timestamp,
}

impl Session {
    /// The browser in words, such as `Firefox on Windows`; as it names itself where it is none of
    /// the usual ones.
    #[must_use]
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
            (Some(browser), Some(system)) => format!("{browser} on {system}"),
            (Some(browser), None) => browser.to_owned(),
            _ if self.agent.is_empty() => "unnamed browser".to_owned(),
            _ => self.agent.clone(),
        }
    }
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

/// What ending one session came to, in words.
#[must_use]
pub fn told_end(ended: usize) -> &'static str {
    if ended == 0 {
        "There is no such session any more; nothing was ended."
    } else {
        "The session is ended."
    }
}

/// Tells the audit that sessions of a user were ended other than by signing out.
pub fn audit_end(tx: &Tx<'_>, ctx: &Context, user: UserId, ended: usize) -> Result<()> {
    if ended == 0 {
        return Ok(());
    }
    audit::append(
        tx,
        ctx,
        &Change {
            action: "end-sessions",
            record_type: "user",
            record_id: Some(user.0),
            before: None,
            after: Some(json!({"sessionsEnded": ended})),
        },
    )
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
