//! Publishing a draft, discarding it, and taking a version of before as the draft.

use crate::{
    admin::RequestContext,
    domain::apps::{configuration, versions},
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
    let seen = seen(&request)?;
    let against = request.form.number("version")?;
    let version = request
        .write(move |tx, ctx| {
            let draft = configuration::draft(tx)?
                .filter(|draft| Some(draft.updated_at) == seen)
                .ok_or_else(meanwhile)?;
            // What the draft changes was shown against the version in force then.
            if Some(configuration::published(tx)?.version) != against {
                return Err(meanwhile());
            }
            configuration::publish_draft(tx, ctx, &draft)
        })
        .await?;
    request.done(
        format!("Version {version} is in force. Apps get it with their next ping."),
        PAGE,
    )
}

pub async fn discard(request: RequestContext) -> Result<Response> {
    let seen = seen(&request)?;
    request
        .write(move |tx, ctx| {
            let draft = configuration::draft(tx)?;
            if draft.map(|draft| draft.updated_at) != seen {
                return Err(meanwhile());
            }
            configuration::discard_draft(tx, ctx)
        })
        .await?;
    request.done("The draft is gone. What is in force stays.", PAGE)
}

pub async fn take(request: RequestContext) -> Result<Response> {
    let (seen, number) = (seen(&request)?, request.id("version")?);
    request
        .write(move |tx, ctx| {
            let (_, document) = versions::find(tx, number)?;
            configuration::save_draft(tx, ctx, &document, seen)?.ok_or_else(meanwhile)
        })
        .await?;
    request.done(
        format!("The draft is as version {number} was. Apps get it when you publish it."),
        PAGE,
    )
}
