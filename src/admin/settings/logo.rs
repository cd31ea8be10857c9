//! The picture: put there, taken away.

use super::{general::Page, told};
use crate::{
    admin::{RequestContext, Route, answer, route},
    core::settings::logo,
    types::error::Result,
};
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/console/settings/logo", route::ADMINISTRATOR, put),
        Route::post(
            "/console/settings/logo/remove",
            route::ADMINISTRATOR,
            remove,
        ),
    ]
}

async fn put(mut request: RequestContext) -> Result<Response> {
    let content = match request.upload() {
        Some(upload) => upload.small(logo::MAX_BYTES).await,
        None => Ok(Vec::new()),
    };
    let saved = match content {
        Ok(content) => {
            request
                .write(move |tx, ctx| logo::save(tx, ctx, &content))
                .await
        }
        Err(cause) => Err(cause),
    };
    match saved {
        Ok(()) => request.done(
            "This is the logo now, here and in the apps.",
            "/console/settings",
        ),
        Err(cause) => {
            let mut page = Page::new(&request, None)?;
            page.logo_failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

async fn remove(request: RequestContext) -> Result<Response> {
    request.write(logo::remove).await?;
    request.done("Logo removed.", "/console/settings")
}
