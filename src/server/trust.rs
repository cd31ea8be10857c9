//! `/gate/trust`: the page by which devices come to trust the server's own CA, over plain HTTP too. It needs no
//! sign-in. A port that speaks TLS answers plain HTTP with this page and what belongs to it; everything else is
//! sent on to HTTPS.

use super::tls::{Own, Tls};
use crate::{
    admin::{answer, assets},
    types::error::{Error, Kind, Result},
    web::Failure,
};
use askama::Template;
use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{
    Request, Response,
    http::{HeaderValue, Method, StatusCode, header, uri::Scheme},
};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

/// The page's path.
pub const PAGE: &str = "/gate/trust";
/// The paths that belong to the page; of the files of [`STATIC`] the name is the last part.
pub const PATHS: [&str; 8] = [
    PAGE,
    "/gate/trust/ca.crt",
    "/gate/trust/ca.mobileconfig",
    CHECK,
    "/gate/trust/console.css",
    "/gate/trust/handbook.css",
    "/gate/trust/icon.svg",
    "/gate/trust/trust.js",
];
/// The path that the live check asks for, over HTTPS.
const CHECK: &str = "/gate/trust/check";
const STATIC: [(&str, &str); 4] = [
    ("console.css", "text/css; charset=utf-8"),
    ("handbook.css", "text/css; charset=utf-8"),
    ("icon.svg", "image/svg+xml"),
    ("trust.js", "text/javascript; charset=utf-8"),
];

/// Answers requests for the page; the CA is that of a server with a certificate of its own.
#[derive(Clone)]
pub struct Trust(Option<Arc<Own>>);

#[derive(Template)]
#[template(path = "trust.html")]
struct Page {
    /// Host and port by which the device reached the server.
    host: String,
    /// True if the device came over HTTPS.
    is_https: bool,
    ca: Option<CaPart>,
}

/// The page's part about the CA.
struct CaPart {
    name: String,
    fingerprint: String,
    /// Hosts that the certificate is valid for, where it is not valid for the present one.
    better: Vec<String>,
}

impl Page {
    fn file(name: &str) -> String {
        format!("{PAGE}/{name}?v={}", assets::content(name).1)
    }
}

impl Trust {
    /// For a server with this TLS, or none.
    pub fn new(tls: Option<&Tls>) -> Self {
        Self(tls.and_then(Tls::own_certificate).cloned())
    }

    /// Answers a request for one of [`PATHS`].
    pub fn answer(&self, request: &Request) -> poem::Result<Response> {
        let response = match request.original_uri().path() {
            PAGE => self.page(request),
            CHECK => Ok(Response::builder()
                .status(StatusCode::NO_CONTENT)
                .header(header::CACHE_CONTROL, "no-store")
                // The page may have come over plain HTTP, which is another origin.
                .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
                .finish()),
            path => self.file(path.rsplit('/').next().unwrap_or_default()),
        };
        Ok(response.map_err(Failure)?)
    }

    /// Answers a request that came over plain HTTP to a port that speaks TLS.
    pub fn answer_plain(&self, request: &Request) -> poem::Result<Response> {
        let path = request.original_uri().path();
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            // Sending it on would hide that its contents crossed the network unencrypted.
            return Ok(Response::builder()
                .status(StatusCode::BAD_REQUEST)
                .content_type("text/plain; charset=utf-8")
                .body("This port speaks HTTPS. Use an address that starts with https://.\n"));
        }
        if self.0.is_some() && path != CHECK && PATHS.contains(&path) {
            return self.answer(request);
        }
        let host = host(request);
        let rest = request.original_uri().path_and_query();
        let target = format!("https://{host}{}", rest.map_or("/", |rest| rest.as_str()));
        Ok(Response::builder()
            .status(StatusCode::TEMPORARY_REDIRECT)
            .header(header::LOCATION, target)
            .header(header::CACHE_CONTROL, "no-store")
            .finish())
    }

    fn page(&self, request: &Request) -> Result<Response> {
        let host = host(request);
        let ca = self.0.as_ref().map(|own| CaPart::new(own, &host));
        let page = Page {
            is_https: *request.scheme() == Scheme::HTTPS,
            ca: ca.transpose()?,
            host,
        };
        let html = page.render().map_err(Error::defect)?;
        let response = Response::builder()
            .content_type("text/html; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-cache")
            .body(html);
        let mut response = answer::secured(response);
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' https://{}; \
             form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
            page.host
        );
        let policy = HeaderValue::try_from(policy).map_err(Error::defect)?;
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }

    fn file(&self, name: &str) -> Result<Response> {
        if let Some((_, kind)) = STATIC.iter().find(|(known, _)| *known == name) {
            let response = Response::builder()
                .content_type(kind)
                .header(header::CACHE_CONTROL, "public, max-age=86400")
                .body(assets::content(name).0);
            return Ok(answer::secured(response));
        }
        let own = self.0.as_ref().ok_or_else(|| {
            Error::new(
                Kind::NoSuchPath,
                "this server has no CA of its own; it makes one with --tls-self-signed",
            )
        })?;
        let (kind, name, body) = if name == "ca.crt" {
            let der = own.ca().to_vec();
            ("application/x-x509-ca-cert", "gatepost-ca.crt", der)
        } else {
            let profile = profile(own)?.into_bytes();
            (
                "application/x-apple-aspen-config",
                "gatepost-ca.mobileconfig",
                profile,
            )
        };
        Ok(answer::secured(answer::download(name, kind, body)))
    }
}

