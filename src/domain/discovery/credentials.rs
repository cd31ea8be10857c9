//! The secret of an app's client, and the four digits by which an administrator knows the app.
//!
//! For ten minutes after approval an app is shown its client's secret, whenever it asks and after a
//! restart of the server too. Yet the secret is stored nowhere, in clear or encrypted: it is
//! HMAC-SHA256(key = the app's own secret, message = a random salt), in hexadecimal digits. The salt
//! is in the request's row, the key is only ever in what the app sends (its SHA-256 is kept), so the
//! server makes the client's secret anew each time, and stores its SHA-256 as of any client when the
//! app first asks. Who has the file has half of it. Nothing in memory would outlive a restart, and a
//! key for encryption would have to lie beside what it encrypts.

use crate::types::{
    error::{Error, Result},
    secret::{self, Digest},
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The part of the client's secret beside the app's.
pub type Salt = [u8; 32];

/// A new salt.
pub fn fresh_salt() -> Result<Salt> {
    let mut salt = [0; 32];
    getrandom::fill(&mut salt).map_err(Error::defect)?;
    Ok(salt)
}

/// The client's secret.
pub fn client_secret(app_secret: &str, salt: &Salt) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(app_secret.as_bytes()).map_err(Error::defect)?;
    mac.update(salt);
    Ok(secret::hex(&mac.finalize().into_bytes()))
}

/// The check digits of an app's secret: the first four bytes of its SHA-256 (of its UTF-8), read as
/// one number, the most significant byte first; the last four decimal digits of that, with leading
/// zeros. `gatepost` has 1879.
pub fn check_digits(secret_hash: &Digest) -> String {
    let [a, b, c, d, ..] = *secret_hash;
    format!("{:04}", u32::from_be_bytes([a, b, c, d]) % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_an_hmac_that_anybody_can_recompute() {
        let made = client_secret("gatepost", &[7; 32]).unwrap();
        assert_eq!(
            made,
            "10314d3f28bba5f7dd5bb529459f4edc19a9775fc3a71a490ebb5f30514bbca9"
        );
        assert_ne!(made, client_secret("gatepost", &[8; 32]).unwrap());
        assert_ne!(made, client_secret("gateposs", &[7; 32]).unwrap());
    }

    #[test]
    fn check_digits_are_as_documented() {
        for (app_secret, digits) in [("gatepost", "1879"), ("s1", "0572"), ("Süd", "1544")] {
            assert_eq!(check_digits(&secret::digest(app_secret.as_bytes())), digits);
        }
    }
}
