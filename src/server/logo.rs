//! `/logo`: the instance's picture, for apps (contract §7) and whoever else; it needs no token.

use crate::{
    core::settings::logo,
    identity::App,
    types::error::{Error, Kind, Result},
    web::error::Failure,
};
use poem::{
    Request, Response,
    http::{HeaderValue, StatusCode, header},
};

/// Nothing may run in it, whatever a browser takes it for.
const POLICY: &str = "default-src 'none'; style-src 'none'; sandbox; frame-ancestors 'none'";

/// The picture; 304 where the caller has it.
pub fn show(app: &App, request: &Request) -> poem::Result<Response> {
    Ok(find(app, request).map_err(Failure)?)
}

fn find(app: &App, request: &Request) -> Result<Response> {
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
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn is_same(known: &str, tag: &str) -> bool {
    let known = known.trim();
    known.strip_prefix("W/").unwrap_or(known) == tag
}
