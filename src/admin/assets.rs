//! The files that pages need (`assets/static`), inside the binary. Their addresses change with
//! their content, so browsers keep them for good. `console.css` begins with the colours, which the gate app has as well.

use super::Access;
use crate::admin::prelude::*;
use crate::domain::gate::files as gate;
use crate::types::secret;
use poem::http::header;
use rust_embed::Embed;
use std::sync::LazyLock;

#[derive(Embed)]
#[folder = "assets/static"]
struct Files;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/static/*name", Access::Anyone, file),
        Route::get("/console/*path", Access::Anyone, nothing),
    ]
}

/// The address of a file.
#[must_use]
pub(super) fn address(name: &str) -> String {
    match find(name) {
        Some((_, version)) => format!("/console/static/{name}?v={version}"),
        None => format!("/console/static/{name}"),
    }
}

/// The address of the symbols, which pages name many times.
#[must_use]
pub fn icons() -> &'static str {
    static ICONS: LazyLock<String> = LazyLock::new(|| address("icons.svg"));
    &ICONS
}

/// A file of the pages, such as `console.css`, with what it changes with; empty where there is none.
#[must_use]
pub fn content(name: &str) -> (Vec<u8>, String) {
    find(name).unwrap_or_default()
}

fn find(name: &str) -> Option<(Vec<u8>, String)> {
    let file = Files::get(name)?;
    let colours = (name == "console.css").then(|| gate::Files::get("tokens.css"));
    let parts = colours.flatten().into_iter().chain([file]);
    let (mut content, mut version) = (Vec::new(), String::new());
    for part in parts {
        content.extend_from_slice(&part.data);
        version.push_str(&secret::hex(&part.metadata.sha256_hash()[..6]));
    }
    Some((content, version))
}

async fn file(request: RequestContext) -> Result<Response> {
    let name = request.path("name")?;
    let (content, version) = find(&name)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, format!("there is no file {name}")))?;
    let kept = match request.query.sent("v") {
        Some(asked) if asked == version => "public, max-age=31536000, immutable",
        _ => "no-cache",
    };
    Ok(Response::builder()
        .content_type(content_type(&name))
        .header(header::CACHE_CONTROL, kept)
        .body(content))
}

async fn nothing(_: RequestContext) -> Result<Response> {
    Err(Error::new(Kind::NoSuchPath, "there is no such page"))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
