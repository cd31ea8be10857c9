//! Texts and bytes as they are compared when somebody is looked for in them: letters whatever their
//! case and encoding. Pure.

use super::telephone::{Number, numbers_in};
use crate::types::json::code_unit;
use encoding_rs::WINDOWS_1252;
use std::ops::Range;

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

/// Whether a piece of a text is a word of its own. An address or a code within a longer one is not:
/// that is somebody else's.
pub fn is_word(text: &str, place: &Range<usize>) -> bool {
    let goes_on = |letters: &mut dyn Iterator<Item = char>| match letters.next() {
        Some('-' | '.' | '+') => letters.next().is_some_and(char::is_alphanumeric),
        Some(letter) => letter.is_alphanumeric() || letter == '_',
        None => false,
    };
    let (before, after) = (&text[..place.start], &text[place.end..]);
    !goes_on(&mut before.chars().rev()) && !goes_on(&mut after.chars()) && !after.starts_with('@')
}

/// A text without some of its pieces, with `mark` in their place; none where there are no such.
pub fn without(body: &[u8], mut places: Vec<Range<usize>>, mark: &str) -> Option<Vec<u8>> {
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|place| place.start);
    let (mut blanked, mut kept) = (Vec::with_capacity(body.len()), 0);
    for place in &places {
        // One may stand within another, or begin in it.
        if place.start >= kept {
            blanked.extend_from_slice(&body[kept..place.start]);
            blanked.extend_from_slice(mark.as_bytes());
        }
        kept = kept.max(place.end);
    }
    blanked.extend_from_slice(&body[kept..]);
    Some(blanked)
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

    /// As [`Letters::places`], where the text is a word of its own (see [`is_word`]).
    pub fn words<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = self.folded.match_indices(text);
        found
            .map(|(at, text)| at..at + text.len())
            .filter(|place| !place.is_empty() && is_word(&self.folded, place))
            .map(|place| self.place(&place))
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
            let first = code_unit(bytes)?;
            if let Some(letter) = char::from_u32(u32::from(first)) {
                return Some((letter, 6));
            }
            let pair = [first, code_unit(bytes.get(6..)?)?];
            let letter = char::decode_utf16(pair).next()?.ok()?;
            Some((letter, 12))
        }
        _ => None,
    }
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
}
