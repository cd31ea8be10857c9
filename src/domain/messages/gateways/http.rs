//! Gateways that take a message by one HTTP call: what is called, what is sent, and how success is
//! recognised are all set, so that any provider can be used.
//!
//! Method, address, headers and body hold places such as `{{ to }}`. They are filled in, not run: what
//! a message says can change nothing but its own place.

use super::Attempt;
use crate::{
    core::outgoing::{Answer, Failure, Method, Reach, Request, check_url},
    domain::messages::stored::SendOutcome,
    types::{
        error::{Error, Result},
        text::{check_text, shortened},
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeMap};

/// The longest body, in bytes, before its places are filled in.
const BODY_MAX_BYTES: usize = 16 << 10;
/// Headers that can be set.
const HEADERS_MAX: usize = 20;
/// The most that is shown of an answer that is no success, in characters.
const EXCERPT_MAX_CHARS: usize = 200;

/// The characters that may stand in an address as they are.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The places that are filled in.
pub const PLACES: [(&str, &str); 8] = [
    ("to", "the phone number (+49…) or the push token"),
    ("digits", "the phone number without its +"),
    ("text", "what the message says"),
    ("title", "a push message's title"),
    ("from", "the sender set here"),
    ("user", "the user set here"),
    ("secret", "the secret set here"),
    ("basic", "user and secret, for an Authorization header"),
];

/// A provider.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Http {
    /// The preset that it was filled in from, such as `twilio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// `GET`, `POST` or `PUT`.
    #[serde(default = "post")]
    pub method: String,
    /// The address; its host is fixed, places stand behind it only.
    pub url: String,
    /// Headers beside `Content-Type`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The type of the body, which also says how places in it are filled in.
    #[serde(default = "json_type")]
    pub content_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// `{{ user }}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// `{{ from }}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The sign of success in an answer, beside a status 2xx.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<Success>,
}

/// A value that a JSON answer must have.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Success {
    /// The path of the value, such as `messages.0.status`.
    pub path: String,
    pub equals: String,
}

fn post() -> String {
    "POST".into()
}

fn json_type() -> String {
    "application/json".into()
}

/// The part of the request where a place is, and so how its value is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Url,
    Header,
    Json,
    Form,
    Plain,
}

impl Part {
    fn of(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.ends_with("json") {
            Self::Json
        } else if essence == "application/x-www-form-urlencoded" {
            Self::Form
        } else {
            Self::Plain
        }
    }

    fn encode(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Url | Self::Form => percent_encoding::utf8_percent_encode(value, KEPT).into(),
            Self::Header => value
                .chars()
                .filter(|letter| !letter.is_control())
                .collect(),
            Self::Json => {
                let quoted = Value::from(value).to_string();
                quoted[1..quoted.len() - 1].to_owned().into()
            }
            Self::Plain => value.into(),
        }
    }
}

/// Fills the places of a text in.
fn fill(text: &str, part: Part, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, behind) = after
            .split_once("}}")
            .ok_or_else(|| "a {{ without its }}".to_owned())?;
        let name = name.trim();
        let value = value(name).ok_or_else(|| {
            let known = PLACES.map(|(name, _)| name).join(", ");
            format!("unknown {{{{ {} }}}}; known are {known}", shortened(name))
        })?;
        out.push_str(&part.encode(&value));
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// The value that fills a place while a definition is checked.
fn sample(name: &str) -> Option<String> {
    let is_known = PLACES.iter().any(|(known, _)| *known == name);
    is_known.then(|| "x".to_owned())
}

impl Http {
    pub(super) fn check(&self, reach: Reach) -> Result<()> {
        self.method()?;
        let in_field = |name: &str, why: String| Error::field(name, why);
        let url = fill(&self.url, Part::Url, sample).map_err(|why| in_field("url", why))?;
        check_url("url", &url, reach)?;
        if self.host().contains("{{") {
            return Err(Error::field(
                "url",
                "the host is fixed; places such as {{ to }} may stand behind it only",
            ));
        }
        if self.headers.len() > HEADERS_MAX {
            return Err(Error::field(
                "headers",
                format!("at most {HEADERS_MAX} can be set"),
            ));
        }
        for (name, value) in &self.headers {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            let plain = !name.is_empty() && name.bytes().all(is_plain);
            if !plain || value.chars().any(char::is_control) {
                let name = shortened(name);
                return Err(Error::field(
                    "headers",
                    format!("\"{name}\" cannot be sent"),
                ));
            }
            fill(value, Part::Header, sample)
                .map_err(|why| in_field(&format!("headers.{name}"), why))?;
        }
        self.check_body()?;
        for (name, text) in [
            ("contentType", Some(&self.content_type)),
            ("user", self.user.as_ref()),
            ("from", self.from.as_ref()),
        ] {
            let text = text.map_or("", String::as_str);
            check_text(name, text)?;
            if text.chars().any(char::is_control) {
                return Err(Error::field(name, "must be one line"));
            }
        }
        match &self.success {
            Some(success) if success.path.trim().is_empty() => Err(Error::field(
                "success.path",
                "must say where the value is, such as messages.0.status",
            )),
            _ => Ok(()),
        }
    }

