//! JSON from outside: limits, a digest that is equal for equal documents, JSON Merge Patch (RFC 7396), and
//! properties of a PATCH (contract §2).

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

mod flat;
mod members;
mod read;
pub mod schema;
pub mod size;
mod whole;

pub use flat::{Differences, Words, differences, flatten, in_words as value_in_words};
pub use members::Members;
pub use read::{check_limits, fault, in_plain_words, parse, parse_named};
pub use whole::{anything_whole, no_property_twice, read_whole};

/// The deepest nesting a body may have (contract §4).
pub const DEPTH_MAX: usize = 64;
/// The largest body of one record, in bytes (contract §4).
pub const RECORD_MAX_BYTES: usize = 1024 * 1024;

/// A key as a part of a JSON Pointer (RFC 6901).
pub fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// JSON on several lines; as it is where it is none.
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

/// The UTF-16 code unit that an escape such as `\u00fc` at the beginning of a text stands for; half a
/// letter, where it is one of a surrogate pair. `None` where no such escape stands there.
pub fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// A digest that is equal for equal documents, whatever the order of their keys. A document and
/// one in which a part was replaced by [`digest_part`] of that part have the same digest.
pub fn fingerprint(value: &Value) -> [u8; 16] {
    let mut canonical = Vec::with_capacity(256);
    write_canonical(value, &mut canonical, &|_| None);
    truncated(&canonical)
}

/// As [`fingerprint`], where `stand_in` may give the canonical form of a part, as
/// [`digest_part`] makes it, in place of the part itself.
pub fn fingerprint_with(value: &Value, stand_in: &dyn Fn(&Value) -> Option<Vec<u8>>) -> [u8; 16] {
    let mut canonical = Vec::with_capacity(256);
    write_canonical(value, &mut canonical, stand_in);
    truncated(&canonical)
}

/// The canonical form of one part of a document; at most 65 bytes long.
pub fn digest_part(value: &Value) -> Vec<u8> {
    let mut canonical = Vec::new();
    write_canonical(value, &mut canonical, &|_| None);
    canonical
}

/// Parts longer than this stand in the canonical form by their digest.
const PART_MAX_BYTES: usize = 64;

fn write_canonical(value: &Value, out: &mut Vec<u8>, stand_in: &dyn Fn(&Value) -> Option<Vec<u8>>) {
    if let Some(part) = stand_in(value) {
        out.extend_from_slice(&part);
        return;
    }
    let start = out.len();
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            out.push(b'{');
            for key in keys {
                write_canonical_string(key, out);
                out.push(b':');
                write_canonical(&object[key.as_str()], out, stand_in);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_canonical(item, out, stand_in);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::String(text) => write_canonical_string(text, out),
        Value::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Bool(true) => out.push(b't'),
        Value::Bool(false) => out.push(b'f'),
        Value::Null => out.push(b'n'),
    }
    if out.len() - start > PART_MAX_BYTES {
        let digest = Sha256::digest(&out[start..]);
        out.truncate(start);
        out.push(b'#');
        out.extend_from_slice(&digest);
    }
}

fn write_canonical_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text.len().to_string().as_bytes());
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
}

fn truncated(canonical: &[u8]) -> [u8; 16] {
    let digest = Sha256::digest(canonical);
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}

/// Applies a merge patch: objects merge by key, arrays are replaced, `null` removes a key.
pub fn merge_patch(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(target) = target {
        for (key, value) in patch {
            if value.is_null() {
                target.remove(&key);
            } else {
                merge_patch(target.entry(key).or_insert(Value::Null), value);
            }
        }
    }
}

/// The merge patch that makes one document of another; `None` where they are the same. What is
/// `null` in the other is taken for absent.
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        let change = match old.get(key) {
            Some(old) => difference(old, value),
            None => Some(value.clone()).filter(|value| !value.is_null()),
        };
        if let Some(change) = change {
            patch.insert(key.clone(), change);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Absent means unchanged, null means cleared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The property was not sent.
    #[default]
    Absent,
    /// The property was sent as `null`.
    Null,
    /// The property was sent with a value.
    Value(T),
}

impl<T> Patch<T> {
    /// `None` when unchanged, `Some(None)` when cleared, `Some(Some(value))` when set.
    pub fn change(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            Some(value) => Self::Value(value),
            None => Self::Null,
        })
    }
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

#[cfg(test)]
mod escape_tests {
    use super::*;

    #[test]
    fn an_escape_is_four_hexadecimal_digits() {
        for (text, unit) in [
            (&b"\\u00fcber"[..], Some(0xfc)),
            (b"\\uD83d", Some(0xd83d)),
            (b"\\u00f", None),
            (b"\\u+0fc", None),
            (b"\\n0000", None),
            (b"u00fc00", None),
            (b"\\u00\xc3\xbc", None),
            (b"", None),
        ] {
            assert_eq!(code_unit(text), unit, "{text:?}");
        }
    }
}

#[cfg(test)]
mod fingerprint_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_documents_have_equal_fingerprints() {
        let one = json!({"a": 1, "b": {"c": [1, 2, "x"], "d": null}});
        let same = json!({"b": {"d": null, "c": [1, 2, "x"]}, "a": 1});
        let other = json!({"b": {"d": null, "c": [2, 1, "x"]}, "a": 1});
        assert_eq!(fingerprint(&one), fingerprint(&same));
        assert_ne!(fingerprint(&one), fingerprint(&other));
        assert_ne!(
            fingerprint(&json!(["ab", ""])),
            fingerprint(&json!(["a", "b"]))
        );
        assert_ne!(fingerprint(&json!(1)), fingerprint(&json!("1")));
    }

    #[test]
    fn a_stand_in_has_the_fingerprint_of_what_it_stands_for() {
        let big = json!("x".repeat(1000));
        let full = json!({"photo": big, "n": 1});
        let marked = json!({"photo": {"$shared": "p"}, "n": 1});
        let part = digest_part(&big);
        let with = fingerprint_with(&marked, &|value| {
            (value == &json!({"$shared": "p"})).then(|| part.clone())
        });
        assert_eq!(with, fingerprint(&full));
    }
}

#[cfg(test)]
mod merge_patch_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merging_follows_rfc_7396() {
        for (target, patch, merged) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b", "c": 1}),
                json!({"a": null}),
                json!({"c": 1}),
            ),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({"a": [{"b": "c"}]}),
                json!({"a": [1]}),
                json!({"a": [1]}),
            ),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
            (
                json!([1, 2]),
                json!({"a": "b", "c": null}),
                json!({"a": "b"}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ] {
            let mut result = target;
            merge_patch(&mut result, patch);
            assert_eq!(result, merged);
        }
    }

    #[test]
    fn a_difference_makes_one_document_of_the_other() {
        for (from, to, patch) in [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!({}), json!({"a": null}), None),
            (
                json!({"a": {"b": 1, "c": [1, 2]}, "d": 1}),
                json!({"a": {"b": 2, "c": [1]}, "e": {"f": "g"}}),
                Some(json!({"d": null, "a": {"b": 2, "c": [1]}, "e": {"f": "g"}})),
            ),
            (
                json!({"a": {"b": 1}}),
                json!({"a": "b"}),
                Some(json!({"a": "b"})),
            ),
        ] {
            assert_eq!(difference(&from, &to), patch);
            if let Some(patch) = patch {
                let mut made = from;
                merge_patch(&mut made, patch);
                assert_eq!(made, to);
            }
        }
    }
}
