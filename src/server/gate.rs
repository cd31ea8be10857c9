//! `/gate`: the gate app (contract §1). Its files are those of `assets/gate`; it needs no sign-in, as it gets
//! its credentials by device discovery.

use crate::{
    domain::gate::files::{self, Files, VERSION},
    types::error::{Error, Kind},
    web::Failure,
};
use poem::{Request, Response, http::header};

/// Only the app's own files run; `wasm-unsafe-eval` is for the reader of codes.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data: blob: https:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; \
    manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A file of the app, as it is or below its version; its page where none is named.
pub(super) fn file(request: &Request) -> Result<Response, Failure> {
    let name = request.raw_path_param("name").unwrap_or_default();
    let below = name.strip_prefix(VERSION.as_str());
    let name = below
        .and_then(|name| name.strip_prefix('/'))
        .unwrap_or(name);
    let name = if name.is_empty() { "index.html" } else { name };
    // Pages of earlier versions ask for it.
    if name == "version.json" {
        let version = format!("{{\"version\":\"{}\"}}", *VERSION);
        return Ok(Response::builder()
            .content_type("application/json")
            .header(header::CACHE_CONTROL, "no-store")
            .body(version));
    }
    let body = match name {
        "index.html" => files::page().into(),
        "worker.js" => files::worker().into(),
        name => {
            let missing = || Error::new(Kind::NoSuchPath, "there is no such file of the gate app");
            Files::get(name).ok_or_else(missing)?.data.into_owned()
        }
    };
    let response = Response::builder()
        .content_type(content_type(name))
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(
            "permissions-policy",
            "camera=(self), screen-wake-lock=(self), geolocation=(), microphone=()",
        );
    // The worker serves the page itself, which is above its folder.
    let scope = (name == "worker.js").then_some(("service-worker-allowed", "/gate"));
    let response = scope.into_iter().fold(response, |response, (name, value)| {
        response.header(name, value)
    });
    Ok(response.body(body))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}
