//! When two documents are the same: a digest over a canonical form.

use serde_json::Value;
use sha2::{Digest, Sha256};

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
