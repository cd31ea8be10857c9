//! A lost badge: its codes are blocked, and its holder gets another barcode.

use super::codes;
use crate::{
    core::Context,
    db::Tx,
    domain::{
        apps::GateSettings,
        delegates::{self, blocked, overview::holder},
        interactions::draft::Participant,
    },
    types::{
        DelegateId, DelegateSelector, DeviceId,
        error::{Error, Kind, Result},
        text::CODE_MAX_CHARS,
    },
};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The time in which the same request again counts as a resend, in milliseconds.
const RESEND_MS: i64 = 10 * 60 * 1_000;

/// A lost badge and the one in its place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({"delegate": 17, "code": "NEW-1", "reason": "reported lost", "pin": "471100"}))]
pub struct BadgeInput {
    /// The delegate whose badge was lost.
    delegate: Participant,
    /// The place at which the answer shows the attendee; the gate's place without it.
    #[schemars(range(min = 1))]
    place: Option<i64>,
    /// The barcode of the new badge; made by the server without it.
    #[schemars(length(min = 1, max = CODE_MAX_CHARS))]
    code: Option<String>,
    /// The reason why the codes are blocked; `reported lost` without it.
    #[schemars(length(min = 1, max = 200))]
    reason: Option<String>,
    /// The supervisor PIN of the gate's settings.
    pin: String,
}

/// A badge to be replaced.
pub struct LostBadge {
    delegate: DelegateSelector,
    /// The place at which the delegate is shown.
    pub place: DeviceId,
    code: Option<String>,
    reason: String,
    /// The PIN that a supervisor typed.
    pub pin: String,
}

impl LostBadge {
    /// Checks a request of a gate.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] for a gate of other places.
    pub fn new(connection: &Connection, input: BadgeInput, gate: &GateSettings) -> Result<Self> {
        let delegate = input.delegate.delegate();
        let delegate = delegate.map_err(|cause| cause.at("delegate"))?;
        let place = match input.place {
            Some(place) => DeviceId(place),
            None => gate
                .some_place(connection)?
                .ok_or_else(|| Error::new(Kind::Forbidden, "this gate has no place"))?,
        };
        gate.check_place(connection, place)?;
        let reason = input
            .reason
            .as_deref()
            .or(blocked::REASONS.first().copied());
        Ok(Self {
            delegate,
            place,
            code: input.code,
            reason: reason.unwrap_or_default().trim().to_owned(),
            pin: input.pin,
        })
    }

    /// Replaces the badge; whose it is.
    ///
    /// # Errors
    /// [`Kind::DelegateNotFound`], and as [`blocked::replace_badge`].
    pub fn replace(&self, tx: &Tx<'_>, ctx: &Context) -> Result<DelegateId> {
        let delegate = delegates::find(tx, &self.delegate)?;
        match &self.code {
            Some(code) if self.is_done(tx, ctx, delegate, code)? => {}
            Some(code) => blocked::replace_badge(tx, ctx, delegate, &self.reason, Some(code))?,
            None => {
                blocked::replace_badge(tx, ctx, delegate, &self.reason, Some(&codes::make(1)?))?;
            }
        }
        Ok(delegate)
    }

    /// Tells whether this caller has just done it already, and its answer was lost on the way.
    fn is_done(
        &self,
        tx: &Tx<'_>,
        ctx: &Context,
        delegate: DelegateId,
        code: &str,
    ) -> Result<bool> {
        if holder(tx, code)?.is_none_or(|holder| holder.id != delegate.0) {
            return Ok(false);
        }
        let since = tx.now().0 - RESEND_MS;
        let blocked = blocked::of(tx, delegate.0)?;
        Ok(blocked
            .iter()
            .any(|one| one.at.0 >= since && one.actor == ctx.actor && one.reason == self.reason))
    }
}
