//! The instance's picture, for apps that have no token yet.

use crate::{app::App, apps::logo, web::Failure};
use poem::{Endpoint, Request, Response, error::NotFoundError, http::header};

/// Serves the picture.
pub struct Logo(pub App);

impl Endpoint for Logo {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        let logo = self.0.store.look_up(logo::find).map_err(Failure)?;
        let logo = logo.ok_or(NotFoundError)?;
        Ok(Response::builder()
            .content_type(&logo.content_type)
            // Its address changes with it.
            .header(header::CACHE_CONTROL, "public, max-age=3600")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            // A picture that is a document (SVG) must not act as one of ours.
            .header(
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            )
            .body(logo.content))
    }
}
