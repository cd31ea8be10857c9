//! JSON from outside: what it may hold, how two documents are merged, and when two are the same.

mod escape;
mod fingerprint;
mod flat;
mod merge_patch;
mod read;
mod whole;

pub use escape::code_unit;
pub use fingerprint::{digest_part, fingerprint, fingerprint_with};
pub use flat::{Differences, differences, flatten, in_words as value_in_words};
pub use merge_patch::{difference, merge_patch};
pub use read::{check_limits, fault, in_plain_words, parse};
pub use whole::{anything_whole, no_property_twice, read_whole};

use std::fmt::Write;

/// The deepest nesting a body may have (contract §4).
pub const DEPTH_MAX: usize = 64;
/// The largest body of one record, in bytes (contract §4).
pub const RECORD_MAX_BYTES: usize = 1024 * 1024;

/// A key as a part of a JSON Pointer (RFC 6901).
#[must_use]
pub fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// JSON on several lines; as it is where it is none.
#[must_use]
pub fn pretty(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| json.to_owned())
}

/// Appends text as a JSON string.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[plain_from..at]);
        out.push_str(escape);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        }
        plain_from = at + 1;
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_any_parser_reads_it() {
        for text in [
            "",
            "plain",
            "a\"b\\c",
            "\u{0}\u{1f}\n\r\t",
            "ä€😀\u{2028}",
            "/",
        ] {
            let mut out = String::new();
            write_string(text, &mut out);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
