//! Texts as they are compared when somebody is looked for in them: letters whatever their case. Pure.

use super::telephone::{Number, numbers_in};
use crate::types::json::code_unit;
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
pub fn without(text: &str, mut places: Vec<Range<usize>>, mark: &str) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|place| place.start);
    let (mut blanked, mut kept) = (String::with_capacity(text.len()), 0);
    for place in &places {
        // One may stand within another, or begin in it.
        if place.start >= kept {
            blanked.push_str(&text[kept..place.start]);
            blanked.push_str(mark);
        }
        kept = kept.max(place.end);
    }
    blanked.push_str(&text[kept..]);
    Some(blanked)
}

/// A text, folded; with where its letters stand.
pub struct Letters {
    folded: String,
    /// For each byte of `folded`, where in the text the letter begins that it is of.
    origins: Vec<usize>,
    text_bytes: usize,
}

impl Letters {
    pub fn of(text: &str) -> Self {
        let mut letters = Self {
            folded: String::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len()),
            text_bytes: text.len(),
        };
        for (at, letter) in text.char_indices() {
            letters.folded.extend(fold(letter));
            letters.origins.resize(letters.folded.len(), at);
        }
        letters
    }

    /// Where in the text a folded word stands (see [`is_word`]).
    pub fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let found = self.folded.match_indices(word);
        found
            .map(|(at, word)| at..at + word.len())
            .filter(|place| !place.is_empty() && is_word(&self.folded, place))
            .map(|place| self.place(&place))
    }

    /// Where in the text one of these telephone numbers stands.
    pub fn places_of(&self, numbers: &[Number]) -> impl Iterator<Item = Range<usize>> {
        let found = numbers_in(&self.folded, numbers);
        found.into_iter().map(|found| self.place(&found))
    }

    fn place(&self, found: &Range<usize>) -> Range<usize> {
        let last = self.origins[found.end - 1];
        let behind = self.origins[found.end..].iter().find(|at| **at > last);
        self.origins[found.start]..behind.copied().unwrap_or(self.text_bytes)
    }
}

/// A text with the letters that JSON escapes in place of their escapes.
pub fn unescaped(text: &str) -> String {
    let (mut letters, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        letters.push_str(&rest[..at]);
        let (letter, bytes) = escape(&rest.as_bytes()[at..]).unwrap_or(('\\', 1));
        letters.push(letter);
        rest = &rest[at + bytes..];
    }
    letters + rest
}

/// The letter of an escape, and the escape's length in bytes.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
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
    fn a_word_is_found_where_it_stands_in_the_text() {
        let text = "x Müller, MÜLLER; Müllerin, maße";
        let letters = Letters::of(text);
        let found = |word: &str| -> Vec<&str> {
            let places = letters.words(word);
            places.map(|place| &text[place]).collect()
        };
        assert_eq!(found("müller"), ["Müller", "MÜLLER"]);
        assert_eq!(found("masse"), ["maße"]);
        assert!(found("").is_empty() && found("muller").is_empty());
    }

    #[test]
    fn escapes_are_read_where_they_are_whole() {
        for (text, letters) in [
            (r#"M\u00DCLLER \/ \""#, "MÜLLER / \""),
            (r"\ud83c\udfab!", "🎫!"),
            (r"\u12 \n \", r"\u12 \n \"),
        ] {
            assert_eq!(unescaped(text), letters);
        }
    }
}
