//! A body that would be JSON but for a few letters, so that they do not cost the tickets in it: tills
//! cut texts in the middle of an emoji, and write in the encoding of the machine they run on.

use encoding_rs::WINDOWS_1252;

/// What replaces half of a letter.
const REPLACEMENT: &str = "\\ufffd";

/// The body with such letters replaced; `None` where there are none.
pub(super) fn mended(body: &[u8]) -> Option<Vec<u8>> {
    let plain = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let text = match std::str::from_utf8(plain) {
        Ok(text) => text.into(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(plain).0,
    };
    let text = whole_letters(&text);
    (text.as_bytes() != body).then(|| text.into_bytes())
}

/// The text with halves of surrogate pairs (`\ud83d` alone) replaced.
fn whole_letters(text: &str) -> String {
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

/// The UTF-16 unit that an escape at the beginning of the text stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
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
            b"{",
            b"",
            b"\\u\\",
            b"\xff",
        ] {
            assert_eq!(read(body), None, "{body:?}");
        }
    }
}