    fn check_body(&self) -> Result<()> {
        if self.body.len() > BODY_MAX_BYTES {
            return Err(Error::field("body", "too long"));
        }
        let part = Part::of(&self.content_type);
        let body = fill(&self.body, part, sample).map_err(|why| Error::field("body", why))?;
        if part == Part::Json && !body.trim().is_empty() {
            serde_json::from_str::<Value>(&body).map_err(|cause| {
                Error::invalid(format!(
                    "{}; places stand within quotes: \"{{{{ to }}}}\"",
                    crate::types::json::fault(&cause)
                ))
                .at("body")
            })?;
        }
        Ok(())
    }

    fn method(&self) -> Result<Method> {
        match self.method.as_str() {
            "GET" => Ok(Method::GET),
            "POST" => Ok(Method::POST),
            "PUT" => Ok(Method::PUT),
            _ => Err(Error::field("method", "must be GET, POST or PUT")),
        }
    }

    /// Scheme, host and port.
    fn host(&self) -> &str {
        let start = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[start..]
            .find(['/', '?', '#'])
            .map_or(self.url.len(), |at| start + at);
        &self.url[..end]
    }

    pub(super) fn destination(&self) -> String {
        self.host().to_ascii_lowercase()
    }

    /// The call for a message.
    fn request(&self, attempt: &Attempt<'_>) -> Result<Request, String> {
        let user = self.user.as_deref().unwrap_or_default();
        let secret = attempt.secret.unwrap_or_default();
        let due = attempt.due;
        let value = |name: &str| {
            Some(match name {
                "to" => due.address.clone(),
                "digits" => due.address.trim_start_matches('+').to_owned(),
                "text" => due.body.clone(),
                "title" => due.subject.clone().unwrap_or_default(),
                "from" => self.from.clone().unwrap_or_default(),
                "user" => user.to_owned(),
                "secret" => secret.to_owned(),
                "basic" => STANDARD.encode(format!("{user}:{secret}")),
                _ => return None,
            })
        };
        let method = self.method().map_err(|cause| cause.to_string())?;
        let (mut headers, mut body) = (Vec::new(), String::new());
        if method != Method::GET {
            headers.push(("Content-Type".to_owned(), self.content_type.clone()));
            body = fill(&self.body, Part::of(&self.content_type), value)?;
        }
        for (name, text) in &self.headers {
            headers.push((name.clone(), fill(text, Part::Header, value)?));
        }
        Ok(Request {
            method,
            url: fill(&self.url, Part::Url, value)?,
            headers,
            body: body.into_bytes(),
        })
    }
}

/// Gives a message to the provider.
pub(super) async fn send(http: &Http, attempt: &Attempt<'_>) -> SendOutcome {
    let request = match http.request(attempt) {
        Ok(request) => request,
        Err(why) => return SendOutcome::Down(format!("the gateway's settings: {why}")),
    };
    match attempt.client.send(request).await {
        Ok(answer) => judge(&answer, http.success.as_ref()),
        Err(failure) => unanswered(failure),
    }
}

pub(super) fn unanswered(failure: Failure) -> SendOutcome {
    match failure {
        Failure::NotSent(why) => SendOutcome::Down(format!("the gateway cannot be reached: {why}")),
        Failure::Unknown(why) => SendOutcome::Unknown(format!(
            "the gateway was given the message and did not answer: {why}"
        )),
    }
}

/// Judges an answer. A refusal is certain; a failure of the provider's own is not, unless it says that it is busy.
pub(super) fn judge(answer: &Answer, success: Option<&Success>) -> SendOutcome {
    let (status, excerpt) = (answer.status, excerpt(&answer.body));
    match status {
        200..=299 => match success {
            None => SendOutcome::Sent,
            Some(success) => judge_body(&answer.body, success),
        },
        300..=399 => SendOutcome::Down(format!("the gateway answered {status}: it has moved")),
        // Of the message itself; everything else can be mended.
        400 | 404 | 410 | 413 | 422 => {
            SendOutcome::Never(format!("the gateway refused it ({status}){excerpt}"))
        }
        401 | 403 | 407 => SendOutcome::Down(format!(
            "the gateway does not let us sign in ({status}){excerpt}"
        )),
        429 | 503 => SendOutcome::Down(format!("the gateway is busy ({status}){excerpt}")),
        402..=499 => SendOutcome::Later(format!("the gateway refused it ({status}){excerpt}")),
        _ => SendOutcome::Unknown(format!("the gateway failed ({status}){excerpt}")),
    }
}

fn judge_body(body: &[u8], success: &Success) -> SendOutcome {
    let excerpt = excerpt(body);
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return SendOutcome::Unknown(format!("the gateway's answer is not JSON{excerpt}"));
    };
    let pointer = format!("/{}", success.path.trim().replace('.', "/"));
    let found = match answer.pointer(&pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => {
            let path = &success.path;
            return SendOutcome::Unknown(format!("the gateway's answer has no {path}{excerpt}"));
        }
    };
    if found == success.equals {
        SendOutcome::Sent
    } else {
        SendOutcome::Later(format!("the gateway refused it{excerpt}"))
    }
}

/// The beginning of an answer, for whoever looks after the gateway.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(EXCERPT_MAX_CHARS).collect();
    if line.is_empty() {
        line
    } else {
        format!(": {line}")
    }
}

#[cfg(test)]
mod tests;
