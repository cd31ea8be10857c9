//! Access and refresh tokens at rest: issuing, rotating, cancelling, and who holds one (contract
//! §9). A token itself is only ever in the answer that issues it; the file has its SHA-256.

mod cache;

pub use cache::TokenCache;

use super::{Principal, Role, Roles, Scope, scopes};
use crate::types::secret::{self, Digest};
use crate::{
    db::Tx,
    types::{
        ClientId, DelegateId, Timestamp, UserId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The life of an access token.
pub const ACCESS_S: i64 = 3600;
/// The life of a refresh token.
pub const REFRESH_S: i64 = 30 * 24 * 3600;
/// The time in which a used refresh token may be used again by its client: the answer with the next
/// one may have been lost on the way.
const GRACE_MS: i64 = 30_000;
/// The time of use of a refresh token that was never sent, but lost to another of the same parent:
/// longer ago than any grace.
const SUPERSEDED: Timestamp = Timestamp(0);
/// Expired tokens removed whenever some are issued: more than are issued, and never for long.
const PURGED_AT_ONCE: i64 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub client: ClientId,
    pub user: Option<UserId>,
    pub scopes: Vec<Scope>,
}

impl Holder {
    /// A client on its own behalf, with the scopes it is granted.
    pub fn of_client(client: ClientId, scopes: Vec<Scope>) -> Self {
        Self {
            client,
            user: None,
            scopes,
        }
    }

    /// A user through a client that holds these scopes. A user's token has the user's roles; of
    /// scopes those count that the client holds when it is used, see [`Principal::scopes`].
    pub fn of_user(client: ClientId, user: UserId, held: Vec<Scope>) -> Self {
        Self {
            client,
            user: Some(user),
            scopes: through_user(held),
        }
    }
}

/// The scopes of a client that count through a user's token. `TRUSTED` is a client's own: through a
/// user's token it stands for `REPORT_LIST` alone (contract §9).
pub fn through_user(held: Vec<Scope>) -> Vec<Scope> {
    let counts = |scope: &Scope| match scope {
        Scope::Trusted => false,
        Scope::ReportList => held.contains(scope) || held.contains(&Scope::Trusted),
        Scope::ReportRead => held.contains(scope),
    };
    Scope::ALL.iter().copied().filter(counts).collect()
}

/// Tokens that were just issued; the only place where they stand in clear.
pub struct Issued {
    pub access: String,
    pub refresh: Option<String>,
    pub expires_at: Timestamp,
    pub scopes: Vec<Scope>,
}

/// A refresh token that may be used.
#[derive(Debug)]
pub struct Refreshable {
    id: i64,
    family: i64,
    repeated: bool,
    pub holder: Holder,
    /// The client's public `client_id`.
    pub client_id: String,
    pub expires_at: Timestamp,
}

/// The standing of a refresh token.
#[derive(Debug)]
pub enum Presented {
    Unknown,
    /// Good for one use, or used moments ago by a client that may not have got the answer.
    Fresh(Refreshable),
    /// Used before, so somebody has a copy. Its family must be cancelled.
    Reused(i64),
}

/// Issues an access token, for a user with a refresh token, in a new family.
pub fn issue(tx: &Tx<'_>, holder: &Holder) -> Result<Issued> {
    // Random rather than counted: the rows of a family may be purged one by one while it lives.
    let family = getrandom::u64().map_err(Error::defect)?.cast_signed();
    issue_in(tx, holder, family)
}

/// Issues the next tokens of a refresh token's family and uses the refresh token up.
///
/// A repeated use gives a second successor. Whichever successor is used first stays; the use of the
/// other one then shows that two hold tokens of this sign-in, and cancels the family.
pub fn rotate(tx: &Tx<'_>, used: &Refreshable) -> Result<Issued> {
    if !used.repeated {
        tx.prepare_cached("UPDATE tokens SET used_at = ?2 WHERE id = ?1")?
            .execute(params![used.id, tx.now()])?;
        tx.prepare_cached(
            "UPDATE tokens SET used_at = ?2 WHERE family = ?1 AND kind = 'refresh' AND used_at IS NULL",
        )?
        .execute(params![used.family, SUPERSEDED])?;
    }
    issue_in(tx, &used.holder, used.family)
}

fn issue_in(tx: &Tx<'_>, holder: &Holder, family: i64) -> Result<Issued> {
    purge(tx)?;
    let access = insert(tx, holder, family, "access", ACCESS_S)?;
    let refresh = match holder.user {
        Some(_) => Some(insert(tx, holder, family, "refresh", REFRESH_S)?),
        None => None,
    };
    Ok(Issued {
        access,
        refresh,
        expires_at: after(tx.now(), ACCESS_S),
        scopes: holder.scopes.clone(),
    })
}

fn insert(tx: &Tx<'_>, holder: &Holder, family: i64, kind: &str, lasts_s: i64) -> Result<String> {
    let token = secret::fresh()?;
    tx.prepare_cached(
        "INSERT INTO tokens (hash, kind, client_id, user_id, family, scopes, issued_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        secret::digest(token.as_bytes()),
        kind,
        holder.client,
        holder.user,
        family,
        scopes::to_json(&holder.scopes),
        tx.now(),
        after(tx.now(), lasts_s),
    ])?;
    Ok(token)
}

