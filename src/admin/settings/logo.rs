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
            let ctx = request.context();
            request
                .console
                .store
                .write(move |tx| logo::save(tx, &ctx, &content))
                .await
        }
        Err(cause) => Err(cause),
    };
    match saved {
        Ok(()) => {
            request.flash("This is the logo now, here and in the apps.");
            Ok(answer::go("/console/settings"))
        }
        Err(cause) => {
            let mut page = Page::new(&request)?;
            page.failed = "logo";
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

async fn remove(request: RequestContext) -> Result<Response> {
    let ctx = request.context();
    request
        .console
        .store
        .write(move |tx| logo::remove(tx, &ctx))
        .await?;
    request.flash("Logo removed.");
    Ok(answer::go("/console/settings"))
}
