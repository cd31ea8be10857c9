//! E-mail addresses, telephone numbers and codes of a person, and taking them out of what others
//! recorded. Names are not among them: other people have the same. Pure.

use super::ERASED;
use crate::types::error::{Error, Result};
use regex::Regex;
use serde_json::{Map, Value};
use std::ops::Range;

/// A shorter code may be anything; it counts only where codes are expected.
const CODE_MIN_CHARS: usize = 6;
/// A number with fewer digits is no telephone's.
const PHONE_MIN_DIGITS: usize = 7;
/// Signs between two digits. A zero in brackets is dialled within the country alone: +49 (0) 40.
const GAP: &str = r"(?:\(0\)|[ \-/.()\x{a0}\x{202f}\x{2010}-\x{2013}]){0,3}";

/// The ways in which a person is reached, and known to gates.
#[derive(Debug, Default, Clone)]
pub struct Contacts {
    words: Option<Regex>,
    phones: Option<Regex>,
    /// Telephone numbers that end as theirs do, however they are written.
    like: Option<Regex>,
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
        let phones = phones.into_iter().map(|phone| (phone, digits_of(phone)));
        let is_phone = |digits: &str| digits.trim_start_matches('0').len() >= PHONE_MIN_DIGITS;
        let phones: Vec<_> = phones.filter(|(_, digits)| is_phone(digits)).collect();
        let same = phones
            .iter()
            .flat_map(|(written, digits)| [regex::escape(written), format!(r"\+?{digits}")]);
        let like = phones.iter().map(|(_, digits)| {
            let last = digits[digits.len() - PHONE_MIN_DIGITS..].chars();
            last.map(String::from).collect::<Vec<_>>().join(GAP) + r"(?:[^0-9]|$)"
        });
        Ok(Self {
            words: any_of(words.collect())?,
            phones: any_of(same.collect())?,
            like: any_of(like.collect())?,
        })
    }

    /// Returns whether a text has a telephone number that may be theirs, written in whatever way.
    pub fn are_like(&self, text: &str) -> bool {
        self.like.as_ref().is_some_and(|like| like.is_match(text))
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

    /// Blanks them in a JSON value, in names of properties too, and leaves the rest of a text as it is; whether
    /// there were any.
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

/// Returns whether a piece of a text is a word of its own. An address or a code within a longer one is not:
/// that is somebody else's.
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

/// The digits of a telephone number, as it is dialled from abroad.
fn digits_of(phone: &str) -> String {
    let dialled = phone.replace("(0)", "");
    dialled.chars().filter(char::is_ascii_digit).collect()
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
                json!({"note": "met ADA@example.com, call +49 30 5550123. Ticket tlh26-1."}),
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
            let mut blanked = document;
            assert!(ada().blank(&mut blanked));
            assert_eq!(blanked, left);
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
            "030 5550123",
        ] {
            let mut document = json!({"a": others, others: [others]});
            assert!(!ada().blank(&mut document), "{others}");
        }
    }

    #[test]
    fn words_are_found_whatever_their_case() {
        let text = "x Müller, MÜLLER; Müllerin";
        let places = Contacts::of(["müller"], [], []).unwrap().places(text);
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["Müller", "MÜLLER"]);
    }

    #[test]
    fn a_number_is_found_as_it_was_written_and_by_its_digits_alone() {
        let stored = |phone: &str| Contacts::of([], [phone], []).unwrap();
        for (number, text, found) in [
            (
                "+49 (0)170 1234567",
                "at +49 (0)170 1234567.",
                "+49 (0)170 1234567",
            ),
            ("+49 170 1234567", "tel:+491701234567;x", "+491701234567"),
            ("+491701234567", "\"491701234567\"", "491701234567"),
            ("0170/1234567", "0170/1234567 25.00", "0170/1234567"),
        ] {
            let places = stored(number).places(text);
            let places: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(places, [found], "{number} in {text}");
            assert!(stored(number).are_like(text), "{number} in {text}");
        }
    }

    #[test]
    fn other_ways_to_write_a_number_are_like_it() {
        let stored = Contacts::of([], ["+49 170 1234567"], []).unwrap();
        for text in [
            "tel 0170/123 45-67, paid",
            "0049-170-1234567",
            "0170.1234567 25.00",
            "3 (0170) 1234567",
            "+49\u{2011}170 1234567 0",
            "1234567",
        ] {
            assert!(stored.are_like(text) && !stored.are_in(text), "{text}");
        }
        for text in [
            "01701234568",
            "017012345670",
            "0170 123\n4567",
            "0170 123, 4567",
            "",
        ] {
            assert!(!stored.are_like(text), "{text}");
        }
        assert!(!Contacts::of([], ["12 34"], []).unwrap().are_like("12 34"));
    }
}
