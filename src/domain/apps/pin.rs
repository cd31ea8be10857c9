//! The PIN of supervisors: checked, kept as a salted hash, and sent to gates as that alone. Files of earlier
//! versions hold it as text until their configuration is saved again.

use crate::types::{
    error::{Error, Result},
    secret::{self, Digest},
};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

/// The setting.
pub const SUPERVISOR_PIN: &str = "supervisorPin";

/// Checks a PIN: 4 to 8 digits, or the hash of one; `null` is none.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`].
pub fn check(place: &str, value: &Value) -> Result<()> {
    let is_hex = |name: &str| {
        let text = value[name].as_str().unwrap_or_default();
        !text.is_empty() && HEXLOWER.decode(text.as_bytes()).is_ok()
    };
    let fits = match value {
        Value::Null => true,
        Value::String(pin) => {
            (4..=8).contains(&pin.len()) && pin.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => is_hex("salt") && is_hex("hash"),
    };
    if fits {
        Ok(())
    } else {
        Err(Error::invalid(format!("{place}: must have 4 to 8 digits")))
    }
}

/// A PIN as it is kept: the hash as it is, a text hashed, unless it is the PIN of `before`.
pub fn hashed(value: &Value, before: Option<&Value>) -> Result<Value> {
    let Some(pin) = value.as_str() else {
        return Ok(value.clone());
    };
    if let Some(before) = before.filter(|before| is_of(before, pin)) {
        return Ok(before.clone());
    }
    let salt = secret::hex(&secret::digest(secret::fresh()?.as_bytes())[..16]);
    let hash = secret::hex(&hash_of(&salt, pin));
    Ok(json!({"salt": salt, "hash": hash}))
}

/// SHA-256 of the salt's bytes and the digits.
fn hash_of(salt: &str, pin: &str) -> Digest {
    let mut bytes = HEXLOWER.decode(salt.as_bytes()).unwrap_or_default();
    bytes.extend_from_slice(pin.as_bytes());
    secret::digest(&bytes)
}

/// Whether a hash is that of a PIN.
pub fn is_of(kept: &Value, pin: &str) -> bool {
    let text = |name: &str| kept[name].as_str().unwrap_or_default();
    let hash = HEXLOWER.decode(text("hash").as_bytes()).ok();
    let hash = hash.and_then(|hash| Digest::try_from(hash).ok());
    hash.is_some_and(|hash| secret::same(&hash, &hash_of(text("salt"), pin)))
}

/// What everybody may see of a PIN: that there is one, and its salt, so that another PIN differs.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        kept => json!({"salt": kept["salt"].as_str().unwrap_or_default()}),
    }
}

/// Whether a value is what [`masked`] gives: it says nothing of the PIN.
pub fn is_masked(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|value| value.contains_key("salt") && !value.contains_key("hash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_kept_as_a_hash_that_an_app_can_check() {
        let kept = hashed(&json!("4711"), None).unwrap();
        assert!(!kept.to_string().contains("4711"));
        check("pin", &kept).unwrap();
        assert!(is_of(&kept, "4711") && !is_of(&kept, "4712"));
        // The same again is the same; another one has another salt.
        assert_eq!(hashed(&json!("4711"), Some(&kept)).unwrap(), kept);
        assert_eq!(hashed(&kept, None).unwrap(), kept);
        let other = hashed(&json!("4712"), Some(&kept)).unwrap();
        assert_ne!(masked(&other), masked(&kept));
        assert!(is_masked(&masked(&kept)) && !is_masked(&kept));
        for wrong in [
            json!("471"),
            json!("123456789"),
            json!("47a1"),
            json!(4711),
            masked(&kept),
        ] {
            let told = check("pin", &wrong).unwrap_err().message;
            assert!(told.contains("4 to 8 digits"), "{wrong}: {told}");
        }
    }
}
