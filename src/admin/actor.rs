//! Actors of the audit, as people know them.

use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};

/// Who an actor of the audit is: a user by e-mail address, an app by its name.
pub fn called(connection: &Connection, actor: &str) -> Result<String> {
    let email = match actor
        .strip_prefix("user:")
        .and_then(|id| id.parse::<i64>().ok())
    {
        Some(user) => connection
            .prepare_cached("SELECT email FROM users WHERE id = ?1")?
            .query_row([user], |row| row.get::<_, String>(0))
            .optional()?,
        None => None,
    };
    Ok(match actor.split_once(':') {
        Some(("user", id)) => email.unwrap_or_else(|| format!("a user who is gone ({id})")),
        Some(("client", name)) => format!("the app {name}"),
        Some(("import", _)) => "an import".to_owned(),
        _ if actor == "cli" => "the command line".to_owned(),
        _ => actor.to_owned(),
    })
}
