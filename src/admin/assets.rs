//! The files that pages need (`assets/static`), inside the binary. Their addresses change with
//! their content, so browsers keep them for good.

use super::Access;
use crate::admin::prelude::*;
use crate::types::secret;
use poem::http::header;
use rust_embed::{Embed, EmbeddedFile};
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
    match Files::get(name) {
        Some(file) => format!("/console/static/{name}?v={}", version(&file)),
        None => format!("/console/static/{name}"),
    }
}

/// The address of the symbols, which pages name many times.
#[must_use]
pub(super) fn icons() -> &'static str {
    static ICONS: LazyLock<String> = LazyLock::new(|| address("icons.svg"));
    &ICONS
}

/// A file of the pages, such as `console.css`, with what it changes with; empty where there is none.
#[must_use]
pub fn content(name: &str) -> (Vec<u8>, String) {
    Files::get(name).map_or_else(Default::default, |file| {
        let version = version(&file);
        (file.data.into_owned(), version)
    })
}

fn version(file: &EmbeddedFile) -> String {
    secret::hex(&file.metadata.sha256_hash()[..6])
}

async fn file(request: RequestContext) -> Result<Response> {
    let name = request.path("name")?;
    let file = Files::get(&name)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, format!("there is no file {name}")))?;
    let kept = match request.query.sent("v") {
        Some(asked) if asked == version(&file) => "public, max-age=31536000, immutable",
        _ => "no-cache",
    };
    Ok(Response::builder()
        .content_type(content_type(&name))
        .header(header::CACHE_CONTROL, kept)
        .body(file.data.into_owned()))
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
