//! E-mail addresses, telephone numbers and codes of a person, and taking them out of what others
//! recorded. Names are not among them: other people have the same. Pure.

use super::ERASED;
use crate::types::error::{Error, Result};
use phonenumber::Mode;
use regex::Regex;
use serde_json::{Map, Value};
use std::ops::Range;

/// A shorter code may be anything; it counts only where codes are expected.
const CODE_MIN_CHARS: usize = 6;
/// A number with fewer digits is no telephone's.
const PHONE_MIN_DIGITS: usize = 7;
/// The shortest part of a number that is dialled within its country.
const NATIONAL_MIN_DIGITS: usize = 6;
/// The longest country code, in digits, with the zero that some countries keep.
const COUNTRY_MAX_DIGITS: usize = 4;
/// The characters that may stand between two digits. A zero in brackets is dialled within the country alone: +49 (0)
/// 40.
const GAP: &str = r"(?:\(0\)|[ \-/.()\x{a0}\x{202f}\x{2010}-\x{2013}]){0,3}";

/// The contacts by which a person is reached, and known to gates.
#[derive(Debug, Default, Clone)]
pub struct Contacts {
    words: Option<Regex>,
    phones: Option<Regex>,
}

impl Contacts {
    pub(super) fn of<'a>(
        emails: impl IntoIterator<Item = &'a str>,
        phones: impl IntoIterator<Item = &'a str>,
        codes: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let codes = codes.into_iter();
        let codes = codes.filter(|code| code.chars().count() >= CODE_MIN_CHARS);
        let words = emails.into_iter().chain(codes).map(regex::escape);
        Ok(Self {
            words: any_of(words.collect())?,
            phones: any_of(phones.into_iter().flat_map(phone_patterns).collect())?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_none() && self.phones.is_none()
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        !self.places(text).is_empty()
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for (regex, stands_alone) in [
            (&self.words, is_word as fn(&str, &str) -> bool),
            (&self.phones, is_number),
        ] {
            let mut from = 0;
            while let Some(found) = regex.as_ref().and_then(|regex| regex.find_at(text, from)) {
                from = found.end();
                if stands_alone(&text[..found.start()], &text[found.end()..]) {
                    places.push(found.range());
                } else {
                    let letter = found.as_str().chars().next();
                    from = found.start() + letter.map_or(1, char::len_utf8);
                }
            }
        }
        places.sort_by_key(|place| place.start);
        places
    }

    /// Blanks them in a JSON document, in names of properties too, and leaves the rest of a text as it
    /// is; `None` where there are none.
    pub fn blanked(&self, document: &str) -> Option<String> {
        let mut value: Value = serde_json::from_str(document).ok()?;
        self.blank(&mut value).then(|| value.to_string())
    }

    /// As [`Contacts::blanked`], in place; whether there were any.
    pub fn blank(&self, value: &mut Value) -> bool {
        match value {
            Value::Object(object) => {
                let renamed = self.rename(object);
                let values = object.values_mut();
                values.fold(renamed, |any, value| self.blank(value) | any)
            }
            Value::Array(values) => {
                let values = values.iter_mut();
                values.fold(false, |any, value| self.blank(value) | any)
            }
            Value::String(text) => {
                let blanked = self.blanked_text(text);
                let any = blanked.is_some();
                *text = blanked.unwrap_or_else(|| std::mem::take(text));
                any
            }
            Value::Number(number) => {
                let blank = self.are_in(&number.to_string());
                if blank {
                    *value = ERASED.into();
                }
                blank
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn rename(&self, object: &mut Map<String, Value>) -> bool {
        if !object.keys().any(|name| self.are_in(name)) {
            return false;
        }
        for (name, value) in std::mem::take(object) {
            let mut new = self.blanked_text(&name).unwrap_or(name);
            while object.contains_key(&new) {
                new.push('*');
            }
            object.insert(new, value);
        }
        true
    }

    fn blanked_text(&self, text: &str) -> Option<String> {
        let places = self.places(text);
        let (mut blanked, mut kept) = (String::new(), 0);
        for place in &places {
            // One may stand within another, or begin in it.
            if place.start >= kept {
                blanked.push_str(&text[kept..place.start]);
                blanked.push_str(ERASED);
            }
            kept = kept.max(place.end);
        }
        blanked.push_str(&text[kept..]);
        (!places.is_empty()).then_some(blanked)
    }
}

/// One of these patterns, whatever the case of letters; of several the longest.
fn any_of(mut patterns: Vec<String>) -> Result<Option<Regex>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.len()));
    let pattern = format!("(?i){}", patterns.join("|"));
    Regex::new(&pattern).map(Some).map_err(Error::defect)
}

/// Returns whether a piece of a text is a word of its own. An address or a code within a longer one is not: that is
/// somebody else's.
fn is_word(before: &str, after: &str) -> bool {
    let goes_on = |letters: &mut dyn Iterator<Item = char>| match letters.next() {
        Some('-' | '.' | '+') => letters.next().is_some_and(char::is_alphanumeric),
        Some(letter) => letter.is_alphanumeric() || letter == '_',
        None => false,
    };
    !goes_on(&mut before.chars().rev()) && !goes_on(&mut after.chars()) && !after.starts_with('@')
}

/// Returns whether a piece of a text is not the middle of a longer number.
fn is_number(before: &str, after: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    !before.ends_with(|letter| is_digit(letter) || letter == '+') && !after.starts_with(is_digit)
}

/// Patterns of a telephone number, however it is written: with its country or without.
fn phone_patterns(phone: &str) -> Vec<String> {
    let spaced = |digits: &str| {
        let digits: Vec<String> = digits.chars().map(String::from).collect();
        digits.join(GAP)
    };
    let dialled = phone.replace("(0)", "");
    let dialled: String = dialled.chars().filter(char::is_ascii_digit).collect();
    let digits = dialled.trim_start_matches('0');
    if digits.len() < PHONE_MIN_DIGITS {
        return Vec::new();
    }
    let mut patterns = vec![format!(r"(?:\+|0{{1,2}})?{GAP}{}", spaced(digits))];
    let has_plus = phone.trim_start().starts_with('+');
    match dialled.len() - digits.len() {
        1 if !has_plus => {
            let country = format!(r"(?:\+|00){GAP}(?:[0-9]{GAP}){{1,{COUNTRY_MAX_DIGITS}}}");
            patterns.push(country + &spaced(digits));
        }
        zeros if has_plus || zeros == 2 => {
            patterns.extend(national(digits).map(|national| spaced(&national)));
            // Where the country is unknown to the library.
            for country in 1..=COUNTRY_MAX_DIGITS {
                let rest = &digits[country.min(digits.len())..];
                if rest.len() >= NATIONAL_MIN_DIGITS && !rest.starts_with('0') {
                    patterns.push(format!("0{GAP}{}", spaced(rest)));
                }
            }
        }
        _ => {}
    }
    patterns
}

/// The digits of an international number as they are dialled within its country: some dial a zero
/// before it, some keep one that belongs to it, and some have none.
fn national(digits: &str) -> Option<String> {
    let number = phonenumber::parse(None, format!("+{digits}")).ok()?;
    let mut shown = number.format().mode(Mode::National).to_string();
    shown.retain(|letter| letter.is_ascii_digit());
    (shown.len() >= NATIONAL_MIN_DIGITS).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ada() -> Contacts {
        Contacts::of(
            ["ada@example.com"],
            ["+49 30 5550123"],
            ["TLH26-1", "A1B2C"],
        )
        .unwrap()
    }

    #[test]
    fn only_whole_words_are_taken_out_of_what_others_recorded() {
        for (document, left) in [
            (
                json!({"note": "met ADA@example.com, call 030 555-0123. Ticket tlh26-1."}),
                json!({"note": "met [erased], call [erased]. Ticket [erased]."}),
            ),
            (
                json!([{"ada@example.com": {"guest": ["TLH26-1", 49_305_550_123_i64]}}]),
                json!([{"[erased]": {"guest": ["[erased]", "[erased]"]}}]),
            ),
            (
                json!({"to": "<mailto:ada@example.com?subject=x>"}),
                json!({"to": "<mailto:[erased]?subject=x>"}),
            ),
        ] {
            let blanked = ada().blanked(&document.to_string());
            assert_eq!(blanked, Some(left.to_string()));
        }
        for others in [
            "nada@example.com",
            "anna.ada@example.com",
            "ada@example.com.au",
            "ada@example.community",
            "TLH26-10",
            "TLH26-1-B",
            "X-TLH26-1",
            "TLH26-1@example.com",
            "A1B2C",
            "Ada",
            "1030555012300",
        ] {
            let document = json!({"a": others, others: [others]});
            assert_eq!(ada().blanked(&document.to_string()), None, "{others}");
        }
        assert_eq!(ada().blanked("no JSON, ada@example.com"), None);
    }

    #[test]
    fn words_are_found_whatever_their_case() {
        let text = "x Müller, MÜLLER; Müllerin";
        let places = Contacts::of(["müller"], [], []).unwrap().places(text);
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["Müller", "MÜLLER"]);
    }

    #[test]
    fn a_number_is_found_however_it_is_written() {
        let stored = |phone: &str| Contacts::of([], [phone], []).unwrap();
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
            let places = stored(number).places(text);
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
            let places = stored("+49 170 1234567").places(text);
            assert!(places.is_empty(), "{text}");
        }
    }
}
