//! Reading a body: what a parser would let pass is refused, and faults are told in plain words.

use super::DEPTH_MAX;
use crate::error::{Error, Result};
use serde::de::DeserializeOwned;

/// Checks what a parser would not tell: nesting deeper than [`DEPTH_MAX`], and whole numbers that
/// 64 bits cannot hold and that would come back as others.
///
/// # Errors
/// [`crate::error::Kind::Invalid`], with the byte position.
pub fn check_limits(text: &[u8]) -> Result<()> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Error::invalid(format!(
                        "the body is nested deeper than {DEPTH_MAX} levels (at byte {at})"
                    )));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(text, at);
                check_number(&text[at..end], at)?;
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at
}

fn end_of_number(text: &[u8], start: usize) -> usize {
    let digits = text[start..]
        .iter()
        .position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
    digits.map_or(text.len(), |length| start + length)
}

fn check_number(number: &[u8], at: usize) -> Result<()> {
    let whole = number
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let fits = || std::str::from_utf8(number).is_ok_and(|text| text.parse::<i64>().is_ok());
    if whole && number.len() > 18 && !fits() {
        return Err(Error::invalid(format!(
            "the whole number at byte {at} is outside the range of 64 bits; send it as a string"
        )));
    }
    Ok(())
}

/// Parses a JSON object as `T`, naming the path of what does not fit.
///
/// # Errors
/// [`crate::error::Kind::Invalid`].
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    // serde would take a list for the properties in their order.
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Error::invalid("the body must be an object, not a list"));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|cause| {
        let path = cause.path().to_string();
        let inner = cause.into_inner();
        let told = in_plain_words(&inner.to_string());
        if inner.is_data() && path != "." {
            Error::invalid(format!("{path}: {told}"))
        } else if inner.is_data() {
            Error::invalid(format!("the body does not fit: {told}"))
        } else {
            Error::invalid(format!("the body is not valid JSON: {inner}"))
        }
    })?;
    reader
        .end()
        .map_err(|cause| Error::invalid(format!("the body is not valid JSON: {cause}")))?;
    Ok(value)
}

/// A parser's sentence without the names of our types.
#[must_use]
pub fn in_plain_words(told: &str) -> String {
    let Some((before, expected)) = told.split_once("expected ") else {
        return told.to_owned();
    };
    let (what, after) = expected
        .find([',', '@'])
        .or_else(|| expected.find(" at line"))
        .map_or((expected, ""), |end| expected.split_at(end));
    let plain = match what {
        "a map" => "an object",
        "a sequence" => "a list",
        "f32" | "f64" => "a number",
        whole if whole.starts_with(['i', 'u']) && whole[1..].parse::<u8>().is_ok() => {
            "a whole number"
        }
        what if what.starts_with("struct ") || what.starts_with("enum ") => "an object",
        what => what,
    };
    format!("{before}expected {plain}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_outside_strings() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(check_limits(nested(64).as_bytes()).is_ok());
        assert!(check_limits(nested(65).as_bytes()).is_err());
        assert!(check_limits(format!("\"\\\"{}\"", nested(80)).as_bytes()).is_ok());
    }

    #[test]
    fn numbers_that_would_come_back_as_others_are_refused() {
        for (text, fits) in [
            ("9223372036854775807", true),
            ("-9223372036854775808", true),
            ("9223372036854775808", false),
            ("[1, 123456789012345678901234567890]", false),
            ("\"123456789012345678901234567890\"", true),
            ("1e400", true),
            ("3.141592653589793238462643383279", true),
        ] {
            assert_eq!(check_limits(text.as_bytes()).is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn faults_are_told_without_the_names_of_types() {
        for (told, plain) in [
            (
                "invalid type: string \"a\", expected struct InteractionInput",
                "invalid type: string \"a\", expected an object",
            ),
            (
                "invalid type: map, expected u32 at line 1 column 3",
                "invalid type: map, expected a whole number at line 1 column 3",
            ),
            (
                "invalid type: null, expected a sequence",
                "invalid type: null, expected a list",
            ),
            ("missing field `a`", "missing field `a`"),
        ] {
            assert_eq!(in_plain_words(told), plain);
        }
    }
}
