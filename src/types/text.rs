//! Text as records hold it: bounded, and without NUL bytes, which SQLite's text functions end at.

use crate::types::error::{Error, Result};
use std::{num::ParseIntError, str::FromStr};

/// The longest unique code, in characters (contract §4).
pub const CODE_MAX_CHARS: usize = 255;
/// The longest plain text property, in characters.
pub const TEXT_MAX_CHARS: usize = 10_000;
/// The longest interaction type.
pub const INTERACTION_TYPE_MAX_BYTES: usize = 64;

/// Checks a plain text property.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the property, for a NUL byte or more than
/// [`TEXT_MAX_CHARS`] characters.
pub fn check_text(name: &str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::field(name, "must not contain a NUL character"));
    }
    check_length(name, text, TEXT_MAX_CHARS)
}

/// Checks a unique code: 1 to 255 characters, compared exactly as sent (contract §4).
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the code.
pub fn check_code(name: &str, code: &str) -> Result<()> {
    if code.is_empty() {
        return Err(Error::field(
            name,
            format!("must have 1 to {CODE_MAX_CHARS} characters"),
        ));
    }
    check_text(name, code)?;
    check_length(name, code, CODE_MAX_CHARS)
}

fn check_length(name: &str, text: &str, most: usize) -> Result<()> {
    if text.len() > most && text.chars().count() > most {
        return Err(Error::field(
            name,
            format!("must have at most {most} characters"),
        ));
    }
    Ok(())
}

/// `a device`, `an event`.
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

/// The text as an error message may repeat it: at most 40 characters.
pub fn shortened(text: &str) -> String {
    shortened_to(text, 40)
}

/// The text as a page may show it: at most so many characters.
pub fn shortened_to(text: &str, most_chars: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most_chars).collect();
    if chars.next().is_some() {
        format!("{head}…")
    } else {
        head
    }
}

/// A cause in the system's words, without the number that it has for them.
pub fn without_number(cause: &impl std::fmt::Display) -> String {
    let told = cause.to_string();
    match told.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => told,
    }
}

/// The name that was probably meant, where one of the known ones is close.
pub fn closest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Whoever sends a long name made no slip of the finger.
    let name = fold(&shortened_to(name, 100));
    let distance = |known: &str| strsim::osa_distance(&name, &fold(known));
    let (distance, found) = known
        .into_iter()
        .map(|known| (distance(known), known))
        .min()?;
    (distance <= (name.chars().count() / 3).max(1)).then_some(found)
}

/// Refuses a property that a record does not have, and names the one that was probably meant.
pub fn unknown_property<'n>(
    name: &str,
    record: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Error {
    let meant = closest(name, known).map(|meant| format!("; did you mean \"{meant}\"?"));
    Error::invalid(format!(
        "\"{}\" is no property of {}{}",
        shortened(name),
        with_article(record),
        meant.unwrap_or_default()
    ))
}

/// Names the closest known name, or all of them, for a message about an unknown one.
pub fn hint(name: &str, known: &[&str]) -> String {
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => format!("there are {}", known.join(" ")),
    }
}

/// A whole number as it is typed.
pub fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            "is out of range"
        } else {
            "must be a whole number"
        }
    })
}

/// Returns whether a text is an interaction type: 1 to 64 of `a-z 0-9 -`, the first not `-` (contract §3).
pub fn is_interaction_type(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= INTERACTION_TYPE_MAX_BYTES
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|byte| plain(byte) || byte == b'-')
}

/// The text with its letters in lowercase, one for one, so that texts compare whatever their case.
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

/// Returns whether `text` contains `part`, whatever the case; `part` is folded already.
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

/// A message as a sentence of a page: the domain's begin small and have no full stop.
pub fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut text: String = first.into_iter().flatten().chain(letters).collect();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// A text with a capital first letter.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A property as people read it: `First name` of `firstName`.
#[must_use]
pub fn label(property: &str) -> String {
    let mut text = String::with_capacity(property.len() + 4);
    for letter in property.chars() {
        if text.is_empty() {
            text.extend(letter.to_uppercase());
        } else if letter.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
            text.extend(letter.to_lowercase());
        } else {
            text.push(letter);
        }
    }
    match text.as_str() {
        "Rfid" => "RFID".to_owned(),
        "Uhf id" => "UHF ID".to_owned(),
        _ => text,
    }
}

/// `1,234.50`.
#[must_use]
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let point = if rest.is_empty() { "" } else { "." };
    match whole.parse::<i64>() {
        // Not of -0.50, whose sign a whole number loses.
        Ok(whole) if whole != 0 => format!("{}{point}{rest}", number(whole)),
        _ => text,
    }
}

/// `12,345`.
#[must_use]
pub fn number(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.3 MiB`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_words() {
        for (property, text) in [
            ("firstName", "First name"),
            ("externalId", "External id"),
            ("rfid", "RFID"),
            ("email", "Email"),
        ] {
            assert_eq!(label(property), text);
        }
    }

    #[test]
    fn a_slip_is_told_from_another_name() {
        let known = ["firstName", "lastName", "email"];
        for (name, meant) in [
            ("fistName", Some("firstName")),
            ("firstname", Some("firstName")),
            ("emial", Some("email")),
            ("nickname", None),
            ("", None),
        ] {
            assert_eq!(closest(name, known), meant, "{name}");
        }
        assert_eq!(hint("x", &["a", "bcd"]), "did you mean \"a\"?");
        assert_eq!(hint("xyz", &["abc", "def"]), "there are abc def");
    }

    #[test]
    fn a_number_out_of_range_is_a_whole_number() {
        assert_eq!(whole::<u32>("12"), Ok(12));
        for (text, fault) in [
            ("4294967296", "is out of range"),
            ("-1", "is out of range"),
            (
                "99999999999999999999999999999999999999999",
                "is out of range",
            ),
            ("1.5", "must be a whole number"),
            ("", "must be a whole number"),
            ("-", "must be a whole number"),
        ] {
            assert_eq!(whole::<u32>(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn numbers_and_sizes_are_readable() {
        for (given, shown) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-1_234_567, "-1,234,567"),
        ] {
            assert_eq!(number(given), shown);
        }
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
    }
}