fn after(now: Timestamp, seconds: i64) -> Timestamp {
    Timestamp(now.0 + 1000 * seconds)
}

fn purge(tx: &Tx<'_>) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM tokens WHERE id IN
             (SELECT id FROM tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
    )?
    .execute(params![tx.now(), PURGED_AT_ONCE])?;
    Ok(())
}

/// Checks the standing of a refresh token.
pub fn present(tx: &Tx<'_>, refresh_token: &str) -> Result<Presented> {
    let found = tx
        .prepare_cached(
            "SELECT t.id, t.family, t.client_id, c.client_id, t.user_id, iif(t.user_id IS NULL, t.scopes, c.scopes), t.expires_at, t.used_at,
                 EXISTS (SELECT 1 FROM tokens later WHERE later.family = t.family AND later.kind = 'refresh'
                     AND later.id > t.id AND later.used_at IS NOT NULL)
             FROM tokens t JOIN clients c ON c.id = t.client_id
             WHERE t.hash = ?1 AND t.kind = 'refresh' AND t.revoked_at IS NULL AND t.expires_at > ?2",
        )?
        .query_row(
            params![secret::digest(refresh_token.as_bytes()), tx.now()],
            |row| {
                let used_at = row.get::<_, Option<Timestamp>>(7)?;
                Ok((refreshable(row)?, used_at, row.get::<_, bool>(8)?))
            },
        )
        .optional()?;
    Ok(match found {
        None => Presented::Unknown,
        Some((token, None, _)) => Presented::Fresh(token),
        // An answer whose token was used was not lost. A clock that was put back gives no grace.
        Some((token, Some(used_at), successor_used))
            if !successor_used && (0..=GRACE_MS).contains(&(tx.now().0 - used_at.0)) =>
        {
            Presented::Fresh(Refreshable {
                repeated: true,
                ..token
            })
        }
        Some((token, ..)) => Presented::Reused(token.family),
    })
}

fn refreshable(row: &Row<'_>) -> rusqlite::Result<Refreshable> {
    let (client, scopes) = (row.get(2)?, scopes::from_json(&row.get::<_, String>(5)?));
    Ok(Refreshable {
        id: row.get(0)?,
        family: row.get(1)?,
        repeated: false,
        holder: match row.get(4)? {
            Some(user) => Holder::of_user(client, user, scopes),
            None => Holder::of_client(client, scopes),
        },
        client_id: row.get(3)?,
        expires_at: row.get(6)?,
    })
}

/// Cancels every token of a family.
pub fn cancel_family(tx: &Tx<'_>, family: i64) -> Result<()> {
    cancel(
        tx,
        "UPDATE tokens SET revoked_at = ?2 WHERE family = ?1 AND revoked_at IS NULL",
        family,
    )
}

