//! What can be done with a webhook beside changing what it is.

use super::{place, show_secret};
use crate::{
    admin::{RequestContext, Route, answer, route},
    domain::webhooks::{Source, attempts, held, state, store, test},
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
        Route::post("/console/webhooks/:id/give-up", administrator, give_up),
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
    let (id, ctx) = (request.id("id")?, request.context());
    request
        .console
        .store
        .write(move |tx| state::pause(tx, &ctx, id))
        .await?;
    Ok(back(
        &request,
        id,
        "It is paused. What happens waits until it goes on.",
    ))
}

async fn resume(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    request
        .console
        .store
        .write(move |tx| state::resume(tx, &ctx, id, false))
        .await?;
    Ok(back(
        &request,
        id,
        "Resumed. Pending deliveries are sent first.",
    ))
}

async fn skip(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    request
        .console
        .store
        .write(move |tx| state::resume(tx, &ctx, id, true))
        .await?;
    Ok(back(
        &request,
        id,
        "It goes on with what happens from now on. What waited is not sent.",
    ))
}

async fn try_out(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let tried = test(request.console.app(), id).await?;
    let told = if tried.taken {
        format!("The test was taken. {}", tried.told)
    } else {
        format!("The test was not taken. {}", tried.told)
    };
    Ok(back(&request, id, &told))
}

async fn resend(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    let attempt = request.form.number("attempt")?.unwrap_or_default();
    request
        .console
        .store
        .write(move |tx| {
            let attempt = attempts::get(tx, id, attempt)?;
            match attempt.of {
                Some(of) => held::send_again(tx, &ctx, id, of, &attempt.lane),
                None => Err(crate::types::error::Error::invalid(
                    "a test is not sent again; send another one",
                )),
            }
        })
        .await?;
    Ok(back(&request, id, "It is sent once more."))
}

async fn give_up(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    let source = Source::parse(request.form.text("source"))?;
    let row = request.form.number("row")?.unwrap_or_default();
    request
        .console
        .store
        .write(move |tx| held::give_up(tx, &ctx, id, source, row))
        .await?;
    Ok(back(
        &request,
        id,
        "Delivery cancelled. Later deliveries continue.",
    ))
}

async fn rotate(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    let at_once = request.form.ticked("at_once");
    let (webhook, secret) = request
        .console
        .store
        .write(move |tx| {
            let secret = store::rotate(tx, &ctx, id, at_once)?;
            Ok((store::get(tx, id)?, secret))
        })
        .await?;
    show_secret(&request, id, webhook.is.name, webhook.is.url, secret)
}

async fn remove(request: RequestContext) -> Result<Response> {
    let (id, ctx) = (request.id("id")?, request.context());
    let name = request
        .console
        .store
        .write(move |tx| store::remove(tx, &ctx, id))
        .await?;
    request.flash(format!("{name} is removed. Nobody is told any more."));
    Ok(answer::go("/console/webhooks"))
}
