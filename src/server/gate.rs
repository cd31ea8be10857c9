//! `/gate`: the gate app (contract §1). Its files are those of `assets/gate`; it needs no sign-in, as it gets
//! its credentials by device discovery.

use crate::{
    domain::gate::files::{Files, VERSION},
    types::error::{Error, Kind},
    web::Failure,
};
use poem::{Request, Response, http::header};

/// Only the app's own files run; `wasm-unsafe-eval` is for the reader of codes.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data: blob: https:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; \
    manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A file of the app; its page where none is named.
pub(super) fn file(request: &Request) -> Result<Response, Failure> {
    let name = request.raw_path_param("name").unwrap_or_default();
    let name = if name.is_empty() { "index.html" } else { name };
    if name == "version.json" {
        let version = format!("{{\"version\":\"{}\"}}", *VERSION);
        return Ok(Response::builder()
            .content_type("application/json")
            .header(header::CACHE_CONTROL, "no-store")
            .body(version));
    }
    let file = Files::get(name)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such file of the gate app"))?;
    let response = Response::builder()
        .content_type(content_type(name))
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(
            "permissions-policy",
            "camera=(self), screen-wake-lock=(self), geolocation=(), microphone=()",
        );
    Ok(if name == "worker.js" {
        // It serves the page itself, which is above its folder.
        response
            .header("service-worker-allowed", "/gate")
            .body(file.data.into_owned())
    } else {
        response.body(file.data.into_owned())
    })
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
