//! Many interactions at once (contract §6).

use super::{
    answers,
    draft::{BatchInput, Draft, InteractionInput},
    record::{Recorded, record},
    shared::SharedValues,
};
use crate::{
    core::Context,
    db::Tx,
    types::{
        error::{Error, Kind, Result},
        json,
    },
    web::batch::{BATCH_MAX_BYTES, Batch, Item, Part},
};
use std::{sync::Arc, time::Duration};

/// The most that the `data` of all items may come to, forms reshaped, in bytes: answers stand in it three times, and
/// items may share a form. It is all held in memory.
const EXPANDED_MAX_BYTES: usize = 4 * BATCH_MAX_BYTES;

/// Checks the items of a body, each on its own.
///
/// # Errors
/// As [`Batch::new`]; [`Kind::InteractionContent`] for shared values.
pub fn read(input: BatchInput, ctx: &Context) -> Result<Batch<Draft>> {
    let values = Arc::new(SharedValues::read(input.shared_values)?);
    let mut bytes_left = EXPANDED_MAX_BYTES;
    Batch::new("interactions", input.interactions, |text| {
        if bytes_left == 0 {
            return Err(Error::new(
                Kind::TooLarge,
                format!(
                    "the items before this one expand into {EXPANDED_MAX_BYTES} bytes; send it in another batch"
                ),
            ));
        }
        let mut input: InteractionInput = json::parse(text)?;
        let kind = input.interaction_type.take().ok_or_else(|| {
            Error::new(Kind::InteractionType, "is missing").at("interactionType")
        })?;
        let draft = Draft::new(&kind, input, &values, &ctx.settings.zone)?;
        bytes_left = bytes_left.saturating_sub(draft.data.as_ref().map_or(0, String::len));
        Ok(draft)
    })
}

impl Item for Draft {
    type Outcome = Recorded;
    const REPEATABLE: bool = true;
    const SLICE_MAX: Duration = Duration::from_millis(15);

    fn write(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Recorded> {
        record(tx, ctx, self)
    }

    fn answer(recorded: &Recorded, ctx: &Context) -> Part {
        answers::told(recorded, ctx)
    }
}
