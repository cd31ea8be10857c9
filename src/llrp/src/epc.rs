//! The Electronic Product Code: the number that a UHF tag sends.

use data_encoding::{HEXUPPER, HEXUPPER_PERMISSIVE};
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
        let mut text = [0; 2 * EPC_MAX_BYTES];
        let text = &mut text[..2 * usize::from(self.length)];
        HEXUPPER.encode_mut(self.as_bytes(), text);
        f.pad(str::from_utf8(text).unwrap_or_default())
    }
}

impl fmt::Debug for Epc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epc({self})")
    }
}

/// The text is not an EPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnEpc;

impl fmt::Display for NotAnEpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = 2 * EPC_MAX_BYTES;
        write!(
            f,
            "must be hexadecimal, 2 to {most} digits in pairs, such as 303400000000000000000001"
        )
    }
}

impl std::error::Error for NotAnEpc {}

/// Reads hexadecimal digits of either case.
impl FromStr for Epc {
    type Err = NotAnEpc;

    fn from_str(text: &str) -> Result<Self, NotAnEpc> {
        let bytes = HEXUPPER_PERMISSIVE.decode(text.as_bytes());
        Self::new(&bytes.map_err(|_| NotAnEpc)?).ok_or(NotAnEpc)
    }
}

#[cfg(test)]
mod tests {
    use super::{EPC_MAX_BYTES, Epc, NotAnEpc};
    use proptest::prelude::*;

    #[test]
    fn texts_that_are_no_epc_are_refused() {
        for text in [
            "",
            "3",
            "303",
            "3g",
            "é",
            &"0".repeat(2 * EPC_MAX_BYTES + 2),
        ] {
            assert_eq!(text.parse::<Epc>(), Err(NotAnEpc), "{text}");
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
