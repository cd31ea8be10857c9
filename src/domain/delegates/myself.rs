//! What a delegate may change of its own record (contract §4).

use crate::types::error::{Error, Kind, Result};
use serde_json::{Map, Value};

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
            return Err(forbidden(&format!("{name}: not one's own to change")));
        }
        match (name.as_str(), value) {
            ("data", Value::Object(sections)) => {
                if let Some(section) = sections.keys().find(|section| *section != "Data") {
                    return Err(forbidden(&format!(
                        "data.{}: only the section Data is one's own to change",
                        crate::types::text::shortened(section)
                    )));
                }
            }
            ("data", Value::Null) => {
                return Err(forbidden(
                    "data: only the section Data is one's own to change",
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
        Some(flag) => Err(forbidden(&format!(
            "rawFlags: {flag} is not one's own to change; p, s and v are"
        ))),
        None => Ok(()),
    }
}

fn forbidden(message: &str) -> Error {
    Error::new(Kind::Forbidden, message)
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
