//! A token request, checked as far as it can be without looking at the file. Parameters come in either kind of body,
//! each at most once, and as text; others are ignored (RFC 6749 section 3.2).

use super::refusal::{Cause, Refusal};
use crate::web::body::{ANONYMOUS_FIELDS_MAX, check_fields};
use oxide_auth::primitives::scope::Scope;
use percent_encoding::percent_decode;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::{collections::HashMap, fmt};

/// The parameters that are read. Others are never repeated in an answer.
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

/// Parameters that have a value; an empty one counts as not sent (RFC 6749 section 3.2).
pub struct Parameters(HashMap<&'static str, String>);

impl Parameters {
    /// Reads a body of this content type; without one, the body decides.
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

    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Takes out a parameter that must be there.
    pub fn require(&mut self, name: &str) -> Result<String, Refusal> {
        self.take(name)
            .ok_or_else(|| Refusal::invalid_request(format!("{name} is missing")))
    }

    fn of_form(body: &[u8]) -> Result<Self, Refusal> {
        check_fields(body, ANONYMOUS_FIELDS_MAX)
            .map_err(|cause| Refusal::invalid_request(cause.to_string()))?;
        let mut pairs = Vec::new();
        for pair in body.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = form_decoded(halves.next().unwrap_or_default());
            if let Some(name) = name.ok().and_then(|name| known(&name)) {
                pairs.push((name, form_decoded(halves.next().unwrap_or_default())?));
            }
        }
        Self::of_pairs(pairs)
    }

    fn of_json(body: &[u8]) -> Result<Self, Refusal> {
        let Members(members) = serde_json::from_slice(body).map_err(|cause| {
            let (line, column) = (cause.line(), cause.column());
            Refusal::invalid_request(format!(
                "the body is not a JSON object (line {line}, column {column})"
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
                let why = format!("{name} is sent more than once");
                return Err(Refusal::invalid_request(why));
            }
        }
        parameters.retain(|_, value| !value.is_empty());
        Ok(Self(parameters))
    }
}

fn known(name: &str) -> Option<&'static str> {
    KNOWN.iter().copied().find(|known| *known == name)
}

/// Decodes `application/x-www-form-urlencoded` text strictly: broken UTF-8 in a password is refused
/// and not replaced.
fn form_decoded(text: &[u8]) -> Result<String, Refusal> {
    let spaced: Vec<u8> = text
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    match percent_decode(&spaced).decode_utf8() {
        Ok(decoded) => Ok(decoded.into_owned()),
        Err(_) => Err(Refusal::invalid_request("a parameter is not valid UTF-8")),
    }
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
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Members(members))
    }
}

/// A token request. It holds secrets and is never shown.
pub struct TokenRequest {
    pub client: ClientCredentials,
    pub grant: Grant,
    pub scope: Option<String>,
}

pub struct ClientCredentials {
    pub client_id: String,
    pub client_secret: String,
    pub basic: bool,
}

pub enum Grant {
    ClientCredentials,
    Password {
        username: String,
        password: String,
        /// A code of the user's authenticator app, or a recovery code.
        totp: Option<String>,
    },
    /// The same user again.
    RefreshToken {
        token: String,
    },
}

impl TokenRequest {
    /// Reads a request from its parameters and the two halves of its HTTP Basic credentials.
    pub fn read(mut parameters: Parameters, basic: Option<(&str, &str)>) -> Result<Self, Refusal> {
        let grant_type = parameters.require("grant_type")?;
        let grant = match grant_type.as_str() {
            "client_credentials" => Grant::ClientCredentials,
            "password" => Grant::Password {
                username: parameters.require("username")?,
                password: parameters.require("password")?,
                totp: parameters.take("totp"),
            },
            "refresh_token" => Grant::RefreshToken {
                token: parameters.require("refresh_token")?,
            },
            _ => {
                return Err(Refusal::new(
                    Cause::UnsupportedGrantType,
                    "grant_type must be client_credentials, password or refresh_token",
                ));
            }
        };
        let scope = parameters.take("scope");
        let is_list = |scope: &String| scope.parse::<Scope>().is_ok();
        if !scope.iter().all(is_list) {
            return Err(Refusal::new(
                Cause::InvalidScope,
                "scope must be names separated by spaces",
            ));
        }
        Ok(Self {
            client: ClientCredentials::read(&mut parameters, basic)?,
            grant,
            scope,
        })
    }
}

