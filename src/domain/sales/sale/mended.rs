//! A body that would be a JSON object but for a few letters or values, so that they do not cost the
//! tickets in it: tills cut texts in the middle of an emoji, write in the encoding of the machine they
//! run on, and send what they got by dividing by zero.

use crate::types::json::code_unit;
use encoding_rs::WINDOWS_1252;
use serde_json::Value;

/// The replacement of half of a letter.
const REPLACEMENT: &str = "\\ufffd";

/// The body with such letters replaced and `null` for such values; `None` where there are none.
pub(super) fn mended(body: &[u8]) -> Option<Vec<u8>> {
    let plain = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let text = match std::str::from_utf8(plain) {
        Ok(text) => text.into(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(plain).0,
    };
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let text = whole_values(&whole_letters(&text));
    (text.as_bytes() != body).then(|| text.into_bytes())
}

/// The text with halves of surrogate pairs (`\ud83d` alone) replaced.
fn whole_letters(text: &str) -> String {
    let unit = |text: &str| code_unit(text.as_bytes());
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push_str(REPLACEMENT);
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // Whatever is escaped goes along, so that a backslash is not taken for the next one.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    whole.push_str(rest);
    whole
}

/// The text with `null` for every word outside of quotation marks that is no value: `NaN`, `Infinity`,
/// `1e999`, `undefined`.
fn whole_values(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_mark = |letter: char| letter.is_whitespace() || "{}[],:\"".contains(letter);
        let end = if first == '"' {
            end_of_string(rest)
        } else if is_mark(first) {
            first.len_utf8()
        } else {
            rest.find(is_mark).unwrap_or(rest.len())
        };
        let (part, after) = rest.split_at(end);
        let is_value = is_mark(first) || serde_json::from_str::<Value>(part).is_ok();
        whole.push_str(if is_value { part } else { "null" });
        rest = after;
    }
    whole
}

/// The end of the string that a text begins with.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(body: &[u8]) -> Option<Value> {
        serde_json::from_slice(&mended(body)?).ok()
    }

    #[test]
    fn letters_that_are_none_cost_nothing_else() {
        for (body, notes) in [
            (&br#"{"notes":"thanks \ud83d"}"#[..], "thanks \u{fffd}"),
            (
                br#"{"notes":"\ude00 \ud83d\ud83d\ude00"}"#,
                "\u{fffd} \u{fffd}\u{1f600}",
            ),
            (br#"{"notes":"\\\ud83d"}"#, "\\\u{fffd}"),
            (b"\xef\xbb\xbf{\"notes\":\"a\"}", "a"),
            (b"{\"notes\":\"Gr\xfc\xdfe\"}", "Gr\u{fc}\u{df}e"),
        ] {
            assert_eq!(read(body), Some(json!({"notes": notes})), "{body:?}");
        }
        for body in [
            &b"{\"notes\":\"a\"}"[..],
            br#"{"a":"\\ud83d"}"#,
            b"[NaN]",
            b"{NaN: 1}",
            b"{\"a\": 2 5}",
            b"{\"a\": \"NaN",
            b"{",
            b"",
            b"\\u\\",
            b"\xff",
        ] {
            assert_eq!(read(body), None, "{body:?}");
        }
    }

    #[test]
    fn values_that_are_none_cost_nothing_else() {
        for (value, read_as) in [
            ("NaN", json!(null)),
            ("-Infinity", json!(null)),
            ("1e999", json!(null)),
            ("[1,-1E+400 ,2]", json!([1, null, 2])),
            ("undefined", json!(null)),
            (
                "\"NaN \\\" 1e999\", \"b\":\tInfinity",
                json!("NaN \" 1e999"),
            ),
            (
                "[true,false,null,-1.5e3,\"\\\\\",NaN]",
                json!([true, false, null, -1500.0, "\\", null]),
            ),
        ] {
            let body = format!(" {{\"a\": {value}}}\n");
            let read = read(body.as_bytes()).map(|read| read["a"].clone());
            assert_eq!(read, Some(read_as), "{body}");
        }
    }
}
