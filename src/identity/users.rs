//! Users: people who sign in with an e-mail address, in an app or in the console. Passwords come here
//! hashed already; neither they nor their hashes are in the audit. One administrator who can sign in
//! always stays: neither the console nor a command takes the last one away.

use super::{ConsoleRole, Role, Roles, password::Hashed, sessions, tokens};
use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::{Tx, error::unique_violation},
    types::{
        DelegateId, Patch, Timestamp, UserId,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::{Value, json};

/// The longest e-mail address (RFC 5321), in characters.
const EMAIL_MAX_CHARS: usize = 254;

#[derive(Debug, Clone, Default)]
pub struct NewUser {
    pub email: String,
    /// Without one the user signs in by one-time passwords only.
    pub password: Option<Hashed>,
    pub console: Option<ConsoleRole>,
    pub roles: Roles,
    pub delegate: Option<DelegateId>,
}

impl NewUser {
    pub fn of(email: &str) -> Self {
        Self {
            email: email.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone)]
pub struct User {
    pub id: UserId,
    pub email: String,
    pub has_password: bool,
    pub console: Option<ConsoleRole>,
    pub roles: Roles,
    pub delegate: Option<DelegateId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl User {
    /// Returns whether this role lets a user into the console whose password may be weak, as those of apps are.
    pub fn is_promotion(&self, console: Option<ConsoleRole>) -> bool {
        self.has_password && self.console.is_none() && console.is_some()
    }
}

#[derive(Debug, Clone, Default)]
pub struct UserChange {
    pub email: Option<String>,
    pub password: Option<Hashed>,
    /// The session that outlives a new password: the one in which its owner sets it.
    pub session: Option<i64>,
    pub console: Patch<ConsoleRole>,
    pub roles: Option<Roles>,
    pub delegate: Patch<DelegateId>,
}

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
    audit::append_between(tx, ctx, "user", Some(made.id.0), None, Some(shown(&made)))?;
    Ok(made.id)
}

fn taken(cause: rusqlite::Error, email: &str) -> Error {
    if unique_violation(&cause).is_none() {
        return cause.into();
    }
    let email = text::shortened(email);
    let message = format!("there is a user \"{email}\" already");
    Error::new(Kind::CodeTaken, message).at("email")
}

/// Enough to catch a slip; whether mail arrives shows when some is sent.
pub fn check_email(email: &str) -> Result<()> {
    let (name, domain) = email.rsplit_once('@').unwrap_or_default();
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    let long = email.chars().count() > EMAIL_MAX_CHARS;
    if name.is_empty() || domain.is_empty() || email.contains(odd) || long {
        let email = text::shortened(email);
        return Err(Error::field(
            "email",
            format!("\"{email}\" is not an e-mail address"),
        ));
    }
    Ok(())
}

fn check_delegate(tx: &Tx<'_>, delegate: Option<DelegateId>) -> Result<()> {
    let Some(delegate) = delegate else {
        return Ok(());
    };
    let exists = tx
        .prepare_cached("SELECT 1 FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([delegate])?;
    if exists {
        return Ok(());
    }
    let message = format!("there is no delegate {delegate}");
    Err(Error::new(Kind::DelegateNotFound, message))
}

fn select(connection: &Connection, rest: &str, parameters: impl Params) -> Result<Vec<User>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
         FROM users {rest}"
    ))?;
    let users = statement.query_map(parameters, user)?;
    Ok(users.collect::<rusqlite::Result<_>>()?)
}

/// Every user, the oldest first.
pub fn list(connection: &Connection) -> Result<Vec<User>> {
    select(connection, "ORDER BY id", [])
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
    let before = before.map_or(i64::MAX, |before| before.0);
    select(
        connection,
        "WHERE id < ?1 AND (NOT ?2 OR console_role IS NOT NULL) AND text_contains(email, ?3)
         ORDER BY id DESC LIMIT ?4",
        params![before, console, text::fold(part), limit],
    )
}

/// The user of an e-mail address, whatever the case of its letters.
pub fn find(connection: &Connection, email: &str) -> Result<User> {
    let found = select(connection, "WHERE email = ?1", [email])?.pop();
    found.ok_or_else(|| Error::invalid(format!("there is no user \"{}\"", text::shortened(email))))
}

pub fn get(connection: &Connection, id: UserId) -> Result<User> {
    let found = select(connection, "WHERE id = ?1", [id])?.pop();
    found.ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such user"))
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

/// Returns whether anybody can administer the console.
pub fn has_administrator(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM users WHERE console_role = 'administrator'")?
        .exists([])?)
}

/// Changes a user.
///
/// # Errors
/// [`Kind::Invalid`] when there is no such user, or when no administrator who can
/// sign in would be left; [`Kind::CodeTaken`],
/// [`Kind::DelegateNotFound`].
pub fn change(tx: &Tx<'_>, ctx: &Context, email: &str, change: &UserChange) -> Result<()> {
    let before = find(tx, email)?;
    write(tx, ctx, &before, change)
}

