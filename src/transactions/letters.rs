//! Texts and bytes as they are compared when somebody is looked for in them: letters whatever their
//! case and encoding, telephone numbers however they are written. Pure.

use encoding_rs::WINDOWS_1252;
use std::ops::Range;

/// The longest telephone number, in digits (E.164), with the zeros before it.
const DIGITS_MAX: usize = 18;
/// The shortest part of a number that is dialled within its country.
const NATIONAL_MIN_DIGITS: usize = 6;
/// The longest country code, in digits, with the zero that some countries keep.
const COUNTRY_MAX_DIGITS: usize = 4;
/// Letters that may stand between two digits of a number.
const GAP_MAX: usize = 3;

/// A text with its letters folded, so that `STRASSE` and `straße` are the same.
pub fn folded(text: &str) -> String {
    text.chars().flat_map(fold).collect()
}

fn fold(letter: char) -> impl Iterator<Item = char> {
    let small = letter.to_uppercase().flat_map(char::to_lowercase);
    // The dot of a Turkish İ, which its small letter has anyway.
    let small = small.filter(|letter| *letter != '\u{307}');
    small.map(|letter| match letter {
        'ς' => 'σ',
        '\u{a0}' | '\u{202f}' => ' ',
        other => other,
    })
}

/// A body that is no JSON, folded; with where its letters stand.
pub struct Letters {
    folded: String,
    /// For each byte of `folded`, where in the body the letter begins that it is of.
    origins: Vec<usize>,
    body_bytes: usize,
}

impl Letters {
    /// The letters of a body: UTF-8, and where it is not, Windows-1252; escaped as JSON does it or not.
    pub fn of(body: &[u8]) -> Self {
        let mut letters = Self {
            folded: String::with_capacity(body.len()),
            origins: Vec::with_capacity(body.len()),
            body_bytes: body.len(),
        };
        let (mut begins, mut next) = (0, 0);
        for chunk in body.utf8_chunks() {
            for (at, letter) in chunk.valid().char_indices() {
                let at = begins + at;
                if at < next {
                    continue;
                }
                let (letter, bytes) = unescaped(&body[at..]).unwrap_or((letter, 1));
                letters.push(at, letter);
                next = at + bytes;
            }
            begins += chunk.valid().len();
            for byte in chunk.invalid() {
                let (text, _) =
                    WINDOWS_1252.decode_without_bom_handling(std::slice::from_ref(byte));
                for letter in text.chars() {
                    letters.push(begins, letter);
                }
                begins += 1;
            }
        }
        letters
    }

    fn push(&mut self, at: usize, letter: char) {
        self.folded.extend(fold(letter));
        self.origins.resize(self.folded.len(), at);
    }

    /// Where in the body a folded text stands.
    pub fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = self.folded.match_indices(text);
        found
            .filter(|(_, text)| !text.is_empty())
            .map(|(at, text)| self.place(&(at..at + text.len())))
    }

    /// Where in the body one of these telephone numbers stands.
    pub fn places_of(&self, numbers: &[Number]) -> impl Iterator<Item = Range<usize>> {
        let found = numbers_in(&self.folded, numbers);
        found.into_iter().map(|found| self.place(&found))
    }

    fn place(&self, found: &Range<usize>) -> Range<usize> {
        let last = self.origins[found.end - 1];
        let behind = self.origins[found.end..].iter().find(|at| **at > last);
        self.origins[found.start]..behind.copied().unwrap_or(self.body_bytes)
    }
}

/// What stands at the beginning as an escape of JSON, and its length in bytes.
fn unescaped(bytes: &[u8]) -> Option<(char, usize)> {
    match *bytes.get(..2)? {
        [b'\\', plain @ (b'/' | b'"')] => Some((char::from(plain), 2)),
        [b'\\', b'u'] => {
            let first = unit(bytes)?;
            if let Some(letter) = char::from_u32(u32::from(first)) {
                return Some((letter, 6));
            }
            let pair = [first, unit(bytes.get(6..)?)?];
            let letter = char::decode_utf16(pair).next()?.ok()?;
            Some((letter, 12))
        }
        _ => None,
    }
}

/// The code unit of a `\u00fc`.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// How a telephone number begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `+49` or `0049`.
    International,
    /// `0`.
    National,
    /// Neither.
    Bare,
}

/// A telephone number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    form: Form,
    /// Its digits without the zeros before them.
    digits: String,
}

impl Number {
    /// The number that somebody wrote; of what is none, whatever digits it has.
    pub fn read(text: &str) -> Self {
        let mut digits = Digits::default();
        let mut rest = text.trim();
        while let Some(letter) = rest.chars().next() {
            rest = digits.take(rest, letter);
        }
        Self {
            form: digits.form(),
            digits: digits.said,
        }
    }

    /// How many digits it has, less the zeros before them.
    pub fn count(&self) -> usize {
        self.digits.len()
    }

    /// Whether this is the same number, with its country or without.
    fn is(&self, other: &Digits) -> bool {
        let within = |one: (Form, &str), other: (Form, &str)| {
            one.0 == Form::International
                && other.0 == Form::National
                && other.1.len() >= NATIONAL_MIN_DIGITS
                && one.1.strip_suffix(other.1).is_some_and(|country| {
                    !country.is_empty() && country.len() <= COUNTRY_MAX_DIGITS
                })
        };
        let (one, other) = (
            (self.form, &*self.digits),
            (other.form(), other.said.as_str()),
        );
        one.1 == other.1 || within(one, other) || within(other, one)
    }
}

