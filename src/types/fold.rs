//! The one folding of names for searches: case, accents, apostrophes, hyphens, widths and spellings of one
//! letter do not matter. `assets/gate/core/fold.js` is the same for gates; `tests/gate/fold.json` holds both together.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Words of a text whose neighbours are also looked for as one word.
const JOINED_WORDS_MAX: usize = 6;
/// Neighbours that are joined at the most: `van der Meer`.
const JOINED_MAX: usize = 3;

/// The words of a text, folded, with one space between them. Apostrophes are dropped; every other sign ends a
/// word. Each letter of Chinese, Japanese and Korean is a word of its own.
#[must_use]
pub fn fold(text: &str) -> String {
    fold_with(text, false)
}

/// The folded letters and digits of a text alone, without spaces.
#[must_use]
pub fn letters(text: &str) -> String {
    fold(text).replace(' ', "")
}

/// As [`fold`]; apostrophes may end a word.
fn fold_with(text: &str, apostrophes_separate: bool) -> String {
    let mut words = Words::with_capacity(text.len());
    let put_ascii = |words: &mut Words, letter: char| {
        if letter.is_ascii_alphanumeric() {
            words.push(letter.to_ascii_lowercase());
        } else if letter != '\'' || apostrophes_separate {
            words.end();
        }
    };
    if text.is_ascii() {
        text.chars()
            .map(plain_apostrophe)
            .for_each(|letter| put_ascii(&mut words, letter));
        return words.text;
    }
    let composed = ComposingNormalizerBorrowed::new_nfkc();
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd();
    // Before, as an accent alone would become a space; after, as one sign becomes another of the apostrophes.
    let plain = composed.normalize_iter(text.chars().map(plain_apostrophe));
    for letter in plain.map(plain_apostrophe) {
        if letter.is_ascii() {
            put_ascii(&mut words, letter);
        } else if is_cjk(letter) {
            words.end();
            if letter.is_alphanumeric() {
                words.push(letter);
                words.end();
            }
        } else {
            decomposed
                .normalize_iter(std::iter::once(letter))
                .flat_map(char::to_lowercase)
                .for_each(|letter| words.put(letter));
        }
    }
    words.text
}

/// Words as they are put together.
struct Words {
    text: String,
    /// The next letter begins a word.
    is_between: bool,
}

impl Words {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            is_between: false,
        }
    }

    fn end(&mut self) {
        self.is_between = !self.text.is_empty();
    }

    fn push(&mut self, letter: char) {
        if std::mem::take(&mut self.is_between) {
            self.text.push(' ');
        }
        self.text.push(letter);
    }

    /// Puts a small letter, or a mark, that has no parts.
    fn put(&mut self, letter: char) {
        match letter {
            'ß' => "ss".chars().for_each(|letter| self.push(letter)),
            'æ' => "ae".chars().for_each(|letter| self.push(letter)),
            'œ' => "oe".chars().for_each(|letter| self.push(letter)),
            'þ' => "th".chars().for_each(|letter| self.push(letter)),
            'ø' => self.push('o'),
            'ł' => self.push('l'),
            'đ' | 'ð' | 'ɖ' => self.push('d'),
            'ı' => self.push('i'),
            'ħ' => self.push('h'),
            'ŧ' => self.push('t'),
            'ŋ' => self.push('n'),
            'ə' => self.push('a'),
            'ς' => self.push('σ'),
            'ى' => self.push('ي'),
            'ة' => self.push('ه'),
            'ٱ' => self.push('ا'),
            'ـ' => {}
            'ʼ' => {}
            mark if is_mark(mark) => {}
            letter if letter.is_alphanumeric() => self.push(letter),
            mark if is_of_indic_block(mark) => {}
            _ => self.end(),
        }
    }
}

/// Signs that people use as an apostrophe.
fn plain_apostrophe(letter: char) -> char {
    match letter {
        '’' | '‘' | '‛' | 'ʼ' | 'ʻ' | 'ʹ' | '′' | '`' | '´' => '\'',
        letter => letter,
    }
}

/// Letters of Chinese, Japanese and Korean, which people write without spaces.
#[must_use]
pub fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' | '\u{3100}'..='\u{318f}' | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Accents, vowel points and joiners, without which a name or a type is the same.
#[must_use]
pub fn is_mark(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{ad}' | '\u{200b}'..='\u{200f}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{2060}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{feff}')
}

