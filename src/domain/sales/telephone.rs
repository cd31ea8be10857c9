//! Telephone numbers, however they are written: with their country or without, with signs between the
//! digits. Pure.

use phonenumber::Mode;
use std::{fmt::Write, ops::Range};

/// The longest telephone number, in digits (E.164), with the zeros before it.
const DIGITS_MAX: usize = 18;
/// The shortest part of a number that is dialled within its country.
const NATIONAL_MIN_DIGITS: usize = 6;
/// The longest country code, in digits, with the zero that some countries keep.
const COUNTRY_MAX_DIGITS: usize = 4;
/// Letters that may stand between two digits of a number.
const GAP_MAX: usize = 3;

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
    /// As it is dialled within its country, where that is known: some dial a zero before it, some keep
    /// one that belongs to it, and some have none.
    dialled: Option<String>,
}

impl Number {
    /// The number that somebody wrote; of what is none, whatever digits it has.
    pub fn read(text: &str) -> Self {
        let mut digits = Digits::default();
        let mut rest = text.trim();
        while let Some(letter) = rest.chars().next() {
            rest = digits.take(rest, letter);
        }
        let dialled = (digits.form() == Form::International)
            .then(|| dialled(&digits.said))
            .flatten();
        Self {
            form: digits.form(),
            digits: digits.said,
            dialled,
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
        let dialled = other.form() != Form::International
            && self.dialled.as_deref().is_some_and(|own| other.dials(own));
        let (one, other) = (
            (self.form, &*self.digits),
            (other.form(), other.said.as_str()),
        );
        dialled || one.1 == other.1 || within(one, other) || within(other, one)
    }
}

/// The digits of an international number as they are dialled within its country.
fn dialled(digits: &str) -> Option<String> {
    let number = phonenumber::parse(None, format!("+{digits}")).ok()?;
    let mut shown = String::new();
    write!(shown, "{}", number.format().mode(Mode::National)).ok()?;
    shown.retain(|letter| letter.is_ascii_digit());
    (shown.len() >= NATIONAL_MIN_DIGITS).then_some(shown)
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

    /// Whether these are the digits, with the zeros before them.
    fn dials(&self, digits: &str) -> bool {
        let rest = digits.strip_suffix(&self.said);
        rest.is_some_and(|zeros| {
            zeros.len() == self.zeros && zeros.bytes().all(|zero| zero == b'0')
        })
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
            ("+34 612 345 678", "612 345 678", "612 345 678"),
            ("+48501234567", "tel. 501-234-567", "501-234-567"),
            ("+1 415 555 2671", "(415) 555-2671", "415) 555-2671"),
            ("+1 415 555 2671", "1 415 555 2671", "1 415 555 2671"),
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
