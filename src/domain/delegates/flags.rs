//! Flags (spec: Delegate flags): those that the service sets, `e` and `f`, and those that delegates may
//! change in their own record, with what else they may (contract §4).

use super::{RESOURCE, normal_flags};
use crate::{
    core::Context,
    db::Tx,
    types::{
        DelegateId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value, json};

/// Flags that a delegate may set and clear itself (spec: Delegate flags).
const OWN_FLAGS: &[char] = &['p', 's', 'v'];

/// Checks that a PATCH of `myself` stays within what is the delegate's own. Read-only properties
/// are ignored as everywhere.
///
/// # Errors
/// [`Kind::Forbidden`], naming the property, section or flag.
pub fn check_own_changes(body: &Map<String, Value>, stored_flags: &str) -> Result<()> {
    for (name, value) in body {
        let field = super::RESOURCE.property(name);
        if field.is_some_and(|field| field.kind.is_writable() && !field.is_own) {
            return Err(forbidden(name, "not one's own to change"));
        }
        match (name.as_str(), value) {
            ("data", Value::Object(sections)) => {
                if let Some(section) = sections.keys().find(|section| *section != "Data") {
                    return Err(forbidden(
                        &format!("data.{}", crate::types::text::shortened(section)),
                        "only the section Data is one's own to change",
                    ));
                }
            }
            ("data", Value::Null) => {
                return Err(forbidden(
                    "data",
                    "only the section Data is one's own to change",
                ));
            }
            // What is neither text nor null is refused as malformed when it is written.
            ("rawFlags", Value::String(flags)) => check_flags(flags, stored_flags)?,
            ("rawFlags", Value::Null) => check_flags("", stored_flags)?,
            _ => {}
        }
    }
    Ok(())
}

fn check_flags(sent: &str, stored: &str) -> Result<()> {
    let sent = super::normal_flags(sent);
    let changed = sent
        .chars()
        .filter(|flag| !stored.contains(*flag))
        .chain(stored.chars().filter(|flag| !sent.contains(*flag)));
    match changed.into_iter().find(|flag| !OWN_FLAGS.contains(flag)) {
        Some(flag) => Err(forbidden(
            "rawFlags",
            &format!("{flag} is not one's own to change; p, s and v are"),
        )),
        None => Ok(()),
    }
}

fn forbidden(field: &str, message: &str) -> Error {
    Error::new(Kind::Forbidden, message).at(field)
}

/// The delegate has opened an e-mail.
pub const OPENED_MAIL: char = 'e';
/// The delegate has sent their feedback.
pub const SENT_FEEDBACK: char = 'f';

/// Sets a flag of a delegate, once; nothing happens where it is set, or the delegate is deleted.
pub fn raise(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId, flag: char) -> Result<()> {
    let found: Option<Option<String>> = tx
        .prepare_cached("SELECT raw_flags FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([delegate], |row| row.get(0))
        .optional()?;
    let Some(before) = found else {
        return Ok(());
    };
    if before.as_deref().is_some_and(|flags| flags.contains(flag)) {
        return Ok(());
    }
    let after = normal_flags(&format!("{}{flag}", before.as_deref().unwrap_or_default()));
    tx.prepare_cached(
        "UPDATE delegates SET raw_flags = ?2, updated_at = iif(updated_at - ?3 BETWEEN 0 AND 1000, updated_at + 1, ?3) WHERE id = ?1",
    )?
    .execute(params![delegate, after, tx.now()])?;
    let shown = |flags: Option<&str>| {
        // As a record is shown: what has no value is not there.
        flags.map_or_else(|| json!({}), |flags| json!({"rawFlags": flags}))
    };
    let (before, after) = (shown(before.as_deref()), shown(Some(&after)));
    RESOURCE.audit(tx, ctx, "update", delegate.0, Some(before), Some(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn allowed(body: &Value, flags: &str) -> bool {
        check_own_changes(body.as_object().unwrap(), flags).is_ok()
    }

    #[test]
    fn only_what_is_ones_own_may_change() {
        assert!(allowed(
            &json!({"firstName": "A", "data": {"Data": {"pushTokens": []}}}),
            ""
        ));
        assert!(allowed(
            &json!({"id": 5, "createdAt": "x", "sources": []}),
            ""
        ));
        assert!(allowed(&json!({"rawFlags": "ep"}), "e"));
        assert!(!allowed(&json!({"rawFlags": "p"}), "e"));
        assert!(!allowed(&json!({"rawFlags": "a"}), ""));
        assert!(!allowed(&json!({"barcode": "A"}), ""));
        assert!(!allowed(&json!({"owner": null}), ""));
        assert!(!allowed(&json!({"data": {"Access": {}}}), ""));
        assert!(!allowed(&json!({"data": null}), ""));
    }
}
