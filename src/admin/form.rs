//! Code that forms share: who changed meanwhile what somebody was shown, and which failures are told
//! beside the form.

use crate::admin::prelude::*;
use crate::types::secret;

/// A mark of what somebody saw, to tell whether it is still so when they save.
pub(super) fn mark(seen: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(seen).unwrap_or_default();
    secret::hex(&secret::digest(&text)[..8])
}

/// Tells whether a failure is for the one who filled the form in.
pub fn is_theirs(error: &Error) -> bool {
    matches!(
        error.kind,
        Kind::Invalid
            | Kind::CodeTaken
            | Kind::DelegateNotFound
            | Kind::DeviceNotFound
            | Kind::UnknownIdType
            | Kind::TooManyAttempts { .. }
    )
}

/// The sentence to show beside a form, of a failure by which the form can be mended.
pub(super) fn told(error: Error) -> Result<String, Error> {
    match error.kind {
        Kind::Defect | Kind::Unavailable | Kind::Damaged => Err(error),
        _ => Ok(answer::sentence(&error)),
    }
}
