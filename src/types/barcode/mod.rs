//! Ticket barcodes of Gatepost's own making (contract §8): a purchase code, the ticket's number in
//! that purchase, 50 random bits that nobody guesses, and two check symbols that tell a code that
//! was read or typed wrongly. It knows no file; a code made elsewhere is a good code too, and is
//! never judged by this.

mod field;

use crate::types::error::{Error, Result};
use std::fmt;

/// Crockford's base 32: no I, L, O, U.
pub(super) const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The longest purchase code, in symbols.
pub const BASE_MAX: usize = 16;
/// The highest ticket number: three symbols.
pub const SEQUENCE_MAX: u16 = 32_767;
const SEQUENCE_SYMBOLS: usize = 3;
pub const RANDOM_SYMBOLS: usize = 10;
const CHECK_SYMBOLS: usize = 2;
/// The symbols that follow the purchase code.
const TAIL: usize = SEQUENCE_SYMBOLS + RANDOM_SYMBOLS + CHECK_SYMBOLS;

/// A purchase code: 1 to [`BASE_MAX`] symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base(Vec<u8>);

/// A barcode whose check symbols hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barcode {
    base: Base,
    sequence: u16,
    /// Its symbols, from the purchase code to the checks.
    word: Vec<u8>,
}

/// So many random symbols, of five bits each.
///
/// # Errors
/// [`crate::types::error::Kind::Defect`] when the operating system gives no random bytes.
pub fn random_symbols<const COUNT: usize>() -> Result<String> {
    let mut random = [0; COUNT];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    let symbols = random.map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    Ok(symbols.iter().collect())
}

impl Base {
    /// Reads a purchase code: case does not matter, `I` and `L` are read as `1`, `O` as `0`, and
    /// `-` is dropped.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a character that is no symbol, for none and for too many.
    pub fn parse(text: &str) -> Result<Self> {
        let symbols = symbols(text)?;
        if symbols.is_empty() || symbols.len() > BASE_MAX {
            return Err(Error::invalid(format!(
                "\"{}\" has {} symbols; a purchase code has 1 to {BASE_MAX}",
                shown(text),
                symbols.len()
            )));
        }
        Ok(Self(symbols))
    }
}

impl Barcode {
    /// Makes the barcode of the `sequence`-th ticket of a purchase, with fresh random symbols.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a number above [`SEQUENCE_MAX`],
    /// [`crate::types::error::Kind::Defect`] when the operating system gives no random bytes.
    pub fn make(base: &Base, sequence: u16) -> Result<Self> {
        let mut random = [0; RANDOM_SYMBOLS];
        getrandom::fill(&mut random).map_err(Error::defect)?;
        Self::assemble(base, sequence, random)
    }

    /// As [`Barcode::make`], with random bytes at hand; of each the lowest five bits count.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a number above [`SEQUENCE_MAX`].
    pub fn assemble(base: &Base, sequence: u16, random: [u8; RANDOM_SYMBOLS]) -> Result<Self> {
        if sequence > SEQUENCE_MAX {
            return Err(Error::invalid(format!(
                "ticket {sequence}: a purchase has tickets up to {SEQUENCE_MAX}"
            )));
        }
        let mut word = base.0.clone();
        let digit = |place: u16| (sequence >> (5 * place) & 31) as u8;
        word.extend([digit(2), digit(1), digit(0)]);
        word.extend(random.map(|byte| byte & 31));
        word.extend(field::checks(&word));
        Ok(Self {
            base: base.clone(),
            sequence,
            word,
        })
    }

    /// Reads a barcode as scanned or typed, by the rules of [`Base::parse`].
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], saying what is wrong with it.
    pub fn parse(text: &str) -> Result<Self> {
        let word = symbols(text)?;
        if word.len() <= TAIL || word.len() > BASE_MAX + TAIL {
            return Err(Error::invalid(format!(
                "\"{}\" has {} symbols; a barcode has {} to {}",
                shown(text),
                word.len(),
                TAIL + 1,
                BASE_MAX + TAIL
            )));
        }
        if !field::holds(&word) {
            return Err(Error::invalid(format!(
                "\"{}\": its check symbols do not fit; a symbol is wrong, or two changed places",
                shown(text)
            )));
        }
        let (base, rest) = word.split_at(word.len() - TAIL);
        let sequence = rest[..SEQUENCE_SYMBOLS]
            .iter()
            .fold(0, |number, symbol| number << 5 | u16::from(*symbol));
        Ok(Self {
            base: Base(base.to_vec()),
            sequence,
            word,
        })
    }

    /// The purchase code it belongs to.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The ticket's number in its purchase.
    pub fn sequence(&self) -> u16 {
        self.sequence
    }
}

