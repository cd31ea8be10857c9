//! An attendee who looks themselves up at a kiosk. Whoever knows neither their e-mail address nor their
//! name finds nobody.

use crate::types::{
    error::{Error, Result},
    text::letters,
};
use rusqlite::Connection;
use serde::Deserialize;

/// Attendees that are found at the most.
pub const FOUND_MAX: usize = 5;

/// Everybody who has an e-mail address.
const OF_EMAIL: &str = "SELECT id, coalesce(first_name, ''), coalesce(last_name, '') FROM delegates
     WHERE email = ?1 COLLATE NOCASE AND deleted_at IS NULL ORDER BY id";

/// The body of a look-up.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindInput {
    pub place: i64,
    name: String,
    email: String,
}

/// Whom somebody says that they are.
pub struct Claim {
    /// Letters and digits of the last or the whole name.
    name: String,
    email: String,
}

impl Claim {
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a name or an address that has nothing in it.
    pub fn new(input: &FindInput) -> Result<Self> {
        let claim = Self {
            name: letters(&input.name),
            email: input.email.trim().to_owned(),
        };
        if claim.name.is_empty() {
            return Err(Error::invalid("name: must have letters"));
        }
        if claim.email.is_empty() {
            return Err(Error::invalid("email: must not be empty"));
        }
        Ok(claim)
    }

    /// The delegates who have this e-mail address and this last or whole name.
    pub fn find(&self, connection: &Connection) -> Result<Vec<i64>> {
        let mut statement = connection.prepare_cached(OF_EMAIL)?;
        let mut rows = statement.query([&self.email])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let (first, last): (String, String) = (row.get(1)?, row.get(2)?);
            if [&last, &format!("{first} {last}")]
                .iter()
                .any(|name| letters(name) == self.name)
            {
                found.push(row.get(0)?);
                if found.len() == FOUND_MAX {
                    break;
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;

    /// However many attendees there are.
    #[test]
    fn people_are_found_by_the_index_of_addresses() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let plan: String = file
            .query_row(&format!("EXPLAIN QUERY PLAN {OF_EMAIL}"), ["a"], |row| {
                row.get(3)
            })
            .unwrap();
        assert_eq!(
            plan,
            "SEARCH delegates USING INDEX delegates_email (email=?)"
        );
    }
}
