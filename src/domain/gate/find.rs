//! An attendee who looks themselves up at a kiosk. Whoever knows neither the code of a ticket nor
//! an e-mail address with its name finds nobody.

use crate::{
    core::scanned::Meaning,
    domain::delegates::{self, scanned},
    types::{
        DelegateCode, DelegateSelector,
        error::{Error, Kind, Result},
        fold::{alternative, letters},
        text::{CODE_MAX_CHARS, TEXT_MAX_CHARS},
    },
};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Attendees that are found at the most.
pub const FOUND_MAX: usize = 5;

/// Everybody who has an e-mail address.
const OF_EMAIL: &str = "SELECT id, coalesce(first_name, ''), coalesce(last_name, '') FROM delegates
     WHERE email = ?1 COLLATE NOCASE AND deleted_at IS NULL ORDER BY id";

/// Somebody at a kiosk, by a ticket's code, or a name with an e-mail address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(
    rename = "GateFindInput",
    example = json!({"place": 5, "name": "Lovelace", "email": "ada@example.org"}),
)]
pub struct FindInput {
    /// The id of the place.
    #[schemars(range(min = 1))]
    pub place: i64,
    /// The last name, or the first and the last. With `email`, and without `code`.
    #[schemars(length(min = 1, max = TEXT_MAX_CHARS))]
    name: Option<String>,
    /// The whole e-mail address.
    #[schemars(length(min = 1, max = TEXT_MAX_CHARS))]
    email: Option<String>,
    /// The barcode of their ticket, in place of both.
    #[schemars(length(min = 1, max = CODE_MAX_CHARS))]
    code: Option<String>,
}

/// The person that somebody says they are.
pub enum Claim {
    /// The holder of this ticket. Other codes are no proof: they may be running numbers.
    Ticket(String),
    Person {
        /// The last or the whole name, in the spelling that names are compared in.
        name: String,
        email: String,
    },
}

impl Claim {
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a code, a name or an address that has nothing in it.
    pub fn new(input: &FindInput) -> Result<Self> {
        let code = input.code.as_deref().map(str::trim);
        if let Some(code) = code {
            if input.name.is_some() || input.email.is_some() {
                return Err(Error::field("code", "must stand alone"));
            }
            if code.is_empty() {
                return Err(Error::field("code", "must not be empty"));
            }
            return Ok(Self::Ticket(code.to_owned()));
        }
        let name = spelling(input.name.as_deref().unwrap_or_default());
        if name.is_empty() {
            return Err(Error::field("name", "must have letters"));
        }
        let email = input.email.as_deref().unwrap_or_default().trim().to_owned();
        if email.is_empty() {
            return Err(Error::field("email", "must not be empty"));
        }
        Ok(Self::Person { name, email })
    }

    /// The delegates whom this means.
    pub fn find(&self, connection: &Connection) -> Result<Vec<i64>> {
        match self {
            Self::Ticket(code) => ticket(connection, code),
            Self::Person { name, email } => people(connection, name, email),
        }
    }
}

/// The delegate whose barcode was typed, as codes are scanned.
fn ticket(connection: &Connection, code: &str) -> Result<Vec<i64>> {
    let barcode = DelegateSelector::Code(DelegateCode::Barcode, code.to_owned());
    match delegates::find(connection, &barcode) {
        Ok(delegate) => return Ok(vec![delegate.0]),
        Err(cause) if cause.kind == Kind::DelegateNotFound => {}
        Err(cause) => return Err(cause),
    }
    Ok(match scanned::meaning(connection, code)? {
        Meaning::Match(found)
            if !found.is_blocked && found.kind == DelegateCode::Barcode.name() =>
        {
            vec![found.id]
        }
        _ => Vec::new(),
    })
}

/// A name by which people are compared: folded, without spaces, in the spelling that `Müller` and `Mueller` have in
/// common.
fn spelling(name: &str) -> String {
    alternative(&letters(name))
}

/// The delegates who have this e-mail address and this last or whole name.
fn people(connection: &Connection, claimed: &str, email: &str) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(OF_EMAIL)?;
    let mut rows = statement.query([email])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (first, last): (String, String) = (row.get(1)?, row.get(2)?);
        let names = [
            &*last,
            &format!("{first} {last}"),
            &format!("{last} {first}"),
        ];
        if names.iter().any(|name| spelling(name) == claimed) {
            found.push(row.get(0)?);
            if found.len() == FOUND_MAX {
                break;
            }
        }
    }
    Ok(found)
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
