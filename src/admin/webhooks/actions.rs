//! Actions on a webhook beside changing its settings.

use super::{place, show_secret};
use crate::{
    admin::{RequestContext, Route, answer, route},
    domain::webhooks::{decisions, store, test},
    types::error::Result,
};
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    let (operator, administrator) = (route::OPERATOR, route::ADMINISTRATOR);
    vec![
        Route::post("/console/webhooks/:id/resume", operator, resume),
        Route::post("/console/webhooks/:id/resend", operator, resend),
        Route::post("/console/webhooks/:id/pause", administrator, pause),
        Route::post("/console/webhooks/:id/skip", administrator, skip),
        Route::post("/console/webhooks/:id/test", administrator, try_out),
        Route::post("/console/webhooks/:id/rotate", administrator, rotate),
        Route::post("/console/webhooks/:id/remove", administrator, remove),
    ]
}

fn back(request: &RequestContext, id: i64, told: &str) -> Response {
    request.flash(told);
    answer::go(&place(id))
}

async fn pause(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| decisions::pause(tx, ctx, id))
        .await?;
    Ok(back(&request, id, "Paused. Events wait until you resume."))
}

async fn resume(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| decisions::resume(tx, ctx, id))
        .await?;
    Ok(back(
        &request,
        id,
        "Resumed. Pending deliveries are sent first.",
    ))
}

async fn skip(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| decisions::skip(tx, ctx, id))
        .await?;
    Ok(back(
        &request,
        id,
        "Pending deliveries discarded. The webhook sends what happens from now on.",
    ))
}

async fn try_out(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let tried = test(request.console.app(), id).await?;
    let told = if tried.taken {
        format!("Test delivered. {}", tried.told)
    } else {
        format!("Test failed. {}", tried.told)
    };
    Ok(back(&request, id, &told))
}

async fn resend(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let attempt = request.form.number("attempt")?.unwrap_or_default();
    request
        .write(move |tx, ctx| decisions::resend(tx, ctx, id, attempt))
        .await?;
    Ok(back(&request, id, "Sent again."))
}

async fn rotate(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let at_once = request.form.ticked("at_once");
    let (webhook, secret) = request
        .write(move |tx, ctx| {
            let secret = store::rotate(tx, ctx, id, None, at_once)?;
            Ok((store::get(tx, id)?, secret))
        })
        .await?;
    show_secret(&request, id, webhook.is.name, webhook.is.url, secret)
}

async fn remove(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let name = request
        .write(move |tx, ctx| store::remove(tx, ctx, id))
        .await?;
    request.done(format!("{name} removed."), "/console/webhooks")
}
