//! What the index of texts is asked for, and what it cannot be asked for.

/// The most trigrams of a text that the index is asked for; the text itself is compared anyway.
const TRIGRAMS_MAX: usize = 12;

/// The full-text query for rows that may have a text in a column; `None` when the index cannot tell.
#[must_use]
pub fn index_query(column: &str, text: &str) -> Option<String> {
    trigrams(text).map(|trigrams| format!("{{{column}}} : ({trigrams})"))
}

/// The full-text query for rows that have every three letters in a row of a text, as far as the
/// index and [`crate::types::text::fold`] agree on the case of those letters; `None` when there are
/// no such three.
pub(super) fn trigrams(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut trigrams: Vec<String> = chars
        .windows(3)
        .filter(|three| three.iter().all(|&letter| folds_alike(letter)))
        .map(|three| three.iter().collect::<String>())
        .collect();
    trigrams.dedup();
    let step = trigrams.len().div_ceil(TRIGRAMS_MAX).max(1);
    let quoted: Vec<String> = trigrams
        .iter()
        .step_by(step)
        .map(|three| format!("\"{}\"", three.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" AND "))
}

/// Whether the index takes a letter for the same as we do, whatever its case; a test asks it about
/// every letter there is.
fn folds_alike(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{17f}' | '\u{384}'..='\u{3f2}' | '\u{3f4}'..='\u{527}')
}

/// Whether a word is too short for the text index.
pub(super) fn is_short(word: &str) -> bool {
    word.chars().nth(2).is_none()
}

/// A word of one or two letters as the indexes of first letters have it: those lowercase ASCII letters
/// only, so that other letters are tried small and capital.
pub(super) fn beginnings(word: &str) -> Vec<String> {
    let small = word.to_lowercase();
    let mut letters = small.chars();
    let first: String = letters
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .collect();
    let capital = first + letters.as_str();
    let mut keys = vec![small.clone(), capital, word.to_uppercase()];
    for key in &mut keys {
        key.make_ascii_lowercase();
    }
    keys.sort_unstable();
    keys.dedup();
    // Some letters have more than one capital: those would not be as long as the index's.
    let length = word.chars().count();
    keys.retain(|key| key.chars().count() == length);
    keys
}
