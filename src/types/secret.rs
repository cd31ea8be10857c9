//! The secrets that this server makes: tokens and client secrets. They are long and random, so
//! that their SHA-256 protects them at rest as well as a slow hash would.

use crate::types::error::{Error, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// The stored form of a secret.
pub type Digest = [u8; 32];

/// The length of a secret: 256 bits in hexadecimal digits.
const LENGTH_CHARS: usize = 64;

/// A new secret, in hexadecimal digits.
pub fn fresh() -> Result<String> {
    let mut random = [0; LENGTH_CHARS / 2];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    Ok(hex(&random))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Returns whether a text could be a secret of ours; one that could not need not be looked up.
pub fn well_formed(secret: &str) -> bool {
    secret.len() == LENGTH_CHARS && secret.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The form in which a secret is stored and looked up.
pub fn digest(secret: &[u8]) -> Digest {
    Sha256::digest(secret).into()
}

/// Compares in a time that does not tell where two digests differ.
pub fn same(one: &Digest, other: &Digest) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_secret_is_long_and_never_the_same() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert!(well_formed(&one) && well_formed(&other));
        assert_ne!(one, other);
        assert!(!well_formed(&one[1..]) && !well_formed(&format!("{}é", &one[2..])));
    }

    #[test]
    fn digests_are_the_same_only_in_every_byte() {
        let mut changed = digest(b"one");
        assert!(same(&digest(b"one"), &changed));
        changed[31] ^= 1;
        assert!(!same(&digest(b"one"), &changed));
    }
}
