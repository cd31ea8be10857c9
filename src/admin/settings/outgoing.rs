//! How far calls to others may go: gateways and webhooks.

use super::{general::Page, mark};
use crate::{
    admin::{RequestContext, Route, answer, route},
    core::settings,
    types::error::Result,
};
use poem::Response;
use serde_json::{Value, json};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::post(
        "/console/settings/outgoing",
        route::ADMINISTRATOR,
        save,
    )]
}

/// The setting as the form shows it.
pub(super) struct OutgoingForm {
    pub(super) seen: String,
    pub(super) local: bool,
}

impl OutgoingForm {
    pub(super) fn of(stored: Option<&Value>) -> Self {
        Self {
            seen: mark(&stored),
            local: stored.is_some_and(|outgoing| outgoing["allowLocal"] == json!(true)),
        }
    }
}

async fn save(request: RequestContext) -> Result<Response> {
    let ctx = request.context();
    let (seen, local) = (
        request.form.text("seen").to_owned(),
        request.form.ticked("allowLocal"),
    );
    let saved = request
        .console
        .store
        .write(move |tx| {
            if mark(&settings::stored(tx)?.get("outgoing")) != seen {
                return Ok(false);
            }
            let value = if local {
                json!({"allowLocal": true})
            } else {
                Value::Null
            };
            let changes = [("outgoing".to_owned(), value)].into_iter().collect();
            settings::save(tx, &ctx, &changes)?;
            Ok(true)
        })
        .await?;
    if saved {
        request.flash(if local {
            "Calls may go to this machine, too."
        } else {
            "Calls go to the network only, not to this machine."
        });
        return Ok(answer::go("/console/settings"));
    }
    let mut page = Page::new(&request)?;
    page.failed = "outgoing";
    page.failure = "Somebody else changed this meanwhile. Nothing of yours was saved; \
                    this is in force now."
        .into();
    answer::form_again(&page)
}
