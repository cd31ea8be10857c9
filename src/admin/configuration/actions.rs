//! Publishing a draft, discarding it, and taking a version of before as the draft.

use super::versions;
use crate::{
    admin::{RequestContext, answer},
    domain::apps::configuration,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use poem::Response;

const PAGE: &str = "/console/configuration";

fn meanwhile() -> Error {
    Error::new(
        Kind::CodeTaken,
        "somebody changed the draft meanwhile, so nothing was done; look at what it says now",
    )
}

/// The draft's moment that the page showed.
fn seen(request: &RequestContext) -> Result<Option<Timestamp>> {
    Ok(request.form.number("seen")?.map(Timestamp))
}

/// Puts in force what the page showed, and nothing else.
pub async fn publish(request: RequestContext) -> Result<Response> {
    let (ctx, seen) = (request.context(), seen(&request)?);
    let against = request.form.number("version")?;
    let version = request
        .console
        .store
        .write(move |tx| {
            let draft = configuration::draft(tx)?
                .filter(|draft| Some(draft.updated_at) == seen)
                .ok_or_else(meanwhile)?;
            // What the draft changes was shown against the version in force then.
            if Some(configuration::published(tx)?.version) != against {
                return Err(meanwhile());
            }
            configuration::publish_draft(tx, &ctx, &draft)
        })
        .await?;
    request.flash(format!(
        "Version {version} is in force. Apps get it with their next ping."
    ));
    Ok(answer::go(PAGE))
}

pub async fn discard(request: RequestContext) -> Result<Response> {
    let (ctx, seen) = (request.context(), seen(&request)?);
    request
        .console
        .store
        .write(move |tx| {
            let draft = configuration::draft(tx)?;
            if draft.map(|draft| draft.updated_at) != seen {
                return Err(meanwhile());
            }
            configuration::discard_draft(tx, &ctx)
        })
        .await?;
    request.flash("The draft is gone. What is in force stays.");
    Ok(answer::go(PAGE))
}

pub async fn take(request: RequestContext) -> Result<Response> {
    let (ctx, seen, number) = (request.context(), seen(&request)?, request.id("version")?);
    request
        .console
        .store
        .write(move |tx| {
            let (_, document) = versions::find(tx, number)?;
            configuration::save_draft(tx, &ctx, &document, seen)?.ok_or_else(meanwhile)
        })
        .await?;
    request.flash(format!(
        "The draft is as version {number} was. Apps get it when you publish it."
    ));
    Ok(answer::go(PAGE))
}
