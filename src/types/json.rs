//! JSON from outside: what it may hold, how two documents are merged, and when two are the same.

use crate::error::{Error, Result};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor},
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};

/// The deepest nesting a body may have (contract §4).
pub const DEPTH_MAX: usize = 64;
/// The largest body of one record, in bytes (contract §4).
pub const RECORD_MAX_BYTES: usize = 1024 * 1024;

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

/// Reads an object and refuses a property that stands twice, however deep: one of the two would be
/// lost.
///
/// # Errors
/// The deserializer's, naming the property.
pub fn no_property_twice<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    match Whole::deserialize(deserializer)?.0 {
        Value::Object(object) => Ok(object),
        other => Err(D::Error::invalid_type(kind_of(&other), &"an object")),
    }
}

/// As [`no_property_twice`], for a property that may be anything, or nothing.
///
/// # Errors
/// The deserializer's, naming the property.
pub fn anything_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Ok(Some(Whole::deserialize(deserializer)?.0).filter(|value| !value.is_null()))
}

fn kind_of(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(_) => Unexpected::Other("a number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// A document in which no property stands twice.
struct Whole(Value);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadWhole).map(Self)
    }
}

struct ReadWhole;

impl<'de> Visitor<'de> for ReadWhole {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Whole(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut properties = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if properties.contains_key(&name) {
                let name = super::text::shortened(&name);
                return Err(A::Error::custom(format!("\"{name}\" stands twice")));
            }
            let Whole(value) = map.next_value()?;
            properties.insert(name, value);
        }
        Ok(Value::Object(properties))
    }
}

/// JSON Merge Patch (RFC 7396): objects merge by key, arrays are replaced, `null` removes a key.
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
#[must_use]
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

/// A digest that is equal for equal documents, whatever the order of their keys. A document and
/// one in which a part was replaced by [`digest_part`] of that part have the same digest.
#[must_use]
pub fn fingerprint(value: &Value) -> [u8; 16] {
    let mut canonical = Vec::with_capacity(256);
    write_canonical(value, &mut canonical, &|_| None);
    truncated(&canonical)
}

/// As [`fingerprint`], where `stand_in` may give the canonical form of a part, as
/// [`digest_part`] makes it, in place of the part itself.
#[must_use]
pub fn fingerprint_with(value: &Value, stand_in: &dyn Fn(&Value) -> Option<Vec<u8>>) -> [u8; 16] {
    let mut canonical = Vec::with_capacity(256);
    write_canonical(value, &mut canonical, stand_in);
    truncated(&canonical)
}

/// The canonical form of one part of a document; at most 65 bytes long.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_makes_one_document_of_the_other() {
        use serde_json::json;
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
    use serde_json::json;

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
    fn a_property_that_stands_twice_is_told_however_deep() {
        let read = |text: &str| no_property_twice(&mut serde_json::Deserializer::from_str(text));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":[{},{"b":1,"\u0062":2}]}"#,
        ] {
            assert!(
                read(text).unwrap_err().to_string().contains("stands twice"),
                "{text}"
            );
        }
        let document = json!({"a": [1, -1, 1.5, u64::MAX, "x", true, null], "b": {"a": {}}});
        assert_eq!(
            Value::Object(read(&document.to_string()).unwrap()),
            document
        );
        assert!(read("[]").is_err());
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
