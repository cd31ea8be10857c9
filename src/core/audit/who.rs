//! The people and clients behind `user:7` and `client:gate-b`, and back: people know an e-mail address and a name.

use super::Actors;
use crate::{
    core::texts::{say, tx},
    types::{error::Result, text},
};
use rusqlite::{Connection, OptionalExtension, params};

/// Users and clients that a text may mean.
const MOST: i64 = 50;

/// An actor as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A user: e-mail address and, while there is one, the id.
    User(String, Option<i64>),
    /// A client: name and, while there is one, the row's id.
    Client(String, Option<i64>),
    /// The command line.
    CommandLine,
    /// An import of a file.
    Import(String),
    /// Another actor, as the audit names it.
    Other(String),
}

impl Actor {
    /// The actor of a name in the audit. Users who were removed are named as they were.
    pub fn of(connection: &Connection, actor: &str) -> Result<Self> {
        match actor.split_once(':') {
            Some(("user", id)) => user(connection, id),
            Some(("client", client_id)) => {
                let found = connection
                    .prepare_cached("SELECT id, name FROM clients WHERE client_id = ?1")?
                    .query_row([client_id], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                Ok(match found {
                    Some((id, name)) => Self::Client(name, Some(id)),
                    None => Self::Client(client_id.to_owned(), None),
                })
            }
            Some(("import", file)) => Ok(Self::Import(file.to_owned())),
            _ if actor == "cli" => Ok(Self::CommandLine),
            _ => Ok(Self::Other(actor.to_owned())),
        }
    }

    /// The name by which people know the actor.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::User(email, Some(_)) => email.clone(),
            Self::User(email, None) => format!("{email} (removed)"),
            Self::Client(name, _) => name.clone(),
            Self::CommandLine => "command line".to_owned(),
            Self::Import(file) => format!("import of {file}"),
            Self::Other(name) => name.clone(),
        }
    }

    /// As [`Actor::name`], in the language of the page; what people called themselves stays.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::User(email, None) => tx("audit-email-removed").with("email", email).to_string(),
            Self::CommandLine => say("command line"),
            Self::Import(file) => tx("audit-import-of-file").with("file", file).to_string(),
            Self::User(..) | Self::Client(..) | Self::Other(_) => self.name(),
        }
    }
}

fn user(connection: &Connection, id: &str) -> Result<Actor> {
    let there: Option<String> = connection
        .prepare_cached("SELECT email FROM users WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if let Some(email) = there {
        return Ok(Actor::User(email, id.parse().ok()));
    }
    let removed: Option<Option<String>> = connection
        .prepare_cached(
            "SELECT json_extract(before, '$.email') FROM audit
             WHERE record_type = 'user' AND record_id = ?1 AND action = 'delete' AND json_valid(before)",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let name = removed.flatten().unwrap_or_else(|| format!("user {id}"));
    Ok(Actor::User(name, None))
}

/// The actors that a text may mean: part of an e-mail address or of a client's name, the words for
/// the command line and for imports, or an actor as the audit names it.
pub fn meant(connection: &Connection, asked: &str) -> Result<Actors> {
    let part = text::fold(asked);
    let mut names = Vec::new();
    if asked == "console" || asked.contains(':') {
        names.push(asked.to_owned());
    }
    if part == "cli" || "command line".contains(&part) {
        names.push("cli".to_owned());
    }
    let mut gather = |sql: &str| -> Result<()> {
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_map(params![part, MOST], |row| row.get::<_, String>(0))?;
        for name in found {
            names.push(name?);
        }
        Ok(())
    };
    gather("SELECT 'user:' || id FROM users WHERE text_contains(email, ?1) LIMIT ?2")?;
    gather(
        "SELECT 'client:' || client_id FROM clients
         WHERE text_contains(name, ?1) OR text_contains(client_id, ?1) LIMIT ?2",
    )?;
    // Users are few: those who were removed are found through the index by type.
    gather(
        "SELECT 'user:' || record_id FROM audit
         WHERE record_type = 'user' AND action = 'delete' AND json_valid(before)
           AND text_contains(json_extract(before, '$.email'), ?1) LIMIT ?2",
    )?;
    Ok(Actors {
        names,
        imports: "import".contains(&part),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{connection::prepare, migrate};

    fn filled() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        prepare(&connection).unwrap();
        migrate::create(&connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO users (id, email, roles, created_at, updated_at) VALUES (7, 'Ada@example.com', '[]', 1, 1);
                 INSERT INTO clients (id, client_id, secret_hash, name, roles, scopes, created_at)
                     VALUES (3, 'gate-b-1', x'00', 'Gate B', '[]', '[]', 1);
                 INSERT INTO audit (at, actor, action, record_type, record_id, before)
                     VALUES (1, 'cli', 'delete', 'user', 8, '{\"email\": \"bob@example.com\"}');",
            )
            .unwrap();
        connection
    }

    #[test]
    fn an_actor_is_called_what_people_call_it() {
        let connection = filled();
        for (actor, name) in [
            ("user:7", "Ada@example.com"),
            ("user:8", "bob@example.com (removed)"),
            ("user:9", "user 9 (removed)"),
            ("client:gate-b-1", "Gate B"),
            ("client:gone", "gone"),
            ("cli", "command line"),
            ("import:list:2.csv", "import of list:2.csv"),
            ("console", "console"),
        ] {
            assert_eq!(Actor::of(&connection, actor).unwrap().name(), name);
        }
    }

    #[test]
    fn a_text_means_whoever_is_called_so() {
        let connection = filled();
        let names = |asked: &str| {
            let actors = meant(&connection, asked).unwrap();
            (actors.names, actors.imports)
        };
        assert_eq!(names("ada@"), (vec!["user:7".to_owned()], false));
        assert_eq!(names("BOB"), (vec!["user:8".to_owned()], false));
        assert_eq!(names("gate b"), (vec!["client:gate-b-1".to_owned()], false));
        assert_eq!(names("Command line"), (vec!["cli".to_owned()], false));
        assert_eq!(names("import"), (vec![], true));
        assert_eq!(names("nobody"), (vec![], false));
        assert_eq!(meant(&connection, "user:7").unwrap().names, ["user:7"]);
    }
}