impl CaPart {
    fn new(own: &Own, host: &str) -> Result<Self> {
        let (name, port) = split(host);
        let names = own.names();
        let better = if names.contains(&name.to_ascii_lowercase()) {
            Vec::new()
        } else {
            let others = names.iter().filter(|name| {
                !name.contains(':') && !name.starts_with("127.") && *name != "localhost"
            });
            others.map(|name| format!("{name}{port}")).collect()
        };
        Ok(Self {
            name: own.ca_name()?,
            fingerprint: own.fingerprint(),
            better,
        })
    }
}

/// Host and port by which a request came, as an address has them.
fn host(request: &Request) -> String {
    let plain = |host: &&str| {
        let known = |letter: char| letter.is_ascii_alphanumeric() || "-.:[]".contains(letter);
        !host.is_empty() && host.chars().all(known)
    };
    match request.header(header::HOST.as_str()).filter(plain) {
        Some(host) => host.to_owned(),
        None => request
            .local_addr()
            .as_socket_addr()
            .map_or_else(|| "localhost".to_owned(), ToString::to_string),
    }
}

/// A host, without the brackets of an IPv6 address, and its port with the colon.
fn split(host: &str) -> (&str, &str) {
    let end = match host.rfind(':') {
        Some(colon) if !host.ends_with(']') => colon,
        _ => host.len(),
    };
    let (name, port) = host.split_at(end);
    (name.trim_matches(['[', ']']), port)
}

/// An Apple configuration profile with the CA. The same CA gives the same profile, which replaces itself.
fn profile(own: &Own) -> Result<String> {
    let ca = own.ca();
    let digest = Sha256::digest(&ca);
    let uuid = |part: &[u8]| Uuid::from_slice(part).map_err(Error::defect);
    let (profile, payload) = (uuid(&digest[..16])?, uuid(&digest[16..])?);
    let (name, content) = (own.ca_name()?, STANDARD.encode(&ca));
    Ok(format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadVersion</key><integer>1</integer>
  <key>PayloadIdentifier</key><string>gatepost.ca.{profile}</string>
  <key>PayloadUUID</key><string>{profile}</string>
  <key>PayloadDisplayName</key><string>{name}</string>
  <key>PayloadDescription</key><string>Lets this device connect to the Gatepost server of the event.</string>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadVersion</key><integer>1</integer>
      <key>PayloadIdentifier</key><string>gatepost.ca.{profile}.{payload}</string>
      <key>PayloadUUID</key><string>{payload}</string>
      <key>PayloadDisplayName</key><string>{name}</string>
      <key>PayloadContent</key><data>{content}</data>
    </dict>
  </array>
</dict>
</plist>
"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_split_from_its_port() {
        for (host, expected) in [
            ("10.0.0.7:8080", ("10.0.0.7", ":8080")),
            ("laptop.local", ("laptop.local", "")),
            ("[fd00::7]:8080", ("fd00::7", ":8080")),
            ("[fd00::7]", ("fd00::7", "")),
        ] {
            assert_eq!(split(host), expected);
        }
    }
}
