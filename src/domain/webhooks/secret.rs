//! Signatures of Standard Webhooks (<https://www.standardwebhooks.com>):
//! HMAC-SHA256 over `id.timestamp.body`, with a secret written as `whsec_` and base64.

use crate::types::error::{Error, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The prefix of a secret.
const PREFIX: &str = "whsec_";
/// Random bytes of a new secret.
const FRESH_BYTES: usize = 32;
/// The length of a secret in bytes.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

fn fresh() -> Result<String> {
    let mut random = [0; FRESH_BYTES];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(random)))
}

/// A secret that was agreed on, or a fresh one.
pub fn agreed_or_fresh(agreed: Option<String>) -> Result<String> {
    let Some(agreed) = agreed else {
        return fresh();
    };
    check(&agreed)?;
    Ok(agreed)
}

/// Validates a secret from elsewhere.
pub fn check(secret: &str) -> Result<()> {
    key(secret).map(drop)
}

fn key(secret: &str) -> Result<Vec<u8>> {
    let bytes = secret
        .strip_prefix(PREFIX)
        .and_then(|text| STANDARD.decode(text).ok());
    bytes
        .filter(|bytes| BYTES.contains(&bytes.len()))
        .ok_or_else(|| {
            Error::field(
                "secret",
                format!("must be {PREFIX} followed by 24 to 64 bytes in base64"),
            )
        })
}

/// The signature of a body: `v1,` and base64.
pub fn sign(secret: &str, id: &str, timestamp_s: i64, body: &str) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key(secret)?).map_err(Error::defect)?;
    mac.update(format!("{id}.{timestamp_s}.").as_bytes());
    mac.update(body.as_bytes());
    Ok(format!(
        "v1,{}",
        STANDARD.encode(mac.finalize().into_bytes())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // The example in the reference libraries of Standard Webhooks.
        let signed = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(
            signed.unwrap(),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn a_secret_is_random_and_long_enough() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert_ne!(one, other);
        check(&one).unwrap();
        for wrong in ["", "whsec_", "whsec_c2hvcnQ=", "whsec_***", &one[6..]] {
            let told = check(wrong).unwrap_err().to_string();
            assert!(wrong.len() < 10 || !told.contains(wrong), "{told}");
        }
    }
}