/// A number while it is read.
#[derive(Default)]
struct Digits {
    plus: bool,
    zeros: usize,
    said: String,
}

impl Digits {
    fn form(&self) -> Form {
        match (self.plus, self.zeros) {
            (true, _) | (false, 2) => Form::International,
            (false, 1) => Form::National,
            (false, _) => Form::Bare,
        }
    }

    fn count(&self) -> usize {
        self.zeros + self.said.len()
    }

    /// Takes what `rest` begins with; the rest of it.
    fn take<'t>(&mut self, rest: &'t str, letter: char) -> &'t str {
        // A zero that is dialled within the country alone: +49 (0) 40.
        if let Some(rest) = rest.strip_prefix("(0)").filter(|_| self.count() > 0) {
            return rest;
        }
        match letter {
            '+' if self.count() == 0 => self.plus = true,
            '0' if self.said.is_empty() => self.zeros += 1,
            '0'..='9' => self.said.push(letter),
            _ => {}
        }
        &rest[letter.len_utf8()..]
    }
}

/// Where in a text one of these numbers stands, however it is written.
pub fn numbers_in(text: &str, numbers: &[Number]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if numbers.is_empty() {
        return found;
    }
    let (mut at, mut within) = (0, false);
    while let Some(letter) = text[at..].chars().next() {
        let begins = letter.is_ascii_digit() || letter == '+';
        let length = if begins && !within {
            length_of(&text[at..], numbers)
        } else {
            None
        };
        if let Some(length) = length {
            found.push(at..at + length);
            at += length;
            within = true;
        } else {
            at += letter.len_utf8();
            within = begins;
        }
    }
    found
}

/// How much of the beginning of a text is one of these numbers.
fn length_of(text: &str, numbers: &[Number]) -> Option<usize> {
    let (mut digits, mut rest, mut gap) = (Digits::default(), text, 0);
    let mut length = None;
    while let Some(letter) = rest.chars().next() {
        if letter.is_ascii_digit() {
            gap = 0;
        } else if " -/.()\u{2010}\u{2011}\u{2012}\u{2013}".contains(letter) {
            gap += 1;
        } else if letter != '+' || digits.count() > 0 {
            break;
        }
        rest = digits.take(rest, letter);
        if gap > GAP_MAX || digits.count() > DIGITS_MAX {
            break;
        }
        let ends = gap == 0 && !rest.starts_with(|letter: char| letter.is_ascii_digit());
        if ends && numbers.iter().any(|number| number.is(&digits)) {
            length = Some(text.len() - rest.len());
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_same_whatever_their_case() {
        for (one, other) in [
            ("Weiß", "WEISS"),
            ("Ωμέγας", "ΩΜΈΓΑΣ"),
            ("İpek", "ipek"),
            ("ﬁlm", "FILM"),
            ("Ada\u{a0}M", "ada m"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("Müller"), folded("Muller"));
    }

    #[test]
    fn a_letter_is_found_where_it_stands_in_the_body() {
        let body = b"x M\xfcller|M\xc3\xbcller|M\\u00DCLLER|\\ud83c\\udfab!|ma\xdfe \\u12 \\";
        let letters = Letters::of(body);
        let found = |text: &str| -> Vec<&[u8]> {
            let places = letters.places(text);
            places.map(|place| &body[place]).collect()
        };
        let muller: [&[u8]; 3] = [b"M\xfcller", b"M\xc3\xbcller", b"M\\u00DCLLER"];
        assert_eq!(found("müller"), muller);
        let ticket: [&[u8]; 1] = [b"\\ud83c\\udfab"];
        assert_eq!(found("🎫"), ticket);
        // Half of a letter is the whole of it.
        let half: [&[u8]; 1] = [b"ma\xdf"];
        assert_eq!(found("mas"), half);
        let rest: [&[u8]; 1] = [b" \\u12 \\"];
        assert_eq!(found(" \\u12 \\"), rest);
        assert!(found("").is_empty() && found("muller").is_empty());
    }

    #[test]
    fn a_number_is_found_however_it_is_written() {
        let stored = |text: &str| [Number::read(text)];
        for (number, text, found) in [
            (
                "+49 170 1234567",
                "tel 0170/123 45-67, paid",
                "0170/123 45-67",
            ),
            (
                "+49 170 1234567",
                "+49 (0)170 1234567",
                "+49 (0)170 1234567",
            ),
            ("+49 170 1234567", "0049-170-1234567", "0049-170-1234567"),
            ("+49 170 1234567", "0170.1234567 25.00", "0170.1234567"),
            ("+49 170 1234567", "3 (0170) 1234567", "0170) 1234567"),
            (
                "0170 1234567",
                "+49\u{2011}170 1234567",
                "+49\u{2011}170 1234567",
            ),
            ("+39 06 1234567", "06 1234567", "06 1234567"),
            ("+491701234567", "\"491701234567\"", "491701234567"),
        ] {
            let places = numbers_in(text, &stored(number));
            let places: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(places, [found], "{number} in {text}");
        }
        for text in [
            "01701234568",
            "1701234567",
            "101701234567",
            "017012345670",
            "0170 123\n4567",
            "0170, 1234567",
            "+48 170 1234567",
            "",
        ] {
            let places = numbers_in(text, &stored("+49 170 1234567"));
            assert!(places.is_empty(), "{text}");
        }
    }
}
