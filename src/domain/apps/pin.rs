//! The PIN of supervisors: checked, kept as a salted hash, and sent to gates as that alone, for when they are
//! offline. Hashes of earlier versions are SHA-256 and go on; their files may even hold a PIN as text.

use crate::types::{
    error::{Error, Result},
    secret::{self, Digest},
};
use data_encoding::HEXLOWER;
use pbkdf2::pbkdf2_hmac;
use serde_json::{Value, json};
use sha2::Sha256;

/// The setting.
pub const SUPERVISOR_PIN: &str = "supervisorPin";

/// Rounds of PBKDF2 with HMAC-SHA-256: about 250 milliseconds of a phone with `WebCrypto`. More would make supervisors
/// wait, and a short PIN falls either way (handbook, *Gates*).
const ITERATIONS: u32 = 300_000;

/// Checks a PIN: 6 to 8 digits, or the hash of one; `null` is none.
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
            (6..=8).contains(&pin.len()) && pin.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => is_hex("salt") && is_hex("hash"),
    };
    if fits {
        Ok(())
    } else {
        Err(Error::field(place, "must have 6 to 8 digits"))
    }
}

/// A PIN as it is kept: the hash as it is, a text hashed, unless it is the PIN of `before`. Takes some 100
/// milliseconds for a text: on the writer's thread there should be none any more.
pub fn hashed(value: &Value, before: Option<&Value>) -> Result<Value> {
    let Some(pin) = value.as_str() else {
        return Ok(value.clone());
    };
    if let Some(before) = before.filter(|before| is_of(before, pin)) {
        return Ok(before.clone());
    }
    let salt = salt()?;
    let hash = secret::hex(&stretched(&salt, pin, ITERATIONS));
    Ok(json!({"salt": salt, "hash": hash, "iterations": ITERATIONS}))
}

/// A PIN as gates are sent it. One that an earlier version kept as text is hashed as that did, which is quick.
pub fn sent(kept: &Value) -> Result<Value> {
    let Some(pin) = kept.as_str() else {
        return Ok(kept.clone());
    };
    let salt = salt()?;
    Ok(json!({"salt": salt, "hash": secret::hex(&digest(&salt, pin))}))
}

fn salt() -> Result<String> {
    Ok(secret::hex(
        &secret::digest(secret::fresh()?.as_bytes())[..16],
    ))
}

fn bytes(hex: &str) -> Vec<u8> {
    HEXLOWER.decode(hex.as_bytes()).unwrap_or_default()
}

fn stretched(salt: &str, pin: &str, iterations: u32) -> Digest {
    let mut hash = Digest::default();
    pbkdf2_hmac::<Sha256>(pin.as_bytes(), &bytes(salt), iterations, &mut hash);
    hash
}

/// SHA-256 of the salt's bytes and the digits.
fn digest(salt: &str, pin: &str) -> Digest {
    secret::digest(&[&bytes(salt), pin.as_bytes()].concat())
}

/// Compares a PIN with a hash. Takes as long as [`hashed`].
pub fn is_of(kept: &Value, pin: &str) -> bool {
    let text = |name: &str| kept[name].as_str().unwrap_or_default();
    let salt = text("salt");
    let own = match kept["iterations"].as_u64() {
        None => digest(salt, pin),
        Some(iterations) => match u32::try_from(iterations) {
            Ok(iterations @ 1..=ITERATIONS) => stretched(salt, pin, iterations),
            _ => return false,
        },
    };
    Digest::try_from(bytes(text("hash"))).is_ok_and(|hash| secret::same(&hash, &own))
}

/// Masks a PIN: shows that there is one, and its salt, so that another PIN differs.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        kept => json!({"salt": kept["salt"].as_str().unwrap_or_default()}),
    }
}

/// Returns whether a value is what [`masked`] gives: it says nothing of the PIN.
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
        let kept = hashed(&json!("471100"), None).unwrap();
        assert_eq!(kept["iterations"], ITERATIONS);
        check("pin", &kept).unwrap();
        assert!(is_of(&kept, "471100") && !is_of(&kept, "471101"));
        // The same again is the same; another one has another salt.
        assert_eq!(hashed(&json!("471100"), Some(&kept)).unwrap(), kept);
        assert_eq!(hashed(&kept, None).unwrap(), kept);
        let other = hashed(&json!("471101"), Some(&kept)).unwrap();
        assert_ne!(masked(&other), masked(&kept));
        assert!(is_masked(&masked(&kept)) && !is_masked(&kept));
        for wrong in [
            json!("47110"),
            json!("123456789"),
            json!("47a100"),
            json!(471_100),
            masked(&kept),
        ] {
            let told = check("pin", &wrong).unwrap_err().to_string();
            assert!(told.contains("6 to 8 digits"), "{wrong}: {told}");
        }
    }

    /// Made by Python: `hashlib.pbkdf2_hmac("sha256", b"471100", bytes.fromhex("5a17"), 1000).hex()`, and the SHA-256
    /// of both.
    #[test]
    fn hashes_are_those_of_other_makers_and_of_earlier_versions() {
        let stretched = json!({"salt": "5a17", "iterations": 1000, "hash": "9c03be218f0993effeb4134a61ae4ea82bd5145e0a55cb8636f9f9800f76f830"});
        let earlier = json!({"salt": "5a17", "hash": "5dd5a531be92fc473067409111712ca1513a874a4ea1b4731cb171f60d715c3a"});
        for kept in [&stretched, &earlier] {
            check("pin", kept).unwrap();
            assert!(is_of(kept, "471100") && !is_of(kept, "471101"), "{kept}");
            assert_eq!(sent(kept).unwrap(), *kept);
        }
        let text = sent(&json!("let me")).unwrap();
        assert!(is_of(&text, "let me") && text["iterations"].is_null());
        // Nobody makes the server count for hours.
        let endless = json!({"salt": "5a17", "hash": stretched["hash"], "iterations": u32::MAX});
        assert!(!is_of(&endless, "471100"));
    }
}
