//! Code that forms share: who changed meanwhile what somebody was shown, and which failures are told
//! beside the form.

use crate::admin::prelude::*;
use crate::types::secret;

/// A mark of what somebody saw, to tell whether it is still so when they save.
pub(super) fn mark(seen: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(seen).unwrap_or_default();
    secret::hex(&secret::digest(&text)[..8])
}

/// Returns whether a failure is for the one who filled the form in.
pub(super) fn is_theirs(error: &Error) -> bool {
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

/// Returns the message beside a form, where it is something that the form can be mended by.
pub(super) fn told(error: Error) -> Result<String, Error> {
    match error.kind {
        Kind::Defect | Kind::Unavailable => Err(error),
        _ => Ok(answer::sentence(&error.message)),
    }
}
