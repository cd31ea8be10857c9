//! Users: people who sign in with an e-mail address, in an app or in the console. Passwords come here
//! hashed already; neither they nor their hashes are in the audit.

mod change;

pub use change::{UserChange, change, edit, is_last_administrator, remove};

use super::{ConsoleRole, Role, Roles, password::Hashed};
use crate::core::Context;
use crate::{
    core::audit::{self, Change},
    db::{Tx, error::unique_violation},
    types::{
        DelegateId, Timestamp, UserId,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

/// The longest e-mail address (RFC 5321), in characters.
const EMAIL_MAX_CHARS: usize = 254;

/// What a new user is to be.
#[derive(Debug, Clone, Default)]
pub struct NewUser {
    /// The e-mail address, by which the user signs in.
    pub email: String,
    /// The password; without one the user signs in by one-time passwords only.
    pub password: Option<Hashed>,
    /// What the user may do in the console; `None`: nothing.
    pub console: Option<ConsoleRole>,
    /// What the user may do in the API.
    pub roles: Roles,
    /// The delegate that the user is.
    pub delegate: Option<DelegateId>,
}

impl NewUser {
    /// A user with an e-mail address and nothing else.
    #[must_use]
    pub fn of(email: &str) -> Self {
        Self {
            email: email.to_owned(),
            ..Self::default()
        }
    }
}

/// A user as it stands in the file, without its password.
#[derive(Debug, Clone)]
pub struct User {
    /// The row's id.
    pub id: UserId,
    /// The e-mail address.
    pub email: String,
    /// Whether there is a password.
    pub has_password: bool,
    /// What the user may do in the console; `None`: nothing.
    pub console: Option<ConsoleRole>,
    /// What the user may do in the API.
    pub roles: Roles,
    /// The delegate that the user is.
    pub delegate: Option<DelegateId>,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When the user was changed last.
    pub updated_at: Timestamp,
}

impl User {
    /// Whether this role lets a user into the console whose password may be weak, as those of apps are.
    #[must_use]
    pub fn is_promotion(&self, console: Option<ConsoleRole>) -> bool {
        self.has_password && self.console.is_none() && console.is_some()
    }
}

/// Makes a user.
///
/// # Errors
/// [`Kind::Invalid`] for what is no e-mail address, [`Kind::CodeTaken`] when a user has it,
/// [`Kind::DelegateNotFound`].
pub fn create(tx: &Tx<'_>, ctx: &Context, new: &NewUser) -> Result<UserId> {
    check_email(&new.email)?;
    check_delegate(tx, new.delegate)?;
    tx.prepare_cached(
        "INSERT INTO users (email, password_hash, console_role, roles, delegate_id, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    )?
    .execute(params![
        new.email,
        new.password.as_ref().map(Hashed::as_str),
        new.console.map(ConsoleRole::name),
        new.roles.to_json(),
        new.delegate,
        tx.now(),
    ])
    .map_err(|cause| taken(cause, &new.email))?;
    let made = find(tx, &new.email)?;
    append(tx, ctx, "create", made.id, None, Some(shown(&made)))?;
    Ok(made.id)
}

fn taken(cause: rusqlite::Error, email: &str) -> Error {
    match unique_violation(&cause) {
        Some(_) => Error::new(
            Kind::CodeTaken,
            format!(
                "email: there is a user \"{}\" already",
                text::shortened(email)
            ),
        ),
        None => cause.into(),
    }
}

/// Enough to catch a slip; whether mail arrives shows when some is sent.
///
/// # Errors
/// [`Kind::Invalid`] for what is no e-mail address.
pub fn check_email(email: &str) -> Result<()> {
    let (name, domain) = email.rsplit_once('@').unwrap_or_default();
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if name.is_empty()
        || domain.is_empty()
        || email.contains(odd)
        || email.chars().count() > EMAIL_MAX_CHARS
    {
        return Err(Error::invalid(format!(
            "email: \"{}\" is not an e-mail address",
            text::shortened(email)
        )));
    }
    Ok(())
}

fn check_delegate(tx: &Tx<'_>, delegate: Option<DelegateId>) -> Result<()> {
    let Some(delegate) = delegate else {
        return Ok(());
    };
    tx.prepare_cached("SELECT id FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([delegate], |row| row.get::<_, DelegateId>(0))
        .optional()?
        .map(|_| ())
        .ok_or_else(|| {
            Error::new(
                Kind::DelegateNotFound,
                format!("there is no delegate {delegate}"),
            )
        })
}

/// Every user, in the order they were made.
pub fn list(connection: &Connection) -> Result<Vec<User>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
         FROM users ORDER BY id",
    )?;
    let users = statement.query_map([], user)?;
    Ok(users.collect::<rusqlite::Result<_>>()?)
}

/// Whether anybody can administer the console.
pub fn has_administrator(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM users WHERE console_role = 'administrator'")?
        .exists([])?)
}

/// A page of users, the newest first: those made before `before` in whose e-mail address this text
/// is; with `console`, only those whom the console lets in.
pub fn page(
    connection: &Connection,
    part: &str,
    console: bool,
    before: Option<UserId>,
    limit: usize,
) -> Result<Vec<User>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
         FROM users
         WHERE id < ?1 AND (NOT ?2 OR console_role IS NOT NULL) AND text_contains(email, ?3)
         ORDER BY id DESC LIMIT ?4",
    )?;
    let before = before.map_or(i64::MAX, |before| before.0);
    let users = statement.query_map(params![before, console, text::fold(part), limit], user)?;
    Ok(users.collect::<rusqlite::Result<_>>()?)
}

/// The user of an e-mail address, whatever the case of its letters.
///
/// # Errors
/// [`Kind::Invalid`] when there is none.
pub fn find(connection: &Connection, email: &str) -> Result<User> {
    connection
        .prepare_cached(
            "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
             FROM users WHERE email = ?1",
        )?
        .query_row([email], user)
        .optional()?
        .ok_or_else(|| {
            Error::invalid(format!("there is no user \"{}\"", text::shortened(email)))
        })
}

/// A user by its id.
///
/// # Errors
/// [`Kind::NoSuchPath`] when there is none.
pub fn get(connection: &Connection, id: UserId) -> Result<User> {
    connection
        .prepare_cached(
            "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
             FROM users WHERE id = ?1",
        )?
        .query_row([id], user)
        .optional()?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such user"))
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        id: row.get(0)?,
        email: row.get(1)?,
        has_password: row.get(2)?,
        console: row
            .get::<_, Option<String>>(3)?
            .and_then(|name| ConsoleRole::parse(&name).ok()),
        roles: Roles::from_json(&row.get::<_, String>(4)?),
        delegate: row.get(5)?,
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
    })
}

/// A user's id and stored password, for signing in.
pub fn stored_password(
    connection: &Connection,
    email: &str,
) -> Result<Option<(UserId, Option<String>)>> {
    let found = connection
        .prepare_cached("SELECT id, password_hash FROM users WHERE email = ?1")?
        .query_row([email], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    user: UserId,
    before: Option<Value>,
    after: Option<Value>,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "user",
            record_id: Some(user.0),
            before,
            after,
        },
    )
}

/// What may be shown of a user.
#[must_use]
pub fn shown(user: &User) -> Value {
    json!({
        "id": user.id,
        "email": user.email,
        "console": user.console.map(ConsoleRole::name),
        "roles": user.roles.iter().map(Role::name).collect::<Vec<_>>(),
        "delegate": user.delegate,
        "hasPassword": user.has_password,
    })
}

#[cfg(test)]
mod tests;
