//! What follows from an interaction, in its transaction: two who connected are `connected`, who sent
//! feedback is flagged so. Whether it came from a gate or a list makes no difference.

use super::{
    rows::Interaction,
    types::{self, CONNECT, CONNECTED, FollowUp},
};
use crate::{
    core::Context,
    db::Tx,
    domain::delegates::flag,
    types::{DelegateId, error::Result},
};
use rusqlite::Connection;

/// Lets follow what follows from an interaction that was just stored; the id of the `connected` that
/// it brought about.
pub fn from(tx: &Tx<'_>, ctx: &Context, interaction: &Interaction) -> Result<Option<i64>> {
    let follow_up = types::find(&interaction.kind).and_then(|known| known.follow_up);
    match (follow_up, interaction.delegates[0]) {
        (Some(FollowUp::Connect), _) => connect(tx, ctx, interaction),
        (Some(FollowUp::FlagFeedback), Some(delegate)) => {
            flag::raise(tx, ctx, delegate, flag::SENT_FEEDBACK)?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Makes `connected` of two delegates who have each sent the other a `connect`, once; its id.
fn connect(tx: &Tx<'_>, ctx: &Context, interaction: &Interaction) -> Result<Option<i64>> {
    let [Some(one), Some(other), _] = interaction.delegates else {
        return Ok(None);
    };
    let mutual = one != other && exists_between(tx, other, one, CONNECT.name)?;
    if !mutual || are_connected(tx, one, other)? {
        return Ok(None);
    }
    let id = tx.new_interaction_id()?;
    tx.prepare_cached(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                                   recorded_at, created_at, client_id, user_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(rusqlite::params![
        id,
        CONNECTED.name,
        other,
        one,
        interaction.recorded_at,
        tx.now(),
        ctx.client,
        ctx.user
    ])?;
    Ok(Some(id))
}

/// Whether two delegates are connected.
pub fn are_connected(connection: &Connection, one: DelegateId, other: DelegateId) -> Result<bool> {
    Ok(exists_between(connection, one, other, CONNECTED.name)?
        || exists_between(connection, other, one, CONNECTED.name)?)
}

fn exists_between(
    connection: &Connection,
    first: DelegateId,
    second: DelegateId,
    kind: &str,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM interactions
             WHERE first_delegate_id = ?1 AND second_delegate_id = ?2 AND interaction_type = ?3",
        )?
        .exists(rusqlite::params![first, second, kind])?)
}
