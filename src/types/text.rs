//! Text as records hold it: bounded, and without NUL bytes, which SQLite's text functions end at.

use crate::error::{Error, Result};

/// The longest unique code, in characters (contract §4).
pub const CODE_MAX_CHARS: usize = 255;
/// The longest plain text property, in characters.
pub const TEXT_MAX_CHARS: usize = 10_000;

/// Checks a plain text property.
///
/// # Errors
/// [`crate::error::Kind::Invalid`], naming the property, for a NUL byte or more than
/// [`TEXT_MAX_CHARS`] characters.
pub fn check_text(name: &str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::invalid(format!(
            "{name}: must not contain a NUL character"
        )));
    }
    check_length(name, text, TEXT_MAX_CHARS)
}

/// Checks a unique code: 1 to 255 characters, compared exactly as sent (contract §4).
///
/// # Errors
/// [`crate::error::Kind::Invalid`], naming the code.
pub fn check_code(name: &str, code: &str) -> Result<()> {
    if code.is_empty() {
        return Err(Error::invalid(format!(
            "{name}: must have 1 to {CODE_MAX_CHARS} characters"
        )));
    }
    check_text(name, code)?;
    check_length(name, code, CODE_MAX_CHARS)
}

fn check_length(name: &str, text: &str, most: usize) -> Result<()> {
    if text.len() > most && text.chars().count() > most {
        return Err(Error::invalid(format!(
            "{name}: must have at most {most} characters"
        )));
    }
    Ok(())
}

/// `a device`, `an event`.
#[must_use]
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

/// The text as an error message may repeat it: at most 40 characters.
#[must_use]
pub fn shortened(text: &str) -> String {
    shortened_to(text, 40)
}

/// The text as a page may show it: at most so many characters.
#[must_use]
pub fn shortened_to(text: &str, most_chars: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most_chars).collect();
    if chars.next().is_some() {
        format!("{head}…")
    } else {
        head
    }
}

/// The text with its letters in lowercase, one for one, so that texts compare whatever their case.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

fn fold_char(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        // At the end of a Greek word the letter has another form.
        (Some('ς'), None) => 'σ',
        (Some(lower), None) => lower,
        _ => letter,
    }
}

/// Whether `text` contains `part`, whatever the case; `part` is folded already.
#[must_use]
pub fn contains_folded(text: &str, part: &str) -> bool {
    if text.is_ascii() {
        let (text, part) = (text.as_bytes(), part.as_bytes());
        let Some(first) = part.first() else {
            return true;
        };
        return text.windows(part.len()).any(|window| {
            window[0].eq_ignore_ascii_case(first) && window.eq_ignore_ascii_case(part)
        });
    }
    fold(text).contains(part)
}
