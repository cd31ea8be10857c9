//! The parameters of a token request, from either kind of body: each at most once, and text. Whatever
//! else is sent is ignored (RFC 6749 section 3.2).

use super::refusal::Refusal;
use percent_encoding::percent_decode;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::{borrow::Cow, collections::HashMap, fmt};

/// The largest body, in bytes.
pub const BODY_MAX_BYTES: usize = 64 * 1024;

/// Parameters that have a value; an empty one counts as not sent (RFC 6749 section 3.2).
pub struct Parameters(HashMap<&'static str, String>);

impl Parameters {
    /// Reads a body of this content type. Without a content type it is what it looks like.
    ///
    /// # Errors
    /// `invalid_request`, for a parameter that is sent twice or is not text, and whatever cannot
    /// be read.
    pub fn read(content_type: Option<&str>, body: &[u8]) -> Result<Self, Refusal> {
        let essence = content_type.map(|content_type| {
            let essence = content_type.split(';').next().unwrap_or_default();
            essence.trim().to_ascii_lowercase()
        });
        match essence.as_deref() {
            Some("application/json") => Self::of_json(body),
            None if body.trim_ascii_start().starts_with(b"{") => Self::of_json(body),
            None | Some("application/x-www-form-urlencoded") => Self::of_form(body),
            Some(_) => Err(Refusal::invalid_request(
                "the body must be application/x-www-form-urlencoded or application/json",
            )),
        }
    }

    /// Takes a parameter out.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Takes out a parameter that must be there.
    ///
    /// # Errors
    /// `invalid_request`, naming it.
    pub fn require(&mut self, name: &str) -> Result<String, Refusal> {
        self.take(name)
            .ok_or_else(|| Refusal::invalid_request(format!("{name} is missing")))
    }

    fn of_form(body: &[u8]) -> Result<Self, Refusal> {
        let mut pairs = Vec::new();
        for pair in body.split(|byte| *byte == b'&') {
            if !pair.is_empty() {
                let mut halves = pair.splitn(2, |byte| *byte == b'=');
                let name = form_decoded(halves.next().unwrap_or_default());
                let value = halves.next().unwrap_or_default();
                if let Some(name) = name.ok().and_then(|name| known(&name)) {
                    pairs.push((name, form_decoded(value)?));
                }
            }
        }
        Self::of_pairs(pairs)
    }

    fn of_json(body: &[u8]) -> Result<Self, Refusal> {
        let Members(members) = serde_json::from_slice(body).map_err(|cause| {
            Refusal::invalid_request(format!(
                "the body is not a JSON object (line {}, column {})",
                cause.line(),
                cause.column()
            ))
        })?;
        let pairs = members.into_iter().map(|(name, value)| match value {
            Value::String(text) => Ok((name, text)),
            Value::Null => Ok((name, String::new())),
            _ => Err(Refusal::invalid_request(format!("{name} must be a string"))),
        });
        Self::of_pairs(pairs.collect::<Result<_, _>>()?)
    }

    fn of_pairs(pairs: Vec<(&'static str, String)>) -> Result<Self, Refusal> {
        let mut parameters = HashMap::with_capacity(pairs.len());
        for (name, value) in pairs {
            if parameters.insert(name, value).is_some() {
                return Err(Refusal::invalid_request(format!(
                    "{name} is sent more than once"
                )));
            }
        }
        parameters.retain(|_, value| !value.is_empty());
        Ok(Self(parameters))
    }
}

/// The parameters that mean something here. Others are never repeated in an answer.
const KNOWN: &[&str] = &[
    "grant_type",
    "client_id",
    "client_secret",
    "username",
    "password",
    "refresh_token",
    "scope",
    "totp",
    "token",
];

fn known(name: &str) -> Option<&'static str> {
    KNOWN.iter().copied().find(|known| *known == name)
}

/// Decodes `application/x-www-form-urlencoded` text strictly: broken UTF-8 in a password is refused
/// and not replaced.
///
/// # Errors
/// `invalid_request`.
pub fn form_decoded(text: &[u8]) -> Result<String, Refusal> {
    let spaced: Cow<'_, [u8]> = if text.contains(&b'+') {
        let spaced = text
            .iter()
            .map(|byte| if *byte == b'+' { b' ' } else { *byte });
        Cow::Owned(spaced.collect())
    } else {
        Cow::Borrowed(text)
    };
    let decoded = percent_decode(&spaced).decode_utf8();
    decoded
        .map(Cow::into_owned)
        .map_err(|_| Refusal::invalid_request("a parameter is not valid UTF-8"))
}

/// The known members of a JSON object as they are sent, duplicates included.
struct Members(Vec<(&'static str, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadMembers)
    }
}

struct ReadMembers;

impl<'de> Visitor<'de> for ReadMembers {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match known(&name) {
                Some(name) => members.push((name, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Option<&str> = Some("application/x-www-form-urlencoded");
    const JSON: Option<&str> = Some("application/json; charset=utf-8");

    fn read(content_type: Option<&str>, body: &str, name: &str) -> Option<String> {
        let mut parameters = Parameters::read(content_type, body.as_bytes()).ok()?;
        parameters.take(name)
    }

    fn refused(content_type: Option<&str>, body: &[u8]) -> String {
        let Err(refusal) = Parameters::read(content_type, body) else {
            return String::from("not refused");
        };
        assert_eq!(refusal.code(), "invalid_request");
        refusal.description.into_owned()
    }

    #[test]
    fn both_kinds_of_body_say_the_same() {
        for (content_type, body) in [
            (FORM, "username=a%2Bb+c%26&x=1&=&&y"),
            (FORM, "username=a%2Bb+c%26&x=1&x=2&x=%ff&%ff=1"),
            (None, "username=a%2Bb%20c%26"),
            (
                JSON,
                r#"{"username": "a+b c&", "x": [1, {"y": 2}], "scope": null, "x": 1}"#,
            ),
            (None, " \n{\"username\": \"a+b c&\"}"),
        ] {
            let username = read(content_type, body, "username");
            assert_eq!(username.as_deref(), Some("a+b c&"), "{body}");
        }
        assert_eq!(read(FORM, "scope=&grant_type=password", "scope"), None);
        assert_eq!(read(JSON, r#"{"scope": ""}"#, "scope"), None);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (content_type, body, why) in [
            (
                FORM,
                &b"scope=a&scope=b"[..],
                "scope is sent more than once",
            ),
            (FORM, b"password=%ff", "a parameter is not valid UTF-8"),
            (FORM, b"password=\xff", "a parameter is not valid UTF-8"),
            (
                JSON,
                br#"{"scope": "a", "scope": "a"}"#,
                "scope is sent more than once",
            ),
            (
                JSON,
                br#"{"password": 123456}"#,
                "password must be a string",
            ),
            (
                JSON,
                b"[]",
                "the body is not a JSON object (line 1, column 0)",
            ),
            (
                JSON,
                b"{",
                "the body is not a JSON object (line 1, column 1)",
            ),
            (
                JSON,
                b"{} x",
                "the body is not a JSON object (line 1, column 4)",
            ),
            (
                Some("text/plain"),
                b"grant_type=password",
                "the body must be application/x-www-form-urlencoded or application/json",
            ),
        ] {
            assert_eq!(refused(content_type, body), why);
        }
        let deep = format!("{{\"x\": {}", "[".repeat(60_000));
        assert!(refused(JSON, deep.as_bytes()).starts_with("the body is not a JSON object"));
    }
}