impl ClientCredentials {
    /// By HTTP Basic or in the body, not both (RFC 6749 section 2.3); a body may repeat the
    /// `client_id`.
    pub fn read(parameters: &mut Parameters, basic: Option<(&str, &str)>) -> Result<Self, Refusal> {
        let Some((client_id, client_secret)) = basic else {
            let mut sent = |name| {
                let missing = || {
                    Refusal::new(
                        Cause::InvalidClient { basic: false },
                        format!("{name} is missing"),
                    )
                };
                parameters.take(name).ok_or_else(missing)
            };
            return Ok(Self {
                client_id: sent("client_id")?,
                client_secret: sent("client_secret")?,
                basic: false,
            });
        };
        let decoded =
            |half: &str| form_decoded(half.as_bytes()).map_err(|_| Refusal::invalid_client(true));
        let client_id = decoded(client_id)?;
        let other_id = parameters.take("client_id");
        if parameters.take("client_secret").is_some() || other_id.is_some_and(|id| id != client_id)
        {
            return Err(Refusal::invalid_request(
                "client credentials must be sent by HTTP Basic or in the body, not both",
            ));
        }
        Ok(Self {
            client_id,
            client_secret: decoded(client_secret)?,
            basic: true,
        })
    }
}

#[cfg(test)]
mod parameter_tests {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, basic: Option<(&str, &str)>) -> Result<TokenRequest, Refusal> {
        TokenRequest::read(Parameters::read(None, body.as_bytes())?, basic)
    }

    fn code(body: &str, basic: Option<(&str, &str)>) -> &'static str {
        read(body, basic).map_or_else(|refusal| refusal.code(), |_| "ok")
    }

    #[test]
    fn every_parameter_of_a_grant_is_required() {
        let client = "&client_id=c&client_secret=s";
        for (body, outcome) in [
            ("grant_type=client_credentials", "ok"),
            ("grant_type=password&username=u&password=p", "ok"),
            ("grant_type=refresh_token&refresh_token=r", "ok"),
            ("grant_type=", "invalid_request"),
            ("grant_type=password&username=u", "invalid_request"),
            ("grant_type=password&password=p", "invalid_request"),
            ("grant_type=refresh_token&refresh_token=", "invalid_request"),
            ("grant_type=authorization_code", "unsupported_grant_type"),
            ("grant_type=PASSWORD", "unsupported_grant_type"),
            ("grant_type=client_credentials&scope=%22", "invalid_scope"),
        ] {
            assert_eq!(code(&format!("{body}{client}"), None), outcome, "{body}");
        }
        let grant = "grant_type=client_credentials";
        for client in ["", "&client_id=c", "&client_id=c&client_secret="] {
            let outcome = code(&format!("{grant}{client}"), None);
            assert_eq!(outcome, "invalid_client", "{client}");
        }
    }

    #[test]
    fn basic_credentials_are_decoded_and_stand_alone() {
        let grant = "grant_type=client_credentials";
        let request = read(grant, Some(("a%3Ab", "s%2B+t"))).unwrap();
        assert_eq!(request.client.client_id, "a:b");
        assert_eq!(request.client.client_secret, "s+ t");
        assert!(request.client.basic);
        let both = |extra| code(&format!("{grant}&{extra}"), Some(("c", "s")));
        assert_eq!(both("client_id=c"), "ok");
        assert_eq!(both("client_id=d"), "invalid_request");
        assert_eq!(both("client_id=c&client_secret=s"), "invalid_request");
        assert_eq!(code(grant, Some(("c", "%ff"))), "invalid_client");
    }
}
