//! Rows that mean a person by the e-mail address, where no code is the key.

use crate::types::error::{Error, Result};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Keys by which a row means a person and not a code.
pub const EMAIL: &str = "email";
pub const NAME_AND_EMAIL: &str = "name+email";

/// A person as a row means one: the e-mail address, and the names where they count.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Person {
    pub email: String,
    /// First and last name.
    pub names: Option<[String; 2]>,
}

/// The person that a row means, where the key is one.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] without an e-mail address.
pub fn person(key: &str, body: &Map<String, Value>) -> Result<Option<Person>> {
    if key != EMAIL && key != NAME_AND_EMAIL {
        return Ok(None);
    }
    let text = |name: &str| {
        body.get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim()
    };
    let email = text(EMAIL).to_ascii_lowercase();
    if email.is_empty() {
        let reason = "is empty; it is the key that the row is matched by";
        return Err(Error::field(EMAIL, reason));
    }
    let names = ["firstName", "lastName"].map(|name| text(name).to_owned());
    Ok(Some(Person {
        email,
        names: (key == NAME_AND_EMAIL).then_some(names),
    }))
}

/// The living delegate that is meant.
pub fn by_person(connection: &Connection, person: &Person) -> Result<Option<i64>> {
    let [first, last] = person.names.clone().unwrap_or_default();
    let mut statement = connection.prepare_cached(
        "SELECT id FROM delegates WHERE email = ?1 COLLATE NOCASE AND email IS NOT NULL AND deleted_at IS NULL
         AND (?2 OR coalesce(first_name, '') = ?3 AND coalesce(last_name, '') = ?4) LIMIT 2",
    )?;
    let parameters = rusqlite::params![person.email, person.names.is_none(), first, last];
    let found = statement.query_map(parameters, |row| row.get(0))?;
    let found: Vec<i64> = found.collect::<rusqlite::Result<_>>()?;
    match (&found[..], &person.names) {
        ([], _) => Ok(None),
        ([one], _) => Ok(Some(*one)),
        (_, None) => Err(Error::field(
            EMAIL,
            format!("is that of several attendees; match by {NAME_AND_EMAIL}, or by a code"),
        )),
        _ => Err(Error::field(
            EMAIL,
            "is that of several attendees of this name; match by a code",
        )),
    }
}
