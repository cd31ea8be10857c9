//! Signed tickets: 75 bytes as 120 symbols of Crockford's base 32, which a QR code of 37 modules holds. They say which key
//! signed them, whose ticket it is, the type of attendee and the days, so that a gate can tell a genuine ticket from a forged
//! one without a server. `assets/gate/core/signed.js` reads the same; `tests/gate/signed.json` holds both together.
//!
//! `kid (1) | serial (6) | category (2) | days (2) | Ed25519 of the 11 bytes before (64)`, numbers with the highest byte first.

use super::{
    barcode::{ALPHABET, symbols},
    secret,
};

/// The length of a ticket, in symbols.
pub const SYMBOLS: usize = 120;
/// The bytes that are signed.
pub const CLAIMS: usize = 11;
const SIGNATURE: usize = 64;
/// The days that a ticket can name, from the first day of its key on.
pub const DAYS: usize = 16;

/// The number that stands for the code of a ticket: the first 48 bits of its SHA-256. Every server that has the code finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Serial(pub i64);

impl Serial {
    /// The serial of a code, as it stands in the record.
    pub fn of(code: &str) -> Self {
        let digest = secret::digest(code.as_bytes());
        Self(number(&digest[..6]))
    }
}

/// The number of a type of attendee, in the spelling that types are compared in; 0 is no type.
pub fn category_of(folded_type: &str) -> u16 {
    if folded_type.is_empty() {
        return 0;
    }
    let digest = secret::digest(folded_type.as_bytes());
    u16::from_be_bytes([digest[0], digest[1]]).max(1)
}

/// The content of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// The number of the key.
    pub kid: u8,
    pub serial: Serial,
    /// See [`category_of`].
    pub category: u16,
    /// A bit for each day that the ticket is for, the lowest for the first day of the key; 0 for every day.
    pub days: u16,
}

impl Claims {
    /// The bytes that are signed.
    pub fn bytes(&self) -> [u8; CLAIMS] {
        let mut bytes = [0; CLAIMS];
        bytes[0] = self.kid;
        bytes[1..7].copy_from_slice(&self.serial.0.to_be_bytes()[2..]);
        bytes[7..9].copy_from_slice(&self.category.to_be_bytes());
        bytes[9..].copy_from_slice(&self.days.to_be_bytes());
        bytes
    }

    /// Returns whether the ticket names a day, counted from the first day of its key.
    pub fn is_for(&self, day: usize) -> bool {
        day < DAYS && self.days >> day & 1 == 1
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            kid: bytes[0],
            serial: Serial(number(&bytes[1..7])),
            category: u16::from_be_bytes([bytes[7], bytes[8]]),
            days: u16::from_be_bytes([bytes[9], bytes[10]]),
        }
    }
}

/// A text that has the form of a signed ticket, whoever signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTicket {
    pub claims: Claims,
    pub signature: [u8; SIGNATURE],
}

impl SignedTicket {
    /// Reads a ticket in any case and with spaces or dashes; `I` and `L` count as `1`, `O` as `0`. None for any other text.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() < SYMBOLS {
            return None;
        }
        let text: String = text.split_whitespace().collect();
        let symbols = symbols(&text).ok()?;
        if symbols.len() != SYMBOLS {
            return None;
        }
        let mut bytes = Vec::with_capacity(CLAIMS + SIGNATURE);
        for eight in symbols.chunks(8) {
            let bits = eight
                .iter()
                .fold(0_u64, |bits, symbol| bits << 5 | u64::from(*symbol));
            bytes.extend_from_slice(&bits.to_be_bytes()[3..]);
        }
        Some(Self {
            claims: Claims::read(&bytes),
            signature: bytes[CLAIMS..].try_into().ok()?,
        })
    }
}

impl std::fmt::Display for SignedTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = [&self.claims.bytes()[..], &self.signature].concat();
        for five in bytes.chunks(5) {
            let bits = number(five);
            for place in (0..8).rev() {
                let symbol = usize::try_from(bits >> (5 * place) & 31).unwrap_or_default();
                write!(f, "{}", char::from(ALPHABET[symbol]))?;
            }
        }
        Ok(())
    }
}

/// The number of at most seven bytes.
fn number(bytes: &[u8]) -> i64 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_read_however_they_were_typed() {
        let ticket = SignedTicket {
            claims: Claims {
                kid: 1,
                serial: Serial(0x0102_0304_0506),
                category: 0x0708,
                days: 0x090a,
            },
            signature: std::array::from_fn(|at| u8::try_from(at * 3).unwrap_or(0)),
        };
        let text = ticket.to_string();
        assert_eq!(text.len(), SYMBOLS);
        assert!(text.starts_with("040G40R40M30E209180"), "{text}");
        let typed: Vec<String> = text
            .as_bytes()
            .chunks(4)
            .map(|four| String::from_utf8_lossy(four).to_lowercase())
            .collect();
        for same in [
            text.clone(),
            typed.join(" "),
            typed.join("-"),
            text.replace('0', "o").replace('1', "L"),
        ] {
            assert_eq!(SignedTicket::read(&same), Some(ticket.clone()), "{same}");
        }
        for other in [&text[1..], &format!("{text}0"), &text.replace('0', "U"), ""] {
            assert_eq!(SignedTicket::read(other), None, "{other}");
        }
    }

    #[test]
    fn serials_have_48_bits() {
        assert_eq!(Serial::of("ADA-1"), Serial::of("ADA-1"));
        assert_ne!(Serial::of("ADA-1"), Serial::of("ada-1"));
        assert!((0..1 << 48).contains(&Serial::of("ADA-1").0));
    }
}
