//! Publishing a region, taking it offline, removing it.

use super::{HERE, gone, page};
use crate::{
    admin::{RequestContext, answer},
    domain::content::{self, Checked, Draft, Region, edit::Saved},
    types::{Timestamp, error::Result},
};
use poem::Response;

/// Now or offline at once; times of one's own are in the form.
pub async fn publish(request: RequestContext) -> Result<Response> {
    let path = request.form.text("path").to_owned();
    let seen = request.form.number("seen")?.unwrap_or_default();
    let online = request.form.text("do") == "publish";
    let of = path.clone();
    let saved = request
        .write(move |tx, ctx| {
            let Some(region) = Region::find(tx, &of)? else {
                return Ok(Saved::Meanwhile(None));
            };
            let draft = if online {
                Draft {
                    published_from: None,
                    published_to: None,
                    ..region.now
                }
            } else {
                offline(region.now, tx.now())
            };
            content::save(tx, ctx, seen, &Checked::as_stored(draft))
        })
        .await?;
    match saved {
        Saved::Version(_) | Saved::Same if online => {
            request.flash("It is published: apps get it from now on.");
        }
        Saved::Version(_) | Saved::Same => {
            request.flash("It is offline: apps are told that there is nothing.");
        }
        Saved::Meanwhile(Some(now)) => request.flash(format!(
            "Nothing was changed: somebody else saved version {now} meanwhile. Look at it first."
        )),
        Saved::Meanwhile(None) => return Err(gone(&path)),
    }
    Ok(answer::go(&page("region", &path)))
}

/// The draft, over since now, in whole seconds as the form shows them.
pub(super) fn offline(draft: Draft, now: Timestamp) -> Draft {
    let now = Timestamp(now.0.div_euclid(1000) * 1000);
    Draft {
        published_from: draft.published_from.filter(|from| *from < now),
        published_to: Some(now),
        ..draft
    }
}

pub async fn remove(request: RequestContext) -> Result<Response> {
    let path = request.form.text("path").to_owned();
    let of = path.clone();
    request
        .write(move |tx, ctx| content::remove(tx, ctx, &of))
        .await?;
    request.done(format!("{path} is gone, with all its versions."), HERE)
}
