//! E-mail addresses, telephone numbers and codes of a person, and taking them out of what others
//! recorded. Names are not among them: other people have the same. Pure.

use super::{
    ERASED,
    letters::{Letters, folded, is_word, without},
    telephone::{Number, numbers_in},
};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, ops::Range};

/// A shorter code may be anything; as such it stands only where codes do.
const CODE_MIN_CHARS: usize = 6;
/// A number with fewer digits is no telephone's.
const PHONE_MIN_DIGITS: usize = 7;

/// How a person is reached, and known to gates.
#[derive(Debug, Default, Clone)]
pub struct Contacts {
    /// E-mail addresses and codes, folded.
    words: BTreeSet<String>,
    phones: Vec<Number>,
}

impl Contacts {
    pub(super) fn of<'a>(
        emails: impl IntoIterator<Item = &'a str>,
        phones: impl IntoIterator<Item = &'a str>,
        codes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let codes = codes.into_iter();
        let codes = codes.filter(|code| code.chars().count() >= CODE_MIN_CHARS);
        let words = emails.into_iter().chain(codes).map(folded).collect();
        let phones = phones.into_iter().map(Number::read);
        Self {
            words,
            phones: phones
                .filter(|number| number.count() >= PHONE_MIN_DIGITS)
                .collect(),
        }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.phones.is_empty()
    }

    /// Whether a folded text has one of them, as a word of its own.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let has = |word: &String| {
            let mut found = text.match_indices(word.as_str());
            found.any(|(at, _)| is_word(text, &(at..at + word.len())))
        };
        self.words.iter().any(has) || !numbers_in(text, &self.phones).is_empty()
    }

    fn places<'a>(&'a self, letters: &'a Letters) -> impl Iterator<Item = Range<usize>> + 'a {
        let words = self.words.iter().flat_map(|word| letters.words(word));
        words.chain(letters.places_of(&self.phones))
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
            Value::Array(values) => values
                .iter_mut()
                .fold(false, |any, value| self.blank(value) | any),
            Value::String(text) => match self.text_without(text) {
                Some(blanked) => {
                    *text = blanked;
                    true
                }
                None => false,
            },
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
        if !object.keys().any(|name| self.are_in(&folded(name))) {
            return false;
        }
        for (name, value) in std::mem::take(object) {
            let mut new = self.text_without(&name).unwrap_or(name);
            while object.contains_key(&new) {
                new.push('*');
            }
            object.insert(new, value);
        }
        true
    }

    fn text_without(&self, text: &str) -> Option<String> {
        if !self.are_in(&folded(text)) {
            return None;
        }
        let letters = Letters::of(text);
        without(text, self.places(&letters).collect(), ERASED)
    }
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
}