/// Cancels a token that its client gives back (RFC 7009): an access token alone, a refresh token with
/// everything that descends from the same sign-in. Whether the token is not another client's.
pub fn revoke(tx: &Tx<'_>, client: ClientId, token: &str) -> Result<bool> {
    let found: Option<(i64, String, i64, ClientId)> = tx
        .prepare_cached(
            "SELECT id, kind, family, client_id FROM tokens WHERE hash = ?1 AND revoked_at IS NULL",
        )?
        .query_row([secret::digest(token.as_bytes())], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    match found {
        None => {}
        Some((.., holder)) if holder != client => return Ok(false),
        Some((_, kind, family, _)) if kind == "refresh" => cancel_family(tx, family)?,
        Some((id, ..)) => cancel(tx, "UPDATE tokens SET revoked_at = ?2 WHERE id = ?1", id)?,
    }
    Ok(true)
}

/// Cancels every token of a client, those of users included.
pub fn cancel_of_client(tx: &Tx<'_>, client: ClientId) -> Result<()> {
    cancel(
        tx,
        "UPDATE tokens SET revoked_at = ?2 WHERE client_id = ?1 AND revoked_at IS NULL",
        client.0,
    )
}

/// Cancels every token of a user.
pub fn cancel_of_user(tx: &Tx<'_>, user: UserId) -> Result<()> {
    cancel(
        tx,
        "UPDATE tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
        user.0,
    )
}

fn cancel(tx: &Tx<'_>, statement: &str, whose: i64) -> Result<()> {
    tx.prepare_cached(statement)?
        .execute(params![whose, tx.now()])?;
    tx.outdate_caches();
    Ok(())
}

/// A summary of the tokens of a client or a user.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    pub live: i64,
    /// The time when a token was issued last, as far back as tokens are kept.
    pub last: Option<Timestamp>,
}

/// Summarises the tokens of a client.
pub fn usage_of_client(connection: &Connection, client: ClientId, now: Timestamp) -> Result<Usage> {
    usage(connection, "client_id", client.0, now)
}

/// Summarises the tokens of a user.
pub fn usage_of_user(connection: &Connection, user: UserId, now: Timestamp) -> Result<Usage> {
    usage(connection, "user_id", user.0, now)
}

fn usage(connection: &Connection, column: &str, whose: i64, now: Timestamp) -> Result<Usage> {
    let sql = format!(
        "SELECT count(*) FILTER (WHERE kind = 'access' AND revoked_at IS NULL AND expires_at > ?2), max(issued_at)
         FROM tokens WHERE {column} = ?1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(params![whose, now], |row| {
            Ok(Usage {
                live: row.get(0)?,
                last: row.get(1)?,
            })
        })?)
}

/// Finds the holder of an access token, if it is not cancelled; the caller has to check every time whether it has
/// expired.
fn principal_of(connection: &Connection, digest: &Digest) -> Result<Option<Principal>> {
    let principal = connection
        .prepare_cached(
            "SELECT t.client_id, c.client_id, c.device_id, t.user_id, u.delegate_id, c.roles, u.roles,
                    t.scopes, c.scopes, c.visible_properties, t.expires_at
             FROM tokens t
             JOIN clients c ON c.id = t.client_id
             LEFT JOIN users u ON u.id = t.user_id
             WHERE t.hash = ?1 AND t.kind = 'access' AND t.revoked_at IS NULL AND c.revoked_at IS NULL",
        )?
        .query_row([digest], principal)
        .optional()?;
    Ok(principal)
}

/// Returns whether an access token was issued to a client that is revoked by now.
fn is_of_revoked_client(connection: &Connection, digest: &Digest) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM tokens t JOIN clients c ON c.id = t.client_id
             WHERE t.hash = ?1 AND t.kind = 'access' AND c.revoked_at IS NOT NULL",
        )?
        .exists([digest])?)
}

fn principal(row: &Row<'_>) -> rusqlite::Result<Principal> {
    let user: Option<UserId> = row.get(3)?;
    let delegate: Option<DelegateId> = row.get(4)?;
    let held_by = if user.is_some() { 6 } else { 5 };
    let mut roles = Roles::from_json(&row.get::<_, String>(held_by)?);
    if delegate.is_some() {
        roles = roles.with(Role::OwnRead);
    }
    // What the client has lost since is lost to its tokens too.
    let held = scopes::from_json(&row.get::<_, String>(8)?);
    let mut scopes = scopes::from_json(&row.get::<_, String>(7)?);
    scopes.retain(|scope| held.contains(scope));
    // A report asks for the scopes of the client through which its user signed in.
    if user.is_some() {
        scopes = through_user(held);
    }
    Ok(Principal {
        client: row.get(0)?,
        client_name: row.get(1)?,
        device: row.get(2)?,
        user,
        delegate,
        roles,
        scopes,
        visible_properties: row
            .get::<_, Option<String>>(9)?
            .map(|names| visible_properties(&names).into()),
        expires_at: row.get(10)?,
    })
}

/// Reads a stored list of properties. One that cannot be read shows nothing: it is there to hide.
fn visible_properties(stored: &str) -> Vec<String> {
    serde_json::from_str(stored).unwrap_or_default()
}

#[cfg(test)]
mod tests;
