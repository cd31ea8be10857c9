//! Small public resources: the API reference at `/docs`, the instance's picture at `/logo`, the metadata of
//! the authorization server (RFC 8414), and the picture of one dot by which the server notices that an e-mail
//! was opened.

use crate::{
    core::{Context, settings::logo},
    domain::messages::opened,
    identity::{App, Scope},
    types::error::{Error, Kind, Result},
    web::{Address, error::Failure},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use poem::{
    Endpoint, Request, Response,
    endpoint::make_sync,
    handler,
    http::{HeaderValue, StatusCode, header},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{io::Write, sync::OnceLock};

/// The API reference. It is whole in itself, so its policy allows its own scripts and styles, by their hashes,
/// and calls to this server; nothing from anywhere else.
pub fn docs(html: String) -> impl Endpoint {
    let policy = policy(&html);
    fixed("text/html; charset=utf-8", html, Some(policy))
}

/// A large text that stays as it is while the server runs: it is compressed once, by the first request that
/// takes it so.
pub fn fixed(content_type: &'static str, text: String, policy: Option<String>) -> impl Endpoint {
    let (plain, packed) = (Bytes::from(text), OnceLock::new());
    make_sync(move |request| {
        let mut response = Response::builder()
            .content_type(content_type)
            .header(header::CACHE_CONTROL, "no-cache");
        if let Some(policy) = &policy {
            response = response.header(header::CONTENT_SECURITY_POLICY, policy.as_str());
        }
        let is_packed = takes_gzip(&request);
        let packed = is_packed.then(|| packed.get_or_init(|| gzip(&plain)).clone());
        match packed.flatten() {
            Some(packed) => response
                .header(header::CONTENT_ENCODING, "gzip")
                .header(header::VARY, "accept-encoding")
                .body(packed),
            None => response.body(plain.clone()),
        }
    })
}

fn gzip(text: &[u8]) -> Option<Bytes> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text).ok()?;
    packed.finish().ok().map(Bytes::from)
}

/// Returns whether a client takes gzip. A client that says so in another way is left to the compression of every
/// answer.
fn takes_gzip(request: &Request) -> bool {
    let accepted = request.header(header::ACCEPT_ENCODING).unwrap_or_default();
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let refused = |part: &str| {
            part.strip_prefix("q=")
                .is_some_and(|q| q.parse() == Ok(0.0))
        };
        parts.next() == Some("gzip") && !parts.any(refused)
    })
}

fn policy(html: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hashes(html, "script"),
        hashes(html, "style"),
    )
}

/// The hashes of the contents of every such element, as a policy names them.
fn hashes(html: &str, element: &str) -> String {
    let (opening, closing) = (format!("<{element}"), format!("</{element}>"));
    let mut hashes = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once(&opening) {
        let Some((content, after)) = after
            .split_once('>')
            .and_then(|(_, content)| content.split_once(&closing))
        else {
            break;
        };
        let digest = Sha256::digest(content.as_bytes());
        hashes.push(format!("'sha256-{}'", STANDARD.encode(digest)));
        rest = after;
    }
    hashes.join(" ")
}

/// Nothing may run in a picture, whatever a browser takes it for.
const PICTURE_POLICY: &str =
    "default-src 'none'; style-src 'none'; sandbox; frame-ancestors 'none'";

/// The instance's picture, for apps (contract §7) and anybody else; 304 where the caller has it.
pub fn logo(app: &App, request: &Request) -> poem::Result<Response> {
    Ok(find_logo(app, request).map_err(Failure)?)
}

fn find_logo(app: &App, request: &Request) -> Result<Response> {
    let logo = app
        .store
        .look_up(logo::find)?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "no logo was chosen yet"))?;
    let tag = logo.tag();
    let known = request
        .header(header::IF_NONE_MATCH)
        .is_some_and(|tags| tags == "*" || tags.split(',').any(|known| is_same(known, &tag)));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into()
    } else {
        Response::builder()
            .content_type(&logo.content_type)
            .body(logo.content)
    };
    let headers = response.headers_mut();
    headers.insert(
        header::ETAG,
        HeaderValue::from_str(&tag).map_err(Error::defect)?,
    );
    for (name, value) in [
        // Asked for anew each time, for nothing but "it is the same".
        (header::CACHE_CONTROL, "public, no-cache"),
        (header::CONTENT_SECURITY_POLICY, PICTURE_POLICY),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn is_same(known: &str, tag: &str) -> bool {
    let known = known.trim();
    known.strip_prefix("W/").unwrap_or(known) == tag
}

/// The metadata of the authorization server (RFC 8414), by which clients find the token endpoint.
pub const METADATA: &str = "/.well-known/oauth-authorization-server";

/// Answers with the metadata, under the address that the request was sent to.
#[handler]
pub fn metadata(address: Address) -> Response {
    let base = address.base();
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    let authentication = json!(["client_secret_basic", "client_secret_post"]);
    let metadata = json!({
        "issuer": base,
        "token_endpoint": format!("{base}/api/oauth/v2/token"),
        "revocation_endpoint": format!("{base}/api/oauth/v2/revoke"),
        "token_endpoint_auth_methods_supported": authentication,
        "revocation_endpoint_auth_methods_supported": authentication,
        "grant_types_supported": ["client_credentials", "password", "refresh_token"],
        // Required, and there is no authorization endpoint.
        "response_types_supported": [],
        "scopes_supported": scopes,
        "service_documentation": format!("{base}/docs"),
    });
    Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-cache")
        // As public as the API, and without secrets.
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .body(metadata.to_string())
}

/// The longest token that is looked at.
const TOKEN_MAX_BYTES: usize = 64;

/// `/o/<token>.gif`: the picture of one dot in e-mails, by which the server notices that one was opened (spec:
/// Delegate flags, `e`). It is the same whatever the token is, and is shown where nothing can be recorded.
pub async fn opened(app: &App, request: &Request) -> Response {
    let token = request
        .raw_path_param("name")
        .and_then(|name| name.strip_suffix(".gif"))
        .filter(|token| token.len() <= TOKEN_MAX_BYTES);
    if let Some(token) = token
        && let Err(cause) = record_opened(app, token).await
    {
        tracing::warn!("an e-mail that was opened: {cause}");
    }
    Response::builder()
        .content_type("image/gif")
        .header(header::CACHE_CONTROL, "no-store")
        .body(opened::PICTURE)
}

async fn record_opened(app: &App, token: &str) -> Result<()> {
    let message = app
        .store
        .look_up(|connection| opened::unopened(connection, token))?;
    let Some(message) = message else {
        return Ok(());
    };
    let ctx = Context {
        actor: "mail".into(),
        ..Context::of_command("admin", app.settings())
    };
    app.store
        .write(move |tx| opened::record(tx, &ctx, message))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_has_its_hash() {
        let html = "<style a>s</style><script charset=\"UTF-8\">a <b</script><p><script>b</script>";
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let both = format!("{} {}", hash("a <b"), hash("b"));
        assert_eq!(hashes(html, "script"), both);
        assert!(policy(html).contains(&format!("style-src {};", hash("s"))));
    }
}
