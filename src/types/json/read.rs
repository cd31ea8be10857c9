//! Reading a body: limits that a parser does not check, and errors in plain words.

use super::DEPTH_MAX;
use crate::types::{
    error::{Error, Result},
    text,
};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

/// Checks what a parser would not tell: nesting deeper than [`DEPTH_MAX`], and whole numbers that
/// 64 bits cannot hold and that would come back as others.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the byte position.
pub fn check_limits(text: &[u8]) -> Result<()> {
    check_limits_of("the body", text)
}

fn check_limits_of(name: &str, text: &[u8]) -> Result<()> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Error::invalid(format!(
                        "{name} is nested deeper than {DEPTH_MAX} levels (at byte {at})"
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
/// [`crate::types::error::Kind::Invalid`].
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    parse_object("the body", text)
}

/// As [`parse`], within the limits, of an object that is called `name`.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`].
pub fn parse_named<T: DeserializeOwned>(name: &str, text: &[u8]) -> Result<T> {
    check_limits_of(name, text)?;
    parse_object(name, text)
}

fn parse_object<T: DeserializeOwned>(name: &str, text: &[u8]) -> Result<T> {
    // serde would take a list for the properties in their order.
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Error::invalid(format!(
            "{name} must be an object, not a list"
        )));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|cause| {
        let path = cause.path().to_string();
        let inner = cause.into_inner();
        let told = fault(&inner);
        if inner.is_data() && path != "." {
            Error::field(path, told)
        } else if inner.is_data() {
            Error::invalid(format!("{name} does not fit: {told}"))
        } else {
            Error::invalid(format!("{name} {told}"))
        }
    })?;
    reader
        .end()
        .map_err(|cause| Error::invalid(format!("{name} {}", fault(&cause))))?;
    Ok(value)
}

/// The fault of a document in plain words; where it is no JSON at all, with the place of the fault.
pub fn fault(cause: &serde_json::Error) -> String {
    match cause.classify() {
        Category::Data => in_plain_words(&cause.to_string()),
        Category::Eof => "is not valid JSON: it ends too early".to_owned(),
        Category::Syntax | Category::Io => format!(
            "is not valid JSON: see character {} of line {}",
            cause.column(),
            cause.line()
        ),
    }
}

/// A parser's sentence as a client understands it: without the names of our types, and without a
/// place, which its path says better.
pub fn in_plain_words(told: &str) -> String {
    let told = without_place(told);
    reworded(told).unwrap_or_else(|| told.to_owned())
}

fn without_place(told: &str) -> &str {
    let place = told.rfind(" at line ").filter(|at| {
        let numbers = told[*at..].split_whitespace().skip(1).step_by(2);
        numbers.map(str::to_owned).collect::<Vec<_>>() == ["line", "column"]
    });
    place.map_or(told, |at| &told[..at])
}

fn reworded(told: &str) -> Option<String> {
    if let Some(rest) = told.strip_prefix("unknown field ") {
        let (name, known) = rest.strip_prefix('`')?.split_once('`')?;
        let name = text::shortened(name);
        let hint = text::hint(&name, &ticked(known));
        return Some(format!("unknown field \"{name}\"; {hint}"));
    }
    if let Some(rest) = told.strip_prefix("unknown variant ") {
        let (name, known) = rest.strip_prefix('`')?.split_once('`')?;
        let (name, known) = (text::shortened(name), ticked(known).join(", "));
        return Some(format!("must be one of {known}; not \"{name}\""));
    }
    if let Some(rest) = told.strip_prefix("missing field ") {
        return Some(format!("\"{}\" is missing", rest.trim_matches('`')));
    }
    if let Some(rest) = told.strip_prefix("duplicate field ") {
        return Some(format!("\"{}\" stands twice", rest.trim_matches('`')));
    }
    if told.starts_with("data did not match any variant") {
        return Some("has a form that is not known here".to_owned());
    }
    let told = told.strip_prefix("invalid ")?;
    let (kind, told) = told.split_once(": ").or_else(|| told.split_once(' '))?;
    let (sent, wanted) = told.rsplit_once(", expected ")?;
    let sent = sent_as(sent);
    let is_number = sent
        .parse::<f64>()
        .is_ok_and(|number| number.fract() == 0.0);
    let wanted = match wanted {
        "a map" => "an object",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "f32" | "f64" => "a number",
        whole if range(whole).is_some() => {
            let (least, most) = range(whole)?;
            if kind == "value" || is_number {
                return Some(format!(
                    "must be a whole number from {least} to {most}; not {sent}"
                ));
            }
            "a whole number"
        }
        what if what.starts_with("struct ") || what.starts_with("enum ") => "an object",
        what => what,
    };
    Some(format!("must be {wanted}; not {sent}"))
}

