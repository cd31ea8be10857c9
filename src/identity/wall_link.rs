//! The link that opens the wall display and nothing else. There is one at a time; the file keeps a hash of
//! its secret, and whoever makes another ends the one before.

use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    types::{
        Timestamp,
        error::Result,
        secret::{self, Digest},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The time when the link was made, and the user who made it.
pub struct WallLink {
    pub made_at: Timestamp,
    pub actor: String,
}

/// The link that works now.
pub fn current(connection: &Connection) -> Result<Option<WallLink>> {
    Ok(connection
        .prepare_cached("SELECT made_at, actor FROM wall_link")?
        .query_row([], |row| {
            Ok(WallLink {
                made_at: row.get(0)?,
                actor: row.get(1)?,
            })
        })
        .optional()?)
}

/// Tells whether a secret is that of the link that works now.
pub fn opens(connection: &Connection, secret: &str) -> Result<bool> {
    lasts(connection, &secret::digest(secret.as_bytes()))
}

/// Tells whether the link with this hash still works.
pub fn lasts(connection: &Connection, hash: &Digest) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM wall_link WHERE hash = ?1")?
        .exists([hash])?)
}

/// Makes a link in place of the one before; its secret, which nothing keeps.
pub fn make(tx: &Tx<'_>, ctx: &Context) -> Result<String> {
    let secret = secret::fresh()?;
    tx.prepare_cached(
        "INSERT INTO wall_link (id, hash, made_at, actor) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, made_at = excluded.made_at, actor = excluded.actor",
    )?
    .execute((secret::digest(secret.as_bytes()), tx.now(), &ctx.actor))?;
    note(tx, ctx, "create")?;
    Ok(secret)
}

/// Ends the link.
pub fn revoke(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    if tx.execute("DELETE FROM wall_link", [])? > 0 {
        note(tx, ctx, "revoke")?;
    }
    Ok(())
}

fn note(tx: &Tx<'_>, ctx: &Context, action: &'static str) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "wall-link",
            record_id: None,
            before: None,
            after: None,
        },
    )
}
