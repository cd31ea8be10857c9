//! Users: people who sign in with an e-mail address, in an app or in the console. Passwords come here
//! hashed already; neither they nor their hashes are in the audit.

use super::{ConsoleRole, Context, Role, Roles, password::Hashed, tokens};
use crate::{
    audit::{self, Change},
    error::{Error, Kind, Result},
    store::{Tx, error::unique_violation},
    types::{DelegateId, Patch, Timestamp, UserId, text},
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

/// What is to change of a user.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// A new password; it ends the user's tokens.
    pub password: Option<Hashed>,
    /// What the user may do in the console.
    pub console: Patch<ConsoleRole>,
    /// What the user may do in the API, instead of what it may do now.
    pub roles: Option<Roles>,
    /// The delegate that the user is.
    pub delegate: Patch<DelegateId>,
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
fn check_email(email: &str) -> Result<()> {
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

/// Changes a user.
///
/// # Errors
/// [`Kind::Invalid`] when there is no such user, [`Kind::DelegateNotFound`].
pub fn change(tx: &Tx<'_>, ctx: &Context, email: &str, change: &UserChange) -> Result<()> {
    let before = find(tx, email)?;
    let delegate = match change.delegate {
        Patch::Absent => before.delegate,
        Patch::Null => None,
        Patch::Value(delegate) => {
            check_delegate(tx, Some(delegate))?;
            Some(delegate)
        }
    };
    let console = change.console.clone().change().unwrap_or(before.console);
    tx.prepare_cached(
        "UPDATE users SET password_hash = coalesce(?2, password_hash), console_role = ?3, roles = ?4,
             delegate_id = ?5, updated_at = ?6 WHERE id = ?1",
    )?
    .execute(params![
        before.id,
        change.password.as_ref().map(Hashed::as_str),
        console.map(ConsoleRole::name),
        change.roles.unwrap_or(before.roles).to_json(),
        delegate,
        tx.now(),
    ])?;
    tx.outdate_caches();
    if change.password.is_some() {
        tokens::cancel_of_user(tx, before.id)?;
        append(tx, ctx, "password", before.id, None, None)?;
    }
    let after = find(tx, email)?;
    append(
        tx,
        ctx,
        "update",
        before.id,
        Some(shown(&before)),
        Some(shown(&after)),
    )
}

/// Removes a user; the user's tokens end at once, what the user did stays.
///
/// # Errors
/// [`Kind::Invalid`] when there is no such user.
pub fn remove(tx: &Tx<'_>, ctx: &Context, email: &str) -> Result<()> {
    let user = find(tx, email)?;
    // Tokens go with the row, by the foreign key.
    tx.prepare_cached("DELETE FROM users WHERE id = ?1")?
        .execute([user.id])?;
    tx.outdate_caches();
    append(tx, ctx, "delete", user.id, Some(shown(&user)), None)
}

/// Every user, in the order they were made.
///
/// # Errors
/// When they cannot be read.
pub fn list(connection: &Connection) -> Result<Vec<User>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, email, password_hash IS NOT NULL, console_role, roles, delegate_id, created_at, updated_at
         FROM users ORDER BY id",
    )?;
    let users = statement.query_map([], user)?;
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
///
/// # Errors
/// When it cannot be read.
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
mod tests {
    use super::*;
    use crate::{
        auth::password,
        store::{in_transaction, migrate},
    };
    use std::sync::Arc;

    fn ctx() -> Context {
        Context::of_command("admin", Arc::default())
    }

    fn in_file<T>(work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        in_transaction(&connection, Timestamp(1), work)
    }

    #[test]
    fn a_user_is_made_changed_and_removed() {
        in_file(|tx| {
            let id = create(tx, &ctx(), &NewUser::of("Ada@Example.com"))?;
            let twice = create(tx, &ctx(), &NewUser::of("ada@example.com")).unwrap_err();
            assert_eq!(twice.kind, Kind::CodeTaken);
            let promoted = UserChange {
                console: Patch::Value(ConsoleRole::Viewer),
                roles: Some(Roles::default().with(Role::DeviceRead)),
                ..UserChange::default()
            };
            change(tx, &ctx(), "ADA@example.com", &promoted)?;
            let user = find(tx, "ada@example.com")?;
            assert!(
                user.id == id
                    && user.console == Some(ConsoleRole::Viewer)
                    && user.roles.has(Role::DeviceRead)
            );
            assert_eq!(list(tx)?.len(), 1);
            remove(tx, &ctx(), "ada@example.com")?;
            assert!(remove(tx, &ctx(), "ada@example.com").is_err());
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn the_audit_tells_that_a_password_changed_and_never_which() {
        in_file(|tx| {
            create(tx, &ctx(), &NewUser::of("ada@example.com"))?;
            let changed = UserChange {
                password: Some(password::hash("correct horse")?),
                ..UserChange::default()
            };
            change(tx, &ctx(), "ada@example.com", &changed)?;
            let stored = stored_password(tx, "ada@example.com")?.unwrap().1;
            assert!(stored.unwrap().starts_with("$argon2id$"));
            let told: String = tx.query_row(
                "SELECT group_concat(action || coalesce(before, '') || coalesce(after, '')) FROM audit",
                [],
                |row| row.get(0),
            )?;
            assert!(told.contains("password") && !told.contains("argon2"), "{told}");
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_tie_needs_a_delegate_that_is_there() {
        let tied = NewUser {
            delegate: Some(DelegateId(9)),
            ..NewUser::of("ada@example.com")
        };
        let refused = in_file(|tx| create(tx, &ctx(), &tied)).unwrap_err();
        assert_eq!(refused.kind, Kind::DelegateNotFound);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "a da@example.com",
            "a@b\n",
        ] {
            assert!(
                in_file(|tx| create(tx, &ctx(), &NewUser::of(bad))).is_err(),
                "{bad}"
            );
        }
        assert!(in_file(|tx| create(tx, &ctx(), &NewUser::of("ä@bücher.example"))).is_ok());
    }
}