/// The names between back-ticks.
fn ticked(list: &str) -> Vec<&str> {
    list.split('`').skip(1).step_by(2).collect()
}

/// A value as a parser tells it, as a person would.
fn sent_as(told: &str) -> String {
    let (kind, value) = told.split_once(' ').unwrap_or((told, ""));
    match kind {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit" | "Option" => "null".to_owned(),
        "string" => {
            let value = value.strip_prefix('"').unwrap_or(value);
            let value = value.strip_suffix('"').unwrap_or(value);
            format!("\"{}\"", text::shortened(value))
        }
        "integer" | "boolean" => value.trim_matches('`').to_owned(),
        "floating" => value
            .trim_start_matches("point ")
            .trim_matches('`')
            .to_owned(),
        _ => told.to_owned(),
    }
}

/// The least and the greatest number of a type.
fn range(number: &str) -> Option<(i64, u64)> {
    let bits: u32 = number.strip_prefix(['i', 'u'])?.parse().ok()?;
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return None;
    }
    Some(if number.starts_with('u') {
        (0, u64::MAX >> (64 - bits))
    } else {
        (i64::MIN >> (64 - bits), u64::MAX >> (65 - bits))
    })
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
    fn faults_are_told_in_plain_words() {
        for (told, plain) in [
            (
                "invalid type: string \"a\", expected struct InteractionInput",
                "must be an object; not \"a\"",
            ),
            (
                "invalid type: map, expected u32 at line 1 column 3",
                "must be a whole number; not an object",
            ),
            (
                "invalid type: floating point `1.5`, expected i64",
                "must be a whole number; not 1.5",
            ),
            (
                "invalid value: integer `-1`, expected u32 at line 10 column 33",
                "must be a whole number from 0 to 4294967295; not -1",
            ),
            (
                "invalid type: floating point `1e20`, expected i64",
                "must be a whole number from -9223372036854775808 to 9223372036854775807; not 1e20",
            ),
            (
                "invalid type: null, expected a sequence",
                "must be a list; not null",
            ),
            (
                "unknown field `entri`, expected one of `ruleSet`, `entry`",
                "unknown field \"entri\"; did you mean \"entry\"?",
            ),
            (
                "unknown variant `singel`, expected `multiple` or `single`",
                "must be one of multiple, single; not \"singel\"",
            ),
            ("missing field `a` at line 1 column 2", "\"a\" is missing"),
            ("it is at line 1 of the list", "it is at line 1 of the list"),
        ] {
            assert_eq!(in_plain_words(told), plain);
        }
    }

    #[test]
    fn what_is_no_json_is_told_by_its_place() {
        for (text, told) in [
            (
                "{\"a\": 1,\n \"b\"; 2}",
                "the body is not valid JSON: see character 5 of line 2",
            ),
            ("{\"a\": ", "the body is not valid JSON: it ends too early"),
            (
                "{} x",
                "the body is not valid JSON: see character 4 of line 1",
            ),
        ] {
            let fault = parse::<serde_json::Map<String, serde_json::Value>>(text.as_bytes());
            assert_eq!(fault.unwrap_err().to_string(), told);
        }
    }
}
