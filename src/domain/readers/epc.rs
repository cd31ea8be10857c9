//! The Electronic Product Code: the number that a UHF tag sends.

use std::{fmt, str::FromStr};

/// The longest EPC that the air protocol allows: 496 bits.
pub const EPC_MAX_BYTES: usize = 62;

/// 1 to [`EPC_MAX_BYTES`] bytes, held inline. Orders as its bytes do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epc {
    /// Zeros follow the EPC, so that the derived comparisons hold.
    bytes: [u8; EPC_MAX_BYTES],
    length: u8,
}

impl Epc {
    /// `None` for no bytes and for too many.
    pub fn new(epc: &[u8]) -> Option<Self> {
        let length = u8::try_from(epc.len()).ok().filter(|length| *length > 0)?;
        let mut bytes = [0; EPC_MAX_BYTES];
        bytes.get_mut(..epc.len())?.copy_from_slice(epc);
        Some(Self { bytes, length })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Upper-case hexadecimal digits.
impl fmt::Display for Epc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = [0; 2 * EPC_MAX_BYTES];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.as_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        let text = &text[..2 * usize::from(self.length)];
        f.pad(str::from_utf8(text).unwrap_or_default())
    }
}

impl fmt::Debug for Epc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epc({self})")
    }
}

/// Why a text is not an EPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpcError {
    Length,
    Digit,
}

impl fmt::Display for EpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(
                f,
                "an EPC has 2 to {} hexadecimal digits, in pairs",
                2 * EPC_MAX_BYTES
            ),
            Self::Digit => write!(f, "an EPC has hexadecimal digits only"),
        }
    }
}

impl std::error::Error for EpcError {}

/// Reads hexadecimal digits of either case.
impl FromStr for Epc {
    type Err = EpcError;

    fn from_str(text: &str) -> Result<Self, EpcError> {
        let digits = text.as_bytes();
        let mut bytes = [0; EPC_MAX_BYTES];
        let length = digits.len() / 2;
        let room = bytes
            .get_mut(..length)
            .filter(|_| digits.len().is_multiple_of(2));
        for (byte, pair) in room
            .ok_or(EpcError::Length)?
            .iter_mut()
            .zip(digits.chunks_exact(2))
        {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Self::new(&bytes[..length]).ok_or(EpcError::Length)
    }
}

fn nibble(digit: u8) -> Result<u8, EpcError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(EpcError::Digit),
    }
}

#[cfg(test)]
mod tests {
    use super::{EPC_MAX_BYTES, Epc, EpcError};
    use proptest::prelude::*;

    #[test]
    fn texts_that_are_no_epc_are_refused() {
        for (text, error) in [
            ("", EpcError::Length),
            ("3", EpcError::Length),
            ("303", EpcError::Length),
            ("3g", EpcError::Digit),
            ("é", EpcError::Digit),
            (&"0".repeat(2 * EPC_MAX_BYTES + 2), EpcError::Length),
        ] {
            assert_eq!(text.parse::<Epc>(), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_epc_reads_what_it_shows_and_orders_as_its_bytes(
            a in proptest::collection::vec(any::<u8>(), 1..=EPC_MAX_BYTES),
            b in proptest::collection::vec(0u8..2, 1..4),
            c in proptest::collection::vec(0u8..2, 1..4),
        ) {
            let epc = Epc::new(&a).unwrap();
            prop_assert_eq!(epc.as_bytes(), &a[..]);
            prop_assert_eq!(epc.to_string().parse::<Epc>(), Ok(epc));
            prop_assert_eq!(epc.to_string().to_lowercase().parse::<Epc>(), Ok(epc));
            prop_assert_eq!(Epc::new(&b).cmp(&Epc::new(&c)), b.cmp(&c));
        }
    }
}