/// Changes the user of an id.
///
/// # Errors
/// As [`change`]; [`Kind::NoSuchPath`] when there is no such user.
pub fn edit(tx: &Tx<'_>, ctx: &Context, id: UserId, change: &UserChange) -> Result<()> {
    let before = get(tx, id)?;
    write(tx, ctx, &before, change)
}

fn write(tx: &Tx<'_>, ctx: &Context, before: &User, change: &UserChange) -> Result<()> {
    let email = change.email.as_ref().unwrap_or(&before.email);
    check_email(email)?;
    let delegate = match change.delegate {
        Patch::Absent => before.delegate,
        Patch::Null => None,
        Patch::Value(delegate) => {
            // One that is deleted meanwhile must not keep a user from being changed.
            if before.delegate != Some(delegate) {
                check_delegate(tx, Some(delegate))?;
            }
            Some(delegate)
        }
    };
    let console = change.console.clone().change().unwrap_or(before.console);
    if before.is_promotion(console) && change.password.is_none() {
        return Err(Error::field(
            "password",
            "whoever is let into the console needs a new one, because the strength of the present one was never checked; set it in the same step (`gatepost user set` reads it with --password-stdin)",
        ));
    }
    tx.prepare_cached(
        "UPDATE users SET email = ?7, password_hash = coalesce(?2, password_hash), console_role = ?3,
             roles = ?4, delegate_id = ?5, updated_at = ?6 WHERE id = ?1",
    )?
    .execute(params![
        before.id,
        change.password.as_ref().map(Hashed::as_str),
        console.map(ConsoleRole::name),
        change.roles.unwrap_or(before.roles).to_json(),
        delegate,
        tx.now(),
        email,
    ])
    .map_err(|cause| taken(cause, email))?;
    keep_an_administrator(tx, before)?;
    tx.outdate_caches();
    if change.password.is_some() {
        tokens::cancel_of_user(tx, before.id)?;
        sessions::end_all(tx, before.id, change.session)?;
        append(tx, ctx, before.id, "password", Value::Null)?;
    }
    if console.is_none() {
        // Otherwise they would go on, should the user be let in again.
        sessions::end_all(tx, before.id, None)?;
    }
    let after = get(tx, before.id)?;
    let (was, is) = (Some(shown(before)), Some(shown(&after)));
    audit::append_between(tx, ctx, "user", Some(before.id.0), was, is)
}

/// The language of the console that a user chose.
pub fn language(connection: &Connection, id: UserId) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT language FROM users WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?)
}

/// Keeps the language of the console that a user chose.
pub fn set_language(tx: &Tx<'_>, id: UserId, language: Option<&str>) -> Result<()> {
    tx.prepare_cached("UPDATE users SET language = ?2 WHERE id = ?1")?
        .execute(params![id, language])?;
    Ok(())
}

/// Removes a user; the user's tokens and sessions end at once, what the user did stays.
pub fn remove(tx: &Tx<'_>, ctx: &Context, email: &str) -> Result<()> {
    let user = find(tx, email)?;
    // Tokens and sessions go with the row, by the foreign keys.
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user.id])?;
    keep_an_administrator(tx, &user)?;
    tx.outdate_caches();
    audit::append_between(tx, ctx, "user", Some(user.id.0), Some(shown(&user)), None)
}

/// Returns whether nobody would be left who can sign in as administrator, were this user gone.
pub fn is_last_administrator(connection: &Connection, user: UserId) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM users WHERE id = ?1 AND console_role = 'administrator' AND password_hash IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM users WHERE id <> ?1
                 AND console_role = 'administrator' AND password_hash IS NOT NULL)",
        )?
        .exists([user])?)
}

/// Refuses what would leave nobody who can sign in as administrator; asked after the change, in its
/// transaction, so that of two who step down together one stays.
fn keep_an_administrator(tx: &Tx<'_>, before: &User) -> Result<()> {
    let was_one = before.console == Some(ConsoleRole::Administrator) && before.has_password;
    let left =
        "SELECT 1 FROM users WHERE console_role = 'administrator' AND password_hash IS NOT NULL";
    if !was_one || tx.prepare_cached(left)?.exists([])? {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "\"{}\" is the last administrator who can sign in; make another user administrator first",
        before.email
    )))
}

/// Notes in the audit something that happened to a user without changing the record.
pub(super) fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    user: UserId,
    action: &'static str,
    after: Value,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "user",
            record_id: Some(user.0),
            before: None,
            after: Some(after).filter(|after| !after.is_null()),
        },
    )
}

/// Returns the fields of a user that may be shown.
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