/// The symbols of a text; letters that look alike are the same symbol.
pub(super) fn symbols(text: &str) -> Result<Vec<u8>> {
    text.trim()
        .chars()
        .filter(|letter| *letter != '-')
        .map(|letter| {
            let read = match letter.to_ascii_uppercase() {
                'I' | 'L' => '1',
                'O' => '0',
                other => other,
            };
            let symbol = (0..32).find(|symbol| char::from(ALPHABET[usize::from(*symbol)]) == read);
            symbol.ok_or_else(|| {
                Error::invalid(format!(
                    "\"{}\": '{}' is no symbol; a barcode has the digits and the letters but U",
                    shown(text),
                    letter.escape_debug()
                ))
            })
        })
        .collect()
}

/// A text from outside, short enough for a message and without control characters.
fn shown(text: &str) -> String {
    crate::types::text::shortened(text)
        .escape_debug()
        .to_string()
}

fn write_symbols(symbols: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    symbols
        .iter()
        .try_for_each(|symbol| write!(f, "{}", char::from(ALPHABET[usize::from(*symbol)])))
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_symbols(&self.0, f)
    }
}

impl fmt::Display for Barcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_symbols(&self.word, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_barcode() -> impl Strategy<Value = Barcode> {
        let base = prop::collection::vec(0..32_u8, 1..=BASE_MAX).prop_map(Base);
        (base, 0..=SEQUENCE_MAX, any::<[u8; RANDOM_SYMBOLS]>()).prop_map(
            |(base, sequence, random)| Barcode::assemble(&base, sequence, random).unwrap(),
        )
    }

    fn replaced(code: &str, at: usize, symbol: u8) -> String {
        let mut bytes = code.as_bytes().to_vec();
        bytes[at] = ALPHABET[usize::from(symbol)];
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_parts_stand_where_the_contract_puts_them() {
        let base = Base::parse("tlh-26").unwrap();
        let made = Barcode::assemble(&base, 33, [0, 1, 2, 3, 4, 5, 6, 7, 8, 255]).unwrap();
        assert_eq!(base.to_string(), "T1H26");
        assert_eq!(made.to_string(), "T1H26011012345678ZVP");
    }

    #[test]
    fn what_cannot_be_told_apart_by_eye_is_the_same() {
        let base = Base::parse("10").unwrap();
        for text in ["IO", "lo", "1-o", " 1--0 ", "L0"] {
            assert_eq!(Base::parse(text).unwrap(), base, "{text}");
        }
    }

    #[test]
    fn what_is_no_code_is_told() {
        let refused = |text: &str| Barcode::parse(text).unwrap_err().to_string();
        assert!(refused("AB12").contains("has 4 symbols"));
        assert!(refused("").contains("has 0 symbols"));
        assert!(refused(&"A".repeat(32)).contains("16 to 31"));
        assert!(refused("ABCDEFGHIJKLMNOPQRSTU").contains("'U'"));
        assert!(refused("ä").contains("'ä'"));
        assert!(refused("1234567890123456\u{7}").contains("\\u{7}"));
        assert!(Base::parse("-").is_err());
        assert!(Base::parse(&"A".repeat(17)).is_err());
        assert!(Barcode::make(&Base::parse("A").unwrap(), SEQUENCE_MAX + 1).is_err());
    }

    #[test]
    fn no_two_are_alike() {
        let base = Base::parse("A").unwrap();
        let made: std::collections::HashSet<_> = (0..1_000)
            .map(|_| Barcode::make(&base, 1).unwrap().to_string())
            .collect();
        assert_eq!(made.len(), 1_000);
    }

    proptest! {
        #[test]
        fn what_was_made_is_read_back(made in any_barcode(), lower: bool) {
            let text = made.to_string();
            let text = if lower { text.to_lowercase() } else { text };
            prop_assert_eq!(Barcode::parse(&text).unwrap(), made);
        }

        #[test]
        fn one_or_two_wrong_symbols_are_caught(
            made in any_barcode(),
            places in any::<[prop::sample::Index; 2]>(),
            symbols in [0..32_u8, 0..32_u8],
        ) {
            let right = made.to_string();
            let [first, second] = places.map(|place| place.index(right.len()));
            let wrong = replaced(&replaced(&right, first, symbols[0]), second, symbols[1]);
            prop_assert_eq!(Barcode::parse(&wrong).is_ok(), wrong == right);
        }

        #[test]
        fn every_transposition_is_caught(made in any_barcode()) {
            let right = made.to_string();
            for first in 0..right.len() {
                for second in 0..first {
                    let mut bytes = right.clone().into_bytes();
                    bytes.swap(first, second);
                    let swapped = String::from_utf8(bytes).unwrap();
                    prop_assert_eq!(Barcode::parse(&swapped).is_ok(), swapped == right);
                }
            }
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text in ".{0,40}") {
            if let Ok(read) = Barcode::parse(&text) {
                prop_assert_eq!(Barcode::parse(&read.to_string()).unwrap(), read);
            }
        }
    }
}