/// Scripts in which signs that are no letters stand within words.
fn is_of_indic_block(letter: char) -> bool {
    matches!(letter, '\u{900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}')
}

/// The spelling that `Müller` and `Mueller`, `Åse` and `Aase`, `Đorđe` and `Djordje` have in common, of words
/// that are folded.
#[must_use]
pub fn alternative(folded: &str) -> String {
    let mut text = String::with_capacity(folded.len());
    let mut last = ' ';
    for letter in folded.chars() {
        let is_spelt_out = match letter {
            'e' => matches!(last, 'a' | 'o' | 'u'),
            'a' => last == 'a',
            'j' => last == 'd',
            _ => false,
        };
        if !is_spelt_out {
            text.push(letter);
            last = letter;
        }
    }
    text
}

/// Returns the forms by which a name is found: its folded words, its words where apostrophes separate, and
/// neighbours as one word (`El Sayed`, `elsayed`).
#[must_use]
pub fn forms(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words: Vec<&str> = folded.split(' ').filter(|word| !word.is_empty()).collect();
    let mut forms: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    if !text.is_ascii() || text.contains(['\'', '`']) {
        let parts = fold_with(text, true);
        let parts = parts.split(' ').filter(|part| !part.is_empty());
        forms.extend(parts.map(ToOwned::to_owned));
    }
    if words.len() <= JOINED_WORDS_MAX {
        for length in 2..=JOINED_MAX {
            let joined = words.windows(length).map(<[&str]>::concat);
            forms.extend(joined.filter(|joined| !joined.chars().any(is_cjk)));
        }
    }
    distinct(forms)
}

/// Words with the other spellings of those that have one.
#[must_use]
pub fn with_alternatives(words: Vec<String>) -> Vec<String> {
    let others: Vec<String> = words.iter().map(|word| alternative(word)).collect();
    distinct(words.into_iter().chain(others).collect())
}

/// Each once, in their order.
fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(texts.len());
    for text in texts {
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

/// The digits of a phone number by which its national and its international form end alike.
#[must_use]
pub fn phone(text: &str) -> String {
    let digits: String = fold(&text.replace("(0)", ""))
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    digits.trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    /// The table that `assets/gate/core/fold.js` is held to as well.
    #[derive(Deserialize)]
    struct Table {
        fold: Vec<(String, String)>,
        alternative: Vec<(String, String)>,
        forms: Vec<(String, Vec<String>)>,
    }

    fn table() -> Table {
        serde_json::from_str(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/gate/fold.json"
        )))
        .unwrap()
    }

    #[test]
    fn names_are_folded_as_gates_fold_them() {
        for (text, folded) in table().fold {
            assert_eq!(fold(&text), folded, "{text}");
            let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&text);
            let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text);
            assert_eq!(fold(&composed), folded, "{text}, composed");
            assert_eq!(fold(&decomposed), folded, "{text}, decomposed");
        }
    }

    #[test]
    fn alternative_spellings_and_joined_words_are_those_of_gates() {
        for (folded, other) in table().alternative {
            assert_eq!(alternative(&folded), other, "{folded}");
        }
        for (text, found) in table().forms {
            assert_eq!(forms(&text), found, "{text}");
        }
    }

    #[test]
    fn phone_numbers_end_alike_in_national_and_international_form() {
        for (text, digits) in [
            ("+49 30 555-0000", "49305550000"),
            ("0049 30 5550000", "49305550000"),
            ("+49 (0)30 / 5550000", "49305550000"),
            ("030 5550000", "305550000"),
            ("none", ""),
        ] {
            assert_eq!(phone(text), digits, "{text}");
        }
    }

    #[test]
    fn every_letter_is_folded_once_and_for_all() {
        for letter in '\0'..=char::MAX {
            for text in [letter.to_string(), format!("a{letter}b")] {
                let folded = fold(&text);
                assert_eq!(fold(&folded), folded, "{letter:?} {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_folded_stays_as_it_is(text in "\\PC{0,20}|[\\u{0}-\\u{2fff}]{0,12}") {
            let folded = fold(&text);
            prop_assert_eq!(fold(&folded), folded.clone());
            prop_assert!(!folded.contains("  ") && folded.trim() == folded);
            let spelt = alternative(&folded);
            prop_assert_eq!(alternative(&spelt), spelt);
        }
    }
}
